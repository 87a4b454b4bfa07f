"""One writer per model file: a lock beside it, which the system releases when its holder ends.

The model file itself cannot be locked, since each save replaces it. So the lock is on a separate
file, `.NAME.lock` in the same folder, which says who holds it and is removed at the end. If a
process was killed, its lock file remains but is no longer locked, and the next process takes it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from streamptron.common.disk import beside, is_at, lock, remove_left

_BEGINNING = "process "  # of the text in a lock file


class ModelLockError(OSError):
    """Another process is writing the model file, or has written it."""


class ModelLock:
    """The right to write a model file, for the duration of a ``with`` block.

    If two programs read a model, learn and save it, each overwrites what the other has learned.
    ``streamptron train`` and ``streamptron predict --learn`` take this lock before they read the
    file; your own programs that write the same file should take it too. The lock keeps out only
    programs that take it. So before it replaces the file, ``save`` checks that the file is still
    the one that was there when the lock was taken, or that this lock saved last.

    Readers need no lock, since a model file is replaced whole. The lock ends with the process,
    however it ends. A process that is forked within the block holds it too: it is free when both
    have left the block, or ended.

    Parameters
    ----------
    path
        The model file, or the path of a ``Checkpoint``. It need not exist yet; its
        folder must.

    Raises
    ------
    ModelLockError
        On entering, if another process or this one holds the lock (the message says who), or if
        the lock's file belongs to another program.
    OSError
        On entering, if no file can be written in the folder, or if its file system has no locks. (A
        ModelLockError is also an OSError.)

    Examples
    --------
    >>> import os, tempfile
    >>> from streamptron import ModelLock, Perceptron, load
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "spam.model")
    >>> Perceptron().save(path)
    >>> with ModelLock(path) as lock:
    ...     model = load(path)
    ...     model.learn_one({"prize": 1}, True)
    ...     lock.save(model)
    >>> load(path).n_seen
    1
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._target = os.path.realpath(self.path)
        self._lock = beside(self._target, ".lock", ".")
        self._number = -1
        self._known: tuple[int, ...] | None = None

    def __enter__(self) -> Self:
        if self._number >= 0:
            raise self._held(self._number)
        while self._number < 0:
            number = self._opened()
            try:
                if not self._locked(number):
                    raise self._held(number)
                # if not, its last holder removed it after it was opened and before it was locked
                if is_at(number, self._lock):
                    self._number = number
            finally:
                if self._number != number:
                    os.close(number)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        program = sys.argv[0].removesuffix(f"{os.sep}__main__.py")  # python -m
        what = " ".join([os.path.basename(program), *sys.argv[1:2]]).strip() or "python"
        with contextlib.suppress(OSError):  # a full disk: the lock works without the text
            os.ftruncate(self._number, 0)
            os.lseek(self._number, 0, os.SEEK_SET)
            said = f"{_BEGINNING}{os.getpid()} ({what}, since {since})\n"
            os.write(self._number, said.encode("utf-8", "replace"))
        self._known = identity(self._target)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        number, self._number = self._number, -1
        os.close(number)
        remove_left(self._lock)  # unless a forked process still holds it

    def _opened(self) -> int:
        """Open the lock's file; create it if it does not exist."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            number = os.open(self._lock, flags, 0o600)
        except OSError as error:
            if os.path.islink(self._lock):
                raise self._not_ours() from None
            error.filename = self.path
            raise
        status = os.fstat(number)
        if (
            not stat.S_ISREG(status.st_mode)
            or status.st_nlink > 1
            or not _text(number).startswith(_BEGINNING[: status.st_size])
        ):
            os.close(number)
            raise self._not_ours()
        return number

    def _locked(self, number: int) -> bool:
        try:
            return lock(number)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self._lock)
            said = (
                f"{error.strerror}: the file system has no locks, so nothing would keep another "
                "program from writing the model too; move it to another file system"
            )
            raise OSError(error.errno, said, self.path) from None

    def _held(self, number: int) -> ModelLockError:
        return ModelLockError(
            f"{self.path!r} is being written by {_text(number).strip() or 'another process'}; wait "
            "until that ends, or use another file"
        )

    def _not_ours(self) -> ModelLockError:
        return ModelLockError(
            f"{self._lock!r} is not a lock file of streamptron, so it is left as it is; remove it "
            f"to write {self.path!r}"
        )

    def check(self) -> None:
        """Raise ModelLockError if the model file is not the one this lock knows.

        If the file is gone there is nothing to overwrite, and nothing is raised.
        """
        if self._number < 0:
            raise ModelLockError(f"the lock of {self.path!r} is not held; use it in a with block")
        if identity(self._target) not in (self._known, None):
            raise ModelLockError(
                f"{self.path!r} was replaced by a program that did not take the lock; it is left "
                "as it is"
            )

    @contextlib.contextmanager
    def reloading(self) -> Iterator[None]:
        """Accept the file that is there now, even if another program wrote it.

        The block loads the file; if it raises, the file is not accepted.
        """
        found = identity(self._target)
        yield
        self._known = found

    def save(self, model: Any, **options: Any) -> None:
        """Save a model, unless another program has replaced the file.

        Parameters
        ----------
        model
            A model that ``streamptron.save`` takes, or an object with ``save(path, **options)``.
        options
            Passed on, for example ``metadata``.

        Raises
        ------
        ModelLockError
            If another program has replaced the file. Nothing is written.
        OSError
            If the file cannot be written.
        """
        self.check()
        if hasattr(model, "save"):
            model.save(self.path, **options)
        else:
            from streamptron.keeping.write import save

            save(model, self.path, **options)
        self._known = identity(self._target)


def identity(file: str | int) -> tuple[int, ...] | None:
    """Numbers that change when a file is replaced or written to."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _text(number: int) -> str:
    """The text in a lock's file."""
    os.lseek(number, 0, os.SEEK_SET)
    return os.read(number, 200).decode("utf-8", "replace")
