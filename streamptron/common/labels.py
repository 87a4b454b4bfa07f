"""What a label may be, and the error that says so."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

from streamptron.common.names import interned, is_numpy, short_repr, type_shown

# Types whose values may equal True or False: Python's, and those of numpy's that have been seen.
TRUTHS: set[type] = {int, float}


def truth_of(y: Any) -> bool:
    """True or False, for a label that equals one of them as a dict's key would: 1, 1.0."""
    try:
        hash(y)
    except TypeError:
        raise TypeError(
            f"y is {short_repr(y)}, {type_shown(y)}; Perceptron takes True or False (or 1 or 0)"
        ) from None
    if (isinstance(y, Real | Decimal) or is_numpy(y, "bool_")) and (y == 1 or y == 0):
        if is_numpy(y, "generic"):
            TRUTHS.add(type(y))
        return bool(y == 1)
    raise ValueError(
        f"y={short_repr(y)}; Perceptron takes True or False (or 1 or 0). For other labels use "
        "MulticlassPerceptron or MIRA"
    )


def label_of(y: Any) -> Any:
    """A label as it is kept: a numpy scalar or an enum's member becomes the value it equals."""
    if is_numpy(y, "generic"):
        y = y.item()
    if y is None:
        raise ValueError("y is None, which stands for no prediction; it cannot be a label")
    try:
        hash(y)
    except TypeError:
        raise TypeError(
            f"y is {short_repr(y)}, {type_shown(y)}; a label must be hashable: a str, int, "
            "bool, tuple ..."
        ) from None
    if _differs_from_itself(y):
        raise ValueError(f"y={short_repr(y)} does not equal itself; it cannot be a label")
    return _plain(y)


# How to turn an instance of a subclass into the base type, whatever its own methods return.
_EXACT: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: lambda y: bytes(memoryview(y)),
    int: int.__int__,
    float: float.__float__,
    tuple: lambda y: tuple(map(_plain, tuple.__iter__(y))),
}


def _plain(y: Any) -> Any:
    """A label as the text, number or tuple that it equals: files cannot hold a user's classes."""
    if is_numpy(y, "generic"):
        y = y.item()
    if type(y) is bool:
        return y
    for kind, exact in _EXACT.items():
        if isinstance(y, kind) and (type(y) is not kind or kind is tuple):
            plain = exact(y)
            return plain if hash(plain) == hash(y) and plain == y else y
    return y


def _differs_from_itself(y: Any) -> bool:
    """Whether a label would not be found again: a NaN, or a tuple that holds one."""
    if isinstance(y, tuple):
        return any(_differs_from_itself(part) for part in y)
    try:
        return bool(y != y)
    except Exception:  # pandas' NA is neither equal nor unequal to itself
        return True


def labels_of(labels: Any, most: int | None, checked_label: Callable[[Any], Any]) -> list[Any]:
    """The labels that a model begins with."""
    if not isinstance(labels, list):
        raise ValueError("there is no list of labels")
    if most is not None and len(labels) > most:
        raise ValueError(f"max_labels={most}; the model already has {len(labels)} labels")
    checked = [interned(checked_label(label)) for label in labels]
    if len(set(checked)) != len(checked):
        raise ValueError("a label occurs twice")
    return checked


def labels_learned(
    labels: list[Any], numbers: Any, steps: Any, order: Any, most: float
) -> tuple[list[Any], Any]:
    """Labels in the order in which rows introduce them, and the index of each row's label.

    Rows of weight 0 introduce none. `most`: the largest weight allowed.
    """
    if steps is None or not len(steps):
        return labels, numbers
    if not steps.max() <= most:
        row = int(steps.argmax())
        raise ValueError(
            f"w times the class weight is {steps[row]:g} in row {row}; it must be at most {most:g}"
        )
    if steps.all():
        return labels, numbers
    import numpy as np

    numbers = np.asarray(numbers)
    taken = np.where(steps > 0, numbers, -1)
    if order is not None:
        taken = taken[order]
    met, firsts = np.unique(taken[taken >= 0], return_index=True)
    ranked = met[np.argsort(firsts)].tolist()
    ranked += sorted(set(range(len(labels))).difference(ranked))
    places = np.empty(len(labels), dtype=np.intp)
    places[ranked] = np.arange(len(labels))
    return [labels[number] for number in ranked], np.where(numbers >= 0, places[numbers], -1)
