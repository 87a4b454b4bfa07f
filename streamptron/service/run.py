"""The process: its doors, signals and regular tasks, and an end at which nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
import time
import typing
from typing import Any

from streamptron.common.process import say
from streamptron.service import memory
from streamptron.service.systemd import notify

if typing.TYPE_CHECKING:
    from streamptron.service.models import Folder, One

TICK = 0.2  # seconds
TRIM = 10.0  # seconds between returns of free memory to the system
SWITCH = 0.0001
# When Python collects garbage. Answers wait while it does, so it should look through few objects at
# a time. What the service remembers is packed (ledger.py), so that the collector never sees it.
GARBAGE = (1000, 3, 10)


class Door(typing.Protocol):
    """A server that clients connect to.

    Attributes
    ----------
    place
        Its address, as text.
    n_clients
        The largest number of clients at once.
    """

    place: str
    n_clients: int

    async def start(self) -> None:
        """Start to accept clients."""

    async def stop(self) -> None:
        """Accept no more clients, and answer those that have come."""


class Running:
    """A service that runs until a signal ends it.

    Parameters
    ----------
    models
        The models that are served.
    doors
        The servers through which they are asked and taught.
    """

    def __init__(self, models: One | Folder, doors: list[Door]) -> None:
        self.models, self.doors = models, doors
        self._code = 0
        self._jobs: set[asyncio.Task[Any]] = set()

    def run(self) -> int:
        """Serve until a signal ends it. Returns the exit code."""
        memory.settle()
        _many_files(sum(door.n_clients for door in self.doors) + self.models.n_files)
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            return asyncio.run(self._run())
        finally:
            sys.setswitchinterval(before)

    async def _run(self) -> int:
        self.models.start()
        gc.collect()
        gc.freeze()  # what exists now stays, and need not be looked through again
        gc.set_threshold(*GARBAGE)
        saved = True
        try:
            await self._serve()
        finally:
            saved = await self.models.stop()
        return self._code if saved else 1

    async def _serve(self) -> None:
        self._ends = asyncio.Event()
        self._listen_to_signals()
        for door in self.doors:
            await door.start()
        say(f"streamptron: answers at {' and '.join(door.place for door in self.doors)}")
        notify("READY=1")
        ticking = asyncio.create_task(self._tick())
        await self._ends.wait()
        await asyncio.gather(*[door.stop() for door in self.doors])
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        if self._jobs:
            await asyncio.wait(self._jobs)

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def end(code: int) -> None:
            self._code = code
            self._ends.set()
            notify("STOPPING=1")

        loop.add_signal_handler(signal.SIGTERM, end, 0)
        loop.add_signal_handler(signal.SIGINT, end, 130)
        loop.add_signal_handler(signal.SIGHUP, self._start, "reload")
        loop.add_signal_handler(signal.SIGUSR1, self._start, "save")

    def _start(self, what: str) -> None:
        """Start what a signal asks for, without waiting for its end."""
        job = asyncio.get_running_loop().create_task(self.models.do(what))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _tick(self) -> None:
        loop, trimmed = asyncio.get_running_loop(), time.monotonic()
        while True:
            notify("WATCHDOG=1")
            await self.models.do("tick")
            if time.monotonic() - trimmed > TRIM:
                await loop.run_in_executor(None, memory.trim)
                trimmed = time.monotonic()
            await asyncio.sleep(TICK)


def _many_files(n: int) -> None:
    """Allow the process this many connections, as far as the system lets it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n + 100
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
