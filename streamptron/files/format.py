"""The base class of formats: how to split a file into items, and how to read an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, TypeVar

from streamptron.common.names import short_repr
from streamptron.files.sources import MAX_LINE, Block, Source
from streamptron.files.tokens import BadLine

T = TypeVar("T")

# What a line gives: x, y, w, qid, tag. None if it is blank.
Event = tuple[Any, Any, float, int | None, str | None] | None


class Format:
    """A format: how to split its files into items, and how to read an item."""

    max_line = MAX_LINE
    # requested fields that have not occurred yet
    unseen: Set[Any] = frozenset()
    # for JSON lines: the last line's object
    record: dict[str, Any] | None = None
    # for CSV: the columns, once they are known
    header: list[str] | None = None
    # whether a line without a label is bad, in formats that have a place for it
    label_needed = True
    # whether labels are read
    labels_asked = True
    # whether an event has several labels: a list, or a dict of truth values
    several = False
    # what separates several labels, if the user can choose it; None: the format says it
    separator: str | None = None
    # the file that is read
    source: Source | None = None
    # files found in folders that are not of this format
    left_out: Sequence[str] = ()
    # whether the last event's text had bytes that cannot be decoded
    replaced = False

    def labels(self, tokens: Iterable[T], label: Callable[[T], Any]) -> list[Any]:
        """The labels of pieces of a line; an error if one occurs twice."""
        found = [label(token) for token in tokens]
        if len(set(found)) < len(found):
            twice = next(y for i, y in enumerate(found) if y in found[:i])
            raise BadLine(f"the label {short_repr(twice)} occurs twice; write it once")
        return found

    def text(self, data: bytes, raw: bool) -> str | bytes:
        """A text, with U+FFFD in place of what is not UTF-8."""
        if raw:
            return data
        self.replaced = False
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.replaced = True
            return data.decode(errors="replace")

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        """(number of the first line, item) of each item of a file; by default, its lines."""
        for _, first, data in blocks:
            lines = data.replace(b"\r\n", b"\n").split(b"\n")
            if not lines[-1]:
                lines.pop()
            yield from enumerate(lines, first)

    def parse(self, item: Any) -> Event:
        """The event of an item; None if it is blank, and BadLine if it is bad."""
        raise NotImplementedError
