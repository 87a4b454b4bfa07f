"""A learner's parameters as they are given: checked, and as the numbers that the core takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from streamptron.doors.names import interned
from streamptron.estimator.cells import MISSING
from streamptron.estimator.checks import ByLabel, checked_number, choice, real, truth, whole
from streamptron.estimator.names import shown

MAX_PAIRS = 1_000_000  # of an event, unless the user says otherwise
SHAPES = ("line", "curve", "auto")
VIOLATORS = ("best", "uniform", "proportional")
KEPT = ("current", "average", "pocket")
AVERAGES = ("none", "uniform", "exponential")

_LONGEST = 1e10  # half-life, in events: an average is w less nearly all of w beyond

Pairs = tuple[tuple[str, str], ...]


class UnfitRow(ValueError):
    """A row whose features cannot be paired: its number, and what it does."""

    args: tuple[int, str]

    def __str__(self) -> str:
        return "row {} of X {}".format(*self.args)


def rule_of(
    params: dict[str, Any], updates: tuple[str, ...], can_watch: bool
) -> tuple[float, float, int, int, float, float, bool, float, bool, bool, int]:
    """What a rule has, in the order of its fields; an error if one is invalid."""
    given = params.get
    choice("missing", params["missing"], MISSING)
    watches = can_watch and given("forget") == "auto"
    bound = "of at least 0" + " (or 'auto')" * can_watch
    return (
        real("margin", given("margin", 0.0), 0.0, "of at least 0"),
        real("C", given("C", 1.0), 1e-50, "above 0"),
        choice("update", given("update", "margin"), updates),
        choice("violators", given("violators", "best"), VIOLATORS),
        real("r", given("r", 1.0), 1e-50, "above 0"),
        real("eta", given("eta", 1.0), 1e-6, "of at least 1e-06", 1e6),
        watches,
        0.0 if watches else real("forget", given("forget", 0.0), 0.0, bound, 1.0),
        truth("naive_bayes", given("naive_bayes", False)),
        truth("intercept", given("intercept", False)),
        choice("shape", given("shape", "line"), SHAPES),
    )


def table_of(params: dict[str, Any]) -> tuple[int, float, bool, int, int, int, int]:
    """Average, half-life, pocket, what serves, the most features, the hash's bits, and its seed."""
    given = params.get
    average = choice("average", given("average", "none"), AVERAGES)
    half_life = real("half_life", given("half_life", 1.0), 1.0, "of at least 1 event", _LONGEST)
    pocket = truth("pocket", given("pocket", False))
    serve = choice("serve", given("serve", "current"), (*KEPT, "best"))
    if serve == KEPT.index("average") and average == AVERAGES.index("none"):
        raise ValueError(
            "serve='average' needs an average: give average='uniform' or 'exponential', or "
            "serve='current' to do without one"
        )
    if serve == KEPT.index("pocket") and not pocket:
        raise ValueError("serve='pocket' needs pocket=True")
    bits, most, seed = given("hash_bits"), given("max_features"), given("hash_seed")
    bits = 0 if bits is None else whole("hash_bits", bits, 1, 30)
    most = 0 if most is None else whole("max_features", most, 1, 2**31)
    if most and bits:
        raise ValueError(
            "max_features and hash_bits are both given; a hashed table has a fixed size: choose one"
        )
    if seed is None:
        seed = int.from_bytes(os.urandom(8), "little")
    else:
        whole("hash_seed", seed, 0, 2**64 - 1)
    return average, half_life, pocket, serve, most, bits, seed


