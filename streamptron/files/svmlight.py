"""svmlight's lines: label qid:n index:value ... # tag"""

from __future__ import annotations

from math import isfinite
from typing import Any

from streamptron.files.format import Event, Format
from streamptron.files.tokens import BadLine, number_of, seen, value_of, whole_of


def _label(token: bytes) -> int | float:
    return number_of(token, "the label")


class SVMLight(Format):
    """A number as the label, and index:value for each feature."""

    def parse(self, item: bytes) -> Event:
        line, mark, comment = item.partition(b"#")
        fields = line.split()
        if not fields:
            return None
        tag = comment.strip().decode(errors="replace") if mark else None
        first = fields[0]
        y: Any = None
        if b":" not in first:
            if self.several:
                y = self.labels(fields.pop(0).split(b","), _label)
            elif b"," in first:
                raise BadLine(
                    f"several labels, {seen(first)}; write one, or read with several=True "
                    "(--learner multilabel)"
                )
            else:
                y = number_of(fields.pop(0), "the label")
        elif self.several:
            y = [] if self.label_needed else None
        elif self.label_needed:
            raise BadLine(f"{seen(first)} in the label's place; write label index:value ...")
        qid = None
        if fields and fields[0].startswith(b"qid:"):
            qid = whole_of(fields.pop(0)[4:], "qid")
        try:
            x = {int(index): float(value) for index, value in (f.split(b":") for f in fields)}
        except ValueError:
            x = {}
        if (
            len(x) < len(fields)  # an index occurs twice, or something is not a number
            or b"_" in line  # which Python allows within a number
            or not isfinite(sum(x.values()))
            or (x and (min(x) < 0 or max(x.values()) >= 2**53 or min(x.values()) <= -(2**53)))
        ):
            x = self._features(fields)
        return x, y, 1.0, qid, tag

    def _features(self, fields: list[bytes]) -> dict[int, float]:
        """The features one by one, with an error for one that is wrong."""
        x: dict[int, float] = {}
        for field in fields:
            name, colon, value = field.partition(b":")
            if not colon:
                raise BadLine(f"{seen(field)} has no colon; write index:value")
            index = whole_of(name, "index")
            if index in x:
                raise BadLine(f"the index {index} occurs twice; write it once")
            x[index] = value_of(value, f"{index}: the value")
        return x
