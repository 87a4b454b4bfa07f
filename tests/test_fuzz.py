"""The fuzzers of fuzz/ run and find nothing, and what they found once is not there any more."""

import subprocess
import sys

import pytest

from tests.support import operations
from tests.support.marks import slow
from tests.support.processes import environment
from tests.support.project import ROOT
from tests.support.targets import TARGETS, Choices

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

CORPUS = ROOT / "fuzz" / "corpus"


@pytest.mark.parametrize("first", slow(range(100, 300, 50), among=range(0, 300, 50)))
def test_a_model_is_its_twin_whatever_is_called_in_whatever_order(first):
    for seed in range(first, first + 50):
        case = operations.made(seed)
        assert operations.difference(*case) is None, (
            f"python -m fuzz.operations --n 1 --seed {seed}"
        )


@pytest.mark.parametrize("seed", operations.FOUND)
def test_what_was_found_once_is_not_there_any_more(seed):
    assert operations.difference(*operations.made(seed)) is None


def test_fuzzer_of_operations_would_notice_a_difference_and_shows_what_it_takes(monkeypatch):
    def forgets(pair, mapping, x, y, w):
        pair.model.learn_one(x, y, w)

    monkeypatch.setattr(operations.Pair, "learn", forgets)
    rule, params, calls = operations.made(2)
    assert operations.difference(rule, params, calls) is not None
    assert [name for name, *_ in operations.smallest(rule, params, calls)] == ["learn"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "n"),
    [("operations", 20), ("tokenizer", 300), ("model_file", 300), ("kill_checkpoint", 3)],
)
def test_fuzzer_runs(script, n):
    run = subprocess.run(
        [sys.executable, "-m", f"fuzz.{script}", "--n", str(n), "--seed", "1000000"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_wrong_with_what_has_been_found_to_do_something_of_its_own(target):
    inputs = sorted((CORPUS / target).iterdir())
    assert len(inputs) > 20
    for path in inputs:
        try:
            TARGETS[target](path.read_bytes())
        except Exception as error:
            error.add_note(f"python -m fuzz.guided {target} {path}")
            raise


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 40, bytes(range(256))], ids=len)
def test_targets_take_any_bytes(target, data):
    TARGETS[target](data)


def test_target_of_operations_would_notice_a_difference(monkeypatch):
    monkeypatch.setattr(operations.Pair, "learn", lambda *call: 1 / 0)
    wrong = 0
    for path in sorted((CORPUS / "operations").iterdir()):
        try:
            TARGETS["operations"](path.read_bytes())
        except AssertionError:
            wrong += 1
    assert wrong > 0


def test_choices_are_the_bytes_and_zeros_when_those_end():
    choices = Choices(b"\x05\x01\x80\xff")
    assert [choices.getrandbits(k) for k in (8, 3, 16, 16, 32)] == [5, 1, 0xFF80, 0, 0]
    assert choices.random() == 0.0
    assert choices.choice("abc") == "a"
    assert Choices(b"\0\0\0\x80").random() == 0.5


def test_guided_fuzzer_says_what_its_targets_are_and_runs(tmp_path):
    pytest.importorskip("atheris", reason="the guided fuzzer needs atheris (pip install atheris)")
    command = [sys.executable, "-m", "fuzz.guided"]
    kept = {"env": environment(), "cwd": tmp_path, "capture_output": True, "encoding": "utf-8"}
    run = subprocess.run([*command, "nothing"], timeout=60, **kept)
    assert run.returncode == 1
    assert f"Targets: {', '.join(TARGETS)}" in run.stderr
    run = subprocess.run([*command, "tokenizer", "-runs=300"], timeout=300, **kept)
    assert run.returncode == 0, run.stderr
    assert "Done 300 runs" in run.stderr
