"""Checks of values and parameters, with errors that say what each must be."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from decimal import Decimal
from math import inf, nan
from numbers import Integral, Real
from typing import Any, NoReturn

from streamptron.common.errors import ParameterError, ParameterTypeError
from streamptron.common.names import is_numpy, short_repr, type_shown
from streamptron.engine.api import VALUE_LIMIT

WEIGHT = f"at least 0 and at most {VALUE_LIMIT:g}"  # what an event's weight must be
_EXACT = 2.0**53  # every smaller int equals a float

_NAN_HINT = (
    ", or make the learner with missing='skip_nan'. The NaN may come from a step before the "
    "learner: MinMaxScaler, for example, gives NaN for a feature that it sees for the first time; "
    "StandardScaler gives 0"
)


def are_weights(weights: Any) -> Any:
    """Which numbers of an array are valid weights."""
    return (weights >= 0.0) & (weights <= VALUE_LIMIT)


class _Fault(Exception):
    """Why a value is refused; `error` makes the exception that says so."""

    def error(self, value: object, what: str, nan_hint: str = "") -> TypeError | ValueError:
        kind = self.args[0]
        if kind == "None":
            return TypeError(f"{what} is None; leave out what is missing, or impute it first")
        if kind == "odd":
            return TypeError(
                f"{what} is {short_repr(value)}, {type_shown(value)}; it must be a number"
            )
        if kind == "NaN":
            return ValueError(
                f"{what} is NaN; leave out what is missing, or impute it first{nan_hint}"
            )
        if kind == "large":
            return ValueError(
                f"{what} is {short_repr(value)}; it must be finite and at most {VALUE_LIMIT:g} in "
                "size: scale it first"
            )
        return ValueError(
            f"{what} is {short_repr(value)}, which a float64 cannot hold exactly; scale it first, "
            f"or give float({short_repr(value)}) if that is meant. If it is a number that names "
            "something, make it part of the feature's name"
        )


def _float(value: Any, exact: bool) -> float:
    """Any real number as a float; `exact`: an int that no float equals is refused.

    A Decimal or a Fraction is rounded, as 0.1 is in a program: few of them equal a float.
    """
    if not isinstance(value, Real | Decimal):
        if is_numpy(value, "bool_"):
            return 1.0 if value else 0.0
        raise _Fault("None" if value is None else "odd")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    except ValueError:  # a signalling NaN
        number = nan
    if number != number:
        raise _Fault("NaN")
    if not abs(number) <= VALUE_LIMIT:
        raise _Fault("large")
    if exact and (
        (is_numpy(value, "longdouble") and value != number)
        or (abs(number) >= _EXACT and isinstance(value, Integral) and int(value) != int(number))
    ):
        raise _Fault("loss")
    return number


def checked_number(value: Any, what: str, exact: bool = True) -> float:
    """A number as a float, or an error that says what is wrong with `what`.

    `exact`: an int that no float equals is refused, as in an event; otherwise it is rounded.
    """
    try:
        return _float(value, exact)
    except _Fault as fault:
        raise fault.error(value, what) from None


def feature_value(name: Any, value: Any, what: str) -> float:
    """The value of a feature of the event `what`, checked in the same way."""
    try:
        return _float(value, True)
    except _Fault as fault:
        raise fault.error(value, f"{what}[{short_repr(name)}]", _NAN_HINT) from None


def choice(name: str, value: Any, choices: Sequence[str]) -> int:
    """The index of a parameter's value among its choices."""
    if not (isinstance(value, str) and value in choices):
        raise ParameterError(name, value, f"one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def truth(name: str, value: Any) -> bool:
    """A parameter that is True or False."""
    if not isinstance(value, bool):
        raise ParameterTypeError(name, value, "True or False")
    return value


def real(name: str, value: Any, low: float, high: float, wanted: str, label: Any = None) -> float:
    """A parameter as a float within bounds; `label`: which it is for, of a value per label."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise ParameterTypeError(name, value, wanted, label=label)
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not low <= number <= high:
        raise ParameterError(name, value, wanted, label=label)
    return number


def whole(name: str, value: Any, low: int, high: int, what: str = "None or an int") -> int:
    """A parameter that is an int within bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterTypeError(name, value, f"{what} from {low} to {high}")
    if not low <= value <= high:
        raise ParameterError(name, value, f"{what} from {low} to {high}")
    return value


def at_least_one(name: str, value: Any) -> int:
    """An argument that is an int of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={short_repr(value)}; it must be an int of at least 1")
    if value < 1:
        raise ValueError(f"{name}={value}; it must be at least 1")
    return int(value)


def checked_bytes(name: str, value: Any, what: str) -> bytes:
    """A parameter as bytes; any object with a buffer of bytes will do."""
    if type(value) is bytes:
        return value
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(
            f"{name} is {short_repr(value)}, {type_shown(value)}; it must be {what}"
        ) from None


def jobs_of(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for."""
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return 1 if n_jobs is None else whole("n_jobs", n_jobs, 1, 1024, "None, -1 or an int")


class ByLabel(dict[Any, Any]):
    """A learner's {label: value} parameter, which cannot be changed. A copy is a plain dict."""

    def _fixed(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "a learner's parameters cannot be changed; make one with another class_weight by "
            "clone({'class_weight': {...}})"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _fixed

    def __reduce_ex__(self, protocol: Any) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (dict(self),)
