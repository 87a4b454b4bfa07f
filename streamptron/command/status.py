"""A status file for monitoring: what ``predict`` has done so far, as JSON.

The file is replaced as a whole at the start, every few seconds, and at the end. If it cannot be
written, one message says so, and the process goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import Any

from streamptron.command.filter import Filter
from streamptron.command.spool import Spool
from streamptron.common.disk import replace
from streamptron.common.process import say
from streamptron.common.version import version
from streamptron.keeping.read import about

SECONDS = 5.0  # how often the file is written


class Status:
    """Writes the status of a filter into a file.

    Parameters
    ----------
    path
        The file.
    spool
        The filter's corrections, if there is a folder of them.
    """

    def __init__(self, path: str, spool: Spool | None = None) -> None:
        self.path = path
        self._spool = spool
        self._started = time.time()
        self._written = 0.0
        self._has_failed = False
        self._checksum: str | None = None
        self._file: tuple[int, ...] | None = None  # the file that the checksum is of
        self._lines: Filter

    # --- A chore of the filter

    def begin(self, lines: Filter) -> None:
        self._lines = lines
        folder = os.path.dirname(os.path.realpath(self.path))
        if not os.path.isdir(folder):
            raise ValueError(f"{self.path}: there is no folder {folder!r} for the status file")
        if os.path.realpath(self.path) == os.path.realpath(lines.on_disk.path):
            raise ValueError(f"{self.path}: that is the model's file; give the status another one")
        self._write("running")

    def seconds_left(self) -> float:
        return max(0.0, self._written + SECONDS - time.monotonic())

    def look(self) -> None:
        if not self.seconds_left():
            self._write("running")

    def replaced(self) -> None:
        """Do nothing: the next write shows the new model."""

    def end(self) -> None:
        self._write("ended")

    # --- The file

    def _write(self, state: str) -> None:
        self._written = time.monotonic()
        try:
            text = json.dumps(self._found(state), indent=2) + "\n"
            replace(self.path, [text.encode()], mode=0o644)
            self._has_failed = False
        except OSError as error:
            if not self._has_failed:
                say(f"streamptron: no status is written, will try again: {error}")
            self._has_failed = True

    def _found(self, state: str) -> dict[str, Any]:
        lines, on_disk = self._lines, self._lines.on_disk
        found: dict[str, Any] = {
            "state": state,
            "process": os.getpid(),
            "version": version(),
            "started": _time(self._started),
            "written": _time(time.time()),
            "lines": lines.n_lines,
            "bad_lines": lines.n_bad,
            "first_bad": lines.first_bad or None,
            "model": on_disk.path,
            "checksum": self._of_file(),
            "events": on_disk.model.learner.n_seen,
            "reloaded": _time(on_disk.reloaded_at),
        }
        if lines.learn:
            found |= {
                "learned": lines.score.n_events,
                "errors": lines.score.n_wrong,
                "unsaved": on_disk.unsaved,
                "saved": _time(on_disk.saved_at),
            }
        if self._spool is not None:
            found["corrections"] = {"learned": self._spool.n_done, "set_aside": self._spool.n_bad}
        return found

    def _of_file(self) -> str | None:
        """The checksum, as `info` shows it, of the file that was last read or saved."""
        on_disk = self._lines.on_disk
        if self._file != on_disk.file:
            self._file, self._checksum = on_disk.file, None
            with contextlib.suppress(OSError, ValueError):  # it has been replaced already
                self._checksum = about(on_disk.path)["checksum"]
        return self._checksum


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
