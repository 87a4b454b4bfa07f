"""The fuzzers of fuzz/ run and find nothing, and what they found once is not there any more."""

import subprocess
import sys
from pathlib import Path

import operations
import pytest
from test_benchmarks import environment

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_a_model_is_its_twin_whatever_is_called_in_whatever_order(first):
    for seed in range(first, first + 50):
        case = operations.made(seed)
        assert operations.difference(*case) is None, f"fuzz/operations.py --n 1 --seed {seed}"


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


@pytest.mark.parametrize(
    ("script", "n"),
    [("operations", 20), ("tokenizer", 300), ("model_file", 300), ("kill_checkpoint", 3)],
)
def test_fuzzer_runs(script, n):
    run = subprocess.run(
        [sys.executable, FUZZ / f"{script}.py", "--n", str(n), "--seed", "1000000"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
