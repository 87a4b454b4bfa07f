"""Where the mails of an mbox begin.

    From SENDER Www Mmm dd hh:mm:ss yyyy    begins a mail anywhere; so does an ISO date
    From SENDER                             begins one at the start of the file or after an empty
    From                                    line, if a header's field follows
    From SENDER ... hh:mm ...               the same, with a date in another form
    From noon until 14:30 we meet           does not begin one: no header follows

If a header gives the length of the mail's text (Content-Length, in mboxcl and mboxcl2), the mail
ends there, provided that the next mail begins there or the file ends; `From ` lines before that
belong to the mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from streamptron.doors.batch import count_line_ends
from streamptron.files.sources import Block

_TIME = rb"\d\d?:\d\d(?::\d\d)?"
_ZONE = rb"(?: +(?:[A-Za-z]{1,5}|\([A-Za-z]{1,5}\)|[+-]\d\d:?\d\d))*"
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = rb"""(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ +
    (?:%(month)s\ +\d\d?\ +%(time)s%(zone)s\ +\d\d\d\d%(zone)s
    |\d\d?\ +%(month)s\ +\d\d\d\d\ +%(time)s%(zone)s)
    |\d\d\d\d-\d\d-\d\d(?:[T ]%(time)s(?:\.\d+)?\ ?(?:Z|[+-]\d\d:?\d\d)?)?""" % {
    b"month": _MONTH,
    b"time": _TIME,
    b"zone": _ZONE.replace(b" ", rb"\ "),
}
# A mailing list's archive writes `a at example.org`, so the sender may be several words.
DATED = re.compile(
    rb"From\ (?:[^\n]{0,500}?[ \t])??(?:%s)(?:\ remote\ from\ \S+)?[ \t]*(?:\r?\n|\Z)" % _DATE,
    re.VERBOSE,
)
BARE = re.compile(rb"From (?:[^\s]*[ \t]*|\S+[^\n]* \d\d?:\d\d[^\n]*)(?:\r?\n|\Z)")
# The fields that a header may begin with. `Place: the office` in a text is not one.
FIELD = re.compile(
    rb"""(?:>From[ ]|(?:apparently-to|arc-[\w-]+|authentication-results|bcc|cc|content-[\w-]+
    |comments|date|delivered-to|delivery-date|dkim-signature|domainkey-signature|envelope-to
    |errors-to|from|importance|in-reply-to|keywords|lines|list-[\w-]+|mail-[\w-]+|message-id
    |mime-version|newsgroups|old-[\w-]+|organization|original-[\w-]+|path|precedence|priority
    |received|received-spf|references|reply-to|resent-[\w-]+|return-path|return-receipt-to|sender
    |status|subject|thread-[\w-]+|to|user-agent|x-[\w-]+|xref)[ \t]*:)""",
    re.VERBOSE | re.IGNORECASE,
)
HEADER_END = re.compile(rb"^\r?\n", re.MULTILINE)
LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,9})[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
LENGTH_MOST = 1 << 26  # bytes that are held to check a Content-Length
LINES_MOST = 1 << 16  # bytes of a `From ` line and the next one
QUOTED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
EMPTY = (b"\n\n", b"\n\r\n")


def begins(data: bytes) -> bool | None:
    """Whether a file that begins with `data` is an mbox; None: more of it is needed.

    Examples
    --------
    >>> begins(b"From a Mon Jan  1 12:30:00 2024\\n"), begins(b"To: a\\n"), begins(b"From a\\n")
    (True, False, None)
    """
    first = data.lstrip(b"\r\n")
    more = None if len(data) < LINES_MOST else False
    if not first:
        return more
    if DATED.match(first):
        return True
    bare = BARE.match(first)
    if not bare:
        return False
    return bool(FIELD.match(first, bare.end())) or (more if first.count(b"\n") < 2 else False)


def first_lines(data: bytes) -> int:
    """How many lines of a text look like the beginning of a mail in an mbox."""
    if data.count(b"From ") < 2:
        return 0
    return sum(
        1
        for found in re.finditer(rb"^From ", data, re.MULTILINE)
        if DATED.match(data, found.start())
    )


class Cutter:
    """Splits an mbox into mails, as its bytes come."""

    def __init__(self) -> None:
        self._held = bytearray()  # the current mail, from its first line on
        self._line = 1  # the number of its first line
        self._at = 0  # no other mail begins before this offset
        self._ends: int | None = None  # where its header says that it ends; -1: it does not say

    def mails(self, blocks: Iterable[Block]) -> Iterator[tuple[int, bytes]]:
        """The number of the first line, and the mail, for each mail."""
        for block in blocks:
            if not self._held:
                self._line = block.line
            self._held += block.data
            if block.line == 1:
                gap = len(block.data) - len(block.data.lstrip(b"\r\n"))
                self._line += block.data.count(b"\n", 0, gap)
                del self._held[:gap]
            yield from self._cut(at_end=False)
        yield from self._cut(at_end=True)
        if self._held:
            yield self._taken(len(self._held))

    def _cut(self, at_end: bool) -> Iterator[tuple[int, bytes]]:
        while (end := self._next(at_end)) is not None:
            yield self._taken(end)

    def _next(self, at_end: bool) -> int | None:
        """Where the next mail begins; None: not in the held bytes, or not known yet."""
        held = self._held
        while True:
            at = held.find(b"\nFrom ", self._at) + 1
            if at == 0:
                self._at = max(self._at, len(held) - len(b"\nFrom"))
                return None
            if not at_end and len(held) < at + LINES_MOST and held.count(b"\n", at) < 2:
                return None  # the line after it has not come yet
            if not self._begins(at):
                self._at = at
                continue
            if self._ends is None:
                self._ends = self._says_its_end()
            if self._ends < at:
                return at
            if not at_end and len(held) < self._ends + (1 << 10):
                return None
            end = self._followed(self._ends)
            self._ends = -1
            if end is not None:
                return end

    def _begins(self, at: int) -> bool:
        """Whether the line at an offset begins a mail."""
        held = self._held
        if DATED.match(held, at):
            return True
        bare = BARE.match(held, at) if held.endswith(EMPTY, max(0, at - 3), at) else None
        return bool(bare and FIELD.match(held, bare.end()))

    def _says_its_end(self) -> int:
        """Where the text ends, according to the header of the held mail; -1: it does not say."""
        end = HEADER_END.search(self._held)
        found = end and LENGTH.search(self._held, 0, end.start())
        if not end or not found or int(found[1]) > LENGTH_MOST:
            return -1
        return end.end() + int(found[1])

    def _followed(self, end: int) -> int | None:
        """Where the next mail begins, or the file ends, after this end; None: neither does."""
        held = self._held
        at = end
        while held.startswith((b"\n", b"\r\n"), at) and at < end + 4:
            at += 1 if held.startswith(b"\n", at) else 2
        if at >= len(held):
            return len(held) if end <= len(held) else None
        if not held.startswith(b"From ", at) or not held.endswith(b"\n", 0, at):
            return None
        bare = BARE.match(held, at)
        good = DATED.match(held, at) or (bare and FIELD.match(held, bare.end()))
        return at if good else None

    def _taken(self, end: int) -> tuple[int, bytes]:
        """The mail up to an offset, without its `From ` line, quotes and the final empty line."""
        whole, line = bytes(self._held[:end]), self._line
        del self._held[:end]
        self._line += count_line_ends(whole)
        self._at, self._ends = 0, None
        gap = 2 if whole.endswith(b"\r\n\r\n") else 1 if whole.endswith(b"\n\n") else 0
        first = whole.find(b"\n") + 1 or len(whole)
        mail = whole[first : max(first, len(whole) - gap)]
        return line, QUOTED.sub(b"", mail) if b">From " in mail else mail
