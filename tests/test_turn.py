"""--turn: parts of the tests, each of which has every test, and which together are all of them."""

import subprocess
import sys

import pytest

from tests.support.processes import environment
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same


def collected(*words, file="tests/doors/test_labels.py"):
    """The tests of a file that would run, and what pytest says of its options."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts="]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *words, file],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
    )
    return [line for line in done.stdout.splitlines() if "::" in line], done.stderr


@pytest.mark.slow
def test_parts_have_every_test_and_together_all_its_parameters():
    every, first, second = (
        collected(*words)[0] for words in ((), ("--turn=1/2",), ("--turn=2/2",))
    )
    assert sorted(every) == sorted({*first, *second})
    for part in (first, second):
        assert {test.partition("[")[0] for test in part} == {
            test.partition("[")[0] for test in every
        }
        assert len(part) < 0.6 * len(every)


@pytest.mark.slow
def test_what_is_slow_has_parts_of_its_own():
    file = "tests/late/test_sets.py"
    every, first, second, daily = (
        {*collected(*words, file=file)[0]}
        for words in ((), ("--slow-turn=1/2",), ("--slow-turn=2/2",), ("-m", "not slow"))
    )
    assert every == first | second
    assert daily < first < every
    assert len(first - daily) < 0.7 * len(every - daily)


@pytest.mark.parametrize("turn", ["0/2", "3/2", "1", "half", ""])
def test_a_part_that_cannot_be_is_said(turn):
    tests, said = collected(f"--turn={turn}")
    assert not tests
    assert f"--turn {turn}: it is K/N, as in 1/2, K from 1 to N" in said
