"""Every example runs from any folder, without a network; what it lacks it says in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import streamptron
from tests.support.project import ROOT

PACKAGE = Path(streamptron.__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def run(name, folder, *arguments):
    """The example in a process that has no home, no network and another folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGE),
        "RIVER_DATA": str(folder / "none"),
        "HOME": str(folder),
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", ["pipeline.py", "log_topics.py", "ranking.py"])
def test_example_needs_nothing_from_anywhere(name, tmp_path):
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") > 5


@pytest.mark.parametrize("name", ["spam_filter.py", "log_topics.py"])
def test_example_learns_from_a_file(name, tmp_path):
    lines = "spam\twin a prize\nham\tsee you\n" * 200
    (tmp_path / "lines.tsv").write_text(lines)
    done = run(name, tmp_path, "lines.tsv")
    assert done.returncode == 0, done.stderr
    assert "prize" in done.stdout


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("spam_filter.py", []), ("spam_filter.py", ["gone.tsv"]), ("log_topics.py", ["gone.tsv"])],
)
def test_example_that_lacks_its_data_says_so_in_one_line(name, arguments, tmp_path):
    done = run(name, tmp_path, *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"python examples/{name}" in done.stderr
