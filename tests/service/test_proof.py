"""Long proofs of the service, with small numbers; `make serve-proof` takes the full ones."""

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.service.test_guard import at_a_port
from tests.service.test_lost import killed
from tests.support.served import Link, serving

pytest.importorskip("starlette")

pytestmark = [pytest.mark.once, pytest.mark.slow]

FULL = bool(os.environ.get("STREAMPTRON_PROOF"))
KILLS, MODELS = (10, 20) if FULL else (3, 1)
SLOW, CONNECTIONS = (900, 1000) if FULL else (90, 100)
REQUESTS = int(os.environ.get("STREAMPTRON_REQUESTS", 1_000_000 if FULL else 1000))
ROWS = 100 if FULL else 5
BODIES = int(os.environ.get("STREAMPTRON_BODIES", 20_000)) if FULL else 300


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "mail.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in (("free prize", "spam"), ("see you", "ham")):
        pipeline.learn_one(text, label)
    pipeline.save(path)
    return path


def say(capsys, line):
    """Print a row of a table, whatever is captured."""
    with capsys.disabled():
        print(line)


@pytest.mark.parametrize("seed", range(1, 1 + MODELS))
def test_whenever_it_is_killed_each_acknowledged_lesson_is_learned_once(model, seed, capsys):
    acknowledged = killed(model, seed, KILLS, "--save-every", "200", "--save-seconds", "0.2")
    say(capsys, f"\n{KILLS} kills: {len(acknowledged)} lessons by their ids, each once")


