"""A daemon that judges mails, and learns them, by the protocol of spamd.

Debian's ``spamc`` is its client, and so is whatever speaks to SpamAssassin's daemon.

    accept -> read -> a whole request -> judged or learned, at once -> written -> closed

One thread does all: a mail takes a fraction of a millisecond, so no client waits long. No read or
write waits. A client that is slow has its time, and is then cut off; sizes and the number of
clients are bounded.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import time
import typing
from typing import Any

from streamptron.command.keeper import Keeper, sooner
from streamptron.command.mail import Verdict, judged
from streamptron.command.passing import with_field, without_ours
from streamptron.command.process import Signals, Stop, say
from streamptron.command.request import (
    NAMES,
    OK,
    PROTOCOL,
    SOFTWARE,
    TEMPFAIL,
    UNAVAILABLE,
    Refused,
    Request,
)
from streamptron.command.teach import journal_in, teach, unteach
from streamptron.estimator.names import shown
from streamptron.files.mail import identity

if typing.TYPE_CHECKING:
    from collections.abc import Callable

    from streamptron.command.lines import LineModel

HEADER_MOST = 1 << 14  # bytes of a request before its mail
PIECE = 1 << 18  # bytes that are read or written at once
BUFFERED = 1 << 28  # bytes of all requests that are not whole yet
AGAIN = 1.0  # seconds until clients are taken again, if the system has no room for one


class Client:
    """A connection: what has been read of its request, and what is to be written."""

    def __init__(self, link: socket.socket, ends: float) -> None:
        self.link = link
        self.ends = ends
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


class Told:
    """A mail that was learned and is not saved yet, for another model in the file's place."""

    def __init__(self, model: LineModel, mail: bytes, label: str | None) -> None:
        self.model, self.mail, self._label = model, mail, label

    @property
    def size(self) -> int:
        return len(self.mail)

    def kept(self) -> Callable[[LineModel], Told]:
        mail, label = self.mail, self._label  # without the model that has learned it
        return lambda model: Told(model, mail, label)

    def label(self) -> None:
        """Nothing is to be settled before it is learned."""

    def learn(self) -> str:
        """Learn it, or take back what it has taught; what was done."""
        if self._label is not None:
            return teach(self.model, self.mail, self._label)
        return "forgotten" if unteach(self.model, identity(self.mail)) else "known"


