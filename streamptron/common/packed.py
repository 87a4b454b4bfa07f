"""Events as bytes, if they have names that are objects: only Python can write and read these.

The format is that of engine/exchange/packed.h, which writes all other events. A name that is an
object is written as JSON, as in a model file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Mapping
from typing import Any

from streamptron.common.cells import feature_of
from streamptron.common.names import FLOAT, INT, OBJECT, STR, count_packed, name_plain
from streamptron.common.values import decode, encoded

_LENGTH = 15  # in a head: the length comes next


def event_packed(x: Mapping[Any, Any], missing: str) -> tuple[bytes, int]:
    """The entries of an event, and how many there are.

    Raises
    ------
    TypeError
        If a name is an object that no model file can hold.
    """
    entries = []
    for name, value in x.items():
        name, number = feature_of(name, value, "x", missing)
        if number != 0.0:
            kind, plain = name_plain(name)
            entries.append(_entry(kind, _name(kind, plain), number))
    return b"".join(entries), len(entries)


def _name(kind: int, plain: Any) -> bytes:
    if kind == STR:
        return str(plain).encode("utf-8", "surrogatepass")
    if kind == INT:
        number = plain << 1 if plain >= 0 else ~(plain << 1)
        return int(number).to_bytes((number.bit_length() + 7) // 8, "little")
    if kind == FLOAT:
        return struct.pack("<d", plain)
    if kind == OBJECT:
        parts = encoded(plain, "x has a feature name that no ticket can hold:")
        return json.dumps(parts, separators=(",", ":")).encode()
    return bytes(plain)


def _entry(kind: int, name: bytes, number: float) -> bytes:
    head = bytes([(number != 1.0) << 7 | kind << 4 | min(len(name), _LENGTH)])
    if len(name) >= _LENGTH:
        head += count_packed(len(name))
    return head + name + (b"" if number == 1.0 else b"\xff" + struct.pack("<d", number))


def object_name(text: bytes) -> Hashable:
    """A name that is an object, from its JSON.

    Raises
    ------
    ValueError
        If the JSON does not stand for such a name.
    """
    name: Hashable = decode(json.loads(text))
    if name_plain(name)[0] != OBJECT:
        raise ValueError("a feature name is stored as the wrong kind")
    return name
