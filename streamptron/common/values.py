"""Values in a model file's header: only those that can be rebuilt without running code."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from streamptron.common.names import is_exact, short_repr, type_shown

BY_LABEL = ("class_weight", "false_positive_rate")  # parameters of a learner: {label: number}


def encode(value: Any) -> Any:
    """A value as JSON can hold it, to the last bit; TypeError if it cannot.

    Examples
    --------
    >>> encode(("new", 1, 0.5))
    ['tuple', 'new', 1, ['float', '0x1.0000000000000p-1']]
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if abs(value) < 2**53 else ["int", hex(value)]
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is tuple:
        return ["tuple", *map(encode, value)]
    if kind is list:
        return ["list", *map(encode, value)]
    if kind is dict:
        return ["dict", *([encode(name), encode(part)] for name, part in value.items())]
    if kind is Decimal:
        return ["Decimal", str(value)]
    if is_exact(kind):
        return ["Fraction", hex(value.numerator), hex(value.denominator)]
    datetime = sys.modules.get("datetime")  # a program that has a date has imported it
    if datetime is not None and kind in (datetime.date, datetime.datetime):
        text = value.isoformat()
        if repr(kind.fromisoformat(text)) == repr(value):  # not with a named time zone
            return [kind.__name__, text]
    raise TypeError(
        f"{short_repr(value)} is {type_shown(value)}, which a model file cannot hold: it must be a "
        "str, bytes, bool, int, float, complex, None, Decimal, Fraction, date, datetime (in no "
        "named time zone) or a tuple, list or dict of these. Use such a value, or pickle the model"
    )


def _fraction(above: str, below: str) -> Any:
    from fractions import Fraction

    return Fraction(int(above, 16), int(below, 16))


def _of_datetime(kind: str, text: str) -> Any:
    import datetime

    return getattr(datetime, kind).fromisoformat(text)


DECODERS: dict[str, Callable[..., Any]] = {
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "complex": lambda real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "bytes": bytes.fromhex,
    "tuple": lambda *parts: tuple(map(decode, parts)),
    "list": lambda *parts: list(map(decode, parts)),
    "dict": lambda *items: {decode(name): decode(part) for name, part in items},
    "Decimal": Decimal,
    "Fraction": _fraction,
    "date": partial(_of_datetime, "date"),
    "datetime": partial(_of_datetime, "datetime"),
}


def decode(encoded: Any) -> Any:
    """The value that ``encode`` was given.

    Examples
    --------
    >>> decode(encode(("new", 1, 0.5)))
    ('new', 1, 0.5)
    """
    if isinstance(encoded, list):
        kind, *parts = encoded
        return DECODERS[kind](*parts)
    if isinstance(encoded, float | dict):
        raise ValueError(f"{short_repr(encoded)} is not an encoded value")
    return encoded


def encoded(value: Any, what: str) -> Any:
    """The same, with an error that begins with `what`."""
    try:
        return encode(value)
    except TypeError as error:
        raise TypeError(f"{what} {error}") from None
    except RecursionError:
        raise TypeError(
            f"{what} {short_repr(value)} is nested too deeply for a model file"
        ) from None


def _number(value: Any) -> Any:
    """A numpy number as the Python number that it equals."""
    return value.item() if type(value).__module__ == "numpy" else value


def _encoded_parameter(name: str, value: Any) -> Any:
    if name in BY_LABEL and value is not None:
        return [
            [encoded(_number(label), f"in {name} the label"), encoded(_number(w), name)]
            for label, w in value.items()
        ]
    return encoded(_number(value), f"the parameter {name}")


def encoded_parameters(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a learner or tokenizer, by name."""
    return {name: _encoded_parameter(name, value) for name, value in params.items()}


def encoded_position(position: Any) -> Any:
    """A position as a file holds it; TypeError if it cannot."""
    return encoded(position, "position: ")


def decoded_parameter(name: str, encoded: Any) -> Any:
    """One of the `encoded_parameters`, decoded."""
    if name in BY_LABEL and encoded is not None:
        return {decode(label): decode(weight) for label, weight in encoded}
    return decode(encoded)


class JsonText(str):
    """Metadata that is JSON already, because we wrote it."""


def kept_metadata(metadata: Any) -> str:
    """The user's metadata as JSON; TypeError if JSON would give back something else."""
    if metadata is None:
        return "{}"
    if isinstance(metadata, JsonText):
        return str(metadata)
    with contextlib.suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(metadata, allow_nan=False)
        if isinstance(metadata, dict) and json.loads(text) == metadata:
            return text
    raise TypeError(
        f"metadata={short_repr(metadata)} would not come back from JSON as it is; it must be a "
        "dict of str keys, and of str, finite numbers, bool, None, lists and such dicts"
    )
