"""Reads a mail from a pipe and writes it, whatever else may be wrong.

This module needs only the standard library, so that a mail is passed on even if imports fail.
"""

from __future__ import annotations

import errno
import os

from streamptron.common.header import ERROR, without_ours
from streamptron.common.process import say

NOT_WRITTEN = 75  # EX_TEMPFAIL of sysexits.h: the mail server tries again


def passed_on(reason: str) -> int:
    """Pass the mail on unclassified, with a message. Returns the exit code."""
    try:
        mail = standard_input()
    except OSError as error:
        say(f"streamptron: error: {reason}")
        return not_read(error)
    say(f"streamptron: error: {reason}; the mail is passed on unclassified")
    return written(without_ours(mail), ERROR)


def reason_of(error: Exception) -> str:
    """The message of an error, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


def not_read(error: OSError) -> int:
    """Report that the mail cannot be read. Returns the exit code."""
    is_closed = error.errno == errno.EBADF
    why = "the standard input is closed; give the mail there" if is_closed else error.strerror
    say(f"streamptron: error: the mail cannot be read: {why}")
    return NOT_WRITTEN


def standard_input() -> bytes:
    """The whole mail."""
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def written(mail: bytes, code: int) -> int:
    """Write the mail. Returns the given exit code, or NOT_WRITTEN if that fails."""
    left = memoryview(mail)
    try:
        while left:
            left = left[os.write(1, left) :]
    except OSError as error:
        say(f"streamptron: error: the mail cannot be written: {error.strerror}")
        return NOT_WRITTEN
    return code
