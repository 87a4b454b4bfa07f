"""Checkpoints: a model on disk every so often, and the newest good one back after a crash."""

from __future__ import annotations

import contextlib
import os
import re
import time
import typing
import warnings
from pathlib import Path
from typing import Any

from streamptron._format import ModelFileError, load
from streamptron._names import shown

if typing.TYPE_CHECKING:
    from streamptron._estimator import Estimator


class Checkpoint:
    """Saves a model every so many events or seconds, as numbered files beside a path.

    ``model.st`` gives ``model.st.000001``, ``model.st.000002`` ... Each is written whole before it
    gets its name, and only then the oldest are removed; so ``kill -9`` or a loss of power at any
    moment costs what was learned since the last save, no more. One process writes the checkpoints
    of a path; any number may read them.

    Parameters
    ----------
    model
        The model.
    path
        What the files' names begin with.
    every_events
        Save when ``step`` is called and so many events have been learned since the last save.
    every_seconds
        The same with seconds; whichever comes first. None for both: only ``save`` saves.
    keep
        How many files to keep, the newest ones.
    metadata
        Given to ``model.save``.

    Examples
    --------
    A daemon that may be killed and started again:

    >>> import tempfile
    >>> from streamptron import Checkpoint, Perceptron
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/spam"
    >>> model = Checkpoint.newest(path) or Perceptron()
    >>> checkpoint = Checkpoint(model, path, every_events=2)
    >>> for word, label in [("free", True), ("meeting", False), ("win", True)]:
    ...     model.learn_one({word: 1}, label)
    ...     checkpoint.step()
    False
    True
    False
    >>> Checkpoint.newest(path).n_seen
    2
    >>> folder.cleanup()
    """

    def __init__(
        self,
        model: Estimator,
        path: str | os.PathLike[str],
        every_events: int | None = None,
        every_seconds: float | None = None,
        keep: int = 3,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        for name, value in (("every_events", every_events), ("keep", keep)):
            if value is None and name == "every_events":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={shown(value)}; it must be an int of at least 1")
        if every_seconds is not None and not every_seconds > 0:
            raise ValueError(f"every_seconds={shown(every_seconds)}; it must be above 0")
        self.model = model
        self.path = os.fspath(path)
        self.every_events = every_events
        self.every_seconds = every_seconds
        self.keep = keep
        self.metadata = metadata
        self._begin()

    def _begin(self) -> None:
        """Count events and seconds from here."""
        self._n_seen = self.model.n_seen
        self._time = time.monotonic()

    def step(self) -> bool:
        """Save if it is due; to be called after each event or batch. Whether it has saved.

        Raises
        ------
        OSError
            If the file cannot be written. The model and the old files are as they were, and
            it is due again only after another `every_events` or `every_seconds`.
        """
        if (
            self.every_events is not None and self.model.n_seen - self._n_seen >= self.every_events
        ) or (
            self.every_seconds is not None and time.monotonic() - self._time >= self.every_seconds
        ):
            self.save()
            return True
        return False

    def save(self) -> Path:
        """Save now. Returns the file.

        Raises
        ------
        OSError
            As for ``step``.
        """
        self._begin()
        files = _numbered(self.path)
        path = Path(f"{self.path}.{max(files, default=0) + 1:06}")
        self.model.save(path, self.metadata)
        for number in sorted(files, reverse=True)[self.keep - 1 :]:
            files[number].unlink(missing_ok=True)
        for path_of_killed in _half_written(self.path):
            path_of_killed.unlink(missing_ok=True)
        return path

    @staticmethod
    def newest(path: str | os.PathLike[str], mmap: bool = False) -> Any:
        """The model of the newest good checkpoint; None if there is none at all.

        A damaged file is passed over, with a warning that names it, for the one before it.

        Parameters
        ----------
        path
            What the files' names begin with.
        mmap
            As for ``streamptron.load``.

        Raises
        ------
        ModelFileError
            If there are checkpoints, but none is good: of the newest one.
        OSError
            If one cannot be read.
        """
        first = None
        for _, file in sorted(_numbered(path).items(), reverse=True):
            try:
                model = load(file, mmap)
            except ModelFileError as error:
                first = first or error
                continue
            except FileNotFoundError:  # the writer has removed it meanwhile
                continue
            if first is not None:
                warnings.warn(f"{first}; taken instead: {os.fspath(file)!r}", stacklevel=2)
            return model
        if first is not None:
            raise first
        return None


def _numbered(path: str | os.PathLike[str]) -> dict[int, Path]:
    """The checkpoints of a path, by number."""
    whole = Path(path)
    files = {}
    with contextlib.suppress(FileNotFoundError):
        for file in whole.parent.iterdir():
            if match := re.fullmatch(re.escape(whole.name) + r"\.([0-9]{6,})", file.name):
                files[int(match[1])] = file
    return files


def _half_written(path: str | os.PathLike[str]) -> list[Path]:
    """What a save that was killed has left behind."""
    whole = Path(path)
    pattern = rf"\.{re.escape(whole.name[:100])}.*\.[0-9a-f]{{12}}\.tmp"
    return [file for file in whole.parent.iterdir() if re.fullmatch(pattern, file.name)]
