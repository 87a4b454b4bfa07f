"""What doors leave to Python code: unusual mappings, and numpy's types."""

from __future__ import annotations

import sys
from collections import ChainMap, UserDict
from collections.abc import Mapping
from typing import Any

from streamptron.common.names import short_repr, type_shown

# Numbered as doors/entry.pxd numbers them, from 1.
_NUMBERS = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
_STR, _BYTES = 13, 14


def unwrapped(x: Any) -> Any:
    """A UserDict or ChainMap of dicts as one dict, which is faster to read; others as they are."""
    if type(x) is UserDict and type(x.data) is dict:
        return x.data
    if type(x) is not ChainMap:
        return x
    merged: dict[Any, Any] = {}
    for each in reversed(x.maps):
        if type(each) is not dict:
            return x
        merged.update(each)
    return merged


def entries_of(x: Any, what: str) -> list[Any]:
    """A mapping's names and values, alternating; or an error that says what is wrong."""
    if not isinstance(x, Mapping):
        hint = "; for a text put Tokenizer() before the learner" * isinstance(x, str | bytes)
        raise TypeError(
            f"{what} is {short_repr(x)}, {type_shown(x)}; it must be a mapping of features to "
            f"numbers, such as {{'word': 1}}{hint}"
        )
    entries: list[Any] = []
    broken: tuple[Any, ...] = ()
    try:
        items: Any = x.items()
        try:
            pairs = iter(items)
        except TypeError:
            pairs, broken = iter(()), (items,)
        for pair in pairs:
            try:
                name, value = pair
            except (TypeError, ValueError):
                broken = (pair,)
                break
            entries.append(name)
            entries.append(value)
            pair = None  # so that a dict's iterator can reuse the tuple
    except Exception as error:
        if type(error) is RuntimeError:  # which Python raises if a dict changes while it is read
            raise RuntimeError(f"{what} is {type_shown(x)} that cannot be read: {error}") from error
        error.add_note(f"streamptron was reading the items() of {what}, {type_shown(x)}")
        raise
    if broken:
        raise TypeError(
            f"{what} is {type_shown(x)} whose items() gave {short_repr(broken[0])}, "
            f"{type_shown(broken[0])}; it must give pairs of a name and a number"
        )
    return entries


def refused_object(name: object, hashed: bool, limited: bool) -> TypeError:
    """The error for a name that is another object, if the table is hashed, limited or has pairs."""
    if hashed:
        need, kinds = "hash_bits", "None or a tuple of these"
        why = "other objects hash differently in every process"
    elif limited:
        need, kinds = "max_features", "None or a tuple of these"
        why = "other objects are stored as they are and never removed"
    else:
        need, kinds = "degree=2 or interactions", "None, a tuple or a Pair of these"
        why = "the name of a pair is written out"
    return TypeError(
        f"x has the feature name {short_repr(name)}, {type_shown(name)}; with {need} a name must "
        f"be a str, bytes, number, {kinds}, because {why}"
    )


def numpy_scalars() -> list[tuple[type, int, Any, bytes]]:
    """numpy's types, the most frequent first: each with its number, a value, and the value's bytes.

    Texts have no value and no bytes. The list is empty while numpy is still being imported.
    """
    numpy = sys.modules["numpy"]
    try:
        found = [(numpy.str_, _STR, None, b""), (numpy.bytes_, _BYTES, None, b"")]
        for code in "dqlf?iebBhHIQL":
            dtype = numpy.dtype(code)
            bits = bytes(range(1, dtype.itemsize + 1))
            number = 1 + _NUMBERS.index(dtype.str[1:])
            found.append((dtype.type, number, numpy.frombuffer(bits, dtype=dtype)[0], bits))
    except AttributeError:  # numpy is still being imported
        return []
    return found
