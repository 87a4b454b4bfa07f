"""HTTP: what comes as JSON, lines or a mail goes to the service, and its answers go back."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
import typing
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from streamptron.command.process import say
from streamptron.service import inference
from streamptron.service.bad import Bad
from streamptron.service.metrics import CONTENT_TYPE, Numbers
from streamptron.service.openapi import document

if typing.TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from streamptron.service.service import Service

LINES = "application/x-ndjson"
MAIL = "message/rfc822"
SLICE = 0.002  # seconds of work, after which others have their turn
PENDING = 1000  # answers that wait for the disk together
UNSENT = 1 << 26  # bytes of answers that a client has not taken; then no more of it is read


PAGE = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.svg": ("page.svg", "image/svg+xml"),
}
POLICY = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "referrer-policy": "no-referrer",
}


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one request may take; the options of `streamptron serve` say what each is."""

    body: int = 1 << 20
    lines: int = 1_000_000
    seconds: float = 60.0
    watchers: int = 50


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)
_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


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
        except (ValueError, RecursionError):  # it is said why
            try:
                value = decoded(line)
            except Bad as error:
                value = error
        except Bad as error:
            value = error
        found.append(value)
    return found


def answer(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(_ENCODE(value), status, media_type="application/json")


class Turns:
    """Many events, done in slices, so that others have their turn in between."""

    def __init__(self, service: Service, do: str) -> None:
        self.service, self.do = service, do
        self._many: Callable[[list[Any]], list[Any]] = getattr(service, f"{do}_many")
        self._n = 8  # events of a slice
        self.writes = do != "predict"

    async def done(self, events: list[Any]) -> list[Any]:
        """What becomes of each: an object, or a Bad."""
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

    async def durable(self, found: list[Any]) -> None:
        """Wait until what was learned is as safe as was asked, and say so."""
        if not self.writes or self.service.log is None:
            return
        try:
            durable = await self.service.log.durable()
        except OSError as error:
            raise Bad(507, f"the disk did not take the lesson: {error.strerror}") from None
        for each in found:
            if isinstance(each, dict):
                each["durable"] = durable


def _as_line(found: Any, number: int) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, Bad):
        error = found.said()["error"]
        return _ENCODE({"error": {"line": number, **error, "status": found.status}})
    return _ENCODE(found)


class LinesResponse(Response):
    """Lines that are answered as they come, each in its order.

    Most clients send all they have before they read, so reading goes on while answers wait to be
    taken, up to UNSENT bytes of them.
    """

    def __init__(self, request: Request, turns: Turns, limits: Limits) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self._request, self._turns, self._limits = request, turns, limits
        self._unsent: list[bytes] = []
        self._size = 0
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sender = asyncio.create_task(self._send(send))
        try:
            await self._read()
        except ClientDisconnect:
            sender.cancel()
            return
        except (TimeoutError, Bad) as error:
            bad = error if isinstance(error, Bad) else Bad(408, "the client took too long")
            self._put(_as_line(bad, 0).encode() + b"\n")
        except BaseException:
            sender.cancel()
            raise
        self._ended = True
        self._more.set()
        await sender

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
        limits, number, rest = self._limits, 0, b""
        pieces = self._request.stream().__aiter__()
        while True:
            async with asyncio.timeout(limits.seconds):
                piece = await anext(pieces, b"")
            rest += piece
            if piece:
                *lines, rest = rest.split(b"\n")
            else:
                lines, rest = [rest], b""
            if len(rest) > limits.body:
                raise Bad(413, f"a line has more than --max-size {limits.body} bytes")
            lines = [line for line in lines if line.strip()]
            if number + len(lines) > limits.lines:
                raise Bad(
                    413, f"there are more than --max-lines {limits.lines}; send them in parts"
                )
            for at in range(0, len(lines), PENDING):
                number = await self._answer(lines[at : at + PENDING], number)
            if not piece:
                return

    async def _answer(self, lines: list[bytes], number: int) -> int:
        found = await self._turns.done(decoded_lines(lines))
        await self._turns.durable(found)
        text = "\n".join([_as_line(each, n) for n, each in enumerate(found, number + 1)])
        self._put(text.encode() + b"\n")
        while self._size > UNSENT:
            self._room.clear()
            async with asyncio.timeout(self._limits.seconds):
                await self._room.wait()
        return number + len(lines)


