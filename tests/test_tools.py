"""A tool says how it is called, and writes nothing when it is asked that, or called wrongly."""

import os
import subprocess
import sys

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

TOOLS = [path for path in sorted(ROOT.glob("tools/*.py")) if "__main__" in path.read_text("utf-8")]


def called(tool, folder, *arguments):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}  # as for `python -m tools.pictures`
    done = subprocess.run(
        [sys.executable, tool, *arguments], cwd=folder, capture_output=True, text=True, env=env
    )
    assert list(folder.iterdir()) == []
    return done


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_help_is_printed_and_nothing_is_written(tool, tmp_path):
    done = called(tool, tmp_path, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    about = tool.read_text("utf-8").split('"""')[1].splitlines()[0]
    assert about in done.stdout


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_wrong_arguments_say_how_it_is_called(tool, tmp_path):
    done = called(tool, tmp_path, "--nosuch", "a", "b")
    assert done.returncode == 2
    assert f"usage: {tool.name}" in done.stderr