def held(path, stack, n):
    """Connections that have sent half a head, and send no more."""
    for _ in range(n):
        link = stack.enter_context(socket.socket(socket.AF_UNIX))
        link.connect(path)
        link.sendall(b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Le")


def test_others_are_served_while_most_connections_are_slow(model, capsys):
    path = str(model.parent / "sock")
    with contextlib.ExitStack() as stack:
        stack.enter_context(serving(model, "--learn", "--timeout", "300", "--sync", "never"))
        held(path, stack, SLOW)
        links = [
            stack.enter_context(contextlib.closing(Link(path))) for _ in range(SLOW, CONNECTIONS)
        ]
        for turn in range(20):
            for n, link in enumerate(links[1:]):
                event = {"text": f"see word{n}", "id": f"{turn}-{n}"}
                assert link.post("/predict", event)["id"] == event["id"]
                link.post("/learn", {"id": event["id"], "label": ("ham", "spam")[n % 2]})
        assert links[0].get("/model")["version"] == 20 * (len(links) - 1)
    say(capsys, f"\n{CONNECTIONS} connections, {SLOW} of them slow: {40 * (len(links) - 1)} served")


def resident(process):
    """Kilobytes of memory that a process holds."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def of_all_kinds(link, rng, ids):
    """A request of one of the kinds there are; `ids` are of the last lessons."""

    def event(**more):
        return {"text": " ".join(f"w{rng.randrange(2000)}" for _ in range(10)), **more}

    def lesson(**more):
        return event(label=rng.choice(("ham", "spam")), **more)

    do = rng.randrange(14)
    if do < 5:
        link.post("/predict", event(**({"explain": 3} if do == 4 else {})))
    elif do < 8:
        ids.append(link.post("/learn", lesson())["id"])
        del ids[:-20]
    elif do == 8 and ids:
        link.post("/learn", {"id": rng.choice(ids), "label": rng.choice(("ham", "spam"))})
    elif do == 9 and ids:
        link.post("/undo", {"id": ids.pop(rng.randrange(len(ids)))})
    elif do == 10:
        link.post("/learn", event(lable="spam"), status=400)
    elif do == 11:
        link.post("/predict", [event() for _ in range(5)])
        link.post("/learn", [lesson() for _ in range(5)])
    elif do == 12:
        link.lines("/predict", [event() for _ in range(5)])
        link.lines("/learn", [lesson() for _ in range(5)])
    else:
        link.get(rng.choice(("/stats", "/queue?n=5", "/metrics", "/labels")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
@pytest.mark.parametrize("seed", [1])
def test_memory_stays_flat_whatever_is_asked(model, seed, capsys):
    """Among words and labels that are known, with little to remember, while one watches."""
    rng, rows, ids = random.Random(seed), [], []
    settings = "--sync never --remember 500 --journal 500 --save-every 5000 --keep-texts 100"
    with (
        serving(model, "--learn", *settings.split()) as (link, process),
        watched(str(model.parent / "sock")),
    ):
        for n in range(REQUESTS + 1):
            of_all_kinds(link, rng, ids)
            if n % (REQUESTS // ROWS) == 0:
                rows.append(resident(process))
                say(capsys, f"{n:9,} requests  {rows[-1]:9,} kB")
    if FULL:
        # each lesson that is taken back leaves its number for good, 8 bytes
        assert max(rows[80:]) < 1.1 * max(rows[20:40])


@contextlib.contextmanager
def watched(path):
    """Somebody reads what /events says."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        link.sendall(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        reader = threading.Thread(target=read_all, args=(link,))
        reader.start()
        yield
        link.shutdown(socket.SHUT_RDWR)
        reader.join()


def read_all(link):
    while link.recv(1 << 16):
        pass


BODIES_OF = {
    "/predict": [
        {"text": "free prize", "id": "a", "top": 2, "explain": 3, "remember": True},
        [{"text": "free"}, {"text": "prize", "id": 7}],
    ],
    "/learn": [
        {"text": "see you", "label": "ham", "id": "b", "weight": 1.5},
        {"id": "a", "label": "spam"},
    ],
    "/undo": [{"id": "b"}],
    "/v2/models/mail/infer": [
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a goal"]}]}
    ],
}
ODD = [
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    0.5,
    "",
    "\ud800",
    "\0",
    "x" * 300,
    [],
    {},
    [[]],
    {"a": {}},
]
TYPES = ["application/json", "application/x-ndjson", "message/rfc822", "text/plain", "", "é"]


def mutated(rng, value):
    """A value with something odd in it somewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        value, name = dict(value), rng.choice(list(value))
        change = rng.randrange(4)
        if change == 0:
            del value[name]
        elif change == 1:
            value[str(rng.choice(("label", "labels", "x", "fields", "mail", "\n")))] = rng.choice(
                ODD
            )
        else:
            value[name] = mutated(rng, value[name])
        return value
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], mutated(rng, value[at]), *value[at + 1 :]]
    return rng.choice(ODD)


def body_of(rng, value):
    """Its bytes, some of which may be others."""
    body = bytearray(json.dumps(mutated(rng, value)).encode())
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        if body:
            body[rng.randrange(len(body))] = rng.choice(b'\0\n"\\{}[]:,eE-09\x80\xff')
    return bytes(body)


@pytest.mark.parametrize("seed", [1])
def test_no_body_is_a_fault_of_the_servers(model, seed, capsys):
    rng, statuses = random.Random(seed), {}
    with serving(model, "--learn", "--sync", "never", "--keep-texts", "9") as (link, _):
        for _ in range(BODIES):
            url = rng.choice(list(BODIES_OF))
            body = body_of(rng, rng.choice(BODIES_OF[url]))
            kind = rng.choices(TYPES, (6, 3, 1, 1, 1, 1))[0].encode()
            query = rng.choice(("", "", "?label=ham", "?top=x", "?weight=1e999", "?id=%00"))
            status, answer = link.ask("POST", url + query, body, content_type=kind)
            statuses[status] = statuses.get(status, 0) + 1
            assert status < 500, (url, body, kind, query, answer)
            assert '"status":5' not in str(answer), (url, body)
        assert link.get("/-/healthy") == "healthy\n"
        for path in ("/stats", "/queue", "/labels", "/metrics", "/top", "/model"):
            assert link.ask("GET", path)[0] == 200, path
    say(capsys, f"\n{BODIES} bodies: {dict(sorted(statuses.items()))}")


@pytest.mark.skipif(shutil.which("schemathesis") is None, reason="there is no schemathesis")
def test_schemathesis_finds_no_fault_by_the_description(model, capsys):
    with at_a_port(model, "--learn", "--sync", "never", "--keep-texts", "9") as port:
        done = subprocess.run(
            [
                *("schemathesis", "run", f"http://127.0.0.1:{port}/openapi.json", "--seed", "1"),
                *("--exclude-path", "/events", "--checks", "not_a_server_error"),
                *("--max-examples", "100" if FULL else "5"),
            ],
            cwd=model.parent,  # where it leaves what it has found
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    say(capsys, done.stdout[done.stdout.index("Test cases:") :])
