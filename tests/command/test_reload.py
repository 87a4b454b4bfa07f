"""predict --reload-seconds: another model in the file's place is taken, and no line is lost."""

import signal
import time

import pytest

from tests.support.commands import answered, process, random_mail, run, saved, undated, written
from tests.support.programs import both
from tests.support.variants import learned, loaded

TEA = b"tea\tbacon\n" * 3


@pytest.fixture
def tea(mail):
    """Bytes of another model, which has learned nothing but tea."""
    tsv, model = mail
    other = model.with_name("other")
    (tsv.with_name("tea.tsv")).write_bytes(TEA)
    run("train", tsv.with_name("tea.tsv"), "-m", other, "-q")
    return other.read_bytes()


def put(path, content):
    """Put a file in another's place, as a learner's save does."""
    new = path.with_name("new")
    new.write_bytes(content)
    new.replace(path)


def answers_by(running, label, line=b"bacon\n"):
    """Whether an answer has this label, now or soon."""
    for _ in range(100):
        if answered(running, line).startswith(label + b"\t"):
            return True
        time.sleep(0.05)
    return False


@both
def test_the_answering_process_takes_what_a_learner_saves(mail):
    _, model = mail
    words = ("predict", "--model", model)
    with (
        process(*words, "--reload-seconds", "0.1") as answering,
        process(*words, "--learn", "--save-every", "1") as learning,
    ):
        assert not answered(answering, b"coffee\n").startswith(b"tea\t")
        for _ in range(10):
            answered(learning, b"tea\tcoffee\n")
        assert answers_by(answering, b"tea", b"coffee\n")
        assert learning.communicate(timeout=60) == (b"", b"")
        _, said = answering.communicate(timeout=60)
    assert answering.returncode == 0
    assert set(undated(said.decode()).splitlines()) == {f"streamptron: reloaded {model}"}


@both
def test_a_process_that_waits_takes_it_too(mail, tea):
    _, model = mail
    with process("predict", "--model", model, "--reload-seconds", "0.1") as running:
        answered(running, b"bacon\n")
        put(model, tea)
        assert b"reloaded" in running.stderr.readline()  # without a line that comes
        assert answered(running, b"bacon\n").startswith(b"tea\t")


@both
def test_each_line_has_one_answer_while_models_come(mail, tea):
    _, model = mail
    first = model.read_bytes()
    n, lines = 3000, []
    with process(
        "predict", "--model", model, "--reload-seconds", "0.001", "--template", "{text} {label}"
    ) as running:
        for at in range(0, n, 100):
            for i in range(at, at + 100):
                running.stdin.write(b"bacon %d\n" % i)
                if i == at + 50:
                    put(model, first if at % 200 else tea)
            lines += [running.stdout.readline().rstrip(b"\n") for _ in range(100)]
        rest, said = running.communicate(timeout=60)
        assert rest == b""
        assert said.count(b"reloaded") > 1
    assert [line.rpartition(b" ")[0] for line in lines] == [b"bacon %d" % i for i in range(n)]
    assert len({line.rpartition(b" ")[2] for line in lines}) > 1


@both
@pytest.mark.parametrize("learn", [False, True])
def test_a_damaged_file_is_said_once_and_the_old_model_serves_on(learn, mail, tea):
    _, model = mail
    words = ["--learn"] if learn else []
    with process("predict", "-m", model, "--reload-seconds", "0.05", *words) as running:
        before = answered(running, b"a prize\n")
        with open(model.with_name("half"), "wb", buffering=0) as file:
            file.write(tea[:300])
            model.with_name("half").replace(model)
            said = running.stderr.readline()
            assert b"not reloaded, the model stays as it was" in said
            for at in range(300, len(tea), 1 + len(tea) // 5):  # somebody writes it in place
                time.sleep(0.1)
                assert answered(running, b"a prize\n") == before
                file.write(tea[at : at + 1 + len(tea) // 5])
        said = running.stderr.readline()
        assert b"Z streamptron: reloaded" in said
        assert answered(running, b"bacon\n").startswith(b"tea\t")
        assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 0


@both
def test_a_file_that_goes_away_and_comes_back_is_no_matter(mail):
    _, model = mail
    with process("predict", "-m", model, "--reload-seconds", "0.05") as running:
        before = answered(running, b"a prize\n")
        aside = model.rename(model.with_name("aside"))
        time.sleep(0.2)
        assert answered(running, b"a prize\n") == before
        aside.rename(model)
        time.sleep(0.2)
        assert answered(running, b"a prize\n") == before
        assert running.communicate(timeout=60) == (b"", b"")


@both
def test_a_model_of_other_lines_is_refused(mail, tmp_path):
    _, model = mail
    (tmp_path / "a.jsonl").write_text('{"y": "a", "t": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"y": "a", "u": "x"}\n')
    train = ("-m", model, "-q", "--label", "y", "--text")
    run("train", tmp_path / "b.jsonl", *train, "u")
    other = model.read_bytes()
    run("train", tmp_path / "a.jsonl", *train, "t")
    words = ("--format", "jsonl", "--reload-seconds", "0.05")
    with process("predict", "-m", model, *words) as running:
        assert answered(running, b'{"t": "x"}\n').startswith(b"a\t")
        put(model, other)
        said = running.stderr.readline()
        assert b"not reloaded" in said
        assert b"it reads lines as {" in said
        assert answered(running, b'{"t": "x"}\n').startswith(b"a\t")


@both
@pytest.mark.parametrize("learner", ["adaptive", "voted", "mira"])
def test_a_learner_keeps_what_it_learned_and_did_not_save(learner, tmp_path):
    events = list(random_mail(3, 900))
    first, there, here = (written(events[at : at + 300]) for at in (0, 300, 600))
    (tmp_path / "first.tsv").write_bytes(first)
    (tmp_path / "there.tsv").write_bytes(there)
    (tmp_path / "here.tsv").write_bytes(here)
    model, other = tmp_path / "m", tmp_path / "other"
    seeded = ("--learner", learner, "--hash-seed", "1", "-q")
    run("train", tmp_path / "first.tsv", "-m", model, *seeded)
    run("train", tmp_path / "first.tsv", tmp_path / "there.tsv", "-m", other, *seeded)
    with process("predict", "--learn", "-m", model, "--reload-seconds", "0.1") as running:
        for line in here.splitlines(keepends=True):
            assert answered(running, line)
        other.replace(model)
        said = running.stderr.readline().decode()
        assert "; 300 lines learned and not saved, learned again now" in said
        assert running.communicate(timeout=60) == (b"", b"")
    names = ("first.tsv", "there.tsv", "here.tsv")
    run("train", *(tmp_path / name for name in names), "-m", tmp_path / "whole", *seeded)
    assert learned(loaded(model)) == learned(loaded(tmp_path / "whole"))


@both
def test_a_replaced_model_is_never_overwritten_unseen(mail, tea):
    _, model = mail
    with process("predict", "--learn", "-m", model, "--save-every", "1") as running:
        answered(running, b"eggs\tbacon\n")
        saved(model, 5)
        put(model, tea)
        answered(running, b"eggs\tbacon\n")
        assert b"was replaced by a program that did not take the lock" in running.stderr.readline()
        assert model.read_bytes() == tea
        running.send_signal(signal.SIGHUP)
        assert b"; 1 line learned and not saved" in running.stderr.readline()
        assert running.communicate(timeout=60)[0] == b""
    assert loaded(model).n_seen == 4
