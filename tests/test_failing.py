"""A failing test says so soon: where long values differ first, and where a hung test is."""

import subprocess
import sys

import pytest

from tests.support.processes import environment
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

FAILING = """
import time
import pytest

LINES = [f"{i} {i * i % 7919}" for i in range(3000)]
OTHERS = [f"{line[::-1]}" for line in LINES]

@pytest.mark.parametrize("kind", [list, tuple, set, dict.fromkeys, "\\n".join])
def test_long(kind):
    assert kind(LINES) == kind(OTHERS)

def test_hung():
    {hang}
"""


def run(tmp_path, hang, *words):
    (tmp_path / "test_it.py").write_text(FAILING.replace("{hang}", hang), "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    done = subprocess.run(
        [*command, "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, *words, tmp_path],
        cwd=ROOT,
        env={**environment(), "CI": "true"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_long_comparison_that_fails_is_no_long_diff_where_pytest_shows_all(tmp_path):
    code, out, _ = run(tmp_path, "pass")
    assert code == 1
    assert "5 failed, 1 passed" in out
    assert len(out) < 20_000


@pytest.mark.slow
def test_a_test_that_hangs_is_ended_and_says_where(tmp_path):
    code, _, err = run(tmp_path, "time.sleep(60)", "-o", "faulthandler_timeout=1", "-k", "hung")
    assert code == 1
    assert "in test_hung" in err
