"""What the system gives a process: standard streams, sometimes closed or full, and signals."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
import threading
import time
from collections.abc import Iterator

UNWRITABLE = (errno.EBADF, errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def hold_streams() -> None:
    """Make sure that the standard streams are open, so that no file we open gets their numbers.

    Python sets a closed stream to None. We replace standard input by a stream that cannot be read,
    and standard output by one that cannot be written; messages to standard error are lost.
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


_dated = False  # whether messages begin with the time


def say(message: str) -> None:
    """Print a message on standard error, if it can be written."""
    if _dated:
        message = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {message}"
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)


def date_messages() -> None:
    """Begin messages with the time, for a service whose log does not add it.

    journald adds it, and a terminal does not need it.
    """
    global _dated
    _dated = not _is_journal() and not sys.stderr.isatty()


@contextlib.contextmanager
def undated_again() -> Iterator[None]:
    """After the block, messages are dated or undated as they were before it."""
    global _dated
    before = _dated
    try:
        yield
    finally:
        _dated = before


def _is_journal() -> bool:
    """Whether standard error goes to journald, which says so in the environment."""
    try:
        found = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # it is not a file
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def counted(n: int, what: str) -> str:
    """A number and a noun, in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "line"), counted(2, "mail")
    ('1 line', '2 mails')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def unwritable(error: OSError) -> str:
    """The message for a standard output that cannot be written."""
    if error.errno == errno.EBADF:
        return "the standard output is closed; to discard what is written use >/dev/null"
    return f"the standard output cannot be written: {error.strerror}"


class Stop(Exception):
    """A signal asked the process to stop."""


class Signals:
    """Signals by their names, noted as they come: no work is interrupted, and every wait ends.

    A signal writes to a pipe, and a wait is a select on a file and that pipe, so that no signal is
    lost between a check and the wait. On Windows, and in threads other than the main one, this is
    not possible: there nothing is noted, and signals do what they always do.
    """

    def __init__(self, *names: str) -> None:
        self.came: list[int] = []
        self._names = names
        self._woken = -1  # the end of the pipe that is read
        self._at_once = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        if os.name != "posix" or threading.current_thread() is not threading.main_thread():
            yield
            return
        import signal  # slow to import, and only needed here

        self._woken, wakes = os.pipe()
        for end in (self._woken, wakes):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        numbers = [getattr(signal, name) for name in self._names]
        handlers = {number: signal.signal(number, self._come) for number in numbers}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)
            os.close(self._woken)
            os.close(wakes)
            self._woken = -1

    def _come(self, number: int, frame: object) -> None:
        self.came.append(number)
        if self._at_once:
            raise Stop

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """A signal ends the block at once, for waits without select: to open a named pipe."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def taken(self) -> list[int]:
        """The signals that have come since the last call."""
        came, self.came = self.came, []
        if came:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 512)
        return came

    def wait(self, number: int, seconds: float | None = None) -> bool:
        """Wait until a file can be read; False if a signal comes first, or the time is up."""
        if self._woken < 0:
            return True
        # a signal that came after the check of `came` has written to the pipe
        return not self.came and number in select.select([number, self._woken], [], [], seconds)[0]
