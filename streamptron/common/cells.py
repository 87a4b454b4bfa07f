"""Values that are not numbers: texts and gaps. Events, frames and files follow the same rules.

A text names a category: "Paris" under "city" is the feature "city=Paris" with value 1. None and the
like are gaps, and are left out. A number written as text is an error. See docs/learning.md, "Texts
and gaps".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from streamptron.common.checks import feature_value
from streamptron.common.names import short_repr, type_shown

# The parameter `missing`: leave gaps out; leave NaN out too; refuse both.
SKIP, SKIP_NAN, REFUSE = MISSING = ("skip", "skip_nan", "refuse")

NAN_HINT = "drop the row, impute the cell first, or make the learner with missing='skip_nan'"
REFUSED_HINT = "the learner was made with missing='refuse': impute it first, or leave it out"

_MAY_BEGIN_A_NUMBER = frozenset("0123456789+-.iInN \t\n\r\v\f\x1c\x1d\x1e\x1f")


def category(name: str, text: str) -> str:
    """The feature that a text under a name stands for."""
    return f"{name}={text}"


def float_of(token: bytes | str) -> float | None:
    """A token as a number, finite or not; None if it is not a number."""
    try:
        number = float(token)
    except ValueError:
        return None
    # float() also reads 1_000 and the digits of all scripts, which are texts here
    return number if token.isascii() and "_" not in str(token) else None


def is_gap(value: Any) -> bool:
    """Whether a value says that nothing is there: None, an empty text, pandas' NA and NaT.

    NaN is not a gap: it may be the result of a wrong computation.
    """
    if value is None or (isinstance(value, str) and not str.__len__(value)):
        return True
    pandas = sys.modules.get("pandas")  # whoever has its NA has imported it
    if pandas is not None and value is getattr(pandas, "NA", pandas):
        return True
    kind = type(value).__name__
    return kind == "NaTType" or (kind in ("datetime64", "timedelta64") and str(value) == "NaT")


def is_nan(value: Any) -> bool:
    """Whether a value is NaN."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, Real) and bool(value != value)


def feature_of(name: Any, value: Any, what: str, missing: str = SKIP) -> tuple[Any, float]:
    """The feature that an event's entry stands for, and its value: 0 if the entry is left out.

    Raises
    ------
    TypeError, ValueError
        If the value is not a number, category or gap. The message calls the event `what`.

    Examples
    --------
    >>> feature_of("city", "Paris", "x"), feature_of("city", None, "x"), feature_of("size", 3, "x")
    (('city=Paris', 1.0), ('city', 0.0), ('size', 3.0))
    """
    if is_gap(value):
        if missing == REFUSE:
            raise TypeError(f"{what}[{short_repr(name)}] is {short_repr(value)}; {REFUSED_HINT}")
        return name, 0.0
    if isinstance(value, str):
        return category_of(name, str.__str__(value), lambda: f"{what}[{short_repr(name)}]"), 1.0
    if missing == SKIP_NAN and is_nan(value):
        return name, 0.0
    return name, feature_value(name, value, what)


def event_of(x: Mapping[Any, Any]) -> dict[Any, float]:
    """An event with numbers only, finite or not: texts are categories, gaps are left out."""
    event = {}
    for name, value in x.items():
        if isinstance(value, str):
            feature, number = feature_of(name, value, "x")
            if number:
                event[feature] = number
        elif not is_gap(value):
            event[name] = float(value)
    return event


def category_of(name: Any, text: str, where: Callable[[], str]) -> str:
    """The feature that a text under a name stands for; `where` names the value in an error.

    Raises
    ------
    TypeError
        If the text reads as a number, or the name is not a text.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"{where()} is the text {short_repr(text)}, and its name is {type_shown(name)}; name a "
            f"category by a str, or write {short_repr({f'{name}={text}': 1})}"
        )
    if text[0] in _MAY_BEGIN_A_NUMBER and float_of(text) is not None:
        raise TypeError(
            f"{where()} is the text {short_repr(text)}, which reads as a number; write a number, "
            f"or for a category {short_repr({category(name, text): 1})}"
        )
    return category(str.__str__(name), text)


def check_once(made: list[str], names: list[Any], what: str) -> None:
    """Raise a ValueError if a category is also another feature: it would count twice.

    `made`: the features that texts became; `names`: all names of the event, these included.
    """
    plain = [name for name in names if type(name) is str]
    if len(set(plain)) < len(plain):
        for feature in made:
            if plain.count(feature) > 1:
                raise ValueError(
                    f"{what} has the feature {short_repr(feature)} twice, by name and as a "
                    "category, or as two categories; leave one out"
                )
