"""What a transaction has taught is there once it is committed, and only then."""

import contextlib
import random
import subprocess
import sys
import threading

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.sqlite.test_table import STREAM, a_stream, created, is_the_same, learned, model_of, twin
from tests.support.extension import extension, needs_sqlite, opened
from tests.support.library import needs_compiler
from tests.support.marks import on_posix, seeds
from tests.support.processes import environment
from tests.support.project import ROOT
from tests.support.sqlite import Error

pytestmark = [needs_sqlite, needs_compiler, pytest.mark.once]

MODES = ["delete", "wal"]


@contextlib.contextmanager
def connections(path, n, mode="wal"):
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(opened(path)) for _ in range(n)]
        made[0](f"PRAGMA journal_mode = {mode}")
        yield made


@pytest.fixture
def db():
    with opened() as db:
        created(db)
        learned(db)
        yield db


def test_a_rollback_has_taught_nothing(db, tmp_path):
    before = model_of(db)
    db("BEGIN")
    learned(db)
    db("DELETE FROM spam WHERE id = 2")
    assert model_of(db) != before
    db("ROLLBACK")
    assert model_of(db) == before
    learned(db)
    assert is_the_same(db, twin(STREAM * 2), tmp_path)


def test_a_statement_that_fails_has_taught_nothing_and_the_transaction_goes_on(db, tmp_path):
    db("BEGIN")
    learned(db, STREAM[:1])
    with pytest.raises(Error, match="label is NULL"):
        db("INSERT INTO spam(text, label) VALUES ('lunch', 'ham'), ('x', NULL)")
    with pytest.raises(Error, match="lesson 2 has been learned already"):
        db("INSERT INTO spam(id, text, label) VALUES (70, 'lunch', 'ham'), (2, 'x', 'ham')")
    learned(db, STREAM[1:])
    db("COMMIT")
    assert is_the_same(db, twin(STREAM * 2), tmp_path)
    assert db.one("SELECT count(*) FROM spam") == 6


def test_a_savepoint_that_is_rolled_back_has_taught_nothing(db, tmp_path):
    db("SAVEPOINT one")
    learned(db, STREAM[:1])
    db("SAVEPOINT two")
    learned(db, [("x", "other")])
    db("UPDATE spam SET label = 'other' WHERE id = 1")
    db("ROLLBACK TO two")
    learned(db, STREAM[1:])
    db("RELEASE one")
    assert is_the_same(db, twin(STREAM * 2), tmp_path)


@seeds(2)
def test_whatever_is_rolled_back_the_model_is_that_of_the_lessons(seed, tmp_path):
    draw = random.Random(seed)
    stream, kept = a_stream(seed, 200), []
    with opened(tmp_path / "db") as db:
        created(db)
        for _ in range(12):
            db("BEGIN")
            marks = [list(kept)]
            for _ in range(draw.randrange(1, 8)):
                what = draw.choice(["learn", "learn", "mark", "back", "ask"])
                if what == "learn":
                    marks[-1].append(next(stream))
                    learned(db, marks[-1][-1:])
                elif what == "mark":
                    db(f"SAVEPOINT m{len(marks)}")
                    marks.append(list(marks[-1]))
                elif what == "back" and len(marks) > 1:
                    marks.pop()
                    db(f"ROLLBACK TO m{len(marks)}; RELEASE m{len(marks)}")
                else:
                    db("SELECT label FROM spam WHERE text MATCH 'a prize'")
            if draw.random() < 0.6:
                db("COMMIT")
                kept = marks[-1]
            else:
                db("ROLLBACK")
        assert is_the_same(db, twin(kept), tmp_path)


def test_a_trigger_teaches_in_the_transaction_of_its_table(db):
    db("CREATE TABLE mails(id INTEGER PRIMARY KEY, text, label NOT NULL CHECK (label <> 'bad'))")
    db(
        "CREATE TRIGGER learned AFTER INSERT ON mails BEGIN"
        " INSERT INTO spam(id, text, label) VALUES (new.id + 10, new.text, new.label); END"
    )
    before = model_of(db)
    with pytest.raises(Error, match="CHECK"):
        db("INSERT INTO mails(text, label) VALUES ('x', 'ham'), ('y', 'bad')")
    assert model_of(db) == before
    db("INSERT INTO mails(text, label) VALUES ('x', 'ham'), ('y', 'spam')")
    assert db.one("SELECT last_insert_rowid()") == 2
    assert db.one("SELECT count(*) FROM spam") == 5


