"""Pieces of a line as text, numbers and names, or an error that says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any

from streamptron.common.cells import float_of
from streamptron.common.errors import ParameterError, plain
from streamptron.common.names import short_repr, type_shown


class BadLine(Exception):
    """What is wrong with a line and what to do, as a sentence or a ParameterError."""


def decoded(data: bytes) -> str:
    """Bytes that must be UTF-8, as text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadLine(f"not UTF-8 ({error}); give the file's encoding, or convert it") from None


def label_of(data: bytes) -> str:
    """A label that is text."""
    if not data:
        raise BadLine("the label is empty; give each line one")
    return decoded(data)


def words_of(text: str) -> list[str]:
    """The words between spaces."""
    return [word for word in text.split(" ") if word]  # other white space does not separate words


def valid(text: str, what: str) -> str:
    """A label or a name, checked to be valid in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadLine(
            f"{what} {short_repr(text)} is not UTF-8; give the file's encoding, or convert it"
        ) from None
    return text


def replaced(text: str) -> str:
    """A text, with U+FFFD in place of what UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def parsed_number(token: bytes | str) -> int | float | None:
    """A token as a number, finite or not, an int if it is whole; None if it is not a number."""
    number = float_of(token)
    if number is None or not number.is_integer():
        return number
    exact = abs(number) < 2**53 or not token[1:].isdigit()
    return int(number if exact else token)


def number_of(token: bytes | str, what: str, hint: str = "write one") -> int | float:
    """A token as a finite number, or a BadLine that names it."""
    number = parsed_number(token)
    if number is None or not isfinite(number):
        raise BadLine(f"{what} {seen(token)} is not a finite number; {hint}")
    return number


def held(number: float) -> bool:
    """Whether a float64 can hold a finite number exactly; an int may have too many digits."""
    if abs(number) < 2**53 or isinstance(number, float):
        return True
    return abs(number) < 2**1023 and int(float(number)) == number


def value_of(token: bytes | str, what: str) -> float:
    """A feature's number, or a BadLine if it is not finite or no float64 equals it."""
    number = number_of(token, what)
    value = float(number)
    if value != number:
        raise BadLine(f"{what} {number} is an int that a float64 cannot hold exactly; scale it")
    return value


def whole_of(token: bytes, what: str) -> int:
    """An int of at least 0."""
    try:
        number = int(token)
    except ValueError:
        number = -1
    if number < 0 or b"_" in token:
        raise BadLine(f"the {what} {seen(token)}; write an int from 0")
    return number


def seen(token: bytes | str) -> str:
    """A piece of a file as an error shows it."""
    return short_repr(token.decode(errors="replace") if isinstance(token, bytes) else token)


def listed(names: Any, option: str) -> list[Any]:
    """Names as a list, checked; an empty one for None."""
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{option} is {type_shown(names)}; give a list of names")
    found = list(names)
    if repeated := [name for at, name in enumerate(found) if name in found[:at]]:
        raise ValueError(f"{option} has {short_repr(repeated[0])} twice; give it once")
    return found


def texts_of(text: Any) -> list[Any]:
    """The field or fields of texts as a list; an empty one for None."""
    if text is None or isinstance(text, list):
        return listed(text, "text")
    return [text]


def check_apart(texts: list[Any], features: list[Any] | None) -> None:
    """Raise an error if a field is both a text and a feature."""
    for field in texts:
        if field in (features or ()):
            raise ParameterError(
                "text",
                texts,
                "other fields than features",
                f"{{text!s}} and {{features!s}} both have {plain(short_repr(field))}; give it to "
                "one",
            )


def put(x: dict[str, Any], name: str, value: Any) -> None:
    """Put a feature into an event; an error if the event has it already."""
    if name in x:
        raise BadLine(
            f"the feature {short_repr(name)} is there twice, by name and as a category; leave one "
            "of the two out"
        )
    x[name] = value
