"""Texts that are files: one text per file, labelled by its folder or by an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamptron.files.format import Event, Format
from streamptron.files.mail import Mails
from streamptron.files.sources import Block


class Documents(Mails):
    """One text per file, labelled in the same ways as mails."""

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        if self._by == "index":
            yield from Format.items(self, blocks)
        else:
            yield 1, b"".join(block.data for block in blocks)

    def parse(self, item: Any) -> Event:
        if self._by == "index" and not item.strip():
            return None
        label, text = self._labelled(item)
        return self.text(text, raw=False), label, 1.0, None, None
