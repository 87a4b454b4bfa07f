"""Mails: an mbox, or a file a mail, as Maildir, MH and folders of .eml have them; an index of such.

    file begins with `From ... 12:30 ...`    an mbox: a mail from each such line to the next one
    any other file                           one mail
    with label_by="index"                    a line a mail: label, white space, its file

A mail is bytes, exactly as they lie there; of an mbox without the `From ` line, and without the
quote that the mbox has put before such lines of a text.
"""

from __future__ import annotations

import os
import re
import typing
from typing import Any

from streamptron.doors.many import count_line_ends
from streamptron.estimator.names import shown
from streamptron.files.format import Event, Format
from streamptron.files.sources import find_sources
from streamptron.files.tokens import BadLine, label_of

if typing.TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streamptron.files.sources import Block

FROM = re.compile(rb"From \S+[^\n]* \d\d?:\d\d[^\n]*\n")
NEXT = re.compile(rb"(?:\A|(?<=\n))\r?\n(?=From \S+[^\n]* \d\d?:\d\d[^\n]*\n)")
QUOTED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
HEADER_END = re.compile(rb"^\r?\n", re.MULTILINE)
MESSAGE_ID = re.compile(rb"^message-id:\s*([^\n]*(?:\n[ \t][^\n]*)*)", re.MULTILINE | re.IGNORECASE)
HEADER_MOST = 1 << 16  # bytes in which a Message-ID is looked for
ID_MOST = 250  # characters


class Mails(Format):
    """A mail, or several in an mbox."""

    def __init__(
        self, *, label_by: str | None = None, labels_of: Mapping[str, Any] | None = None
    ) -> None:
        if label_by not in (None, "folder", "index"):
            raise ValueError(f'label_by={shown(label_by)}; give "folder", "index" or None')
        if label_by is not None and labels_of is not None:
            raise ValueError("label_by and labels_of are two ways to label; give one")
        self._by = label_by
        self._of = {os.path.abspath(path): label for path, label in (labels_of or {}).items()}
        self._is_mbox = False

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        if self._by == "index":
            yield from super().items(blocks)
            return
        self._is_mbox = False
        pieces: list[bytes] = []  # of the mail that has begun
        line = 1
        blank = True  # whether the line before is empty, or there is none
        for _, first, data in blocks:
            if first == 1:
                self._is_mbox = FROM.match(data) is not None
                if not self._is_mbox and _stem(self._name())[1] == ".mbox":
                    yield 1, None
                    return
            at = 0
            if self._is_mbox and blank and pieces and FROM.match(data):
                yield line, self._unpacked(pieces)
                pieces, line = [], first
            for gap in NEXT.finditer(data) if self._is_mbox else ():
                pieces.append(data[at : gap.end()])
                whole = b"".join(pieces)
                yield line, self._unpacked([whole])
                line += count_line_ends(whole)
                pieces, at = [], gap.end()
            pieces.append(data[at:])
            blank = data.endswith((b"\n\n", b"\n\r\n")) or data in (b"\n", b"\r\n")
        if pieces:
            yield line, self._unpacked(pieces)

    def parse(self, item: bytes | None) -> Event:
        if item is None:
            raise BadLine("an mbox begins with a line `From `, and this file does not")
        if self._by == "index":
            if not item.strip():
                return None
            label, mail = self._listed(item)
        else:
            label, mail = self._label(), item
        if self.several:
            label = [] if label is None else [label]
        return mail, label, 1.0, None, message_id(mail)

    def _unpacked(self, pieces: list[bytes]) -> bytes:
        mail = b"".join(pieces)
        if not self._is_mbox:
            return mail
        # the empty line before the next `From ` is the mbox's
        end = len(mail) - (2 if mail.endswith(b"\r\n\r\n") else 1 if mail.endswith(b"\n\n") else 0)
        return QUOTED.sub(b"", mail[mail.find(b"\n") + 1 : end])

    def _name(self) -> str:
        return "" if self.source is None or self.source.path is None else self.source.path

    def _label(self) -> Any:
        path = os.path.abspath(self._name()) if self._name() else ""
        if self._of:
            inside = [top for top in self._of if path == top or path.startswith(top + os.sep)]
            return self._of[max(inside, key=len)] if inside else None
        if self._by is None or not path:
            return None
        stem, suffix = _stem(path)
        if suffix == ".mbox":
            return stem
        folder = os.path.dirname(path)
        if os.path.basename(folder) in ("cur", "new"):
            folder = os.path.dirname(folder)
        return os.path.basename(folder).lstrip(".") or None

    def _listed(self, line: bytes) -> tuple[Any, bytes]:
        """The label and the mail of a line of an index."""
        words = line.split(None, 1)
        if len(words) < 2:
            raise BadLine("no file; write a label, a TAB and the path of a mail")
        path = os.path.join(os.path.dirname(self._name()), os.fsdecode(words[1].strip()))
        try:
            with open(path, "rb") as file:
                return label_of(words[0]), file.read()
        except OSError as error:
            raise BadLine(f"{path}: {error.strerror}") from None


def in_turns(groups: list[Any]) -> tuple[str, ...]:
    """The files of several groups of sources, so mixed that each group is spread over all of it.

    A learner that sees all spam first, and then all ham, has forgotten half.
    """
    paths = [[source.name for source in find_sources(list(group))] for group in groups if group]
    turns = [
        ((at + 0.5) / len(group), number, path)
        for number, group in enumerate(paths)
        for at, path in enumerate(group)
    ]
    return tuple(path for _, _, path in sorted(turns))


def _stem(path: str) -> tuple[str, str]:
    """The name of a file and its suffix, without that of a compression."""
    name = os.path.basename(path)
    for suffix in (".gz", ".zst", ".xz", ".bz2"):
        name = name.removesuffix(suffix)
    return os.path.splitext(name)


def message_id(mail: bytes) -> str:
    """By what a mail is known: its Message-ID, without the angle brackets.

    A mail without one, or with one that is empty, not ASCII or longer than 250 characters, is known
    by its bytes: ``sha256:`` and 32 hexadecimal digits. Of several the first counts.

    Examples
    --------
    >>> message_id(b"Subject: hello\\nMessage-Id: <17@example.org>\\n\\nhello")
    '17@example.org'
    >>> message_id(b"hello")
    'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e'
    """
    end = HEADER_END.search(mail, 0, HEADER_MOST)
    found = MESSAGE_ID.search(mail, 0, end.start() if end else min(len(mail), HEADER_MOST))
    if found:
        id = b" ".join(found[1].split()).removeprefix(b"<").removesuffix(b">")
        if 0 < len(id) <= ID_MOST and id.isascii() and id.decode().isprintable():
            return id.decode()
    import hashlib  # slow to import, and few mails lack an id

    return f"sha256:{hashlib.sha256(mail).hexdigest()[:32]}"
