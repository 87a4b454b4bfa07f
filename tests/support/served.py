"""A process of `streamptron serve`, and a client of its own kind."""

import contextlib
import http.client
import json
import signal
import socket

from tests.support.commands import process, undated

WAIT = 60  # seconds, for what takes some tenths


class Link(http.client.HTTPConnection):
    """A connection that is kept, to a socket in the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=WAIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT)
        self.sock.connect(self.path)

    def ask(self, method, url, body=None, **headers):
        """Status and JSON, or text, of an answer."""
        if isinstance(body, dict | list):
            body = json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.request(method, url, body, headers)
        answer = self.getresponse()
        data = answer.read()
        if answer.headers["content-type"] == "application/json":
            return answer.status, json.loads(data)
        return answer.status, data.decode()

    def post(self, url, body, status=200, **headers):
        """The answer of a POST that has this status."""
        found = self.ask("POST", url, body, **headers)
        assert found[0] == status, found
        return found[1]

    def get(self, url, status=200, **headers):
        found = self.ask("GET", url, **headers)
        assert found[0] == status, found
        return found[1]

    def lines(self, url, events):
        """The answers to lines."""
        body = "".join(
            f"{event if isinstance(event, str) else json.dumps(event)}\n" for event in events
        )
        status, text = self.ask("POST", url, body.encode(), content_type="application/x-ndjson")
        assert status == 200
        return [json.loads(line) for line in text.splitlines()]


@contextlib.contextmanager
def serving(model, *words, code=0, end=signal.SIGTERM, said=None, **options):
    """A server at a socket beside the model's file, or folder: a client, and the process."""
    path = str(model.parent / "sock")
    option = "--models" if model.is_dir() else "--model"
    with process("serve", option, model, "--http", path, *words, **options) as server:
        try:
            early, first = b"", server.stderr.readline()
            while first and b" streamptron: answers at " not in first:
                early, first = early + first, server.stderr.readline()
            assert first, early  # else it has ended
            with contextlib.closing(Link(path)) as link:
                yield link, server
            if server.poll() is None:
                server.send_signal(end)
            told = undated((early + server.communicate(timeout=WAIT)[1]).decode())
            assert server.returncode == code, told
            if said is None:
                assert told == ""
            else:
                said.append(told)
        finally:
            server.kill()