@pytest.mark.parametrize("mode", MODES)
def test_connections_see_what_others_have_committed_and_nothing_else(mode, tmp_path):
    with connections(tmp_path / "db", 3, mode) as (one, other, third):
        created(one)
        learned(one)
        assert model_of(other) == model_of(one)
        other("BEGIN IMMEDIATE")
        learned(other)
        assert model_of(other) != model_of(one)
        if mode == "wal":  # who reads goes on reading what was there
            one("BEGIN")
            before = model_of(one)
        other("COMMIT")
        if mode == "wal":
            assert model_of(one) == before
            one("COMMIT")
        third("UPDATE spam SET label = 'ham' WHERE id = 4")
        learned(one)
        assert model_of(one) == model_of(other) == model_of(third)
    with opened(tmp_path / "db") as fourth, opened(tmp_path / "db") as fifth:
        assert model_of(fourth) == model_of(fifth)
        assert fourth.one("SELECT count(*) FROM spam") == 9


def test_several_connections_learn_at_once_and_each_lesson_is_there_once(tmp_path):
    with connections(tmp_path / "db", 1) as (db,):
        created(db, "keep=100")

        def teach(start):
            with opened(tmp_path / "db") as own:
                for id in range(start, start + 30):
                    own("INSERT INTO spam(id, text, label) VALUES (?, ?, ?)", id, f"w{id}", "a")

        threads = [threading.Thread(target=teach, args=(start,)) for start in (0, 100, 200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lessons = db("SELECT text, label FROM spam_log ORDER BY seq")
        assert sorted(lessons) == sorted(
            (f"w{s + i}", "a") for s in (0, 100, 200) for i in range(30)
        )
        assert is_the_same(db, twin(lessons), tmp_path)


# --- Killed

LEARNS = """
import sys
from tests.support.sqlite import Connection
path, loaded, start = sys.argv[1:]
with Connection(path, loaded) as db:
    id = int(start)
    while True:
        db("BEGIN IMMEDIATE")
        for id in range(id, id + 1 + id % 4):
            text = f"w{id % 7} w{id % 11} " + "filler" * (id % 90)
            db("INSERT INTO spam(id, text, label) VALUES (?, ?, ?)", id, text, f"l{id % 3}")
        db("COMMIT")
        id += 1
        print(id, flush=True)
"""


def killed(path, start, draw):
    """Let a process learn lessons from an id on, and kill it. How far it has said that it came."""
    with subprocess.Popen(
        [sys.executable, "-c", LEARNS, path, extension(), str(start)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.random() * 0.03)
        process.kill()
        said = process.stdout.read().split(b"\n")[:-1]
    return int(said[-1]) if said else start


@on_posix
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_whoever_is_killed_has_taught_what_was_committed_once(kills, mode, tmp_path):
    draw = random.Random(kills)
    model = Tokenizer() | AdaptiveClassifier(hash_seed=1)
    path, done = tmp_path / "db", 0
    with connections(path, 1, mode) as (db,):
        created(db, "keep=20")
    for _ in range(kills):
        said = killed(path, done, draw)
        with opened(path) as db:
            ids = [id for (id,) in db("SELECT id FROM spam ORDER BY id")]
            assert ids == list(range(len(ids)))  # each once, and no part of a transaction is lost
            assert len(ids) >= said
            for id in range(done, len(ids)):
                text = f"w{id % 7} w{id % 11} " + "filler" * (id % 90)
                model.learn_one(text, f"l{id % 3}")
            done = len(ids)
            assert is_the_same(db, model, tmp_path)
            assert db.one("PRAGMA integrity_check") == "ok"
    assert done > kills
    if kills > 3:
        with opened(path) as db:  # the model was written anew in between
            assert db.one("SELECT seq FROM spam_model") > 0
