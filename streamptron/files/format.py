"""What a format of lines is: how a file falls into items, and what an item says."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from streamptron.common.names import short_repr
from streamptron.files.sources import MAX_LINE, Block, Source
from streamptron.files.tokens import BadLine

T = TypeVar("T")

# What a line says: x, y, w, qid, tag. Or nothing, if it is blank.
Event = tuple[Any, Any, float, int | None, str | None] | None


class Format:
    """A format: how its files fall into items, and what an item says."""

    max_line = MAX_LINE
    # fields that were asked for and have not occurred yet
    unseen: typing.AbstractSet[Any] = frozenset()
    # the last line's object, of JSON lines
    record: dict[str, Any] | None = None
    # the columns of CSV, once they are known
    header: list[str] | None = None
    # whether a line without a label is bad, in formats that have a place for it
    label_needed = True
    # whether labels are read
    labels_asked = True
    # whether an event has a list of labels, or a dict of which are there
    several = False
    # what separates them, in formats that leave that open; None: the format says it
    separator: str | None = None
    # the file that is read
    source: Source | None = None
    # files of folders that are not of the format
    left_out: typing.Sequence[str] = ()
    # whether the last event's text had bytes that cannot be decoded
    replaced = False

    def labels(self, tokens: Iterable[T], label: Callable[[T], Any]) -> list[Any]:
        """The labels that pieces of a line are, each once."""
        found = [label(token) for token in tokens]
        if len(set(found)) < len(found):
            twice = next(y for i, y in enumerate(found) if y in found[:i])
            raise BadLine(f"the label {short_repr(twice)} occurs twice; write it once")
        return found

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
