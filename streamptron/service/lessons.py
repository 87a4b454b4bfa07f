"""The log of lessons: it has all acknowledged lessons, one per line, until they are saved.

    M.lessons                       lessons since the last save began
    M.lessons.000000001234          earlier ones, until that save is done; the first has this number
    M.lessons.000000001234.kept     the same after the save, if such files are to be kept

    8a3f00c1 {"n":1234,"do":"learn","id":"a17","label":"spam","text":"free prize",...}

The number in front is the CRC-32 of what follows the space, up to the end of the line. A crash may
leave half a line at the end, which is dropped. Any other line that does not match its checksum is
damage: an error names it, and the server does not guess.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from streamptron.keeping.tickets import Ticket

SYNC = ("always", "1s", "never")
_LINE = json.JSONEncoder(separators=(",", ":"))
# Threads that wait for the disk, for all logs: the system can combine the writes of several.
SYNCING = ThreadPoolExecutor(4, "sync")


class LessonsError(ValueError):
    """A log that is damaged."""


def line_of(lesson: dict[str, Any]) -> bytes:
    """A lesson as a line of the log."""
    text = _LINE.encode(lesson).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def lesson_of(line: bytes) -> dict[str, Any] | None:
    """The lesson of a line; None if the line does not match its checksum."""
    try:
        if line[8:9] != b" " or int(line[:8], 16) != zlib.crc32(line[9:]):
            return None
        lesson: dict[str, Any] = json.loads(line[9:])
    except ValueError:
        return None
    return lesson


def ticket_of(lesson: dict[str, Any]) -> Ticket | None:
    """The event of a lesson, if it is packed."""
    data = lesson.get("ticket")
    return None if data is None else Ticket.from_bytes(base64.b64decode(data))


def segments(path: str) -> list[str]:
    """The existing files of a log, the oldest first."""
    folder, name = os.path.split(os.path.abspath(path))
    old = [each for each in os.listdir(folder) if re.fullmatch(re.escape(name) + r"\.\d+", each)]
    found = [os.path.join(folder, each) for each in sorted(old)]
    return [*found, path] if os.path.exists(path) else found


def read(path: str) -> Iterator[dict[str, Any]]:
    """The lessons of a log, in order.

    Raises
    ------
    LessonsError
        At a damaged line.
    """
    for file in segments(path):
        with open(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    return  # the server crashed before it acknowledged the lesson
                lesson = lesson_of(line[:-1])
                if lesson is None:
                    raise LessonsError(
                        f"{file}:{number} does not match its checksum, so nothing after it can be "
                        "trusted; move the file away, or cut it off there, and start again"
                    )
                yield lesson


class Log:
    """Where lessons are written.

    Parameters
    ----------
    path
        The file; what it contains is kept, except half a line at its end.
    sync
        One of SYNC: when lessons are forced to the disk.
    keep
        Whether old files are kept after their lessons have been saved.
    """

    def __init__(self, path: str, sync: str, keep: bool = False) -> None:
        self.path, self.sync, self.keep = path, sync, keep
        self._file = _opened(path)
        self._size = _without_half_line(self._file)
        self._first = _first_number(path)  # the number of its first lesson
        self._old: list[int] = []  # files that are not synced yet
        self.written = self.synced = 0  # lines since the start
        self._syncing: asyncio.Future[None] | None = None
        self._job: Future[None] | None = None  # the latest wait for the disk

    @property
    def size(self) -> int:
        """The size of the newest file in bytes."""
        return self._size

    def append(self, lesson: dict[str, Any]) -> None:
        """Write a lesson. After an OSError the file is as it was before."""
        line = line_of(lesson)
        try:
            at = os.write(self._file, line)
            while at < len(line):
                at += os.write(self._file, line[at:])
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        if self._first is None:
            self._first = lesson["n"]
        self._size += len(line)
        self.written += 1

    def take_back(self, lesson: dict[str, Any]) -> None:
        """Remove the lesson that was written last."""
        self._size -= len(line_of(lesson))
        os.ftruncate(self._file, self._size)

    async def durable(self) -> str:
        """Wait until all lessons are as safe as `sync` says; returns "disk" or "written"."""
        if self.sync != "always":
            return "written"
        wanted = self.written
        while self.synced < wanted:  # lessons that wait share one fsync
            if self._syncing is None or self._syncing.done():
                self._syncing = asyncio.ensure_future(self.flush())
            await asyncio.shield(self._syncing)
        return "disk"

    async def flush(self) -> None:
        """Force what has been written to the disk."""
        written, files = self.written, [*self._old, self._file]
        if written == self.synced:
            return
        self._job = SYNCING.submit(_sync, files)
        await asyncio.wrap_future(self._job)
        self.synced = max(self.synced, written)
        for file in files[:-1]:
            if file in self._old:
                self._old.remove(file)
                os.close(file)

    def begin(self) -> None:
        """Start a new file, because a save of all lessons so far begins."""
        if not self._size:
            return
        old = f"{self.path}.{self._first or 0:012}"
        os.rename(self.path, old)
        try:
            file = _opened(self.path)
        except OSError:
            os.rename(old, self.path)
            raise
        if self.sync == "never":
            os.close(self._file)  # no sync will need it
        else:
            self._old.append(self._file)
        self._file, self._size, self._first = file, 0, None

    def saved(self, files: list[str]) -> None:
        """Remove or rename files whose lessons have all been saved."""
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                if self.keep:
                    os.rename(file, f"{file}.kept")
                else:
                    os.unlink(file)

    def old(self) -> list[str]:
        """The files of the log, except the newest."""
        return [file for file in segments(self.path) if file != self.path]

    def close(self) -> None:
        """Close it; a file without lessons is removed."""
        if self._job is not None:
            wait([self._job])
        if self.sync != "never" and self.written > self.synced:
            os.fsync(self._file)
        for file in (*self._old, self._file):
            os.close(file)
        self._old.clear()
        if not self._size:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)


def _sync(files: list[int]) -> None:
    for file in files:
        os.fsync(file)


def _opened(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(path, flags, 0o600)
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)  # so that the file's name, too, survives a power failure
    finally:
        os.close(folder)
    return file


def _first_number(path: str) -> int | None:
    """The number of the first lesson of a file; None if it has none."""
    with open(path, "rb") as lines:
        lesson = lesson_of(lines.readline()[:-1])
    return None if lesson is None else int(lesson["n"])


def _without_half_line(file: int) -> int:
    """Cut off half a line at the end of a file, if there is one. Returns the file's size."""
    size = os.fstat(file).st_size
    at = size
    while at > 0:
        start = max(0, at - (1 << 16))
        piece = os.pread(file, at - start, start)
        end = piece.rfind(b"\n")
        if end >= 0:
            at = start + end + 1
            break
        at = start
    if at < size:
        os.ftruncate(file, at)
    return at
