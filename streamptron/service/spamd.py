"""A door for mails, which judges and learns them by the protocol of spamd.

Debian's ``spamc`` is its client, and so is whatever speaks to SpamAssassin's daemon.

    accept -> read -> a whole request -> judged or learned, at once -> written -> closed

A mail takes a fraction of a millisecond, so no client waits long. No read or write waits. A client
that is slow has its time, and is then cut off; sizes and the number of clients are bounded. What is
learned are lessons of the service, as those that come by HTTP: they are in its log before the
answer.
"""

from __future__ import annotations

import asyncio
import math
import socket
import time
import typing
from typing import Any

from streamptron.common.header import with_field, without_ours
from streamptron.common.names import shown
from streamptron.common.process import say
from streamptron.files.lines import LineModel
from streamptron.files.verdict import Verdict, judged
from streamptron.service.bad import Bad
from streamptron.service.request import (
    NAMES,
    OK,
    PROTOCOL,
    SOFTWARE,
    TEMPFAIL,
    UNAVAILABLE,
    Refused,
    Request,
)

if typing.TYPE_CHECKING:
    from streamptron.service.served import Event, Served
    from streamptron.service.service import Service

HEADER_MOST = 1 << 14  # bytes of a request before its mail
PIECE = 1 << 18  # bytes that are read or written at once
BUFFERED = 1 << 28  # bytes of all requests that are not whole yet
GONE = 410  # the status of what cannot be taken back
AGAIN = 1.0  # seconds until clients are taken again, if the system has no room for one


