"""The HTTP server: uvicorn, with a few changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import typing
from typing import Any

import uvicorn

from streamptron.service.guard import LOOPBACK, Guard, Tokens

if typing.TYPE_CHECKING:
    from streamptron.service.http import Site


HEAD = 1 << 16  # bytes of a request's head


def _bounded(base: Any) -> Any:
    """A connection of httptools that limits a request's head, as one of h11 does."""

    class Bounded(base):  # type: ignore[misc]
        _head = 0  # bytes since the last part of a body, or the end of a request

        def data_received(self, data: bytes) -> None:
            self._head += len(data)
            super().data_received(data)
            if self._head > HEAD and not self.transport.is_closing():
                self.send_400_response("Invalid HTTP request received.")

        def on_body(self, body: bytes) -> None:
            self._head = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._head = 0
            super().on_message_complete()

    return Bounded


def _patient(base: Any, seconds: float) -> Any:
    """A connection that is closed if a request's head takes too long to come."""

    class Patient(base):  # type: ignore[misc]
        _ends: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait()
            else:
                self._stop()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._ends is None:
                self._ends = self.loop.call_later(seconds, self._end)

        def _stop(self) -> None:
            if self._ends is not None:
                self._ends.cancel()
                self._ends = None

        def _end(self) -> None:
            self._ends = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.abort()

    return Patient


class Process(uvicorn.Server):
    """A uvicorn server that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> typing.Generator[None, None, None]:
        yield


class Web:
    """The HTTP server.

    Parameters
    ----------
    site
        The application.
    listener, place
        The listening socket, and its address as text.
    tokens
        The valid tokens; None: anyone who can reach the socket may ask and teach.
    hosts
        More host names to answer to.
    seconds
        The time that a client has to send its request, and to read the answer.
    most
        The largest number of requests, and of connections, at once.
    """

    def __init__(
        self,
        site: Site,
        listener: socket.socket,
        place: str,
        *,
        tokens: Tokens | None,
        hosts: tuple[str, ...],
        seconds: float,
        most: tuple[int, int],
    ) -> None:
        self.site, self.listener, self.place = site, listener, place
        self.n_clients = most[1]
        names: set[str] | None = None
        if listener.family != getattr(socket, "AF_UNIX", None):
            names = {*LOOPBACK, listener.getsockname()[0], *map(str.lower, hosts)}
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            Guard(site.app(), tokens, names, most[0]),
            access_log=False,
            date_header=True,
            lifespan="off",
            limit_concurrency=most[1] + 1,
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=max(1, int(seconds)),
            timeout_keep_alive=max(1, int(seconds)),
            ws="none",
        )
        config.load()
        protocol: Any = config.http_protocol_class  # httptools if it is installed, else h11
        if hasattr(protocol, "on_body"):
            protocol = _bounded(protocol)
        config.http_protocol_class = _patient(protocol, seconds)
        self._server = Process(config)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to accept clients."""
        self._running = asyncio.create_task(self._server.serve(sockets=[self.listener]))
        while not self._server.started and not self._running.done():
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Accept no more requests, and answer those that have come."""
        self._server.should_exit = True
        self.site.closing.set()
        if self._running is not None:
            await self._running