def class_weight_of(
    params: dict[str, Any], checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None:
    """{label: weight} as learning uses it, or None.

    The parameter becomes a copy: what the caller does with his later must not reach what is pickled
    and saved.
    """
    given = params.get("class_weight")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise TypeError(
            f"class_weight={shown(given)}; it must be None or a dict of label to weight "
            "(class frequencies are not known before the stream has been seen)"
        )
    params["class_weight"] = ByLabel({interned(label): weight for label, weight in given.items()})
    checked = {}
    for label, weight in params["class_weight"].items():
        label = _label_of("class_weight", label, checked_label)
        checked[label] = real(f"class_weight[{shown(label)}]", weight, 0.0, "of at least 0")
    return checked


def rates_of(
    params: dict[str, Any], checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None:
    """{label: rate} of false_positive_rate, or None; the parameter becomes a copy."""
    given = params.get("false_positive_rate")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise TypeError(
            f"false_positive_rate={shown(given)}; it must be None or a dict of label to rate, such "
            "as {'spam': 0.001}"
        )
    checked = {}
    for label, rate in given.items():
        label = _label_of("false_positive_rate", label, checked_label)
        checked[label] = _share(
            rate,
            f"false_positive_rate[{shown(label)}]",
            "the share of the events of other labels that may be answered so",
        )
    params["false_positive_rate"] = ByLabel(
        {interned(label): rate for label, rate in checked.items()}
    )
    return checked


def _label_of(parameter: str, label: Any, checked_label: Callable[[Any], Any]) -> Any:
    """A label as the learner has it; an error that names the parameter if it cannot be one."""
    try:
        return checked_label(label)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter} has an invalid label: {error}") from None


def pairs_of(degree: Any, interactions: Any, max_pairs: Any) -> Pairs | None:
    """The interactions as a tuple of pairs of names, or None; an error if one is invalid."""
    if isinstance(degree, bool) or not isinstance(degree, int) or not 1 <= degree <= 2:
        kind = ValueError if type(degree) is int else TypeError
        raise kind(
            f"degree={shown(degree)}; it must be 1, for features alone, or 2, for their pairs too"
        )
    whole("max_pairs", max_pairs, 1, 2**31, "an int")
    checked = _checked_interactions(interactions)
    if degree == 2 and checked is not None:
        raise ValueError(
            f"degree=2 and interactions={shown(interactions)} are both given; degree=2 pairs all "
            "features: choose one"
        )
    return checked


def _checked_interactions(interactions: Any) -> Pairs | None:
    want = "it must be None or a list of pairs of fields, such as [('user', 'ad')]"
    if interactions is None:
        return None
    if not isinstance(interactions, list | tuple):
        raise TypeError(f"interactions={shown(interactions)}; {want}")
    pairs = []
    for pair in interactions:
        wrong = f"interactions={shown(interactions)}; {want}, and {shown(pair)} is not one"
        if not isinstance(pair, list | tuple) or not all(isinstance(name, str) for name in pair):
            raise TypeError(wrong)
        if len(pair) != 2 or not all(pair):
            raise ValueError(wrong)
        first, second = (interned(str.__str__(name)) for name in pair)
        pairs.append((first, second))
    if not pairs:
        raise ValueError(f"interactions={shown(interactions)}; {want}; None is for no pairs")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise ValueError(f"interactions={shown(interactions)}; a pair of fields occurs twice")
    return tuple(pairs)


def threshold_of(threshold: Any, checked_label: Callable[[Any], Any]) -> Any:
    """A threshold as it is used: a number, {label: number} or "f1"; an error if it is invalid."""
    if isinstance(threshold, str):
        if threshold != "f1":
            raise ValueError(
                f"threshold={shown(threshold)}; it must be a number above 0 and below 1, "
                "{label: number}, or 'f1'"
            )
        return threshold
    if isinstance(threshold, Mapping):
        return {
            checked_label(label): _share(number, f"threshold[{shown(label)}]", _ANSWERED)
            for label, number in threshold.items()
        }
    return _share(threshold, "threshold", _ANSWERED)


_ANSWERED = "a label is answered if its probability is above it"


def _share(number: Any, name: str, why: str) -> float:
    if isinstance(number, bool):
        raise TypeError(f"{name}={shown(number)}; it must be a number above 0 and below 1")
    checked = checked_number(number, name)
    if not 0.0 < checked < 1.0:
        raise ValueError(f"{name}={shown(checked)}; it must be a number above 0 and below 1: {why}")
    return checked


def check_ranking(params: dict[str, Any]) -> None:
    """That what is given goes with the way to update, for one that ranks candidates."""
    update = params["update"]
    if update == "perceptron" and params["C"] != 1.0:
        raise ValueError(
            f"C={shown(params['C'])} bounds the steps of update='margin' and 'mistake'; leave it "
            "out with update='perceptron'"
        )
    if update in ("margin", "mistake") and params["margin"] != 0.0:
        raise ValueError(
            f"margin={shown(params['margin'])} is for update='perceptron'; leave it out: with "
            f"update={shown(update)} the margin is 1"
        )
