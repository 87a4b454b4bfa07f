"""Replacing a file whole or not at all, by way of a hidden temporary file that is locked.

The system releases a lock when the last process that has the file open ends. So a temporary file
that is not locked was left behind by a process that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterable
from typing import Any

_OURS = re.compile(r"[0-9a-f]{12}\.tmp")  # the end of the name of a file that is being written
_MOST = 200  # bytes of a name: systems allow 255, and the ending needs some


def check_regular(status: os.stat_result, path: str, purpose: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(number, f"{os.strerror(number)}: not a regular file {purpose}", path)


def beside(path: str, ending: str, beginning: str = "") -> str:
    """A path beside another: its name between a beginning and an ending, cut if too long."""
    folder, name = os.path.split(path)
    whole = os.fsencode(name)
    if len(whole) > _MOST:
        from hashlib import blake2b  # slow to import, and few names are that long

        name = f"{name[:40]}~{blake2b(whole, digest_size=12).hexdigest()}"
    return os.path.join(folder, f"{beginning}{name}{ending}")


def is_at(number: int, path: str) -> bool:
    """Whether an open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def lock(number: int) -> bool:
        """Lock an open file; False if it is locked already."""
        os.lseek(number, 1 << 30, os.SEEK_SET)  # a byte far past the end
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(number, 0, os.SEEK_SET)
        return True

    def remove_left(path: str) -> None:
        """Remove a file that is not open."""
        with contextlib.suppress(OSError):  # Windows does not remove an open file
            os.unlink(path)

else:
    import fcntl

    def lock(number: int) -> bool:
        """Lock an open file; False if it is locked already, OSError if locks do not work here."""
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def remove_left(path: str) -> None:
        """Remove a file if it can be locked, so that no process is using it."""
        with contextlib.suppress(OSError):
            number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if lock(number) and is_at(number, path):
                    os.unlink(path)
            finally:
                os.close(number)


def replace(
    path: str | os.PathLike[str],
    buffers: Iterable[Any],
    like: str | os.PathLike[str] | None = None,
    mode: int = 0o600,
) -> None:
    """Write a file whole or not at all, whatever interrupts it.

    An existing file keeps its permissions and, as far as the system allows it, its owner and group.
    A new file takes them from the file `like`, if there is one, or else has the permissions `mode`:
    by default only its owner can read it, since a model holds a secret seed. Temporary files that
    killed processes have left are removed. A device such as /dev/null is written to, not replaced.
    """
    target = os.path.realpath(os.fsdecode(path))
    try:
        old = _status(target)
        if old is not None and stat.S_ISCHR(old.st_mode):
            with open(target, "wb") as device:
                device.writelines(buffers)
            return
        if old is not None:
            check_regular(old, target, "to replace")
        elif like is not None:
            old = _status(like)
        _remove_all_left(target)
        number, temporary = _begun(target, mode)
        try:
            with open(number, "wb") as file:
                if old is not None:
                    os.chmod(temporary, stat.S_IMODE(old.st_mode) & ~_disowned(number, old))
                for buffer in buffers:
                    file.write(buffer)
                file.flush()
                os.fsync(number)
                if sys.platform == "win32":  # which does not rename an open file
                    file.close()
                os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        if hasattr(os, "O_DIRECTORY"):  # so that the new name, too, survives a power failure
            number = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
    except OSError as error:
        error.filename = os.fspath(path)
        if error.filename2 is not None:
            del error.filename2
        raise


def _begun(target: str, mode: int) -> tuple[int, str]:
    """A new file beside the target, open and locked for as long as it is open."""
    while True:
        temporary = beside(target, f".{os.urandom(6).hex()}.tmp", ".")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        number = os.open(temporary, flags, mode)
        try:
            locked = lock(number)
        except OSError:  # without locks no process removes the file
            locked = True
        if locked and is_at(number, temporary):
            return number, temporary
        os.close(number)  # another save took it for one left behind, and removed it


def _remove_all_left(target: str) -> None:
    folder, before = os.path.split(beside(target, ".", "."))
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        for file in files:
            if file.name.startswith(before) and _OURS.fullmatch(file.name, len(before)):
                remove_left(file.path)


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _disowned(number: int, old: os.stat_result) -> int:
    """Give a new file an old one's owner and group; returns the permissions to take away."""
    if not hasattr(os, "fchown"):
        return 0
    new = os.fstat(number)
    for owner in (old.st_uid, -1):  # if the owner may not be set, perhaps the group may
        if (new.st_uid if owner < 0 else owner, old.st_gid) == (new.st_uid, new.st_gid):
            return 0
        with contextlib.suppress(OSError):
            os.fchown(number, owner, old.st_gid)
            return 0
    return stat.S_IRWXG  # permissions of the old group must not go to another
