"""What a format of lines is: how a file falls into items, and what an item says."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator
from typing import Any

from streamptron.files.sources import MAX_LINE, Block

# What a line says: x, y, w, qid, tag. Or nothing, if it is blank.
Event = tuple[Any, Any, float, int | None, str | None] | None


class Format:
    """A format: how its files fall into items, and what an item says."""

    max_line = MAX_LINE
    # fields that were asked for and have not occurred yet
    unseen: typing.AbstractSet[Any] = frozenset()
    # whether a line without a label is bad, in formats that have a place for it
    label_needed = True
    # whether the last event's text had bytes that cannot be decoded
    replaced = False

    def text(self, data: bytes, raw: bool) -> str | bytes:
        """A text, with U+FFFD for what is not UTF-8."""
        if raw:
            return data
        self.replaced = False
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.replaced = True
            return data.decode(errors="replace")

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        """(number of its first line, item) of a file; the lines, unless a format says otherwise."""
        for _, first, data in blocks:
            lines = data.replace(b"\r\n", b"\n").split(b"\n")
            if not lines[-1]:
                lines.pop()
            yield from enumerate(lines, first)

    def parse(self, item: Any) -> Event:
        """The event of an item; None if it is blank, and BadLine if it is bad."""
        raise NotImplementedError
