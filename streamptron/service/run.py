"""The process: sockets, signals, what is due; and its end, after which nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import typing
from typing import Any

import uvicorn

from streamptron.command.process import say
from streamptron.service.guard import LOOPBACK, Guard, Tokens
from streamptron.service.http import Site
from streamptron.service.lines import Limits
from streamptron.service.systemd import notify

if typing.TYPE_CHECKING:
    from streamptron.service.service import Service

TICK = 0.2  # seconds
SWITCH = 0.0005  # seconds after which a save lets an answer go first


def is_loopback(found: socket.socket) -> bool:
    """Whether only this machine reaches a socket."""
    if found.family == getattr(socket, "AF_UNIX", None):
        return True
    host = found.getsockname()[0]
    return bool(host.startswith("127.") or host == "::1")


def _patient(base: Any, seconds: float) -> Any:
    """A connection that ends if a request's head takes too long to come."""

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
    """A server that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> typing.Generator[None, None, None]:
        yield


class Running:
    """A service that runs until a signal ends it.

    Parameters
    ----------
    service
        Of the model.
    listener, place
        Where it answers, and how that is written.
    tokens
        Who may ask and teach; None: whoever reaches the socket.
    hosts
        Further names under which it answers.
    limits
        Of a request.
    most
        Requests, and connections, at once.
    """

    def __init__(
        self,
        service: Service,
        listener: socket.socket,
        place: str,
        *,
        tokens: Tokens | None,
        hosts: tuple[str, ...],
        limits: Limits,
        most: tuple[int, int],
    ) -> None:
        self.service, self.listener, self.place = service, listener, place
        self.tokens, self.limits, self.most = tokens, limits, most
        self.hosts: set[str] | None = None
        if listener.family != getattr(socket, "AF_UNIX", None):
            self.hosts = {*LOOPBACK, listener.getsockname()[0], *map(str.lower, hosts)}
        self._code = 0
        self._jobs: set[asyncio.Task[Any]] = set()

    def run(self) -> int:
        """Answer until a signal ends it; the exit code."""
        _many_files(self.most[1])
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            return asyncio.run(self._run())
        finally:
            sys.setswitchinterval(before)

    async def _run(self) -> int:
        service = self.service
        service.open()
        saved = True
        try:
            await self._serve()
        finally:
            saved = await service.save()
            service.close()
        return self._code if saved else 1

    async def _serve(self) -> None:
        async def find(name: str | None) -> Service:
            return self.service

        site = Site(find, self.limits)
        requests, connections = self.most
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            Guard(site.app(), self.tokens, self.hosts, requests),
            access_log=False,
            date_header=True,
            lifespan="off",
            limit_concurrency=connections + 1,
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=max(1, int(self.limits.seconds)),
            timeout_keep_alive=max(1, int(self.limits.seconds)),
            ws="none",
        )
        config.load()
        config.http_protocol_class = _patient(config.http_protocol_class, self.limits.seconds)
        server = Process(config)
        self._listen_to_signals(server)
        ticking = asyncio.create_task(self._tick(server, site))
        await server.serve(sockets=[self.listener])
        site.closing.set()
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        if self._jobs:
            await asyncio.wait(self._jobs)

    def _listen_to_signals(self, server: uvicorn.Server) -> None:
        loop = asyncio.get_running_loop()

        def end(code: int) -> None:
            self._code, server.should_exit = code, True
            notify("STOPPING=1")

        loop.add_signal_handler(signal.SIGTERM, end, 0)
        loop.add_signal_handler(signal.SIGINT, end, 130)
        loop.add_signal_handler(signal.SIGHUP, self._start, "reload")
        loop.add_signal_handler(signal.SIGUSR1, self._start, "save")

    def _start(self, what: str) -> None:
        """Begin what a signal asks for; it ends by itself."""
        job = asyncio.get_running_loop().create_task(getattr(self.service, what)())
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _tick(self, server: uvicorn.Server, site: Site) -> None:
        said = False
        while True:
            if server.started and not said:
                said = True
                say(f"streamptron: answers at {self.place}")
                notify("READY=1")
            if said:
                notify("WATCHDOG=1")
            if server.should_exit:
                site.closing.set()
            try:
                await self.service.tick()
            except OSError as error:
                self.service._say_once(f"the log did not reach the disk: {error}")
            await asyncio.sleep(TICK)


def _many_files(n: int) -> None:
    """Let the process have so many connections, as far as the system lets it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n + 100
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
