"""A block of lines of JSON that the engine reads and answers, without an object for each."""

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
    """Lines that a model has answered. It can be made on any thread.

    Parameters
    ----------
    model, version
        What answers, and how the answers name it.
    known
        Ids whose lines are left to the caller.
    lines, end
        Bytes of whole lines, and where among them it ends.

    Attributes
    ----------
    others
        Lines that are not a text alone; the caller answers them.
    places
        Where these are among all lines, from 0.
    n_lines
        All lines but blank ones.
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
        except OF_THE_LIBRARY:  # one of them is wrong; which one is found singly
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
        """All answers as lines, with those to the others."""
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
    """How an answer begins, by its label; the last one is without."""
    heads = [f'"label":{json.dumps(label)},"probability":' for label in labels]
    return [*heads, '"label":null,"probability":null']


def without_blank(block: bytes) -> list[bytes]:
    """The lines of a block but blank ones."""
    return [line for line in block.split(b"\n") if line.strip()]
