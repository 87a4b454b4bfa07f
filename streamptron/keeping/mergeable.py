"""Merging models: whether they can be merged, their names united, and the merged model."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from streamptron.common.errors import WRONG, ModelFileError
from streamptron.common.names import short_repr, type_shown
from streamptron.common.values import encode
from streamptron.doors import merges
from streamptron.doors.model import Model
from streamptron.doors.names import damaged


class NotOfThisBase(ValueError):
    """A model that is not a continuation of its alleged base."""


class _Contradiction(ValueError):
    """Data that no model can hold, in a file used in place or in a delta."""


# The errors by their numbers in engine/json/words.h.
_RAISED: dict[int, type[Exception]] = {1: MemoryError, 3: _Contradiction, 4: NotOfThisBase}


# --- Whether models may be merged


def check_alike(models: list[Any], names: list[str]) -> None:
    """Check that models can be merged: same class, same parameters. `names`: for errors."""
    for other, name in zip(models, names, strict=True):
        if not isinstance(other, Model):
            raise TypeError(
                f"{name} is {short_repr(other)}, {type_shown(other)}; it must be one of "
                "streamptron's learners (of a pipeline, its last step: model[-1])"
            )
    first = models[0]
    if not first._can("merge"):
        raise TypeError(
            f"{names[0]} is a VotedPerceptron, which cannot be merged: it answers by a vote of all "
            "vectors it has had, and those of two models do not form one sequence. Merge a "
            "Perceptron or MulticlassPerceptron, whose average is the mean of these vectors"
        )
    for other, name in zip(models[1:], names[1:], strict=True):
        if type(other) is not type(first):
            raise TypeError(
                f"{name} is {type_shown(other)} and {names[0]} {type_shown(first)}; only "
                "models of one class can be merged"
            )
        check_parameters(other._params, first._params, name, names[0])
        if merges.secret_of(other) != merges.secret_of(first):
            raise ValueError(
                f"{name} has a different secret hash seed from {names[0]}, so the same slot means "
                "different features; start both from copies of one model, or give hash_seed"
            )


def check_parameters(params: dict[str, Any], others: dict[str, Any], name: str, other: str) -> None:
    """Check that two models have equal parameters, as far as both give them."""
    for parameter, value in others.items():
        if parameter in params and params[parameter] != value:
            raise ValueError(
                f"{name} has {parameter}={short_repr(params[parameter])} and {other} "
                f"{parameter}={short_repr(value)}; only models of the same parameters can be merged"
            )


def _check_went_on(its: Any, base: Any, name: str) -> None:
    """Check that a model's labels, and names that are objects, begin with those of the base."""
    for own, ours, what in zip(its, base, ("labels", "feature names"), strict=True):
        if ours is not None and own[: len(ours)] != ours:
            raise NotOfThisBase(
                f"{name} is not a continuation of since: its first {what} are not those of since"
            )


def _awake(models: list[Any], since: Any, names: list[str]) -> tuple[list[Any], list[str]]:
    """The models that have learned since the base, and their names. The others equal the base."""
    awake: list[Any] = []
    its_names: list[str] = []
    for model, name in zip(models, names, strict=True):
        n, before = model.n_seen, since.n_seen
        if n < before:
            raise NotOfThisBase(
                f"{name} is not a continuation of since: it has seen {n} events, and since {before}"
            )
        same = n > before or digest(model) == digest(since)
        if model.n_seen > before:  # it may have learned just now
            awake.append(model)
            its_names.append(name)
        elif not same:
            raise NotOfThisBase(
                f"{name} has seen as many events as since, {before}, and is another "
                "model: it continues another one, was given weights, or has undone an event. "
                "Give the model that it continues, or merge without since"
            )
    return awake, its_names


# --- All of them in one


def _united(lists: Any) -> dict[Any, int]:
    """Each item once, in order of first appearance, with its number."""
    each = dict.fromkeys(each for some in lists for each in some)
    return {one: number for number, one in enumerate(each)}


def _joined(like: Any, sides: list[merges.Side], calls: list[Any], y_name: Any) -> Any:
    """One model of sides with these names, the base first; None if a model has changed them."""
    labels = None if calls[0][0] is None else _united(its for its, _ in calls)
    objects = _united(its for _, its in calls)
    most = like._params.get("max_labels")
    if labels is not None and most is not None and len(labels) > most:
        raise ValueError(
            f"together the models have {len(labels)} labels, more than max_labels={most}"
        )
    to = merges.untrained(like, None if labels is None else list(labels), objects, y_name)
    for side, (own, odd) in zip(sides, calls, strict=True):
        own = [] if labels is None else [labels[label] for label in own]
        side.number(own, [objects[name] for name in odd])
    failed = merges.join(to, sides, labels, calls)
    if failed is None:
        return None
    if failed[0]:
        raise _RAISED[failed[0]](failed[1])
    return to


