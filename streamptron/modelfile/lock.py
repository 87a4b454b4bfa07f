"""One writer per model file: a lock beside it, which the system releases when its holder ends.

The model file itself cannot be locked: each save puts another file in its place. So the lock is on
a file of its own, `.NAME.lock` in the same folder, which says who holds it. It is removed at the
end. One that a killed process has left behind is not locked any more, and the next one takes it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import typing
from typing import Any

if typing.TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


class ModelLockError(OSError):
    """Another process is writing the model file, or has written it."""


class ModelLock:
    """The right to write a model file, for the length of a ``with`` block.

    Two programs that both read a model, learn and save it would each undo what the other has
    learned. ``streamptron train`` and ``streamptron predict --learn`` take this lock before they
    read the file; take it in programs of your own that write the same one. It keeps out only
    programs that take it. Before it replaces the file, ``save`` therefore checks that it is still
    the one that was there when the lock was taken, or that this lock has saved.

    Readers need no lock: a model file is replaced whole. The lock ends with the process, however it
    ends. A process that is forked within the block holds it too.

    Parameters
    ----------
    path
        The model file, or what the names of a ``Checkpoint`` begin with. It need not exist yet; its
        folder must.

    Raises
    ------
    ModelLockError
        On entering, if another process, or this one, holds the lock. The message says who.
    OSError
        On entering, if no file can be written in the folder. (A ModelLockError is one, too.)

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
        self.path = os.fspath(path)
        self._target = os.path.realpath(self.path)
        folder, name = os.path.split(self._target)
        self._lock = os.path.join(folder, f".{name[:100]}.lock")
        self._number = -1
        self._known: tuple[int, ...] | None = None

    def __enter__(self) -> typing.Self:
        while self._number < 0:
            number = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if not _lock(number):
                    raise ModelLockError(
                        f"{self.path!r} is being written by {_holder(self._lock)}; wait until that "
                        "ends, or use another file"
                    )
                # else its last holder removed it after it was opened and before it was locked
                if _identity(self._lock) == _identity(number):
                    self._number = number
            finally:
                if self._number < 0:
                    os.close(number)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        program = sys.argv[0].removesuffix(f"{os.sep}__main__.py")  # python -m
        what = " ".join([os.path.basename(program), *sys.argv[1:2]]).strip() or "python"
        with contextlib.suppress(OSError):  # a full disk: the lock works without the text
            os.ftruncate(self._number, 0)
            os.write(self._number, f"process {os.getpid()} ({what}, since {since})\n".encode())
        self._known = _identity(self._target)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):  # Windows removes no file that is open
            os.unlink(self._lock)
        os.close(self._number)
        self._number = -1

    def check(self) -> None:
        """Raise ModelLockError if the model file is not the one this lock knows.

        If it is gone there is nothing to overwrite, and nothing is raised.
        """
        if self._number < 0:
            raise ModelLockError(f"the lock of {self.path!r} is not held; use it in a with block")
        if _identity(self._target) not in (self._known, None):
            raise ModelLockError(
                f"{self.path!r} was replaced by a program that took no lock; it is left as it is"
            )

    @contextlib.contextmanager
    def reloading(self) -> Iterator[None]:
        """Accept the file that is there now, even one from another program, if the block, which
        loads it, does not raise.
        """
        found = _identity(self._target)
        yield
        self._known = found

    def save(self, model: Any, **options: Any) -> None:
        """Save a model with ``model.save(path, **options)``, if the file is the one that is known.

        Raises
        ------
        ModelLockError
            If another program has replaced it. Nothing is written then.
        OSError
            If the file cannot be written.
        """
        self.check()
        model.save(self.path, **options)
        self._known = _identity(self._target)


def _identity(file: str | int) -> tuple[int, ...] | None:
    """What differs once a file has been replaced, or written to."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _holder(lock: str) -> str:
    with contextlib.suppress(OSError), open(lock, encoding="utf-8", errors="replace") as file:
        if line := file.readline(200).strip():
            return line
    return "another process"


if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> bool:
        """Lock a file; False if another process has it locked."""
        os.lseek(number, 1 << 30, os.SEEK_SET)  # a byte far past the end
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(number, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(number: int) -> bool:
        """Lock a file; False if another process has it locked."""
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
