"""The interface to systemd: sockets, readiness, and the watchdog's sign of life."""

from __future__ import annotations

import contextlib
import os
import socket

FIRST = 3  # the file descriptor of the first socket that systemd passes


def handed_over() -> socket.socket | None:
    """The socket that systemd has opened for this process, if there is one."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or not os.environ.get("LISTEN_FDS"):
        return None
    if os.environ["LISTEN_FDS"] != "1":
        raise ValueError("systemd hands over more than one socket; give the unit one ListenStream")
    for name in ("LISTEN_PID", "LISTEN_FDS"):
        del os.environ[name]  # child processes must not see them
    os.set_inheritable(FIRST, False)
    return socket.socket(fileno=FIRST)


def notify(state: str) -> None:
    """Tell systemd a state, such as READY=1, if it listens."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place:
        return
    address = f"\0{place[1:]}" if place.startswith("@") else place
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.connect(address)
        link.sendall(state.encode())
