"""Reading and writing JSON, and answering JSON lines as they come."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
import typing
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from streamptron.doors.batch import count_line_ends
from streamptron.service.bad import Bad
from streamptron.service.block import without_blank

if typing.TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from starlette.types import Receive, Scope, Send

    from streamptron.service.block import Block
    from streamptron.service.service import Service

LINES = "application/x-ndjson"
SLICE = 0.002  # seconds of work before other requests get their turn
PENDING = 1000  # answers that wait for the disk together
SMALL = 1 << 14  # bytes; a smaller block is not worth another thread
UNSENT = 1 << 26  # bytes of answers that the client has not read; beyond that, reading pauses


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of a request; the options of `streamptron serve` describe them."""

    body: int = 1 << 20
    lines: int = 1_000_000
    seconds: float = 60.0
    watchers: int = 50
    jobs: int = 1


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_constant)
encoded = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def decoded(data: bytes) -> Any:
    """JSON, or a Bad that says why not."""
    try:
        return _DECODER.decode(data.decode())
    except UnicodeDecodeError:
        raise Bad(400, "it is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Bad(400, f"it is not JSON: {error}") from None


def decoded_lines(lines: list[bytes]) -> list[Any]:
    """The JSON of each line, or a Bad."""
    found: list[Any] = []
    for line in lines:
        try:
            text = line.decode()
            value, end = _DECODER.raw_decode(text)
            if end != len(text) and text[end:].strip():
                value = decoded(line)
        except (ValueError, RecursionError):  # `decoded` says why
            try:
                value = decoded(line)
            except Bad as error:
                value = error
        except Bad as error:
            value = error
        found.append(value)
    return found


class Turns:
    """Processes many events in slices, so that other requests get their turn in between."""

    def __init__(self, service: Service, do: str) -> None:
        self.service, self.do = service, do
        self._many: Callable[[list[Any]], list[Any]] = getattr(service, f"{do}_many")
        self._n = 8  # events per slice
        self.writes = do != "predict"

    @property
    def reads_lines(self) -> bool:
        """Whether the engine reads and answers lines, without a Python object for each."""
        service = self.service
        return not self.writes and not service.learns and service.model.reads_lines

    async def done(self, events: list[Any]) -> list[Any]:
        """Process events. Returns an answer, or a Bad, for each."""
        found: list[Any] = []
        while len(found) < len(events):
            began = time.perf_counter()
            found += self._many(events[len(found) : len(found) + self._n])
            took = time.perf_counter() - began
            if took < SLICE / 2:
                self._n = min(512, 2 * self._n)
            elif took > SLICE:
                self._n = max(1, self._n // 2)
            await asyncio.sleep(0)
        return found

    async def of_block(self, block: Block, number: int) -> bytes:
        """The answers to a block; the line before it has this number."""
        lines = block.others
        found: list[Any] = []
        for at in range(0, len(lines), PENDING):
            found += await self.done(decoded_lines(lines[at : at + PENDING]))
        pairs = zip(found, block.places, strict=True)
        answers = block.answered([as_line(each, number + at + 1).encode() for each, at in pairs])
        for label, n in block.counts:
            self.service.tally.ask(label, n)
        return answers

    async def durable(self, found: list[Any]) -> None:
        """Wait until what was learned is as safe as `sync` requires, and say so in the answers."""
        if not self.writes or self.service.log is None:
            return
        try:
            durable = await self.service.log.durable()
        except OSError as error:
            raise Bad(507, f"the disk did not take the lesson: {error.strerror}") from None
        for each in found:
            if isinstance(each, dict):
                each["durable"] = durable


def as_line(found: Any, number: int) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, Bad):
        error = found.said()["error"]
        return encoded({"error": {"line": number, **error, "status": found.status}})
    return encoded(found)


def as_lines(found: list[Any], number: int) -> bytes:
    """Answers as lines; the line before them has this number."""
    lines = [as_line(each, n) for n, each in enumerate(found, number + 1)]
    return ("\n".join(lines) + "\n").encode()


class LinesResponse(Response):
    """Lines that are answered as they come, in order.

    There are three tasks: one reads blocks of whole lines, one answers them in order, one sends the
    answers. Most clients send everything before they read, so reading continues while up to UNSENT
    bytes of answers wait to be sent.

    If the engine reads the lines, a pool of threads answers the blocks, one thread per block: while
    some are being scored, the next one is read and the previous one sent.
    """

    def __init__(self, request: Request, turns: Turns, limits: Limits, pool: Executor) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self._request, self._turns, self._limits, self._pool = request, turns, limits, pool
        # what was read: a Block, or a future of one; bytes for Python; an error, or None at the end
        self._blocks: asyncio.Queue[Any] = asyncio.Queue(limits.jobs)
        self._unsent: list[bytes] = []
        self._size = 0
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sender = asyncio.create_task(self._send(send))
        reader = asyncio.create_task(self._read())
        try:
            try:
                await self._answer_all()
            except (TimeoutError, Bad) as error:
                bad = error if isinstance(error, Bad) else Bad(408, "the client took too long")
                self._put(as_line(bad, 0).encode() + b"\n")
                reader.cancel()
                reader = asyncio.create_task(self._drain())
            self._ended = True
            self._more.set()
            await sender
        except ClientDisconnect:
            pass
        finally:
            reader.cancel()
            sender.cancel()

    async def _drain(self) -> None:
        """Read what the client still sends; it may read our answers only after that."""
        while (await self._request.receive()).get("more_body"):
            pass

    async def _send(self, send: Send) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            body, self._unsent, self._size = b"".join(self._unsent), [], 0
            self._room.set()
            ended = self._ended and not self._unsent
            async with asyncio.timeout(self._limits.seconds):
                await send({"type": "http.response.body", "body": body, "more_body": not ended})
            if ended:
                return

    def _put(self, body: bytes) -> None:
        self._unsent.append(body)
        self._size += len(body)
        self._more.set()

    async def _read(self) -> None:
        last = None
        try:
            await self._read_all()
        except Exception as error:  # it is raised when all lines before it are answered
            last = error
        await self._blocks.put(last)

    async def _read_all(self) -> None:
        limits, n, rest, more = self._limits, 0, b"", True
        while more:
            async with asyncio.timeout(limits.seconds):
                message = await self._request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            more = message.get("more_body", False)
            block = rest + message.get("body", b"")
            end = block.rfind(b"\n") + 1 if more else len(block)
            rest = block[end:]
            if len(rest) > limits.body:
                raise Bad(413, f"a line has more than --max-size {limits.body} bytes")
            n += count_line_ends(block, end)
            if not self._turns.reads_lines or n >= limits.lines:  # Python finds the limit
                await self._blocks.put(block[:end])
            elif end:
                reader, loop = self._turns.service.reader(), asyncio.get_running_loop()
                await self._blocks.put(
                    loop.run_in_executor(self._pool, reader, block, end)
                    if end > SMALL
                    else reader(block, end)
                )

    async def _answer_all(self) -> None:
        number = 0
        while (block := await self._blocks.get()) is not None:
            if isinstance(block, Exception):
                raise block
            if isinstance(block, bytes):
                number = await self._answer(block, number)
                continue
            if isinstance(block, asyncio.Future):
                block = await block
            await self._put_all(await self._turns.of_block(block, number))
            number += block.n_lines

    async def _answer(self, block: bytes, number: int) -> int:
        lines = without_blank(block)
        if number + len(lines) > self._limits.lines:
            most = self._limits.lines
            raise Bad(413, f"there are more than --max-lines {most}; send them in parts")
        for at in range(0, len(lines), PENDING):
            found = await self._turns.done(decoded_lines(lines[at : at + PENDING]))
            await self._turns.durable(found)
            await self._put_all(as_lines(found, number + at))
        return number + len(lines)

    async def _put_all(self, body: bytes) -> None:
        self._put(body)
        while self._size > UNSENT:
            self._room.clear()
            async with asyncio.timeout(self._limits.seconds):
                await self._room.wait()
