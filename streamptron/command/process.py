"""What the system gives a process: standard streams, sometimes closed or full, and signals."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import typing
from typing import Any

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

UNWRITABLE = (errno.EBADF, errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def hold_streams() -> None:
    """Make sure that the standard streams are open, so that no file we open gets their numbers.

    Python gives None for one that was closed. It is replaced by one that cannot be read, or
    written; messages to a closed standard error are lost.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def say(message: str) -> None:
    """Print a message on standard error, if it can be written."""
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)


def unwritable(error: OSError) -> str:
    """The message for a standard output that cannot be written."""
    if error.errno == errno.EBADF:
        return "the standard output is closed; to discard what is written use >/dev/null"
    return f"the standard output cannot be written: {error.strerror}"


class Stop(Exception):
    """A signal asked for the end."""


class Signals:
    """SIGTERM and SIGINT: noted during work, and raised as Stop while waiting for input."""

    def __init__(self) -> None:
        self.number = 0  # of the first signal
        self._waiting = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        import signal  # slow to import, and only needed here

        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)
        handlers = {number: signal.signal(number, self._come) for number in numbers}
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _come(self, number: int, frame: object) -> None:
        import signal

        if number != signal.SIGALRM:
            self.number = self.number or number
            # repeated, in case the signal came just before a system call began to wait
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        if self._waiting:
            raise Stop

    def waited_for(self, items: Iterator[Any]) -> Iterator[Any]:
        """The items as they come; a signal raises Stop while one is waited for, or before."""
        while True:
            try:
                self._waiting = True
                if self.number:
                    raise Stop
                try:
                    item = next(items)
                except StopIteration:
                    return
            finally:
                self._waiting = False
            yield item
