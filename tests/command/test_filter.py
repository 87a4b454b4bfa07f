"""predict --learn: a filter that learns what it answers, and saves that."""

import random
import signal
import time

import pytest

from streamptron import Tokenizer
from streamptron.learners.registry import LEARNERS
from tests.support.commands import (
    MAIL,
    SEEDED,
    SHAPES,
    answered,
    predict,
    process,
    random_mail,
    run,
    saved,
)
from tests.support.programs import both
from tests.support.variants import learned, loaded


@both
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(2))
def test_learning_while_answering_is_predict_one_and_then_learn_one(learner, seed, tmp_path):
    labels = ("0", "1") if learner == "perceptron" else ("ham", "spam", "a list")
    path = tmp_path / "m"
    (Tokenizer() | LEARNERS[learner](hash_seed=1)).save(path)
    model, tokenizer = loaded(path), Tokenizer()
    rng = random.Random(seed)
    lines, expected = [], []
    for label, text in random_mail(seed, 3000, labels):
        event = tokenizer.transform_one(text)
        answer = model.predict_one(event)
        probability = model.predict_proba_one(event).get(answer)
        if rng.random() < 0.2 and text:
            lines.append(text)
        else:
            lines.append(f"{label}\t{text}")
            model.learn_one(event, label == "1" if learner == "perceptron" else label)
        name = int(answer) if learner == "perceptron" else answer
        expected.append("\t" if answer is None else f"{name}\t{probability:.4f}")
    assert predict("\n".join(lines).encode(), path, "--learn")[0] == expected
    assert learned(loaded(path)) == learned(model)


