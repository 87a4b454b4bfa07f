"""Checkpoints: a model on disk every so often, and the newest good one back after a crash."""

from __future__ import annotations

import contextlib
import numbers
import os
import re
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from streamptron.common.errors import ModelFileError
from streamptron.common.names import short_repr
from streamptron.common.values import encoded as encoded_value
from streamptron.common.values import encoded_position
from streamptron.keeping.read import model_of, read
from streamptron.keeping.write import contents_of, write


class Saved(NamedTuple):
    """A checkpoint that was found: all of it from one file, written by one save.

    Attributes
    ----------
    model
        The model, or its Journal, whichever ``Checkpoint`` was given.
    metadata
        The metadata that ``Checkpoint`` was given; {} if none.
    position
        The position in the stream that ``step`` or ``save`` was given; None if none.
    path
        The file.
    """

    model: Any
    metadata: dict[str, Any]
    position: Any
    path: Path


class Checkpoint:
    """Saves a model every so many events or seconds, as numbered files next to a path.

    For ``model.st``, the files are ``model.st.000001``, ``model.st.000002`` ... Each is written
    completely before it gets its name, and only then are the oldest removed; so ``kill -9`` or a
    power failure at any moment loses only what was learned since the last save. Only one process,
    with any number of threads, may write the checkpoints of a path; any number may read them.

    If a stream can be read again from a position (an offset, an entry's id), no event is lost or
    learned twice: give ``step`` the position of the event just learned. It is saved in the same
    file as the model, and ``newest_saved`` returns both.

    The files can be read by their owner only, until you change the permissions of the newest one:
    the next file takes permissions, owner and group of the one before it.

    Parameters
    ----------
    model
        A learner, a pipeline that ends in one, or a Journal of one of these.
    path
        What the files' names begin with.
    every_events
        ``step`` saves if this many events have been learned since the last save.
    every_seconds
        ``step`` saves if this many seconds have passed since the last save and there is something
        new: a learned event, or another position. If both are given, the first that is due counts;
        if both are None, only ``save`` saves.
    keep
        How many files to keep, the newest ones.
    metadata
        Given to ``model.save``.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or no file could hold the model.
    FileNotFoundError
        If the folder of `path` does not exist.

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

    A stream with positions:

    >>> saved = Checkpoint.newest_saved(path + "-by-offset")
    >>> model, start = (saved.model, saved.position + 1) if saved else (Perceptron(), 0)
    >>> checkpoint = Checkpoint(model, path + "-by-offset", every_events=2)
    >>> for offset, word in enumerate(["free", "win", "prize"], start):
    ...     model.learn_one({word: 1}, True)
    ...     checkpoint.step(position=offset)
    False
    True
    False
    >>> Checkpoint.newest_saved(path + "-by-offset").position
    1
    >>> folder.cleanup()
    """

    def __init__(
        self,
        model: Any,
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
                raise ValueError(f"{name}={short_repr(value)}; it must be an int of at least 1")
        if every_seconds is not None and (
            isinstance(every_seconds, bool)
            or not isinstance(every_seconds, numbers.Real)
            or not every_seconds > 0
        ):
            raise ValueError(
                f"every_seconds={short_repr(every_seconds)}; it must be a number above 0"
            )
        self._learner = contents_of(model, metadata).learner
        self._n_objects = (0, 0)  # how many labels and names are known to fit into a file
        self._check_objects()
        self.model = model
        self.path = os.fsdecode(path)
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"path={self.path!r}: there is no folder {folder!r}; make it")
        self.every_events = every_events
        self.every_seconds = every_seconds
        self.keep = keep
        self.metadata = metadata
        self._lock = threading.RLock()
        self._writing = 0  # the number of the file that is being written
        self._begin()
        # events and position in the newest file; before there is one, of the start
        self._saved: Any = (self._n_seen, encoded_position(None))

    def _begin(self) -> None:
        """Start counting events and seconds."""
        self._n_seen = self._learner.n_seen
        self._time = time.monotonic()

    def step(self, position: Any = None) -> bool:
        """Save if it is due, and return whether it did; call it after each event or batch.

        Parameters
        ----------
        position
            The position in the stream up to which everything has been learned. It is stored in the
            file, and read back equal and of the same type. A str, bytes, int, float, bool,
            Decimal, Fraction, date or datetime, or a tuple, list or dict of these and None.

        Raises
        ------
        TypeError
            If a file cannot hold the position, or a label or feature name that the model has
            learned. This is checked in every call, even if no save is due; nothing is saved.
        OSError
            If the file cannot be written. The model and the old files are unchanged, and the next
            save is due only after another `every_events` or `every_seconds`.
        """
        encoded = encoded_position(position)
        self._check_objects()
        if not self._is_due(encoded):
            return False
        with self._lock:
            due = self._is_due(encoded)  # another thread may just have saved
            if due:
                self.save(position)
            return due

    def _check_objects(self) -> None:
        """Check that a file can hold new labels and names, rather than fail hours later."""
        n = self._learner._n_objects()
        if n == self._n_objects:
            return
        labels, names = self._learner._objects_held()
        for label in labels[self._n_objects[0] :]:
            encoded_value(label, "the label")
        for name in names[self._n_objects[1] :]:
            encoded_value(name, "the feature name")
        self._n_objects = n

    def _is_due(self, position: Any) -> bool:
        n_seen = self._learner.n_seen
        return (self.every_events is not None and n_seen - self._n_seen >= self.every_events) or (
            self.every_seconds is not None
            and time.monotonic() - self._time >= self.every_seconds
            and (n_seen, position) != self._saved
        )

    def save(self, position: Any = None) -> Path:
        """Save now. Returns the file.

        Parameters
        ----------
        position
            As for ``step``.

        Raises
        ------
        TypeError, OSError
            As for ``step``.
        """
        contents = contents_of(self.model, self.metadata)._replace(position=position)
        encoded = encoded_position(position)
        with self._lock:
            self._begin()
            self._saved = None  # until the file is written
            files = _numbered(self.path)
            newest = max(files, default=0)
            # a signal handler may save within a save
            before, self._writing = self._writing, max(newest, self._writing) + 1
            path = Path(f"{self.path}.{self._writing:06}")
            try:
                write(path, contents, like=files.get(newest))
            finally:
                self._writing = before
            self._saved = (self._n_seen, encoded)
            for number in sorted(files, reverse=True)[self.keep - 1 :]:
                files[number].unlink(missing_ok=True)
        return path

    @staticmethod
    def newest(path: str | os.PathLike[str], mmap: bool = False) -> Any:
        """The model, or journal, of the newest good checkpoint; None if there is none at all.

        A damaged file is skipped, with a warning that names it, and the one before it is used.

        Parameters
        ----------
        path
            What the files' names begin with.
        mmap
            As for ``streamptron.load``.

        Raises
        ------
        ModelFileError
            If there are checkpoints, but none is good; it names the newest one.
        OSError
            If one cannot be read.
        """
        saved = _newest(path, mmap)
        return saved and saved.model

    @staticmethod
    def newest_saved(path: str | os.PathLike[str], mmap: bool = False) -> Saved | None:
        """Model, metadata, position and file of the newest good checkpoint; None if there is none.

        Parameters
        ----------
        path, mmap
            As for ``newest``.

        Raises
        ------
        ModelFileError, OSError
            As for ``newest``.
        """
        return _newest(path, mmap)


def _newest(path: str | os.PathLike[str], mmap: bool) -> Saved | None:
    first = None
    seen = 0
    # the writer may have removed all files that were listed; then there are newer ones
    while files := {number: file for number, file in _numbered(path).items() if number > seen}:
        seen = max(files)
        for _, file in sorted(files.items(), reverse=True):
            try:
                found = read(file, mmap)
                model = model_of(found)
                if found.journal is not None and not mmap:  # the model can learn
                    from streamptron.keeping.journal import journal_of

                    model = journal_of(model, found.journal)
            except ModelFileError as error:
                first = first or error
                continue
            except FileNotFoundError:
                continue
            if first is not None:
                warnings.warn(f"{first}; using instead: {os.fspath(file)!r}", stacklevel=3)
            return Saved(model, found.metadata, found.position, file)
    if first is not None:
        raise first
    return None


def _numbered(path: str | os.PathLike[str]) -> dict[int, Path]:
    """The checkpoints of a path, by number."""
    whole = Path(os.fsdecode(path))
    files = {}
    with contextlib.suppress(FileNotFoundError):
        for file in whole.parent.iterdir():
            if match := re.fullmatch(re.escape(whole.name) + r"\.([0-9]{6,})", file.name):
                files[int(match[1])] = file
    return files
