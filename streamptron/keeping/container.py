"""What a model file and a delta are made of alike: a header of texts, and arrays.

The engine writes the header, and checks one that is read. Here are the texts that are Python's: a
learner's parameters, its labels and its odd names.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from streamptron.common.values import decode, decoded_parameter, encoded
from streamptron.doors.state import array_names, header_write
from streamptron.keeping.layout import COUNTS

_FILE, _DELTA = array_names()
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def buffers_of(arrays: dict[str, Any], delta: bool = False) -> list[Any]:
    """The bytes of some arrays, {name: (shape, bytes)}, in their order."""
    return [arrays[name][1] for name in (_DELTA if delta else _FILE) if name in arrays]


def checksum(buffers: list[Any]) -> int:
    """The checksum of bytes one behind the other."""
    crc = 0
    for buffer in buffers:
        crc = zlib.crc32(buffer, crc)
    return crc


def packed(texts: dict[str, str], arrays: dict[str, Any], delta: bool = False) -> list[Any]:
    """A file's bytes or a delta's: its header, and its arrays one behind the other."""
    buffers = buffers_of(arrays, delta)
    return [header_write(texts, arrays, checksum(buffers), delta), *buffers]


def text_of(part: Any) -> str:
    """A part of a header."""
    return _ENCODER.encode(part)


def labels_text(labels: list[Any] | None) -> str:
    """The text for its labels."""
    return text_of(labels and [encoded(label, "the label") for label in labels])


def objects_text(objects: list[Any]) -> str:
    """The text for its odd names of features."""
    return text_of([encoded(name, "the feature name") for name in objects])


class Texts:
    """The texts of a header that the engine has checked, and what they say."""

    def __init__(self, header: bytes) -> None:
        self.texts: dict[str, str] = json.loads(header[8:])["__metadata__"]

    def __contains__(self, name: str) -> bool:
        return name in self.texts

    def part(self, name: str) -> Any:
        """What a text says; a KeyError if there is none."""
        return _DECODER.decode(self.texts[name])

    def parameters(self, name: str) -> dict[str, Any]:
        """The parameters of a learner or tokenizer."""
        return {name: decoded_parameter(name, value) for name, value in self.part(name).items()}

    def kept(self) -> dict[str, Any]:
        """Labels, odd names, and the engine's texts of what was counted."""
        labels = self.part("labels")
        return {
            "labels": None if labels is None else [decode(label) for label in labels],
            "objects": [decode(name) for name in self.part("objects")],
            **{name: self.texts[name] for name in COUNTS if name in self.texts},
        }


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no name may occur twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in the header")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once)
