"""Mails: from an mbox, from files of one mail each (Maildir, MH, .eml), or from an index of files.

    file begins with a line `From `    an mbox, split where mails begin: see mbox.py
    any other file                     one mail
    with label_by="index"              one mail per line: label, white space, its file

A mail is the bytes of its file, unchanged. In an mbox, the `From ` line does not belong to the
mail, nor does the quote that the mbox puts before such lines in the text. Folders may contain other
files, such as a mail program's index: a file without a mail's name must begin like a mail.
"""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamptron.common.names import short_repr
from streamptron.files.format import Event, Format
from streamptron.files.mbox import Cutter, begins, first_lines
from streamptron.files.sources import Block, find_sources
from streamptron.files.tokens import BadLine, label_of

HEADER_MOST = 1 << 16  # bytes that are searched for fields
ID_MOST = 250  # characters
# How a mail begins: with a field's name and a colon, or with the `From ` line of an mbox.
BEGINNING = re.compile(rb"[\r\n]*>?(?:From |[A-Za-z][\w.-]*[ \t]*:)")


class Mails(Format):
    """A mail, or several in an mbox."""

    def __init__(
        self, *, label_by: str | None = None, labels_of: Mapping[str, Any] | None = None
    ) -> None:
        if label_by not in (None, "folder", "index"):
            raise ValueError(f'label_by={short_repr(label_by)}; give "folder", "index" or None')
        if label_by is not None and labels_of is not None:
            raise ValueError("label_by and labels_of are two ways to label; give one")
        self._by = label_by
        self._of = {os.path.abspath(path): label for path, label in (labels_of or {}).items()}
        self._others: list[str] = []
        self.left_out = self._others

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        if self._by == "index":
            yield from super().items(blocks)
            return
        blocks, head = iter(blocks), b""
        first: list[Block] = []
        is_mbox: bool | None = None
        while is_mbox is None and (block := next(blocks, None)):
            first.append(block)
            head += block.data
            is_mbox = begins(head)
        if is_mbox:
            yield from Cutter().mails(itertools.chain(first, blocks))
        elif first and self._is_other(head):
            self._others.append(self._name())
        elif first and _stem(self._name())[1] == ".mbox":
            yield 1, BadLine(_no_mbox(head))
        elif first:
            mail = b"".join([head, *(block.data for block in blocks)])
            if (n := first_lines(mail)) > 1:
                warnings.warn(
                    f"{self.source.name if self.source else 'a file'} is read as one mail, though "
                    f"{n} of its lines look like the beginning of a mail in an mbox, `From "
                    "a@example.org Mon Jan  1 12:30:00 2024`; an mbox must begin with such a line",
                    stacklevel=2,
                )
            yield 1, mail

    def _is_other(self, head: bytes) -> bool:
        """Whether a file of a folder is not a mail."""
        if self.source is None or not self._name():
            return False
        path = os.path.abspath(self._name())
        if not self.source.listed and (not self._of or path in self._of):
            return False
        folder, name = os.path.split(path)
        is_mail = os.path.basename(folder) in ("cur", "new") or name.isdigit()
        return not (is_mail or _stem(name)[1] in (".eml", ".mbox") or BEGINNING.match(head))

    def parse(self, item: bytes | BadLine) -> Event:
        if isinstance(item, BadLine):
            raise item
        if self._by == "index" and not item.strip():
            return None
        label, mail = self._labelled(item)
        return mail, label, 1.0, None, message_id(mail)

    def _labelled(self, item: bytes) -> tuple[Any, bytes]:
        """The label of an item, and the contents of its file."""
        label, data = self._listed(item) if self._by == "index" else (self._label(), item)
        if self.several:
            label = [] if label is None else [label]
        return label, data

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
    """The files of several groups of sources, mixed so that each group is spread evenly.

    A learner that sees all spam first and then all ham forgets half of what it has learned.
    """
    paths = [[source.name for source in find_sources(list(group))] for group in groups if group]
    turns = [
        ((at + 0.5) / len(group), number, path)
        for number, group in enumerate(paths)
        for at, path in enumerate(group)
    ]
    return tuple(path for _, _, path in sorted(turns))