class Client:
    """A connection: what has been read of its request, and what is to be written."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.ends: asyncio.TimerHandle | None = None
        self.is_asked = False  # whether its request is whole
        self.read = bytearray()
        self.request: Request | None = None
        self.left: memoryview | None = None

    def take(self, data: bytes, most: int) -> Request | None:
        """Take what was read, b"" at its end; the request, once it is whole."""
        self.read += data
        if self.request is None:
            end = self.read.find(b"\r\n\r\n", 0, HEADER_MOST)
            first = self.read.find(b"\n", 0, HEADER_MOST)
            if first == 0 or (first > 0 and self.read[first - 1] != ord("\r")):
                raise Refused(PROTOCOL, "the lines of the request do not all end in CR LF")
            if end < 0:
                if not data or len(self.read) >= HEADER_MOST:
                    raise Refused(PROTOCOL, "the request has no empty line after its fields")
                return None
            self.request = Request(bytes(self.read[:end]))
            del self.read[: end + 4]
        if not self.request.is_whole(len(self.read), not data, most):
            return None
        self.request.take(bytes(self.read), most)
        self.read.clear()
        return self.request


class Spamd:
    """A door for mails, by the protocol of spamd.

    Parameters
    ----------
    service
        Of the model.
    listener, place
        Where it answers, and how that is written.
    positive
        The label of spam.
    least
        The probability below which a mail is unsure.
    most
        The bytes of a mail.
    seconds
        How long a client may take to send its mail, and then to take the answer.
    clients
        How many there may be at once; more wait for their turn.
    """

    def __init__(
        self,
        service: Service,
        listener: socket.socket,
        place: str,
        *,
        positive: str,
        least: float,
        most: int,
        seconds: float,
        clients: int,
    ) -> None:
        self.service, self.listener, self.place = service, listener, place
        self.positive = positive
        self.least = least
        self.most = most
        self.seconds = seconds
        self.n_clients = clients
        self._clients: set[Client] = set()
        self._full_until = 0.0  # when clients are taken again, if there was no room for one
        self._is_open = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: set[str] = set()
        self._view: LineModel | None = None
        self._viewed: Served | None = None
        service.checks.append(self._check)

    def _check(self, model: Served) -> None:
        """That a model can answer mails."""
        if model.kind != "mail":
            given = "features" if model.kind == "x" else f"{model.kind.removesuffix('s')}s"
            raise ValueError(f"the model learns from {given}, and this format gives mails")
        lines = LineModel.of(model.contents)
        if lines.names and self.positive not in lines.names:
            raise ValueError(
                f"--positive {self.positive} is not a label of the model: {lines.names}"
            )

    @property
    def model(self) -> LineModel:
        """The model that the service has now, as it judges mails."""
        if self._view is None or self._viewed is not self.service.model:
            self._viewed = self.service.model
            self._view = LineModel.of(self._viewed.contents)
        return self._view

    async def start(self) -> None:
        """Take clients from now on."""
        self._loop = asyncio.get_running_loop()
        self.listener.setblocking(False)
        self._listen()

    async def stop(self) -> None:
        """Take no more, and let those go that have what they wanted."""
        self._full_until = math.inf
        self._listen()
        ends = time.monotonic() + self.seconds
        while any(each.is_asked for each in self._clients) and time.monotonic() < ends:
            await asyncio.sleep(0.01)
        for client in list(self._clients):
            self._end(client)

    # --- Connections

    def _listen(self) -> None:
        """Take clients as long as there is room; the system lets the others wait."""
        left = self._full_until - time.monotonic()
        has_room = len(self._clients) < self.n_clients and left <= 0
        if self._is_open and not has_room:
            self._loop.remove_reader(self.listener)
            if 0 < left < math.inf:
                self._loop.call_later(left, self._listen)
        elif not self._is_open and has_room:
            self._loop.add_reader(self.listener, self._accept)
        self._is_open = has_room

    def _accept(self) -> None:
        try:
            link, _ = self.listener.accept()
        except BlockingIOError:  # it has gone again
            return
        except OSError as error:  # as too many open files, of which it would hear again at once
            self._fault(f"a client was not taken: {error.strerror}; it waits")
            self._full_until = time.monotonic() + AGAIN
            self._listen()
            return
        link.setblocking(False)
        client = Client(link)
        self._clients.add(client)
        self._wait(client)
        self._loop.add_reader(link, self._step, client)
        self._listen()

    def _wait(self, client: Client) -> None:
        """Give a client its time."""
        if client.ends is not None:
            client.ends.cancel()
        client.ends = self._loop.call_later(self.seconds, self._late, client)

    def _late(self, client: Client) -> None:
        self._fault(f"a client took longer than {self.seconds:g} s, and was cut off")
        self._end(client)

    def _step(self, client: Client) -> None:
        """Read or write what can be read or written now."""
        try:
            if client.left is None:
                self._read(client)
            if client.left is not None:
                client.left = client.left[client.link.send(client.left[:PIECE]) :]
                if not client.left:
                    self._end(client)
        except BlockingIOError:
            pass
        except OSError:  # the client has gone
            self._end(client)

    def _read(self, client: Client) -> None:
        data = client.link.recv(PIECE)
        try:
            request = client.take(data, self.most)
            if sum(len(each.read) for each in self._clients) > BUFFERED:
                raise Refused(TEMPFAIL, f"there are more than {BUFFERED} bytes of unfinished mails")
            if request is None:
                return
            client.is_asked = True
            if request.method == "TELL":
                self._loop.remove_reader(client.link)
                task = self._loop.create_task(self._teach(client, request))
                self._tasks.add(task)  # which nothing else holds
                task.add_done_callback(self._tasks.discard)
                return
            answer = self._answer(request)
        except Exception as error:  # the next mail is another one
            answer = self._refusal(error)
        self._write(client, answer)

    async def _teach(self, client: Client, request: Request) -> None:
        """Answer a lesson, once it is where no kill takes it away."""
        try:
            answer = self._tell(request)
            if self.service.log is not None:
                await self.service.log.durable()
        except Exception as error:
            answer = self._refusal(error)
        if client in self._clients:
            self._write(client, answer)

    def _refusal(self, error: Exception) -> bytes:
        code, reason = SOFTWARE, str(error) or type(error).__name__
        if isinstance(error, Refused):
            code, reason = error.args
        elif isinstance(error, Bad):
            code = {403: UNAVAILABLE, 507: TEMPFAIL}.get(error.status, SOFTWARE)
        elif isinstance(error, OSError):
            code, reason = TEMPFAIL, f"the disk did not take the lesson: {error.strerror}"
        self._fault(reason)
        return _response(code, reason)

    def _write(self, client: Client, answer: bytes) -> None:
        client.is_asked = True
        client.read.clear()
        client.left = memoryview(answer)
        self._wait(client)
        self._loop.remove_reader(client.link)
        self._loop.add_writer(client.link, self._step, client)

    def _end(self, client: Client) -> None:
        self._clients.discard(client)
        if client.ends is not None:
            client.ends.cancel()
        self._loop.remove_reader(client.link)
        self._loop.remove_writer(client.link)
        client.link.close()
        if self._full_until < math.inf:
            self._full_until = 0.0
        self._listen()

    def _fault(self, reason: str) -> None:
        """Say what went wrong, once, however often it does."""
        if reason not in self._said and len(self._said) < 100:
            self._said.add(reason)
            say(f"streamptron: {reason}")

    # --- Answers

    def _answer(self, request: Request) -> bytes:
        method = request.method
        if method == "PING":
            return b"SPAMD/1.5 0 PONG\r\n"
        if method == "SKIP":
            return b""
        if method == "TELL":
            return self._tell(request)
        if method not in ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"):
            raise Refused(
                PROTOCOL,
                f"there is no method {shown(method, 40)}; give CHECK, SYMBOLS, REPORT, "
                "REPORT_IFSPAM, PROCESS, HEADERS, TELL or PING",
            )
        mail = without_ours(request.mail)
        verdict = judged(self.model, mail, self.positive, self.least, method != "CHECK")
        self.service.judged(mail, self._label(verdict.label), verdict.probability)
        fields = [f"Spam: {verdict.is_spam} ; {verdict.score} / {verdict.threshold}"]
        return _response(OK, NAMES[OK], fields, self._body(method, mail, verdict))

    def _body(self, method: str, mail: bytes, verdict: Verdict) -> bytes:
        if method == "CHECK" or (method == "REPORT_IFSPAM" and not verdict.is_spam):
            return b""
        if method == "SYMBOLS":
            return ",".join([verdict.said, *verdict.words]).encode() + b"\r\n"
        if method in ("REPORT", "REPORT_IFSPAM"):
            return "\n".join([verdict.field, *verdict.words, ""]).encode()
        whole = with_field(mail, verdict.field)
        if method == "PROCESS":
            return whole
        for gap in (b"\r\n\r\n", b"\n\n"):
            at = whole.find(gap)
            if at >= 0:
                return whole[: at + len(gap)]
        return whole

    def _tell(self, request: Request) -> bytes:
        """Learn a mail, or take it back."""
        service = self.service
        if not service.learns:
            raise Refused(UNAVAILABLE, "this server does not learn; start it with --learn")
        mail = without_ours(request.mail)
        if "local" in request.names("set"):
            known = {"spam": self.positive, "ham": self._negative()}
            kind = request.fields.get("message-class", "").lower()
            if kind not in known:
                raise Refused(
                    PROTOCOL, f"Message-class is {shown(kind, 40)}; give spam or ham to Set"
                )
            label = self._label(known[kind])
            done, said = service.learn({"mail": mail, "label": label}), "DidSet"
        elif "local" in request.names("remove"):
            event = typing.cast("Event", service.model.event({"mail": mail}))
            said = "DidRemove"
            try:
                done = service.undo({"id": service.model.own_id(event.mark)})
            except Bad as error:
                if error.status != GONE:
                    raise
                done = {"done": "known"}  # it has taught nothing that could be taken back
        else:
            raise Refused(PROTOCOL, "TELL has neither Set: local nor Remove: local; give one")
        changed = done["done"] not in ("known", "sure")
        return _response(OK, NAMES[OK], [f"{said}: local"] if changed else [])

    def _label(self, name: str | None) -> Any:
        """A label as the service writes it."""
        names = self.model.names
        return self.service.model.labels.names[names.index(name)] if name in names else name

    def _negative(self) -> str:
        """The label of ham: the model's other one."""
        names = [name for name in self.model.names if name != self.positive]
        return names[0] if len(names) == 1 else "ham"


def _response(code: int, said: str, fields: Any = (), body: bytes = b"") -> bytes:
    head = [f"SPAMD/1.5 {code} {said}", *fields, f"Content-length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("utf-8", "replace") + body
