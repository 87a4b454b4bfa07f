"""Sockets of the doors: at a host and a port, or a Unix socket in a file."""

from __future__ import annotations

import contextlib
import os
import socket


def listen(address: str, option: str) -> tuple[socket.socket, str]:
    """A listening socket, at HOST:PORT or at a file, and its address as text."""
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
    # clients' sockets inherit this: an answer in two pieces does not wait for an acknowledgement
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found, written(found)


def written(listener: socket.socket) -> str:
    """The address of a socket as text."""
    place = listener.getsockname()
    return place if isinstance(place, str) else "{}:{}".format(*place)


def is_loopback(found: socket.socket) -> bool:
    """Whether only this machine can reach a socket."""
    if found.family == getattr(socket, "AF_UNIX", None):
        return True
    host = found.getsockname()[0]
    return bool(host.startswith("127.") or host == "::1")


def unlink(listener: socket.socket, place: str) -> None:
    """Remove the file of a Unix socket."""
    if listener.family == socket.AF_UNIX:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)


def _unix(path: str, option: str) -> socket.socket:
    """A Unix socket; a file left behind by a dead process is replaced."""
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
