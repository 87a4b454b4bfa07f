"""One writer per model file: a lock beside it, which the system releases when its holder ends.

The model file itself cannot be locked: each save puts another file in its place. So the lock is on
a file of its own, `.NAME.lock` in the same folder, which says who holds it. It is removed at the
end. One that a killed process has left behind is not locked any more, and the next one takes it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
import typing
from typing import Any

from streamptron.common.disk import beside, is_at, lock, remove_left

if typing.TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


_BEGINNING = "process "  # of what a lock's file says


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
    ends. A process that is forked within the block holds it too: it is free when both have left the
    block, or ended.

    Parameters
    ----------
    path
        The model file, or what the names of a ``Checkpoint`` begin with. It need not exist yet; its
        folder must.

    Raises
    ------
    ModelLockError
        On entering, if another process, or this one, holds the lock; the message says who. Or if
        the lock's file is another program's.
    OSError
        On entering, if no file can be written in the folder, or if its file system has no locks. (A
        ModelLockError is one, too.)

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

    def __enter__(self) -> typing.Self:
        if self._number >= 0:
            raise self._held(self._number)
        while self._number < 0:
            number = self._opened()
            try:
                if not self._locked(number):
                    raise self._held(number)
                # else its last holder removed it after it was opened and before it was locked
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
        remove_left(self._lock)  # unless a forked process holds it still

    def _opened(self) -> int:
        """The lock's file, open; it is made if it is not there."""
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
                "program from writing the model too; keep it in another folder"
            )
            raise OSError(error.errno, said, self.path) from None

    def _held(self, number: int) -> ModelLockError:
        return ModelLockError(
            f"{self.path!r} is being written by {_text(number).strip() or 'another process'}; wait "
            "until that ends, or use another file"
        )

    def _not_ours(self) -> ModelLockError:
        return ModelLockError(
            f"{self._lock!r} is not a lock of streamptron's, and so is left as it is; remove it to "
            f"write {self.path!r}"
        )

    def check(self) -> None:
        """Raise ModelLockError if the model file is not the one this lock knows.

        If it is gone there is nothing to overwrite, and nothing is raised.
        """
        if self._number < 0:
            raise ModelLockError(f"the lock of {self.path!r} is not held; use it in a with block")
        if identity(self._target) not in (self._known, None):
            raise ModelLockError(
                f"{self.path!r} was replaced by a program that took no lock; it is left as it is"
            )

    @contextlib.contextmanager
    def reloading(self) -> Iterator[None]:
        """Accept the file that is there now, even one from another program, if the block, which
        loads it, does not raise.
        """
        found = identity(self._target)
        yield
        self._known = found

    def save(self, model: Any, **options: Any) -> None:
        """Save a model, if the file is the one that is known.

        Parameters
        ----------
        model
            What ``streamptron.save`` takes, or anything else with a ``save(path, **options)``.
        options
            Passed on.

        Raises
        ------
        ModelLockError
            If another program has replaced it. Nothing is written then.
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
    """What differs once a file has been replaced, or written to."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _text(number: int) -> str:
    """What a lock's file says."""
    os.lseek(number, 0, os.SEEK_SET)
    return os.read(number, 200).decode("utf-8", "replace")
