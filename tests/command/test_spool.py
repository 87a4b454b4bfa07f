"""predict --learn --corrections: files put into a folder are learned, each once."""

import os
import random
import subprocess
import sys
import time

import pytest

from tests.support.commands import (
    ENVIRONMENT,
    MAIL,
    answered,
    predict,
    process,
    random_mail,
    run,
    written,
)
from tests.support.programs import both
from tests.support.variants import learned, loaded

SEEDED = ("--hash-seed", "1")


@pytest.fixture
def spool(tmp_path):
    (tmp_path / "spool").mkdir()
    return tmp_path / "spool"


def put(spool, name, data):
    """Put a file into the folder as one should: whole, by a rename."""
    (spool / f".{name}").write_bytes(data)
    (spool / f".{name}").rename(spool / name)


def names(folder):
    """The files of a folder, without what is put before their names."""
    return sorted(path.name.partition(".")[2] for path in folder.glob("*"))


def until(what, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def learning(model, spool, *words):
    return process(
        "predict", "--learn", "--create", *SEEDED, "-m", model, "--corrections", spool, *words
    )


@both
def test_corrections_are_learned_while_it_waits(spool, tmp_path):
    with learning(tmp_path / "m", spool) as running:
        answered(running, b"spam\ta prize\n")
        put(spool, "1.tsv", b"ham\tfish\nham\tfish and eggs\n")
        until(lambda: names(spool / "done") == ["1.tsv"])
        assert loaded(tmp_path / "m").n_seen == 3
        put(spool, "1.tsv", b"ham\tfish\n")  # the same name again
        until(lambda: names(spool / "done") == ["1.tsv", "1.tsv"])
        assert answered(running, b"fish\n").startswith(b"ham\t")
        assert running.communicate(timeout=60) == (b"", b"")
    assert loaded(tmp_path / "m").n_seen == 4
    assert list((spool / "taken").iterdir()) == []


@both
def test_files_are_learned_in_the_order_of_their_names(spool, tmp_path):
    events = list(random_mail(5, 300))
    for k in range(3):
        put(spool, f"{k}.tsv", written(events[100 * k : 100 * k + 100]))
    predict(b"", tmp_path / "m", "--learn", "--create", *SEEDED, "--corrections", spool)
    (tmp_path / "all.tsv").write_bytes(written(events))
    run("train", tmp_path / "all.tsv", "-m", tmp_path / "trained", "-q", *SEEDED)
    assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "trained"))


@both
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ham\tfish\nspam\ta pri", "its last line has no end; it may have been cut off"),
        (b"", "it is empty; it may have been cut off"),
        (b"ham\tfish\nno label\nspam\tx\n", "2.tsv:2: "),
        (b"\n\n", "it has no labelled line"),
    ],
    ids=["cut", "empty", "no label", "blank"],
)
def test_a_bad_file_is_named_and_set_aside_and_nothing_of_it_is_learned(data, why, spool, tmp_path):
    put(spool, "1.tsv", b"ham\tfish\n")
    put(spool, "2.tsv", data)
    put(spool, "3.tsv", b"spam\ta prize\n")
    words = ("--learn", "--create", "--corrections", spool)
    _, said = predict(b"", tmp_path / "m", *words)
    assert said.count("\n") == 1
    assert "corrections set aside, nothing of them is learned: " in said
    assert why in said
    (aside,) = (spool / "bad").iterdir()
    assert str(aside) in said
    assert aside.read_bytes() == data
    assert names(spool / "done") == ["1.tsv", "3.tsv"]
    assert loaded(tmp_path / "m").n_seen == 2
    aside.write_bytes(b"eggs\tbacon\n")  # mended
    aside.rename(spool / aside.name)
    assert predict(b"", tmp_path / "m", *words)[1] == ""
    assert loaded(tmp_path / "m").n_seen == 3


@both
def test_files_that_are_still_written_wait(spool, tmp_path):
    (spool / ".half.tsv").write_bytes(b"ham\tfi")
    words = ("--learn", "--create", "--corrections", spool)
    assert predict(b"", tmp_path / "m", *words)[1] == ""
    assert (spool / ".half.tsv").exists()


@both
def test_corrections_look_as_the_lines_that_are_learned(spool, tmp_path):
    put(spool, "1.jsonl", b'{"kind": "ham", "body": "fish"}\n')
    put(spool, "2.jsonl", b'{"body": "fish"}\n')
    reading = ("--format", "jsonl", "--label", "kind", "--text", "body")
    words = ("--learn", "--create", "--corrections", spool, *reading)
    lines, said = predict(b'{"body": "fish"}\n', tmp_path / "m", *words)
    assert lines[0].startswith("ham\t")
    assert "2.jsonl:1: " in said
    assert names(spool / "bad") == ["2.jsonl"]


@both
def test_what_the_learner_refuses_is_said_and_the_rest_is_learned(spool, tmp_path):
    put(spool, "1.tsv", b"ham\tfish\nspam\ta prize\neggs\tbacon\nham\tfish\n")
    words = ("--learn", "--create", "--max-labels", 2, "--corrections", spool)
    _, said = predict(b"", tmp_path / "m", *words)
    assert "1.tsv:3: not learned: the label 'eggs' is one more than --max-labels 2" in said
    assert loaded(tmp_path / "m").n_seen == 3
    assert names(spool / "done") == ["1.tsv"]