class Server:
    """Mails that come through sockets, and a model that answers them.

    Parameters
    ----------
    keeper
        Of the model's file.
    learns
        Whether TELL is obeyed.
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
        keeper: Keeper,
        *,
        learns: bool,
        positive: str,
        least: float,
        most: int,
        seconds: float,
        clients: int,
    ) -> None:
        self.keeper = keeper
        self.learns = learns
        self.positive = positive
        self.least = least
        self.most = most
        self.seconds = seconds
        self.n_clients = clients
        self.signals = Signals("SIGTERM", "SIGINT", "SIGHUP")
        self._clients: set[Client] = set()
        self._full_until = 0.0  # when clients are taken again, if there was no room for one
        self._said: set[str] = set()
        self._events = selectors.DefaultSelector()

    def run(self, listener: socket.socket, place: str) -> int:
        """Answer until a signal ends it. Returns the exit code."""
        with self.keeper, self.signals.listening(), self._events:
            self.keeper.load()
            self._check(self.keeper.model)
            listener.setblocking(False)
            self._events.register(self.signals.woken, selectors.EVENT_READ)
            self._events.register(listener, selectors.EVENT_READ)
            say(f"streamptron: answers at {place}")
            code = 0
            try:
                while not code:
                    self._look()
                    self._turn(listener)
            except Stop as stop:
                code = stop.args[0]
            finally:
                for client in list(self._clients):
                    self._end(client)
                saved = self.keeper.save(at_last=True)
        return code if saved else 1

    def _check(self, model: LineModel) -> None:
        """That a model can answer, and learn if that is asked."""
        model.event(b"")
        if self.learns:
            journal_in(model)
        if model.names and self.positive not in model.names:
            raise ValueError(
                f"--positive {self.positive} is not a label of the model: {model.names}"
            )

    def _look(self) -> None:
        """Do what signals and clocks ask for."""
        for number in self.signals.taken():
            if number != signal.SIGHUP:
                raise Stop(130 if number == signal.SIGINT else 0)
            self._reload()
        if self.keeper.is_replaced():
            self._reload(asked=False)
        self.keeper.save_if_due()

    def _reload(self, asked: bool = True) -> None:
        if self.keeper.reload(self._check, asked):
            self.keeper.forgotten = 0
            say(f"streamptron: reloaded {self.keeper.path}")

    # --- Connections

    def _turn(self, listener: socket.socket) -> None:
        """Wait for something, and do it."""
        ends = min((client.ends for client in self._clients), default=None)
        now = time.monotonic()
        left = None if ends is None else max(0.0, ends - now)
        full = self._full_until - now if self._full_until > now else None
        for key, _ in self._events.select(sooner(left, full, self.keeper.seconds_left())):
            if key.fileobj is listener:
                self._accept(listener)
            elif isinstance(key.data, Client):
                self._step(key.data)
        now = time.monotonic()
        for client in [client for client in self._clients if client.ends <= now]:
            self._fault(f"a client took longer than {self.seconds:g} s, and was cut off")
            self._end(client)
        self._listen(listener)

    def _listen(self, listener: socket.socket) -> None:
        """Take clients as long as there is room; the system lets the others wait."""
        is_open = listener in self._events.get_map()
        has_room = len(self._clients) < self.n_clients and time.monotonic() >= self._full_until
        if is_open and not has_room:
            self._events.unregister(listener)
        elif not is_open and has_room:
            self._events.register(listener, selectors.EVENT_READ)

    def _accept(self, listener: socket.socket) -> None:
        try:
            link, _ = listener.accept()
        except BlockingIOError:  # it has gone again
            return
        except OSError as error:  # as too many open files, of which it would hear again at once
            self._fault(f"a client was not taken: {error.strerror}; it waits")
            self._full_until = time.monotonic() + AGAIN
            return
        link.setblocking(False)
        client = Client(link, time.monotonic() + self.seconds)
        self._clients.add(client)
        self._events.register(link, selectors.EVENT_READ, client)

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
            answer = self._answer(request)
        except Refused as error:
            self._fault(error.args[1])
            answer = _response(*error.args)
        except Exception as error:  # the next mail is another one
            reason = str(error) or type(error).__name__
            self._fault(reason)
            answer = _response(SOFTWARE, reason)
        client.read.clear()
        client.left = memoryview(answer)
        client.ends = time.monotonic() + self.seconds
        self._events.modify(client.link, selectors.EVENT_WRITE, client)

    def _end(self, client: Client) -> None:
        self._clients.discard(client)
        self._full_until = 0.0
        with contextlib.suppress(KeyError):
            self._events.unregister(client.link)
        client.link.close()

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
        verdict = judged(self.keeper.model, mail, self.positive, self.least, method != "CHECK")
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
        if not self.learns:
            raise Refused(UNAVAILABLE, "this server does not learn; start it with --learn")
        name: str | None = None
        if "local" in request.names("set"):
            known = {"spam": self.positive, "ham": self._negative()}
            kind = request.fields.get("message-class", "").lower()
            if kind not in known:
                raise Refused(
                    PROTOCOL, f"Message-class is {shown(kind, 40)}; give spam or ham to Set"
                )
            name = known[kind]
        elif "local" not in request.names("remove"):
            raise Refused(PROTOCOL, "TELL has neither Set: local nor Remove: local; give one")
        mail = without_ours(request.mail)
        told = Told(self.keeper.model, mail, name)
        done = told.learn()
        if done in ("known", "sure"):
            return _response(OK, NAMES[OK])
        self.keeper.keep(told)
        if self.keeper.learned(1):
            self.keeper.save()
        return _response(OK, NAMES[OK], ["DidRemove: local" if name is None else "DidSet: local"])

    def _negative(self) -> str:
        """The label of ham: the model's other one."""
        names = [name for name in self.keeper.model.names if name != self.positive]
        return names[0] if len(names) == 1 else "ham"


def _response(code: int, said: str, fields: Any = (), body: bytes = b"") -> bytes:
    head = [f"SPAMD/1.5 {code} {said}", *fields, f"Content-length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("utf-8", "replace") + body


# --- Where it answers


def listen(address: str, option: str) -> tuple[socket.socket, str]:
    """A socket that takes clients, at HOST:PORT or at a file, and how the place is written."""
    host, colon, port = address.rpartition(":")
    if not colon and not address.isdigit():
        return _unix(address, option), address
    if "/" in address:
        return _unix(address, option), address
    if not (colon and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ValueError(
            f"{option} {address}: give a host and a port, as 127.0.0.1:783, or a file for a socket"
        )
    host = host.strip("[]")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.create_server((host, int(port)), family=family)
    except OSError as error:
        raise OSError(f"{option} {address}: {error.strerror or error}") from None
    # clients' sockets have it from here: an answer in two pieces does not wait for the other side
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found, written(found)


def written(listener: socket.socket) -> str:
    """How the place of a socket is written."""
    place = listener.getsockname()
    return place if isinstance(place, str) else "{}:{}".format(*place)


def unlink(listener: socket.socket, place: str) -> None:
    """Remove the file of a socket that has one."""
    if listener.family == socket.AF_UNIX:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)


def _unix(path: str, option: str) -> socket.socket:
    """A socket in the file system; one that a dead process has left is replaced."""
    found = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError), socket.socket(socket.AF_UNIX) as other:
            try:
                other.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # no server listens there
            else:
                raise OSError("another process answers there; end it, or give another file")
        found.bind(path)
        found.listen(128)
    except OSError as error:
        found.close()
        raise OSError(f"{option} {path}: {error.strerror or error}") from None
    return found
