"""A learner's parameters: checked, and turned into what the core takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Never, NoReturn, Self, TypeVar, overload

from streamptron.common.checks import ByLabel, checked_number, real
from streamptron.common.errors import ParameterError, ParameterTypeError
from streamptron.common.names import interned, short_repr
from streamptron.engine.api import VALUE_LIMIT

MAX_PAIRS = 1_000_000  # of an event, unless the user says otherwise
KEPT = ("current", "average", "pocket")

_WEIGHT = "a number of at least 0 and at most 1e+50"

Value = TypeVar("Value")
Pairs = tuple[tuple[str, str], ...]


class UnfitRow(ValueError):
    """A row whose features cannot be paired: its number, and an error that begins with "it"."""

    args: tuple[int, ValueError]

    def __str__(self) -> str:
        return f"row {self.args[0]} of X{str(self.args[1]).removeprefix('it')}"


class kept(Generic[Value]):
    """A read-only attribute of a learner: the parameter of the same name."""

    def __init__(self, about: str) -> None:
        self.__doc__ = about

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, model: None, owner: type) -> Self: ...
    @overload
    def __get__(self, model: Any, owner: type) -> Value: ...
    def __get__(self, model: Any, owner: type) -> Self | Value:
        if model is None:
            return self
        value: Value = model._param(self._name)
        return value

    def __set__(self, model: Any, value: Never) -> NoReturn:
        name = self._name
        raise AttributeError(
            f"{name} is fixed; clone({{{name!r}: ...}}) makes a model with another"
        )


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """A constructor's arguments by name: its ``locals()`` without `self`."""
    return {name: value for name, value in given.items() if name != "self"}


def class_weight_of(
    params: dict[str, Any], checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None:
    """{label: weight} as learning uses it, or None.

    The parameter is replaced by a copy, so that what is pickled and saved does not change with the
    caller's dict.
    """
    given = params.get("class_weight")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterTypeError(
            "class_weight",
            given,
            "None or a dict of label to weight "
            "(class frequencies are not known before the stream has been seen)",
        )
    params["class_weight"] = ByLabel({interned(label): weight for label, weight in given.items()})
    checked = {}
    for label, weight in params["class_weight"].items():
        label = _label_of("class_weight", label, checked_label)
        checked[label] = real("class_weight", weight, 0.0, VALUE_LIMIT, _WEIGHT, label)
    return checked


def rates_of(
    params: dict[str, Any], checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None:
    """{label: rate} of false_positive_rate, or None; the parameter is replaced by a copy."""
    given = params.get("false_positive_rate")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterTypeError(
            "false_positive_rate",
            given,
            "None or a dict of label to rate, such as {'spam': 0.001}",
        )
    checked = {}
    for label, rate in given.items():
        label = _label_of("false_positive_rate", label, checked_label)
        checked[label] = _share(
            rate,
            "false_positive_rate",
            "the share of the events of other labels that may be answered so",
            label,
        )
    params["false_positive_rate"] = ByLabel(
        {interned(label): rate for label, rate in checked.items()}
    )
    return checked


def _label_of(parameter: str, label: Any, checked_label: Callable[[Any], Any]) -> Any:
    """A label as the learner keeps it; an error that names the parameter if it is invalid."""
    try:
        return checked_label(label)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter} has an invalid label: {error}") from None


def interactions_of(interactions: Any) -> Pairs | None:
    """The interactions as a tuple of pairs of names, or None; an error if they are invalid."""
    want = "None or a list of pairs of fields, such as [('user', 'ad')]"
    if interactions is None:
        return None
    if not isinstance(interactions, list | tuple):
        raise ParameterTypeError("interactions", interactions, want)
    pairs = []
    for pair in interactions:
        wrong = f"{want}, and {short_repr(pair)} is not one"
        if not isinstance(pair, list | tuple) or not all(isinstance(name, str) for name in pair):
            raise ParameterTypeError("interactions", interactions, wrong)
        if len(pair) != 2 or not all(pair):
            raise ParameterError("interactions", interactions, wrong)
        first, second = (interned(str.__str__(name)) for name in pair)
        pairs.append((first, second))
    if not pairs:
        raise ParameterError("interactions", interactions, f"{want}; None is for no pairs")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise ParameterError(
            "interactions",
            interactions,
            "a list without repetitions",
            "{interactions}; a pair of fields occurs twice",
        )
    return tuple(pairs)


def threshold_of(threshold: Any, checked_label: Callable[[Any], Any]) -> Any:
    """A threshold as it is used: a number, {label: number} or "f1"; an error if it is invalid."""
    if isinstance(threshold, str):
        if threshold != "f1":
            raise ParameterError(
                "threshold", threshold, "a number above 0 and below 1, {label: number}, or 'f1'"
            )
        return threshold
    if isinstance(threshold, Mapping):
        return {
            checked_label(label): _share(number, "threshold", _ANSWERED, label)
            for label, number in threshold.items()
        }
    return _share(threshold, "threshold", _ANSWERED)


_ANSWERED = "a label is answered if its probability is above it"


def _share(number: Any, name: str, why: str, label: Any = None) -> float:
    wanted = "a number above 0 and below 1"
    if isinstance(number, bool):
        raise ParameterTypeError(name, number, wanted, label=label)
    checked = checked_number(number, name if label is None else f"{name}[{short_repr(label)}]")
    if not 0.0 < checked < 1.0:
        raise ParameterError(name, checked, f"{wanted}: {why}", label=label)
    return checked
