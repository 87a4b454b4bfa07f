"""Nothing that was acknowledged is lost: kills, full disks, damaged logs, replaced models."""

import asyncio
import base64
import contextlib
import http.client
import random
import resource
import shutil
import signal
import threading
import time
import zlib
from pathlib import Path

import pytest

from streamptron import AdaptiveClassifier, ModelFileError, Tokenizer, load, save
from tests.support.commands import run
from tests.support.served import Link, serving

pytest.importorskip("starlette")

from streamptron.service import lessons
from streamptron.service.service import Service, Settings

pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers

LABELS = ("ham", "spam", "list")
GONE = (OSError, http.client.HTTPException)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "mail.model"
    (Tokenizer() | AdaptiveClassifier()).save(path)
    return path


def text(rng):
    return " ".join(f"w{rng.randrange(200)}" for _ in range(rng.randrange(1, 12)))


class Client(threading.Thread):
    """Teaches, corrects and takes back over a connection that is kept, until the server is gone.

    `acknowledged` is, by id, what it was answered last; None: taken back. `asked` what may or may
    not have been done when the server went.
    """

    def __init__(self, path, seed, name):
        super().__init__()
        self.path, self.rng, self.own = path, random.Random(seed), name
        self.acknowledged, self.asked, self.n = {}, {}, 0

    def run(self):
        with contextlib.closing(Link(self.path)) as link, contextlib.suppress(*GONE):
            while True:
                self.turn(link)

    def turn(self, link):
        rng, ids = self.rng, list(self.acknowledged)
        do = rng.choice(("learn", "learn", "late", "correct", "undo")) if ids else "learn"
        if do in ("learn", "late"):
            self.n += 1
            id, label = f"{self.own}-{self.n}", rng.choice(LABELS)
            event = {"text": text(rng), "id": id}
            if do == "late":
                link.post("/predict", event)
                del event["text"]
            self.say(link, "/learn", {**event, "label": label}, label)
        elif do == "correct":
            id, label = rng.choice(ids[-50:]), rng.choice(LABELS)
            if self.acknowledged[id] is not None:
                self.say(link, "/learn", {"id": id, "label": label}, label)
        else:
            self.say(link, "/undo", {"id": rng.choice(ids[-50:])}, None)

    def say(self, link, url, body, label):
        self.asked = {body["id"]: label}
        link.post(url, body)
        self.acknowledged |= self.asked
        self.asked = {}


def history(model):
    """All lessons that the log ever had, in order."""
    old = [*model.parent.glob(f"{model.name}.lessons.*.kept")]
    files = [*map(str, sorted(old)), *lessons.segments(f"{model}.lessons")]
    found = {}
    for file in files:
        for line in Path(file).read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                lesson = lessons.lesson_of(line[:-1])
                found[lesson["n"]] = lesson
    assert list(found) == list(range(1, len(found) + 1))
    return list(found.values())


def serial(first, all_lessons):
    """A model that learns lessons one after the other, by the library alone."""
    model = load(first)
    learner, steps = model[-1], {}
    for lesson in all_lessons:
        id, label = lesson["id"], lesson["label"]
        if lesson["do"] == "learn":
            ticket = lessons.ticket_of(lesson)
            if ticket is None:
                x = model[0].transform_one(lesson["text"])
                steps[id] = learner.learn_one(x, label, undo=True)
            else:
                steps[id] = learner.learn_ticket(ticket, label, undo=True)
            continue
        step = steps.pop(id)
        learner.undo(step)
        if lesson["do"] == "correct":
            steps[id] = learner.learn_ticket(step.ticket, label, undo=True)
    return learner


def bits(learner):
    """All numbers of a learner, and what it calls things."""
    state, arrays = learner._file_state()
    return state["labels"], state["counters"], {name: bytes(arrays[name][1]) for name in arrays}


def killed(model, seed, kills, *words):
    """Clients at work while the server is killed; each time all is there."""
    rng, acknowledged = random.Random(seed), {}
    first = model.parent / "first"
    shutil.copy(model, first)
    for kill in range(kills):
        words = ("--learn", "--keep-lessons", *words)
        with serving(model, *words, code=-signal.SIGKILL) as (_, server):
            path = f"{model.parent}/sock"
            clients = [Client(path, rng.random(), f"{kill}-{n}") for n in range(4)]
            for client in clients:
                client.start()
            time.sleep(rng.uniform(0.05, 0.4))
            server.kill()
            for client in clients:
                client.join()
        asked = {}
        for client in clients:
            acknowledged |= client.acknowledged
            asked |= client.asked
        check(model, first, acknowledged, asked)
        acknowledged |= asked_and_done(model, asked)
    return acknowledged