def merged(models: list[Any], since: Any, names: list[str]) -> Any:
    """One model of several that `check_alike` has passed; see streamptron.merge."""
    if since is not None:
        models, names = _awake(models, since, names)
        if not models:
            return deepcopy(since)
    if len(models) == 1:
        return deepcopy(models[0])
    base = since
    if since is None:
        base = merges.untrained(
            models[0], None if models[0]._get_labels() is None else [], {}, None
        )
    for _ in range(8):
        calls = [merges.names_of(model) for model in [base, *models]]
        if since is not None:
            for its, name in zip(calls[1:], names, strict=True):
                _check_went_on(its, calls[0], name)
        sides = [
            merges.Side(model, name)
            for model, name in zip([base, *models], ["since", *names], strict=True)
        ]
        try:
            made = _joined(models[0], sides, calls, base._y_name)
        except _Contradiction as error:
            raise damaged(error) from None
        if made is not None:
            return made
    raise RuntimeError("the models keep learning new labels; merge them while they do not learn")


# --- Deltas


def digest(model: Any) -> str:
    """32 digits that identify a model's state, without its parameters."""
    found = None
    while found is None:
        its = merges.names_of(model)
        found = merges.digest_of(model, its, _as_text(type(model).__name__, *its))
    return found


def _as_text(name: str, labels: Any, objects: Any) -> bytes:
    """Class, labels and names that are objects: as a C program writes them, if it could."""
    try:
        its = labels and [encode(label) for label in labels]
        text = json.dumps([name, its, [encode(each) for each in objects]], separators=(",", ":"))
        return text.encode()
    except (TypeError, RecursionError):
        return repr([name, labels, objects]).encode("utf-8", "surrogatepass")


def delta_state(model: Any, since: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a model has learned since its base: plain values, and {name: (shape, bytes)}."""
    _awake([model], since, ["the model"])
    start = merges.names_of(since)
    _check_went_on(merges.names_of(model), start, "the model")
    labels, objects, state, arrays = merges.delta_of(model, since)
    if arrays is None:
        raise NotOfThisBase(
            "the model is not a continuation of since: its first feature names are not those of "
            "since"
        )
    new = None if labels is None else labels[len(start[0] or []) :]
    return {"labels": new, "objects": objects[len(start[1]) :], **state}, arrays


def _damaged_delta(name: str, error: Exception) -> ModelFileError:
    """The error for a delta that contradicts itself."""
    return ModelFileError(
        f"{name} is damaged: {error}; the model has not changed. Ask for the delta again"
    )


def _with_all(base: Any, parts: list[Any], names: list[str], depth: int) -> Any:
    """The model that results from the deltas' parts: [(state, arrays)]."""
    calls = [merges.names_of(base)]
    labels, objects = calls[0]
    sides = [merges.Side(base, "the model")]
    try:
        for (state, arrays), name in zip(parts, names, strict=True):
            side = merges.Side(None, name)
            try:
                its = None if labels is None else [*labels, *state["labels"]]
                odd = [*objects, *state["objects"]]
                if len(set(odd)) != len(odd):
                    raise ValueError("a feature name occurs twice")
                side.lay(base, its, len(odd), state, arrays, depth)
            except WRONG as error:
                raise _damaged_delta(name, error) from error
            sides.append(side)
            calls.append((its, odd))
        try:
            return _joined(base, sides, calls, base._y_name)
        except _Contradiction as error:
            raise _damaged_delta(", ".join(names), error) from error
    finally:
        for side in sides[1:]:
            side.drop()


def apply(
    model: Any, parts: list[Any], names: list[str], check: Callable[[str], None], depth: int
) -> None:
    """Learn what shards have learned: (state, arrays) of each, in their order.

    `check` is called with the model's digest when no other thread can learn. Other threads can
    predict until the result replaces the model's state.
    """

    def learn() -> None:
        check(digest(model))
        if parts:
            merges.exchange(model, _with_all(model, parts, names, depth))

    merges.learning(model, learn)
