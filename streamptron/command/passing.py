"""A mail in a pipe: read, and written with a field of ours or without one, whatever is wrong.

Nothing here needs more than Python, so that the mail goes on even where nothing else works.
"""

from __future__ import annotations

import errno
import os
import re

from streamptron.command.process import say

SPAM, HAM, UNSURE, ERROR = range(4)
NOT_WRITTEN = 75  # EX_TEMPFAIL of sysexits.h: the mail is to be delivered again
NAME = "X-Streamptron"
OURS = re.compile(rb"^x-streamptron:[^\n]*\n?(?:[ \t][^\n]*\n?)*", re.MULTILINE | re.IGNORECASE)
HEADER_END = re.compile(rb"^\r?\n", re.MULTILINE)


def passed_on(reason: str) -> int:
    """Pass the mail on unjudged, for a reason. Returns the exit code."""
    try:
        mail = standard_input()
    except OSError as error:
        say(f"streamptron: error: {reason}")
        return not_read(error)
    say(f"streamptron: error: {reason}; the mail is passed on unjudged")
    return written(without_ours(mail), ERROR)


def reason_of(error: Exception) -> str:
    """What is wrong, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


def not_read(error: OSError) -> int:
    """Say that there is no mail. Returns the exit code."""
    is_closed = error.errno == errno.EBADF
    why = "the standard input is closed; give the mail there" if is_closed else error.strerror
    say(f"streamptron: error: the mail cannot be read: {why}")
    return NOT_WRITTEN


def standard_input() -> bytes:
    """All of the mail."""
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def written(mail: bytes, code: int) -> int:
    """Write the mail. Returns the exit code, which is another one if that fails."""
    left = memoryview(mail)
    try:
        while left:
            left = left[os.write(1, left) :]
    except OSError as error:
        say(f"streamptron: error: the mail cannot be written: {error.strerror}")
        return NOT_WRITTEN
    return code


def without_ours(mail: bytes) -> bytes:
    """The mail without fields of our name.

    Examples
    --------
    >>> without_ours(b"To: a\\nX-Streamptron: ham\\n  1.0\\nCc: b\\n\\nX-Streamptron: stays")
    b'To: a\\nCc: b\\n\\nX-Streamptron: stays'
    """
    end = HEADER_END.search(mail)
    at = end.start() if end else len(mail)
    return OURS.sub(b"", mail[:at]) + mail[at:]


def with_field(mail: bytes, said: str) -> bytes:
    """The mail with a field in front of its others, behind the `From ` line of an mbox.

    Examples
    --------
    >>> with_field(b"From a 12:30\\nTo: b\\n\\n", "ham 0.9")
    b'From a 12:30\\nX-Streamptron: ham 0.9\\nTo: b\\n\\n'
    """
    at = mail.find(b"\n") + 1 if mail.startswith(b"From ") else 0
    first = mail[at : mail.find(b"\n", at) + 1]
    end = "\r\n" if first.endswith(b"\r\n") else "\n"
    return mail[:at] + f"{NAME}: {said}{end}".encode() + mail[at:]
