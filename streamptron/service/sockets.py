"""Where a door answers: a host and a port, or a file."""

from __future__ import annotations

import contextlib
import os
import socket


def listen(address: str, option: str) -> tuple[socket.socket, str]:
    """A socket that takes clients, at HOST:PORT or at a file, and how the place is written."""
    host, colon, port = address.rpartition(":")
    if not colon and not address.isdigit():
        return _unix(address, option), address
    if "/" in address:
        return _unix(address, option), address
    if not (colon and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ValueError(
            f"{option} {address}: give a host and a port, as 127.0.0.1:783, or a file for a socket"
        )
    host = host.strip("[]")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.create_server((host, int(port)), family=family)
    except OSError as error:
        raise OSError(f"{option} {address}: {error.strerror or error}") from None
    # clients' sockets have it from here: an answer in two pieces does not wait for the other side
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found, written(found)


def written(listener: socket.socket) -> str:
    """How the place of a socket is written."""
    place = listener.getsockname()
    return place if isinstance(place, str) else "{}:{}".format(*place)


def is_loopback(found: socket.socket) -> bool:
    """Whether only this machine reaches a socket."""
    if found.family == getattr(socket, "AF_UNIX", None):
        return True
    host = found.getsockname()[0]
    return bool(host.startswith("127.") or host == "::1")


def unlink(listener: socket.socket, place: str) -> None:
    """Remove the file of a socket that has one."""
    if listener.family == socket.AF_UNIX:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)


def _unix(path: str, option: str) -> socket.socket:
    """A socket in the file system; one that a dead process has left is replaced."""
    found = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as other:
            try:
                other.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # no server listens there
            else:
                raise OSError("another process answers there; end it, or give another file")
        found.bind(path)
        found.listen(128)
    except OSError as error:
        found.close()
        raise OSError(f"{option} {path}: {error.strerror or error}") from None
    return found
