"""HTTP: what comes as JSON, lines or a mail goes to the service, and its answers go back."""

from __future__ import annotations

import asyncio
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
from streamptron.service.lines import (
    LINES,
    Limits,
    LinesResponse,
    Turns,
    as_line,
    decoded,
    encoded,
)
from streamptron.service.metrics import CONTENT_TYPE, Numbers
from streamptron.service.openapi import document

if typing.TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from streamptron.service.service import Service

MAIL = "message/rfc822"
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


def answer(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(encoded(value), status, media_type="application/json")


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
            lines = [as_line(each, n) for n, each in enumerate(found, 1)]
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
            text = encoded(service.stats())
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
                    yield f"event: lesson\ndata: {encoded(lesson)}\n\n"
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