def check(model, first, acknowledged, asked):
    """After a kill: every lesson once, and the model that of the log, in order."""
    found = opened(model)
    assert found.skipped == 0
    taught = {id: found.ledger.taught.get(id).label for id in found.ledger.taught}
    for id, label in acknowledged.items():
        assert taught[id] == label or (id in asked and taught[id] == asked[id]), id
    assert set(taught) <= {*acknowledged, *asked}
    all_lessons = history(model)
    learned = [lesson["id"] for lesson in all_lessons if lesson["do"] == "learn"]
    assert len(learned) == len(set(learned))
    assert bits(found.model.learner) == bits(serial(first, all_lessons))


def asked_and_done(model, asked):
    taught = opened(model).ledger.taught
    return {id: taught.get(id).label for id in asked if id in taught}


def opened(model):
    """The service that would start now."""
    service = Service(str(model), Settings(learns=True))
    service.open()
    service.close()
    return service


@pytest.mark.parametrize("seed", [1])
def test_a_killed_server_has_learned_each_acknowledged_lesson_once(model, seed):
    assert killed(model, seed, 3)


@pytest.mark.parametrize("sync", ["always", "1s", "never"])
def test_many_kills_and_saves_in_between(model, sync):
    assert killed(model, 2, 20, "--sync", sync, "--save-every", "50", "--save-seconds", "0.1")


def test_sigterm_saves_and_leaves_no_log(model):
    with serving(model, "--learn") as (link, _):
        for n in range(10):
            link.post("/learn", {"text": f"word{n}", "label": LABELS[n % 2], "id": n})
        assert lessons.segments(f"{model}.lessons")
    assert sorted(path.name for path in model.parent.iterdir()) == ["mail.model"]
    assert load(model)[-1].n_seen == 10
    with serving(model, "--learn") as (link, _):  # and what was taught before is known
        assert link.post("/learn", {"text": "word3", "label": "spam", "id": 3})["done"] == "known"
        assert link.post("/learn", {"id": 3, "label": "ham"})["done"] == "corrected"


def written(model, n=3):
    """A log of so many lessons, which no save holds."""
    with serving(model, "--learn", code=-signal.SIGKILL) as (link, server):
        for number in range(n):
            link.post("/learn", {"text": f"word{number}", "label": "ham", "id": number})
        server.kill()
    return Path(f"{model}.lessons")


def test_half_a_line_at_the_end_is_dropped(model):
    log = written(model)
    log.write_bytes(log.read_bytes()[:-7])
    with serving(model, "--learn") as (link, _):
        assert link.get("/model")["version"] == 2
        assert link.post("/learn", {"text": "word2", "label": "ham", "id": 2})["version"] == 3
    assert load(model)[-1].n_seen == 3


def test_a_damaged_line_is_named_and_nothing_is_guessed(model):
    log, before = written(model), model.read_bytes()
    damaged = log.read_bytes().replace(b"word1", b"wordX")
    log.write_bytes(damaged)
    _, said = run("serve", "-m", model, "--learn", "--http", model.parent / "sock", code=1)
    assert f"{log}:2 does not match its checksum" in said
    assert (log.read_bytes(), model.read_bytes()) == (damaged, before)


def test_a_full_disk_refuses_lessons_and_answers_go_on(model):
    limit = 100_000

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    said = []
    with serving(model, "--learn", said=said, code=1, preexec_fn=small) as (link, _):
        link.post("/learn", {"text": "free prize", "label": "spam", "id": "a"})
        full = {"text": "long " * 30_000, "label": "ham", "id": "b"}
        for _ in range(2):
            found = link.post("/learn", full, status=507)
            assert "the lesson could not be written: File too large" in found["error"]["message"]
        assert link.post("/predict", {"text": "free"})["label"] == "spam"
        assert link.post("/learn", {"text": "see you", "label": "ham", "id": "c"})["version"] == 2
        noise = {"text": " ".join(f"n{n}" for n in range(4000)), "label": "ham", "id": "d"}
        link.post("/learn", noise)  # with which the model has no room
    assert said[0].count("lessons are refused until there is room") == 1
    assert said[0].count("not saved, will try again") == 1
    with serving(model, "--learn") as (link, _):
        assert link.get("/model")["version"] == 3
    assert load(model)[-1].n_seen == 3


