"""Closed by default: who may ask, who may teach, and what no page of another site may do."""

import contextlib
import re
import socket
import time

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.support.commands import process, run
from tests.support.served import WAIT, Link, serving

pytest.importorskip("starlette")

from streamptron.service.guard import Tokens

pytestmark = pytest.mark.once  # another Python would say the same

ASK, TEACH = "ask-0123456789abcdef", "teach-0123456789abcdef"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m"
    pipeline = Tokenizer() | AdaptiveClassifier()
    pipeline.learn_one("goal", "sport")
    pipeline.save(path)
    return path


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# who may what\nask {ASK}\nteach {TEACH}\n")
    return path


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_one_token_asks_and_the_other_teaches_too(model, tokens):
    lesson = {"text": "law", "label": "politics"}
    with serving(model, "--learn", "--token-file", tokens) as (link, _):
        assert "give a token" in link.post("/predict", {"text": "a"}, 401)["error"]["message"]
        link.post("/predict", {"text": "a"}, 401, **bearer(ASK + "x"))
        link.get("/stats", 401)
        link.get("/metrics", 401)
        link.post("/predict", {"text": "a"}, **bearer(ASK))
        found = link.post("/learn", lesson, 403, **bearer(ASK))
        assert found["error"]["message"] == "this token may ask, and not teach"
        link.post("/-/save", b"", 403, **bearer(ASK))
        link.post("/undo", {"id": "a"}, 403, **bearer(ASK))
        link.post("/learn", lesson, **bearer(TEACH))
        link.post("/predict", {"text": "a"}, **bearer(TEACH))
        link.get("/-/healthy")  # which says nothing of the model
        assert link.get("/model", **bearer(ASK))["version"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask short\n", "tokens:1: the token has 5 characters; give at least 16"),
        ("teech 0123456789abcdef\n", "tokens:1: give a line `ask TOKEN` or `teach TOKEN`"),
        ("\n# nothing\n", "tokens: it has no line"),
    ],
)
def test_a_token_that_protects_nothing_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Tokens(text, "tokens")


def test_other_machines_need_a_token(model):
    _, said = run("serve", "-m", model, "--http", "0.0.0.0:0", code=2)
    assert "other machines reach it; give --token-file, or 127.0.0.1" in said


@contextlib.contextmanager
def at_a_port(model, *words, port=0):
    option = "--models" if model.is_dir() else "--model"
    with process("serve", option, model, "--http", f"127.0.0.1:{port}", *words) as server:
        try:
            first = server.stderr.readline().decode()
            yield int(re.search(r"127.0.0.1:(\d+)", first)[1])
        finally:
            server.kill()


class PortLink(Link):
    def connect(self):
        self.sock = socket.create_connection(("127.0.0.1", self.path), WAIT)


def test_a_page_of_another_site_can_neither_ask_nor_teach(model):
    with at_a_port(model, "--learn") as port, contextlib.closing(PortLink(port)) as link:
        here = f"127.0.0.1:{port}"
        event = {"text": "goal", "label": "sport"}
        link.post("/learn", event, Host=here)
        link.post("/learn", event, Host=here, Origin=f"http://{here}")
        link.post("/learn", event, Host=f"LOCALHOST:{port}")
        found = link.post("/learn", event, 421, Host="evil.example")  # bound to this address anew
        assert "does not answer under this Host" in found["error"]["message"]
        found = link.post("/learn", event, 403, Host=here, Origin="http://evil.example")
        assert found["error"]["message"] == "the request comes from a page of another site"
        link.post("/learn", event, 403, Host=here, Origin="null")
        link.get("/stats", 403, Host=here, Sec_Fetch_Site="cross-site")
        assert link.get("/model", Host=here)["version"] == 3


def test_other_names_are_given(model):
    words = ("--host-name", "models.example")
    with at_a_port(model, *words) as port, contextlib.closing(PortLink(port)) as link:
        link.get("/model", Host="models.example")


def test_a_client_that_is_slow_is_cut_off_and_holds_up_nothing(model):
    with serving(model, "--timeout", "0.5") as (link, _), contextlib.ExitStack() as stack:
        path = str(model.parent / "sock")
        slow = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(60)]
        for number, each in enumerate(slow):
            each.connect(path)
            each.settimeout(WAIT)
            head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
            if number % 3 == 0:
                each.sendall(head)  # and nothing more
            elif number % 3 == 1:
                each.sendall(head + b'Content-Length: 14\r\n\r\n{"text"')
        began = time.monotonic()
        assert link.post("/predict", {"text": "goal"})["label"] == "sport"
        assert time.monotonic() - began < WAIT
        for number, each in enumerate(slow):
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := each.recv(1000):
                    answer += piece
            assert (b" 408 " in answer) == (number % 3 == 1), answer


def test_more_requests_than_are_allowed_are_told_to_come_again(model):
    with serving(model, "--max-requests", "1") as (link, _):
        path = str(model.parent / "sock")
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(path)
            other.sendall(b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{")
            found = None
            while found is None or found[0] == 200:
                found = link.ask("POST", "/predict", {"text": "goal"})
        assert found[0] == 503
        assert "more than --max-requests 1 at once" in found[1]["error"]["message"]


CHUNKED = b"POST /predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "begin",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX: ",
        b"GET /",
        CHUNKED + b"2\r\n{}\r\n0\r\nX: ",
        CHUNKED + b"2;",
    ],
    ids=("header", "url", "trailer", "extension"),
)
def test_no_head_is_endless(model, begin):
    """Neither by h11 nor by httptools, which has no bound of its own."""
    with serving(model), socket.socket(socket.AF_UNIX) as link:
        link.settimeout(60)
        link.connect(str(model.parent / "sock"))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            link.sendall(begin)
            for _ in range(1000):
                link.sendall(b"a" * 1000)
            link.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := link.recv(1 << 16):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 400 ")