def _no_mbox(head: bytes) -> str:
    """Why a file whose name ends in .mbox is not an mbox."""
    first = head.lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")
    if first.startswith(b"From "):
        return (
            f"it begins with {short_repr(first, 60)}; an mbox begins with a line `From ` that has "
            "a date, or that is followed by a header's field, such as To: or Date:"
        )
    return f"an mbox begins with a line `From `, but this file begins with {short_repr(first, 60)}"


def _stem(path: str) -> tuple[str, str]:
    """The name of a file and its suffix, without that of a compression."""
    name = os.path.basename(path)
    for suffix in (".gz", ".zst", ".xz", ".bz2"):
        name = name.removesuffix(suffix)
    return os.path.splitext(name)


def message_id(mail: bytes) -> str:
    """The Message-ID of a mail, without the angle brackets.

    For a mail without one, or with one that is empty, not ASCII or longer than 250 characters, it
    is a checksum of its bytes: ``sha256:`` and 32 hexadecimal digits. If there are several, the
    first counts.

    Examples
    --------
    >>> message_id(b"Subject: hello\\nMessage-Id: <17@example.org>\\n\\nhello")
    '17@example.org'
    >>> message_id(b"hello")
    'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e'
    """
    if id := _Header(mail).id:
        return id
    import hashlib  # slow to import, and few mails lack an id

    return f"sha256:{hashlib.sha256(mail).hexdigest()[:32]}"


def identity(mail: bytes) -> tuple[str, str]:
    """A mail's identity: its Message-ID, and a checksum of From, Subject and text.

    The id alone is not enough, since the sender chooses it: anyone who reads a mailing list knows
    its ids, and could send spam under one. Fields that programs add, line ends, and empty lines at
    the end do not count, so that a mail has the same identity on the server and in a mailbox. The
    id of a mail without a usable one is "".

    Examples
    --------
    >>> identity(b"Message-Id: <17@example.org>\\nSubject: a\\n\\nhello\\n")
    ('17@example.org', 'e094d69660860b090382550c15788ab2')
    >>> identity(b"Status: RO\\r\\nMessage-Id: <17@example.org>\\r\\nSubject: a\\r\\n\\r\\nhello")
    ('17@example.org', 'e094d69660860b090382550c15788ab2')
    """
    from hashlib import sha256  # slow to import, and not needed for answers

    header = _Header(mail)
    text = mail[header.end :].strip()
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    said = b"\n".join((*header.fields(b"from"), b"", *header.fields(b"subject"), b"", text))
    return header.id or "", sha256(said).hexdigest()[:32]


class _Header:
    """The fields of a mail on request: the header is searched, not parsed.

    Attributes
    ----------
    end
        Where the mail's text begins; 0 if no empty line ends the header.
    """

    def __init__(self, mail: bytes) -> None:
        if mail.startswith((b"\n", b"\r\n")):
            at, self.end = 0, 2 - mail.startswith(b"\n")
        else:
            at, self.end = HEADER_MOST, 0
            for gap in (b"\n\n", b"\n\r\n"):
                if (found := mail.find(gap, 0, at)) >= 0:
                    at, self.end = found, found + len(gap)
        self._data = b"\n" + mail[:at]
        self._lower = self._data.lower()

    def fields(self, name: bytes) -> list[bytes]:
        """The contents of all fields with this name, each as words separated by spaces."""
        sought, found, at = b"\n" + name + b":", [], -1
        while (at := self._lower.find(sought, at + 1)) >= 0:
            begin = end = at + len(sought)
            while (end := self._data.find(b"\n", end)) >= 0:
                end += 1
                if not self._data.startswith((b" ", b"\t"), end):
                    break
            found.append(b" ".join(self._data[begin : end if end > 0 else None].split()))
        return found

    @property
    def id(self) -> str | None:
        """The Message-ID, if there is a usable one."""
        id = next(iter(self.fields(b"message-id")), b"").removeprefix(b"<").removesuffix(b">")
        if 0 < len(id) <= ID_MOST and id.isascii() and id.decode().isprintable():
            return id.decode()
        return None
