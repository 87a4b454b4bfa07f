"""JSON lines: one object per line, with fields that are features or texts."""

from __future__ import annotations

import json
from functools import partial
from math import isfinite
from typing import Any, NoReturn

from streamptron.common.cells import category, is_gap
from streamptron.common.errors import ParameterError
from streamptron.common.names import short_repr
from streamptron.files.format import Event, Format
from streamptron.files.tokens import (
    BadLine,
    check_apart,
    decoded,
    held,
    listed,
    put,
    replaced,
    texts_of,
    valid,
)

Path = tuple[tuple[str, ...], ...]  # sequences of keys, each of which may lead to a field


class JSONLines(Format):
    """One object per line."""

    def __init__(self, *, label: Any, text: Any = None, features: Any = None) -> None:
        if text is None and features is None:
            raise ParameterError(
                "text",
                text,
                "the field of x, or features",
                "give {text!s}, {features!s} or both: the field or fields of x",
            )
        self._label = None if label is None else path_of(label, "label")
        self._texts = [(name_of(field), path_of(field, "text")) for field in texts_of(text)]
        check_apart(texts_of(text), listed(features, "features"))
        self._one = features is None and not isinstance(text, list)  # x is a text
        self._features = [
            (name_of(field), path_of(field, "features")) for field in listed(features, "features")
        ]
        self.unseen = {name for name, _ in self._features}
        self._decode = json.JSONDecoder(
            object_pairs_hook=_object, parse_constant=_constant, strict=True
        ).decode

    def parse(self, item: bytes) -> Event:
        self.record = None
        if not item.strip():
            return None
        try:
            record = self._decode(decoded(item))
        except ValueError as error:
            raise BadLine(f"not JSON ({error}); write one object per line") from None
        except RecursionError:
            raise BadLine("JSON that is nested too deeply; write flat objects") from None
        if not isinstance(record, dict):
            raise BadLine(
                f"JSON, but not an object: {short_repr(record)}; write one object per line"
            )
        self.record = record
        y = None
        if self._label is not None:
            y = field_of(record, self._label)
            y = self._set(y) if self.several else self._checked(y, self.label_needed)
        if self._one:
            text = field_of(record, self._texts[0][1])
            if not isinstance(text, str):
                raise BadLine(f"the text {short_repr(text)}; it must be a text, and not missing")
            return replaced(text), y, 1.0, None, None
        x: dict[str, Any] = {}
        for name, path in self._texts:
            text = field_of(record, path)
            if not isinstance(text, str | None):
                raise BadLine(f"{name}: the text {short_repr(text)}; it must be a text")
            put(x, name, replaced(text or ""))
        for name, path in self._features:
            value = field_of(record, path)
            if not is_gap(value):
                _add(x, name, value)
        if self.unseen:
            self.unseen = {
                name
                for name, path in self._features
                if name in self.unseen and field_of(record, path) is None
            }
        return x, y, 1.0, None, None

    def _set(self, y: Any) -> Any:
        """The labels of a list; or of an object, which says nothing about those not in it."""
        if isinstance(y, list):
            return self.labels(y, partial(self._checked, needed=True))
        if isinstance(y, dict):
            return {self._checked(label, True): _truth(there, label) for label, there in y.items()}
        if y is not None or self.label_needed:
            raise BadLine(
                f"the labels {short_repr(y)}; they must be a list, or an object of true and false, "
                "and not missing"
            )
        return None

    @staticmethod
    def _checked(y: Any, needed: bool) -> Any:
        """A label as it is, or a BadLine."""
        if isinstance(y, str):
            y = valid(y, "the label")
        elif not _is_number(y) and (y is not None or needed):
            raise BadLine(
                f"the label {short_repr(y)}; it must be a text, a number or true or false, and not "
                "missing"
            )
        if y == "":
            raise BadLine("the label is empty; give each line one")
        return y


def path_of(field: Any, option: str) -> Path:
    """The ways to a field: the key with this name or, if the name has dots, keys in objects."""
    if isinstance(field, str):
        parts = tuple(field.split("."))
        return ((field,), parts) if len(parts) > 1 else (parts,)
    if not isinstance(field, tuple) or not all(isinstance(key, str) for key in field) or not field:
        raise TypeError(
            f"{option} has {short_repr(field)}; give a field's name, with dots into objects, or a "
            "tuple of names"
        )
    return (field,)


def name_of(field: Any) -> str:
    """A field's name in an event."""
    return field if isinstance(field, str) else ".".join(field)


def field_of(record: Any, path: Path) -> Any:
    """The value of a field of an object; None if it is missing."""
    for keys in path:
        found = record
        for key in keys:
            if not isinstance(found, dict):
                break
            found = found.get(key)
        else:
            if found is not None:
                return found
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _truth(value: Any, label: str) -> bool:
    """Whether the event has a label, as a bool."""
    if not _is_number(value) or value not in (0, 1):
        raise BadLine(
            f"the label {short_repr(label)} has {short_repr(value)}; it must be true if the event "
            "has the label, or false"
        )
    return bool(value)


def _add(x: dict[str, float], name: str, value: Any) -> None:
    """Put the feature of a JSON field into x."""
    if isinstance(value, str):
        put(x, category(name, valid(value, name)), 1)
    elif isinstance(value, bool):
        put(x, name, int(value))
    elif _is_number(value):
        if not held(value):
            raise BadLine(
                f"{name}: {value} is an int that a float64 cannot hold exactly, as ids are; leave "
                "it out of the features, or write it as a text"
            )
        put(x, name, value)
    else:
        raise BadLine(
            f"{name}: {short_repr(value)}; a feature must be a finite number, a text, true or false"
        )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadLine(f"the key {short_repr(twice)} occurs twice; write it once")
    return record


def _constant(name: str) -> NoReturn:
    raise BadLine(f"{name} is not JSON; write a finite number, or null")
