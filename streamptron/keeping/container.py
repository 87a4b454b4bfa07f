"""The format that model files and deltas share: a header of texts, and arrays.

The engine writes headers, and checks those that are read. This module has the texts that only
Python can write: a learner's parameters, its labels, and feature names that are objects.
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
    """The checksum of buffers, one after the other."""
    crc = 0
    for buffer in buffers:
        crc = zlib.crc32(buffer, crc)
    return crc


def packed(texts: dict[str, str], arrays: dict[str, Any], delta: bool = False) -> list[Any]:
    """The bytes of a file or a delta: its header, and its arrays one after the other."""
    buffers = buffers_of(arrays, delta)
    return [header_write(texts, arrays, checksum(buffers), delta), *buffers]


def text_of(part: Any) -> str:
    """A part of a header as text."""
    return _ENCODER.encode(part)


def labels_text(labels: list[Any] | None) -> str:
    """The header's text for the labels."""
    return text_of(labels and [encoded(label, "the label") for label in labels])


def objects_text(objects: list[Any]) -> str:
    """The header's text for feature names that are objects."""
    return text_of([encoded(name, "the feature name") for name in objects])


class Texts:
    """The texts of a header that the engine has checked, and the values in them."""

    def __init__(self, header: bytes) -> None:
        self.texts: dict[str, str] = json.loads(header[8:])["__metadata__"]

    def __contains__(self, name: str) -> bool:
        return name in self.texts

    def part(self, name: str) -> Any:
        """The value of a text; a KeyError if there is none."""
        return _DECODER.decode(self.texts[name])

    def parameters(self, name: str) -> dict[str, Any]:
        """The parameters of a learner or tokenizer."""
        return {name: decoded_parameter(name, value) for name, value in self.part(name).items()}

    def kept(self) -> dict[str, Any]:
        """Labels, feature names that are objects, and the engine's texts of its counters."""
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