@both
def test_a_folder_that_is_not_there_or_is_another_ones_is_refused(spool, tmp_path):
    words = ("--learn", "--create", "--corrections")
    _, said = predict(b"", tmp_path / "m", *words, tmp_path / "none", code=1)
    assert f"{tmp_path / 'none'}: there is no such folder; make it" in said
    _, said = predict(b"", tmp_path / "m", "--corrections", spool, code=2)
    assert "--corrections are learned; give --learn too" in said
    with learning(tmp_path / "m", spool) as running:
        answered(running, b"ham\tx\n")
        _, said = predict(b"", tmp_path / "other", *words, spool, code=1)
        assert f"{spool}: another process learns the corrections" in said
        running.communicate(timeout=60)


@both
def test_a_model_that_is_put_in_the_files_place_keeps_the_corrections(spool, tmp_path):
    (tmp_path / "mail.tsv").write_bytes(MAIL)
    with learning(tmp_path / "m", spool, "--reload-seconds", "0.1") as running:
        answered(running, b"eggs\tbacon\n")
        put(spool, "1.tsv", b"ham\tfish\n")
        until(lambda: names(spool / "done") == ["1.tsv"])
        run("train", tmp_path / "mail.tsv", "-m", tmp_path / "other", "-q")
        (tmp_path / "other").rename(tmp_path / "m")
        assert b"reloaded" in running.stderr.readline()
        said = running.stderr.readline().decode()
        assert f"has not learned the corrections in {spool}/done (1 file), unless" in said
        put(spool, "2.tsv", b"ham\tfish\n")
        until(lambda: len(names(spool / "done")) == 2)
        running.communicate(timeout=60)
    assert loaded(tmp_path / "m").n_seen == 5


@both
def test_a_save_that_fails_leaves_the_file_until_there_is_one(spool, tmp_path):
    model = tmp_path / "m"
    with learning(model, spool) as running:
        answered(running, b"eggs\tbacon\n")
        model.rename(tmp_path / "aside")
        model.mkdir()
        put(spool, "1.tsv", b"ham\tfish\n")
        assert b" learned and not saved, will try again" in running.stderr.readline()
        assert len(names(spool / "taken")) == 1
        model.rmdir()
        (tmp_path / "aside").rename(model)
        running.communicate(timeout=60)
    assert names(spool / "done") == ["1.tsv"]
    assert names(spool / "taken") == []
    assert loaded(model).n_seen == 2


@pytest.mark.slow
@both
@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize("seed", range(3))
def test_each_file_is_learned_once_whenever_it_is_killed(seed, spool, tmp_path):
    rng = random.Random(seed)
    model, n_files = tmp_path / "m", 40
    expected = 0
    waiting = [f"{k:02d}.tsv" for k in range(n_files)]
    while waiting or names(spool / "done") != sorted(f"{k:02d}.tsv" for k in range(n_files)):
        with learning(model, spool) as running:
            for name in [waiting.pop(0) for _ in range(min(len(waiting), rng.randrange(1, 12)))]:
                lines = rng.randrange(1, 200)
                put(spool, name, b"".join(b"ham\tfish %d\n" % i for i in range(lines)))
                expected += lines
            time.sleep(rng.choice((0.4, 0.8, 1.0, 2.0)) + rng.random() / 5)
            running.kill()
            said = running.stderr.read()
            assert said == b""
    predict(b"", model, "--learn", "--corrections", spool)
    assert loaded(model).n_seen == expected
    assert os.listdir(spool / "taken") == os.listdir(spool / "bad") == []


@both
@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize("step", ["_take", "_learn", "save", "_settle", "_save", "_move"])
@pytest.mark.parametrize("after", [False, True])
def test_each_file_is_learned_once_if_it_is_killed_at_a_step(step, after, spool, tmp_path):
    code = f"""\
import os, sys
from streamptron.command.cli import main
from streamptron.command.model_on_disk import ModelOnDisk
from streamptron.command.spool import Spool

owner = ModelOnDisk if {step!r} == "save" else Spool
whole = getattr(owner, {step!r})
calls = 0

def killed(self, *arguments):
    global calls
    calls += 1
    found = whole(self, *arguments) if {after} or calls < {{n}} else None
    if calls == {{n}}:
        os._exit(9)
    return found

setattr(owner, {step!r}, killed)
main(sys.argv[1:])
"""
    for n in range(1, 4):
        model, folder = tmp_path / f"m{n}", tmp_path / f"spool{n}"
        folder.mkdir()
        for k in range(3):
            put(folder, f"{k}.tsv", b"ham\tfish\n" * 2**k)
        words = ("predict", "--learn", "--create", "-m", str(model), "--corrections", str(folder))
        done = subprocess.run(
            [sys.executable, "-c", code.format(n=n), *words],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 9), done.stderr
        assert run(*words) == (b"", "")
        assert loaded(model).n_seen == 7
        assert names(folder / "done") == ["0.tsv", "1.tsv", "2.tsv"]


@both
def test_a_folder_that_goes_away_is_said_once_and_stops_nothing(spool, tmp_path):
    with learning(tmp_path / "m", spool) as running:
        answered(running, b"eggs\tbacon\n")
        spool.rename(tmp_path / "aside")
        assert b"no corrections, will look again: " in running.stderr.readline()
        time.sleep(2.5)
        answered(running, b"eggs\tbacon\n")
        (tmp_path / "aside").rename(spool)
        put(spool, "1.tsv", b"ham\tfish\n")
        until(lambda: names(spool / "done") == ["1.tsv"])
        assert running.communicate(timeout=60) == (b"", b"")
    assert loaded(tmp_path / "m").n_seen == 3
