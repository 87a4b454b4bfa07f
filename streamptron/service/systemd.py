"""What systemd gives a service, and hears from it: sockets, readiness, a sign of life."""

from __future__ import annotations

import contextlib
import os
import socket

FIRST = 3  # the number of the first socket that was handed over


def handed_over() -> socket.socket | None:
    """The socket that systemd has opened for this process, if there is one."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or not os.environ.get("LISTEN_FDS"):
        return None
    if os.environ["LISTEN_FDS"] != "1":
        raise ValueError("systemd hands over more than one socket; give the unit one ListenStream")
    for name in ("LISTEN_PID", "LISTEN_FDS"):
        del os.environ[name]  # they are not for processes that this one starts
    os.set_inheritable(FIRST, False)
    return socket.socket(fileno=FIRST)


def notify(state: str) -> None:
    """Say a state, as READY=1, if anything listens."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place:
        return
    address = f"\0{place[1:]}" if place.startswith("@") else place
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.connect(address)
        link.sendall(state.encode())