@both
def test_bad_labels_are_answered_and_not_learned(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(b"1\ta\n0\tb\n")
    path = tmp_path / "m"
    train = ("train", tmp_path / "m.tsv", "-m", path, "--learner", "perceptron", "-q", *SEEDED)
    assert told(*train) == (0, "", "")
    found, said = predict(b"what\ta\n\ta\n1\ta\n", path, "--learn")
    assert [line != "\t" for line in found] == [True, False, True]
    assert "2 of 3 lines are bad, the first: <stdin>:1: the label 'what' is not one of 0, 1" in said
    assert loaded(path).n_seen == 3


TWO = [("x", "a"), ("y", "b")]
MORE = [("z", "d"), ("x", "e"), ("v", "f"), ("y", "g"), ("z", "h")]


def lines_of(events, format):
    return "".join(SHAPES[format].format(*event) for event in events).encode()


@pytest.mark.parametrize("learner", ["adaptive", "mira", "voted"])
@pytest.mark.parametrize("format", SHAPES)
def test_a_label_too_many_is_answered_and_not_learned(format, learner, tmp_path):
    file, path = tmp_path / "m.txt", tmp_path / "m"
    words = ("--format", format, "--max-labels", 2, "--learner", learner, *SEEDED)
    file.write_bytes(lines_of(TWO, format))
    run("train", file, "-m", path, *words)
    model = loaded(path)
    for label, text in MORE:
        if label in model.labels:
            model.learn_one({text: 1}, label)
    found, said = predict(lines_of(MORE, format), path, "--learn", "--format", format)
    assert [line.partition("\t")[0] in ("x", "y") for line in found] == [True] * 5
    assert "3 of 5 lines are bad, the first: " in said
    assert "<stdin>:1: " in said
    assert "the label 'z' is one more than --max-labels 2 allows; leave the line out" in said
    assert learned(loaded(path)) == learned(model)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_filter_of_other_formats_too(number, tmp_path, told):
    (tmp_path / "m.vw").write_bytes(b"1 | a\n-1 | b\n")
    model = tmp_path / "m"
    assert told("train", tmp_path / "m.vw", "-m", model, "-q") == (0, "", "")
    with process("predict", "--learn", "--model", model) as running:
        assert b"\t0." in answered(running, b"1 | a\n")
        running.stdin.write(b"1 | begun and not ended")
        time.sleep(0.1)
        running.send_signal(number)
        assert running.wait(60) == (130 if number == signal.SIGINT else 0)
        assert running.stderr.read() == b""
        assert running.stdout.read() == b""
    assert loaded(model).n_seen == 3


@both
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_save_what_was_learned_and_end_it(number, mail):
    _, model = mail
    with process("predict", "--learn", "--model", model) as running:
        for i in range(5):
            assert answered(running, b"eggs\tbacon and %d eggs\n" % i)
        running.stdin.write(b"eggs\tbegun and not ended")
        time.sleep(0.1)
        running.send_signal(number)
        assert running.wait(60) == (130 if number == signal.SIGINT else 0)
        assert running.stderr.read() == b""
        assert running.stdout.read() == b""
    assert loaded(model).n_seen == 9
    assert predict(b"bacon and eggs\n", model)[0][0].startswith("eggs\t")


def test_predict_says_that_it_needs_unix(mail, told, monkeypatch):
    _, model = mail
    monkeypatch.delattr(signal, "SIGHUP")  # as on Windows
    code, out, said = told("predict", "--model", model)
    assert (code, out) == (1, "")
    assert said.startswith("streamptron: error: predict waits for lines and signals in a way that ")
    assert "load the model in Python" in said


@both
@pytest.mark.parametrize("learn", [False, True])
def test_hanging_up_loads_the_model_anew(learn, mail, told):
    tsv, model = mail
    words = ["--learn"] if learn else []
    with process("predict", "--model", model, *words) as running:
        assert answered(running, b"eggs\tbacon and eggs\n").partition(b"\t")[0] in (b"spam", b"ham")
        tsv.write_bytes(b"tea\tbacon\n" * 3)
        other = model.with_name("other")
        assert told("train", tsv, "-m", other, "-q") == (0, "", "")
        other.replace(model)
        running.send_signal(signal.SIGHUP)
        said = running.stderr.readline().decode()
        assert said.startswith(f"streamptron: reloaded {model}")
        assert ("; 1 line learned and not saved, learned again now" in said) == learn
        assert answered(running, b"bacon\n").startswith(b"tea\t")
        content = model.read_bytes()
        aside = model.rename(other)
        model.write_bytes(content[:-20])
        running.send_signal(signal.SIGHUP)
        assert b"not reloaded, the model stays as it was" in running.stderr.readline()
        assert answered(running, b"bacon\n").startswith(b"tea\t")
        aside.replace(model)
        assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 0


@both
def test_what_is_learned_is_saved_every_so_many_lines_and_seconds(mail):
    _, model = mail
    with process("predict", "--learn", "--save-every", "3", "--model", model) as running:
        for _ in range(5):
            assert answered(running, b"eggs\tbacon\n")
        saved(model, 7)
        running.kill()
    assert loaded(model).n_seen == 7
    with process("predict", "--learn", "--save-seconds", "0.2", "--model", model) as running:
        assert answered(running, b"eggs\tbacon\n")
        saved(model, 8)  # while it waits
        running.kill()


@both
def test_a_save_that_fails_is_said_and_tried_again(mail):
    _, model = mail
    aside = model.with_name("aside")
    with process("predict", "--learn", "--save-every", "1", "--model", model) as running:
        assert answered(running, b"a prize\n")
        model.rename(aside)
        model.mkdir()
        for _ in range(2):
            assert answered(running, b"eggs\tbacon\n")
            assert b" learned and not saved, will try again" in running.stderr.readline()
        model.rmdir()
        aside.rename(model)
        assert answered(running, b"eggs\tbacon\n")
        saved(model, 7)
        model.unlink()
        model.mkdir()
        _, said = running.communicate(b"eggs\tbacon\n", timeout=60)
    assert b"1 line learned and not saved" in said
    assert running.returncode == 1


@both
def test_a_reader_that_goes_away_loses_nothing_that_was_learned(mail):
    _, model = mail
    with process("predict", "--learn", "--model", model) as running:
        assert answered(running, b"eggs\tbacon\n")
        running.stdout.close()
        running.stdin.write(b"eggs\tbacon\n")
        assert running.wait(60) == 0
        assert running.stderr.read() == b""
    assert loaded(model).n_seen == 6


@both
def test_without_learning_the_file_stays_as_it_is(mail):
    _, model = mail
    before = model.stat()
    assert len(predict(MAIL, model, "--input", "labelled")[0]) == 4
    after = model.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
