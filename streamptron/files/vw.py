"""Vowpal Wabbit's lines: label importance 'tag|namespace:scale name:value ..."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from streamptron.common.cells import category, float_of
from streamptron.common.errors import ParameterError, plain
from streamptron.common.names import short_repr
from streamptron.files.format import Event, Format
from streamptron.files.tokens import BadLine, decoded, number_of, value_of, words_of

# label:cost, or label:cost:probability
_COSTS = re.compile(r"\d+(:[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?){1,2}", re.IGNORECASE)


class VW(Format):
    """Label, importance and tag, and name:value by namespace."""

    def __init__(self, *, label_type: str = "number") -> None:
        if label_type not in ("number", "text"):
            raise ValueError(f'label_type={short_repr(label_type)}; give "number" or "text"')
        self._numbers = label_type == "number"

    def _label(self, word: str) -> Any:
        if self._numbers:
            try:
                return number_of(word, "the label", "")
            except BadLine as bad:
                hint = plain(str(bad)) + "for labels that are text give {label_type}"
                raise BadLine(ParameterError("label_type", "text", sentence=hint)) from None
        if not word:
            raise BadLine("the label is empty; write one between commas")
        return word

    def parse(self, item: bytes) -> Event:
        if not item.strip():
            return None
        head, *sections = decoded(item).replace("\t", " ").split("|")
        if not sections:
            raise BadLine("no bar; write label | name:value ...")
        words = words_of(head)
        tag = None
        if words and (words[-1][0] == "'" or head[-1] != " "):
            tag = words.pop().removeprefix("'")
        if len(words) > 2:
            raise BadLine(
                f"{short_repr(words[2])} after label and importance; only a 'tag may follow"
            )
        y: Any = None
        if words and _COSTS.fullmatch(words[0]):
            raise BadLine(
                f"{short_repr(words[0])} is a label with a cost, as for cost-sensitive and bandit "
                "learners, which is not supported; write label importance 'tag| name:value ..."
            )
        if self.several:
            y = self.labels(words[0].split(",") if words else [], self._label)
            y = y if y or self.label_needed else None
        elif words:
            y = self._label(words[0])
        w = float(number_of(words[1], "the importance")) if len(words) > 1 else 1.0
        if w < 0:
            raise BadLine(f"the importance {words[1]} is negative; write 0 or more")
        x: dict[str, float] = {}
        for section in sections:
            words = words_of(section)
            prefix, scale = "", 1.0
            if section[:1].strip(" "):  # a name that touches the bar is a namespace
                namespace, colon, value = words.pop(0).partition(":")
                prefix = f"{namespace}^" if namespace else ""
                scale = float(number_of(value, f"{namespace}: the scale")) if colon else 1.0
            for word in words:
                name, colon, value = word.partition(":")
                number = float_of(value) if colon else 1.0
                if not name or (colon and not value) or (number and not isfinite(number)):
                    raise BadLine(
                        f"{short_repr(word)}; write name:value, a finite number or a text for it"
                    )
                if number is None:  # a text, and so a category
                    name, number = category(name, value), 1.0
                if abs(number) >= 2**53:
                    number = value_of(value, f"{name}: the value")
                name = prefix + name
                x[name] = x.get(name, 0.0) + number * scale
        for name, number in x.items():
            if not isfinite(number):
                raise BadLine(f"{name} comes to {number}; scale it down")
        return x, y, w, None, tag
