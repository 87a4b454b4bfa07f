"""A block of JSON lines that the engine reads and answers, without a Python object for each."""

from __future__ import annotations

import json
import typing
from typing import Any

from streamptron.doors.batch import Questions
from streamptron.service.bad import OF_THE_LIBRARY

if typing.TYPE_CHECKING:
    from collections.abc import Container

    from streamptron.service.served import Served


class Block:
    """Lines that a model has answered. A block can be made on any thread.

    Parameters
    ----------
    model, version
        The model that answers, and the version to write into the answers.
    known
        Ids whose lines are left to the caller.
    lines, end
        Bytes of whole lines, and where the block ends in them.

    Attributes
    ----------
    others
        Lines that are more than just a text; the caller answers them.
    places
        The indices of these among all lines.
    n_lines
        The number of lines, without blank ones.
    counts
        How many of the engine's answers have each label.
    """

    def __init__(
        self, model: Served, version: int, known: Container[str], lines: bytes, end: int
    ) -> None:
        self.counts: list[tuple[Any, int]] = []
        self._text: bytes | None = None
        try:
            self._questions = Questions(model.before, lines, 0, end, known)
            labels, outputs, p = model.answers(self._questions)
        except OF_THE_LIBRARY:  # a line is wrong; answering them one by one shows which
            self.others = without_blank(lines[:end])
            self.n_lines = len(self.others)
            self.places = list(range(self.n_lines))
            self._found = None
            return
        self.others, self.places = self._questions.others, self._questions.other_lines
        self.n_lines = self._questions.n_lines
        heads = [head.encode() for head in heads_of(labels)]
        self._found = labels, heads, f',"version":{version}}}'.encode(), outputs, p
        if not self.others:
            self._text = self.answered([])

    def answered(self, others: list[bytes]) -> bytes:
        """All answers as lines; `others` are the caller's answers."""
        if self._text is not None:
            return self._text
        if self._found is None:
            return b"".join(line + b"\n" for line in others)
        labels, heads, tail, outputs, p = self._found
        text: bytes
        text, counts = self._questions.answered(heads, tail, outputs, p, others)
        self.counts = list(zip([*labels, None], counts, strict=True))
        return text


def heads_of(labels: list[Any]) -> list[str]:
    """The beginning of an answer for each label; the last is for no label."""
    heads = [f'"label":{json.dumps(label)},"probability":' for label in labels]
    return [*heads, '"label":null,"probability":null']


def without_blank(block: bytes) -> list[bytes]:
    """The lines of a block, without blank ones."""
    return [line for line in block.split(b"\n") if line.strip()]