class Site:
    """The application.

    Parameters
    ----------
    find
        The service of a name; None: of the only model.
    limits
        Of a request.
    """

    def __init__(
        self, find: Callable[[str | None], Awaitable[Service]], limits: Limits, named: bool = False
    ) -> None:
        self._find, self._limits = find, limits
        self.closing = asyncio.Event()
        self._watchers = 0
        self._stats: dict[int, tuple[float, str]] = {}
        self._numbers: dict[int, Numbers] = {}
        before = "/m/{name}" if named else ""
        self.routes = [
            *(
                Route(f"{before}/{do}", self._handled(self._asked, do), methods=["POST"])
                for do in ("predict", "learn", "undo")
            ),
            *(
                Route(f"{before}/{what}", self._handled(self._shown, what), methods=["GET"])
                for what in ("labels", "model", "top", "queue", "stats")
            ),
            Route(f"{before}/metrics", self._handled(self._metrics), methods=["GET"]),
            *(Route(f"{before}{path}", _page(*found)) for path, found in PAGE.items()),
            Route(f"{before}/events", self._handled(self._events), methods=["GET"]),
            *(
                Route(f"{before}/-/{do}", self._handled(self._told, do), methods=["POST"])
                for do in ("save", "reload")
            ),
            Route("/openapi.json", self._described, methods=["GET"]),
            Route("/v2", self._handled(self._inferring, "server"), methods=["GET"]),
            Route("/v2/health/live", self._healthy, methods=["GET"]),
            Route("/v2/health/ready", self._handled(self._ready), methods=["GET"]),
            *(
                Route(
                    f"/v2/models/{{model}}{do}", self._handled(self._inferring, do), methods=[how]
                )
                for do, how in (("", "GET"), ("/ready", "GET"), ("/infer", "POST"))
            ),
            Route("/-/healthy", self._healthy, methods=["GET"]),
            Route(f"{before}/-/ready", self._handled(self._ready), methods=["GET"]),
        ]

    def app(self) -> Starlette:
        """What a server of ASGI runs."""
        return Starlette(routes=self.routes, exception_handlers={HTTPException: _not_found})

    def _handled(self, work: Any, *given: Any) -> Any:
        """A handler whose errors are answers."""

        async def handle(request: Request) -> Response:
            try:
                service = await self._find(request.path_params.get("name"))
                done: Response = await work(request, service, *given)
                return done
            except Bad as error:
                return answer(error.said(), error.status)
            except ClientDisconnect:
                return Response(status_code=400)
            except TimeoutError:
                bad = Bad(408, f"the body took longer than --timeout {self._limits.seconds:g} s")
                return answer(bad.said(), bad.status)
            except Exception as error:  # ours; the next request is another one
                say(f"streamptron: {request.url.path}: {type(error).__name__}: {error}")
                return answer(Bad(500, "a fault of the server's, which is in its log").said(), 500)

        return handle

    async def _body(self, request: Request) -> bytes:
        most = self._limits.body
        size = request.headers.get("content-length", "")
        if size.isdigit() and int(size) > most:
            raise Bad(413, f"the body has {size} bytes, and --max-size is {most}")
        body = b""
        async with asyncio.timeout(self._limits.seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise Bad(413, f"the body has more than --max-size {most} bytes")
        return body

    async def _asked(self, request: Request, service: Service, do: str) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        turns = Turns(service, do)
        if kind == LINES:
            return LinesResponse(request, turns, self._limits)
        body = await self._body(request)
        if kind == MAIL:
            said = _queried(request)
            said["mail"] = body
        else:
            said = decoded(body)
        if isinstance(said, list):
            found = await turns.done(said)
            await turns.durable(found)
            lines = [_as_line(each, n) for n, each in enumerate(found, 1)]
            return Response(f"[{','.join(lines)}]", media_type="application/json")
        if not isinstance(said, dict):
            raise Bad(400, "give an object, or a list of them")
        began = time.perf_counter()
        done = getattr(service, do)(said)
        if turns.writes:
            await turns.durable([done])
        self._numbers_of(service).took(do, time.perf_counter() - began)
        return answer(done)

    def _numbers_of(self, service: Service) -> Numbers:
        found = self._numbers.get(id(service))
        if found is None:
            found = self._numbers[id(service)] = Numbers(service)
        return found

    async def _metrics(self, request: Request, service: Service) -> Response:
        return Response(self._numbers_of(service).text(), headers={"content-type": CONTENT_TYPE})

    async def _shown(self, request: Request, service: Service, what: str) -> Response:
        if what == "stats":
            return Response(self._stats_of(service), media_type="application/json")
        if what in ("top", "queue"):
            text = request.query_params.get("n", "20")
            if not (text.isascii() and text.isdigit()) or int(text) > 1000:
                raise Bad(400, f"n={text}: give a whole number of at most 1000", "n", text)
            n = int(text)
            if what == "queue":
                return answer(service.queue(n))
            return answer(service.top(request.query_params.get("label"), n))
        return answer(service.labels() if what == "labels" else service.about())

    def _stats_of(self, service: Service) -> str:
        """Worked out at most twice a second, whoever looks."""
        now = time.monotonic()
        at, text = self._stats.get(id(service), (0.0, ""))
        if now - at >= 0.5:
            text = _ENCODE(service.stats())
            self._stats[id(service)] = now, text
        return text

    async def _events(self, request: Request, service: Service) -> Response:
        if self._watchers >= self._limits.watchers:
            raise Bad(503, f"more than --max-watchers {self._limits.watchers} watch already")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            self._watched(service), media_type="text/event-stream", headers=headers
        )

    async def _watched(self, service: Service) -> AsyncIterator[str]:
        """Numbers once a second, and lessons as they come."""
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(100)
        self._watchers += 1
        service.watchers.add(queue)
        try:
            while not self.closing.is_set():
                yield f"event: stats\ndata: {self._stats_of(service)}\n\n"
                ends = time.monotonic() + 1.0
                while not self.closing.is_set() and (left := ends - time.monotonic()) > 0:
                    try:
                        lesson = await asyncio.wait_for(queue.get(), min(left, 0.25))
                    except TimeoutError:
                        continue
                    yield f"event: lesson\ndata: {_ENCODE(lesson)}\n\n"
        finally:
            self._watchers -= 1
            service.watchers.discard(queue)

    async def _told(self, request: Request, service: Service, do: str) -> Response:
        if do == "save":
            if not await service.save():
                raise Bad(507, "the model was not saved; the server's log says why")
        elif not await service.reload():
            raise Bad(409, "the model was not reloaded; the server's log says why")
        return answer({"done": "saved" if do == "save" else "reloaded", "version": service.n})

    async def _inferring(self, request: Request, service: Service, do: str) -> Response:
        """The Open Inference Protocol, whose errors are one sentence."""
        if do == "server":
            return answer(inference.SERVER)
        try:
            name = request.path_params["model"]
            if name != inference.name_of(service):
                raise Bad(404, f"there is no model {name}; this is {inference.name_of(service)}")
            if do != "/infer":
                return answer(inference.about(service) if not do else {"ready": True})
            said = decoded(await self._body(request))
            events = inference.events_of(service, said)
            if len(events) > self._limits.lines:
                raise Bad(413, f"there are more than --max-lines {self._limits.lines} events")
            found = await Turns(service, "predict").done(events)
            return answer(inference.outputs_of(service, said, found))
        except Bad as error:
            return answer({"error": error.message}, error.status)

    async def _described(self, request: Request) -> Response:
        return answer(document())

    async def _healthy(self, request: Request) -> Response:
        return Response("healthy\n", media_type="text/plain")

    async def _ready(self, request: Request, service: Service) -> Response:
        return Response("ready\n", media_type="text/plain")


def _page(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """A file of the page, which asks nothing of another host."""
    data = (resources.files("streamptron.service") / "page" / name).read_bytes()
    headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff", **POLICY}

    async def send(request: Request) -> Response:
        return Response(data, media_type=kind, headers=headers)

    return send


def _queried(request: Request) -> dict[str, Any]:
    """What the query says of a mail."""
    said: dict[str, Any] = dict(request.query_params)
    for name in ("top", "explain", "weight", "remember"):
        if name in said:
            said[name] = decoded(said[name].encode())
    return said


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    what = "there is no such address" if status == 404 else f"{request.method} is not for this one"
    return answer(Bad(status, f"{what}; see /openapi.json").said(), status)
