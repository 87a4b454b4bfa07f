"""A server for mails, which judges and learns them by the protocol of spamd.

Its clients are Debian's ``spamc`` and anything else that talks to SpamAssassin's daemon.

    accept -> read -> a whole request -> judged or learned, at once -> written -> closed

A mail takes a fraction of a millisecond, so no client waits long. Reads and writes never block. A
slow client is cut off after a time limit; sizes and the number of clients are bounded. What is
learned becomes a lesson of the service, as over HTTP, and is in its log before the answer is sent.
"""

from __future__ import annotations

import asyncio
import math
import socket
import time
import typing

from streamptron.common.names import short_repr
from streamptron.common.process import say
from streamptron.service.bad import Bad
from streamptron.service.judge import Judge, response
from streamptron.service.models import NAME, NAMED, Folder, One
from streamptron.service.request import (
    NO_USER,
    PROTOCOL,
    SOFTWARE,
    TEMPFAIL,
    UNAVAILABLE,
    Refused,
    Request,
)

if typing.TYPE_CHECKING:
    from streamptron.service.service import Service

HEADER_MOST = 1 << 14  # bytes of a request before its mail
PIECE = 1 << 18  # the most bytes that are read or written at once
BUFFERED = 1 << 28  # bytes of all requests that are still incomplete
AGAIN = 1.0  # seconds until clients are accepted again, if the system had no room for one
MISSING = 404  # the status of a model that does not exist
CODES = {403: UNAVAILABLE, 404: NO_USER, 503: TEMPFAIL, 507: TEMPFAIL}


class Client:
    """A connection: what was read of its request, and what is left to write."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.ends: asyncio.TimerHandle | None = None
        self.is_asked = False  # whether its request is complete
        self.read = bytearray()
        self.request: Request | None = None
        self.left: memoryview | None = None

    def take(self, data: bytes, most: int) -> Request | None:
        """Take what was read (b"" at the end). Returns the request once it is complete."""
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
    """A server for mails, by the protocol of spamd.

    Parameters
    ----------
    models
        The models that are asked and taught; in a folder, a request's `User` names the model.
    listener, place
        The listening socket, and its address as text.
    positive
        The label that means spam.
    least
        The probability below which a mail is unsure.
    most
        The largest size of a mail in bytes.
    seconds
        How long a client may take to send its mail, and then to read the answer.
    clients
        The largest number of clients at once; others wait for their turn.
    default
        In a folder, the model for users that have none.
    """

    def __init__(
        self,
        models: One | Folder,
        listener: socket.socket,
        place: str,
        *,
        positive: str,
        least: float,
        most: int,
        seconds: float,
        clients: int,
        default: str | None = None,
    ) -> None:
        self.models, self.listener, self.place = models, listener, place
        self._given = positive, least
        self._default = default
        self.most = most
        self.seconds = seconds
        self.n_clients = clients
        self._clients: set[Client] = set()
        self._full_until = 0.0  # when clients are accepted again, if there was no room for one
        self._is_open = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: set[str] = set()
        if isinstance(models, One):
            models.service.checks.append(self._judge(models.service).check)

    def _judge(self, service: Service) -> Judge:
        """The judge for a model."""
        judge = service.seen.get("judge")
        if judge is None:
            judge = service.seen["judge"] = Judge(service, *self._given)
        return typing.cast("Judge", judge)

    async def start(self) -> None:
        """Start to accept clients."""
        self._loop = asyncio.get_running_loop()
        self.listener.setblocking(False)
        self._listen()

    async def stop(self) -> None:
        """Accept no more clients, and answer those whose requests are complete."""
        self._full_until = math.inf
        self._listen()
        ends = time.monotonic() + self.seconds
        while any(each.is_asked for each in self._clients) and time.monotonic() < ends:
            await asyncio.sleep(0.01)
        for client in list(self._clients):
            self._end(client)

    # --- Connections

    def _listen(self) -> None:
        """Accept clients as long as there is room; the system lets the others wait."""
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
        except BlockingIOError:  # the client has gone again
            return
        except OSError as error:  # too many open files, perhaps: trying again at once would fail
            self._fault(f"a client was not accepted: {error.strerror}; it waits")
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
        """Start a client's time limit again."""
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
        except OSError:  # the client has disconnected
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
            if request.is_short:
                answer = b"SPAMD/1.5 0 PONG\r\n" if request.method == "PING" else b""
            elif request.method == "TELL" or isinstance(self.models, Folder):
                self._loop.remove_reader(client.link)
                task = self._loop.create_task(self._ask(client, request))
                self._tasks.add(task)  # nothing else holds a reference to it
                task.add_done_callback(self._tasks.discard)
                return
            else:
                answer = self._judge(self.models.service).answer(request)
        except Exception as error:  # the next mail may still work
            answer = self._refusal(error)
        self._write(client, answer)

    async def _ask(self, client: Client, request: Request) -> None:
        """Answer with a model that may have to be opened; a lesson is first made durable."""
        try:
            service = await self._find(request)
            try:
                answer = self._judge(service).answer(request)
                if request.method == "TELL" and service.log is not None:
                    await service.log.durable()
            finally:
                self.models.let_go(service)
        except Exception as error:
            answer = self._refusal(error)
        if client in self._clients:
            self._write(client, answer)

    async def _find(self, request: Request) -> Service:
        """The model of the request's user, or the default model."""
        if isinstance(self.models, One):
            return await self.models.find(None)
        user = request.fields.get("user", "")
        creates = request.method == "TELL" and "local" in request.names("set")
        if NAME.fullmatch(user):
            try:
                return await self.models.find(user, creates)
            except Bad as error:
                if error.status != MISSING:
                    raise
            reason = f"User: {user} has no model; make it, or give --user-model"
        elif user:
            reason = f"User: {short_repr(user, 80)} is not a model's name, {NAMED}"
        else:
            reason = "the request has no User; give spamc -u NAME, or serve with --user-model"
        if self._default is None:
            raise Refused(NO_USER, reason)
        return await self.models.find(self._default, creates)

    def _refusal(self, error: Exception) -> bytes:
        code, reason = SOFTWARE, str(error) or type(error).__name__
        if isinstance(error, Refused):
            code, reason = error.args
        elif isinstance(error, Bad):
            code = CODES.get(error.status, SOFTWARE)
        elif isinstance(error, OSError):
            code, reason = TEMPFAIL, f"the disk did not take the lesson: {error.strerror}"
        self._fault(reason)
        return response(code, reason)

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
        """Print an error, but only once, however often it occurs."""
        if reason not in self._said and len(self._said) < 100:
            self._said.add(reason)
            say(f"streamptron: {reason}")