def test_another_model_in_the_files_place_learns_what_is_not_saved(model):
    said, other = [], Tokenizer() | AdaptiveClassifier()
    other.learn_one("a late goal", "sport")
    with serving(model, "--learn", said=said) as (link, server):
        link.post("/learn", {"text": "free prize", "label": "spam", "id": "a"})
        link.post("/learn", {"text": "see you", "label": "spam", "id": "b"})
        link.post("/learn", {"id": "b", "label": "ham"})
        save(other, model)
        server.send_signal(signal.SIGHUP)
        until(lambda: "sport" in str(link.get("/labels")))
        assert link.post("/learn", {"id": "a", "label": "spam"})["done"] == "known"
        model.write_bytes(b"damaged")
        assert "was not reloaded" in link.post("/-/reload", b"", status=409)["error"]["message"]
        assert link.post("/predict", {"text": "free prize"})["label"] == "spam"
        save(other, model)
        link.post("/-/reload", b"")
        link.post("/-/save", b"")
    twin = other
    twin.learn_one("free prize", "spam")
    step = twin[-1].learn_one(twin[0].transform_one("see you"), "spam", undo=True)
    twin.undo(step)
    twin.learn_ticket(step.ticket, "ham")
    assert load(model).predict_proba_one("free you") == twin.predict_proba_one("free you")
    assert said[0].count("not reloaded, the model stays as it was") == 1


def test_a_model_that_another_program_has_put_there_is_not_overwritten(model):
    said, other = [], Tokenizer() | AdaptiveClassifier()
    other.learn_one("a late goal", "sport")
    with serving(model, "--learn", said=said, code=1) as (link, _):
        link.post("/learn", {"text": "free prize", "label": "spam", "id": "a"})
        save(other, model)
    assert "was replaced by a program that did not take the lock" in said[0]
    assert load(model).predict_one("goal") == "sport"
    with serving(model, "--learn") as (link, _):  # which learns it now
        assert link.post("/predict", {"text": "prize"})["label"] == "spam"


def test_who_only_answers_takes_a_new_model_by_itself(model):
    said, other = [], Tokenizer() | AdaptiveClassifier()
    other.learn_one("a late goal", "sport")
    with serving(model, "--reload-seconds", "0.1", said=said) as (link, _):
        assert link.post("/predict", {"text": "goal"})["label"] is None
        save(other, model)
        until(lambda: link.post("/predict", {"text": "goal"})["label"] == "sport")
    assert said[0].count("reloaded") == 1


@pytest.mark.parametrize(
    "ours",
    [
        True,
        [1],
        {"n": "many"},
        {"tally": [1]},
        {"tally": {"labels": [1]}},
        {"known": 5},
        {"known": "not base64"},
        {"known": base64.b64encode(b"not packed").decode()},
        {"known": base64.b64encode(zlib.compress(b"[[1]]")).decode()},
    ],
    ids=str,
)
def test_metadata_that_no_server_wrote_is_named(model, ours):
    save(load(model), model, metadata={"serve": ours})
    with pytest.raises(ModelFileError, match=r"has 'serve' in its metadata, but not as a server"):
        Service(str(model), Settings(learns=True)).open()


def test_a_model_whose_file_is_removed_goes_on_and_is_saved_again(model):
    with serving(model, "--learn", said=[]) as (link, _):
        link.post("/learn", {"text": "free prize", "label": "spam", "id": "a"})
        model.unlink()
        assert link.post("/predict", {"text": "prize"})["label"] == "spam"
        link.post("/learn", {"text": "see you", "label": "ham", "id": "b"})
    assert load(model)[-1].n_seen == 2


def test_a_clock_that_is_set_back_changes_nothing_but_dates(model, monkeypatch):
    service, now = Service(str(model), Settings(learns=True, save_seconds=0.001)), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    service.open()
    for n in range(6):
        service.learn({"text": f"word{n % 3}", "label": LABELS[n % 3], "id": str(n)})
        now -= 86_400 * 400 * (n == 2)
        assert service.predict({"text": "word1"})["version"] == n + 1
        assert service.stats()["lessons"] == max(0, n)
        time.sleep(0.002)
        asyncio.run(service.tick())
    service.learn({"id": "1", "label": "ham"})
    service.undo({"id": "2"})
    service.close()
    again = opened(model)
    assert (again.n, again.skipped) == (8, 0)
    assert bits(again.model.learner) == bits(service.model.learner)


def until(done):
    """Wait for what comes soon."""
    ends = time.monotonic() + 60
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_lessons_that_wait_share_one_sync(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("os.fsync", lambda number: (synced.append(number), time.sleep(0.05)))
    log = lessons.Log(str(tmp_path / "log"), "always")
    synced.clear()

    async def one(n):
        log.append({"n": n})
        return await log.durable()

    async def many():
        return await asyncio.gather(*map(one, range(100)))

    assert asyncio.run(many()) == ["disk"] * 100
    assert len(synced) <= 3
    log.close()
