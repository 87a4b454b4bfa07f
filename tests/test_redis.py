"""The consumer of a Redis stream in docs/daemons.md, killed now and then, learns each entry once.

Each test has a server of its own, on a socket in its folder.
"""

import random
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from streamptron import Checkpoint, MulticlassPerceptron, Tokenizer
from tests.support.marks import seeds
from tests.support.processes import environment
from tests.support.project import ROOT

redis = pytest.importorskip("redis", reason="there is no redis-py here: pip install redis")
SERVER = shutil.which("redis-server")
pytestmark = pytest.mark.skipif(
    SERVER is None, reason="there is no redis-server here: apt-get install redis-server"
)

DOC = ROOT / "docs" / "daemons.md"
PATIENCE = 60  # seconds until a thing that has to happen is taken to have failed


def consumer(folder, every):
    """The consumer of the page, with paths and a rhythm of its own."""
    (code,) = re.findall(r"```python\n(import redis\n.*?)```", DOC.read_text("utf-8"), re.S)
    for old, new in (
        ("/var/lib/streamptron/mail", str(folder / "mail")),
        ("redis.Redis(", f"redis.Redis(unix_socket_path={str(folder / 'socket')!r}, "),
        ("every_events=1000", f"every_events={every}"),
        ("count=100,", "count=7,"),
    ):
        assert code.count(old) == 1
        code = code.replace(old, new)
    return code


@contextmanager
def served(folder):
    """A server, and a client of it."""
    words = ["--port", "0", "--unixsocket", "socket", "--save", "", "--appendonly", "no"]
    with subprocess.Popen([SERVER, *words], cwd=folder, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: listens(folder / "socket"))
            with redis.Redis(
                unix_socket_path=str(folder / "socket"), decode_responses=True
            ) as client:
                yield client
        finally:
            process.terminate()


def listens(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def order(entry):
    """An entry's id, as the server orders them."""
    return tuple(map(int, entry.split("-")))


def saved_id(folder):
    saved = Checkpoint.newest_saved(folder / "mail")
    return order(saved.position if saved else "0-0")


@seeds(1, n_slow=1)
def test_consumer_that_is_killed_now_and_then_learns_each_entry_once_and_in_order(seed, tmp_path):
    rng = random.Random(seed)
    events = [(f"word{rng.randrange(40)} word{n}", f"label {n % 3}") for n in range(800)]
    code = consumer(tmp_path, every=25)
    ids = []
    once = Tokenizer() | MulticlassPerceptron()
    with served(tmp_path) as client:
        while len(ids) < len(events):
            for text, label in events[len(ids) : len(ids) + 200]:
                ids.append(client.xadd("mail", {"text": text, "label": label}))
            near = ids[-rng.randrange(40, 180)]
            with subprocess.Popen([sys.executable, "-c", code], env=environment()) as process:
                try:
                    until(lambda near=near: saved_id(tmp_path) >= order(near))
                    time.sleep(rng.random() * 0.02)
                    assert process.poll() is None
                finally:
                    process.kill()
            model, _, position, _ = Checkpoint.newest_saved(tmp_path / "mail")
            n = ids.index(position) + 1
            for text, label in events[once[-1].n_seen : n]:
                once.learn_one(text, label)
            assert model[-1].n_seen == n
            assert model[-1].weights == once[-1].weights
            assert model[-1].averaged_weights == once[-1].averaged_weights
