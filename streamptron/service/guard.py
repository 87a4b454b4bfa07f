"""Access control: tokens for asking and teaching, and the allowed Host and Origin."""

from __future__ import annotations

import hmac
import json
import re
import typing
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

if typing.TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

LEAST = 16  # the fewest characters of a token
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Paths that reveal nothing about a model: the pages, and whether the process is running.
OPEN = re.compile(
    r"(?:/m/[^/]+)?/(?:base\.js|page\.(?:css|js|svg))?|/models\.js|/-/(?:healthy|ready)"
)
TEACHES = ("/learn", "/undo", "/-/save", "/-/reload")  # ends of paths that need a teach token


class Tokens:
    """The tokens of a file, with lines ``ask TOKEN`` and ``teach TOKEN``.

    A teach token also allows asking.
    """

    def __init__(self, text: str, name: str) -> None:
        self._ask: list[bytes] = []
        self._teach: list[bytes] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ("ask", "teach"):
                raise ValueError(f"{name}:{number}: give a line `ask TOKEN` or `teach TOKEN`")
            if len(words[1]) < LEAST:
                raise ValueError(
                    f"{name}:{number}: the token has {len(words[1])} characters; give at least "
                    f"{LEAST}, for example those of `head -c 24 /dev/urandom | base64`"
                )
            (self._ask if words[0] == "ask" else self._teach).append(_digest(words[1].encode()))
        if not self._ask and not self._teach:
            raise ValueError(f"{name}: it has no line `ask TOKEN` or `teach TOKEN`")

    def allow(self, token: bytes, teaches: bool) -> bool:
        """Whether a token is valid. All are compared, each in constant time."""
        given, good = _digest(token), False
        for each in self._teach if teaches else [*self._ask, *self._teach]:
            good |= hmac.compare_digest(given, each)
        return good


def _digest(token: bytes) -> bytes:
    return sha256(token).digest()


class Guard:
    """An ASGI wrapper around the application that refuses forbidden requests.

    Parameters
    ----------
    app
        The application.
    tokens
        The valid tokens; None: anyone who can reach the socket may ask and teach.
    hosts
        The names that Host may have; None: any, for a Unix socket, which browsers cannot open.
    most
        The largest number of requests at once.
    """

    def __init__(
        self, app: App, tokens: Tokens | None, hosts: Iterable[str] | None, most: int
    ) -> None:
        self.app, self.tokens, self.most = app, tokens, most
        self.hosts = None if hosts is None else frozenset(hosts)
        self.n = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is None and self.n >= self.most:
            refusal = 503, f"more than --max-requests {self.most} at once; try again"
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        self.n += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.n -= 1

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts is not None and _name(host) not in self.hosts:
            return 421, "this server does not answer under this Host; name it with --host-name"
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin.decode("latin-1")).netloc != host:
            return 403, "the request comes from a page of another site"
        if headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            return 403, "the request comes from a page of another site"
        if self.tokens is None or OPEN.fullmatch(scope["path"]):
            return None
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        teaches = scope["path"].endswith(TEACHES)
        if kind.lower() == b"bearer" and self.tokens.allow(token.strip(), teaches):
            return None
        if teaches and kind and self.tokens.allow(token.strip(), False):
            return 403, "this token may ask, and not teach"
        return 401, "give a token of --token-file, as `Authorization: Bearer TOKEN`"


def _name(host: str) -> str:
    """The name in a Host, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": {"field": None, "value": None, "message": message}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
