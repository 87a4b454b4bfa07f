"""``eval --wrong``: the events that were answered wrongly."""

from __future__ import annotations

from typing import Any

from streamptron.command.blocks import Block
from streamptron.common.names import short_repr
from streamptron.common.table import table

WIDTH = 60  # characters of a text that are shown


class Wrong:
    """The first n events of some files that were answered wrongly.

    Attributes
    ----------
    found
        For each event its place, file:line; its label; the answer; and its text, if it has one.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.found: list[dict[str, str]] = []

    def __call__(self, block: Block) -> None:
        """Look at a block that was answered."""
        texts = block.texts() if len(self.found) < self.n else ()
        for row in range(block.n):
            if len(self.found) == self.n:
                return
            if block.is_wrong(row):
                label, answer = block.shown(row)
                place = block.places[row]
                text = texts[place].decode(errors="replace") if texts else ""
                event = {"place": f"{block.file}:{block.line(place)}", "label": str(label)}
                self.found.append({**event, "answer": answer, "text": text})

    def __str__(self) -> str:
        rows: list[tuple[Any, ...]] = [("wrong", "label", "answer", "text")]
        for event in self.found:
            *words, text = event.values()
            rows.append((*words, short_repr(text, WIDTH) if text else ""))
        return table(rows, left=4)
