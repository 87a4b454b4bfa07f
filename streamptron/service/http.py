"""HTTP: requests with JSON, lines or a mail, and the service's answers to them."""

from __future__ import annotations

import asyncio
import time
import typing
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from streamptron.common.process import say
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
from streamptron.service.metrics import CONTENT_TYPE, Numbers, of_all
from streamptron.service.models import Folder, One
from streamptron.service.openapi import document

if typing.TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from starlette.types import Receive, Scope, Send

    from streamptron.service.service import Service

MAIL = "message/rfc822"
MOMENT = 0.1  # seconds between checks for what to send to a watcher
PAGE = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/base.js": ("base.js", "text/javascript"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.svg": ("page.svg", "image/svg+xml"),
}
LIST = {
    "/": ("models.html", "text/html"),
    "/models.js": ("models.js", "text/javascript"),
}
POLICY = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "referrer-policy": "no-referrer",
}


def answer(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(encoded(value), status, media_type="application/json")


class Held(Response):
    """An answer that keeps the model open until it has been sent."""

    def __init__(self, inner: Response, models: One | Folder, service: Service) -> None:
        self._inner, self._models, self._service = inner, models, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._inner(scope, receive, send)
        finally:
            self._models.let_go(self._service)


class Site:
    """The application.

    Parameters
    ----------
    models
        The models that are asked and taught.
    limits
        The limits of a request.
    """

    def __init__(self, models: One | Folder, limits: Limits) -> None:
        self._models, self._limits = models, limits
        self.closing = asyncio.Event()
        self._watchers = 0
        self._pool = ThreadPoolExecutor(limits.jobs, "lines")
        before = "/m/{name}" if models.many else ""
        self.routes = [
            *self._of_a_model(before),
            *(self._of_all() if isinstance(models, Folder) else ()),
            Route("/openapi.json", self._described, methods=["GET"]),
            Route("/v2", self._server, methods=["GET"]),
            Route("/v2/health/live", self._healthy, methods=["GET"]),
            Route("/v2/health/ready", self._ready, methods=["GET"]),
            *(
                Route(
                    f"/v2/models/{{name}}{do}",
                    self._handled(self._inferring, do, plain=True),
                    methods=[how],
                )
                for do, how in (("", "GET"), ("/ready", "GET"), ("/infer", "POST"))
            ),
            Route("/-/healthy", self._healthy, methods=["GET"]),
            Route("/-/ready", self._ready, methods=["GET"]),
        ]

    def _of_a_model(self, before: str) -> Iterator[Route]:
        for do in ("predict", "learn", "undo"):
            work = self._handled(self._asked, do, creates=do == "learn")
            yield Route(f"{before}/{do}", work, methods=["POST"])
        for what in ("labels", "model", "top", "queue", "stats"):
            yield Route(f"{before}/{what}", self._handled(self._shown, what), methods=["GET"])
        yield Route(f"{before}/metrics", self._handled(self._metrics), methods=["GET"])
        yield Route(f"{before}/events", self._handled(self._events), methods=["GET"])
        for do in ("save", "reload"):
            yield Route(f"{before}/-/{do}", self._handled(self._told, do), methods=["POST"])
        for path, found in PAGE.items():
            yield Route(f"{before}{path}", _page(*found))
        if before:
            yield Route(f"{before}/-/ready", self._handled(self._is_ready), methods=["GET"])

    def _of_all(self) -> Iterator[Route]:
        """The paths for all models of a folder together."""
        for path, found in {**PAGE, **LIST}.items():
            yield Route(path, _page(*found))
        yield Route("/models", self._plainly(self._listed), methods=["GET"])
        yield Route("/metrics", self._plainly(self._metrics_of_all), methods=["GET"])
        for do in ("save", "reload"):
            yield Route(f"/-/{do}", self._plainly(self._told_all, do), methods=["POST"])

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(routes=self.routes, exception_handlers={HTTPException: _not_found})

    def _plainly(self, work: Any, *given: Any, plain: bool = False) -> Any:
        """A handler that turns errors into answers; if `plain`, into a single sentence."""

        def refusal(error: Bad) -> Response:
            return answer({"error": error.message} if plain else error.said(), error.status)

        async def handle(request: Request, *found: Any) -> Response:
            try:
                done: Response = await work(request, *found, *given)
                return done
            except Bad as error:
                return refusal(error)
            except ClientDisconnect:
                return Response(status_code=400)
            except TimeoutError:
                seconds = self._limits.seconds
                return refusal(Bad(408, f"the body took longer than --timeout {seconds:g} s"))
            except Exception as error:  # a bug of ours; the next request may still work
                say(f"streamptron: {request.url.path}: {type(error).__name__}: {error}")
                return refusal(Bad(500, "an error in the server; its log says more"))

        return handle

    def _handled(self, work: Any, *given: Any, creates: bool = False, plain: bool = False) -> Any:
        """The same for requests to one model."""
        models = self._models

        async def find(request: Request) -> Response:
            service = await models.find(request.path_params.get("name"), creates)
            done: Response = await inner(request, service)
            return Held(done, models, service) if models.many else done

        inner = self._plainly(work, *given, plain=plain)
        return self._plainly(find, plain=plain)

    async def _body(self, request: Request) -> bytes:
        most = self._limits.body
        size = request.headers.get("content-length", "")
        if size.isdigit() and int(size) > most:
            raise Bad(413, f"the body has {size} bytes, and --max-size is {most}")
        body = b""
        async with asyncio.timeout(self._limits.seconds):
            more = True
            while more:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > most:
                    raise Bad(413, f"the body has more than --max-size {most} bytes")
        return body

    async def _asked(self, request: Request, service: Service, do: str) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        turns = Turns(service, do)
        if kind == LINES:
            return LinesResponse(request, turns, self._limits, self._pool)
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
        found = service.seen.get("numbers")
        if found is None:
            found = service.seen["numbers"] = Numbers(service)
        return typing.cast("Numbers", found)

    async def _metrics(self, request: Request, service: Service) -> Response:
        return Response(self._numbers_of(service).text(), headers={"content-type": CONTENT_TYPE})

    async def _metrics_of_all(self, request: Request) -> Response:
        text = of_all(list(self._models.opened()))
        return Response(text, headers={"content-type": CONTENT_TYPE})

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
        """Statistics as JSON, computed at most twice a second, however many clients watch."""
        now = time.monotonic()
        at, text = service.seen.get("stats", (0.0, ""))
        if now - at >= 0.5:
            text = encoded(service.stats())
            service.seen["stats"] = now, text
        return typing.cast("str", text)

    async def _events(self, request: Request, service: Service) -> Response:
        if self._watchers >= self._limits.watchers:
            raise Bad(503, f"more than --max-watchers {self._limits.watchers} watch already")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            self._watched(service), media_type="text/event-stream", headers=headers
        )

    async def _watched(self, service: Service) -> AsyncIterator[str]:
        """Numbers once a second, and lessons soon after they come, close ones together."""
        self._watchers += 1
        service.watchers += 1
        heard = service.n_recent
        try:
            while not self.closing.is_set():
                yield f"event: stats\ndata: {self._stats_of(service)}\n\n"
                ends = time.monotonic() + 1.0
                while not self.closing.is_set() and time.monotonic() < ends:
                    await asyncio.sleep(MOMENT)
                    if n := service.n_recent - heard:
                        heard += n
                        lessons = encoded(list(service.recent)[-n:])
                        yield f"event: lessons\ndata: {lessons}\n\n"
        finally:
            self._watchers -= 1
            service.watchers -= 1

    async def _told(self, request: Request, service: Service, do: str) -> Response:
        if do == "save":
            if not await service.save():
                raise Bad(507, "the model was not saved; the server's log says why")
        elif not await service.reload():
            raise Bad(409, "the model was not reloaded; the server's log says why")
        return answer({"done": "saved" if do == "save" else "reloaded", "version": service.n})

    async def _told_all(self, request: Request, do: str) -> Response:
        if not await self._models.do(do):
            raise Bad(507, f"{do}: not all models have done it; the server's log says why")
        return answer({"done": "saved" if do == "save" else "reloaded"})

    async def _listed(self, request: Request) -> Response:
        return answer(typing.cast("Folder", self._models).listed())

    async def _server(self, request: Request) -> Response:
        return answer(inference.SERVER)

    async def _inferring(self, request: Request, service: Service, do: str) -> Response:
        """The Open Inference Protocol."""
        if do != "/infer":
            return answer(inference.about(service) if not do else {"ready": True})
        said = decoded(await self._body(request))
        events = inference.events_of(service, said)
        if len(events) > self._limits.lines:
            raise Bad(413, f"there are more than --max-lines {self._limits.lines} events")
        found = await Turns(service, "predict").done(events)
        return answer(inference.outputs_of(service, said, found))

    async def _described(self, request: Request) -> Response:
        return answer(document(self._models.many))

    async def _healthy(self, request: Request) -> Response:
        return Response("healthy\n", media_type="text/plain")

    async def _ready(self, request: Request) -> Response:
        return Response("ready\n", media_type="text/plain")

    async def _is_ready(self, request: Request, service: Service) -> Response:
        return await self._ready(request)


def _page(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """A handler for a file of the page; the page makes no requests to other hosts."""
    data = (resources.files("streamptron.service") / "page" / name).read_bytes()
    headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff", **POLICY}

    async def send(request: Request) -> Response:
        return Response(data, media_type=kind, headers=headers)

    return send


def _queried(request: Request) -> dict[str, Any]:
    """The options in the query of a request with a mail."""
    said: dict[str, Any] = dict(request.query_params)
    for name in ("top", "explain", "weight", "remember"):
        if name in said:
            said[name] = decoded(said[name].encode())
    return said


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    what = "there is no such address" if status == 404 else f"{request.method} is not for this one"
    return answer(Bad(status, f"{what}; see /openapi.json").said(), status)
