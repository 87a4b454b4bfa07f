"""The manual page: written of the commands' own help, and `man` can show it."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.support.commands import COMMANDS, ENVIRONMENT
from tests.support.project import ROOT

PAGE = ROOT / "docs" / "streamptron.1"


def test_the_page_is_what_the_commands_say():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "man.py")],
        env=ENVIRONMENT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == PAGE.read_text("utf-8"), "python docs/man.py > docs/streamptron.1"


def test_the_page_is_installed():
    assert '"share/man/man1" = ["docs/streamptron.1"]' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")
def test_man_shows_each_command_and_its_options():
    done = subprocess.run(
        ["man", "--warnings", "-l", str(PAGE)],
        env={**ENVIRONMENT, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    text = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)
    for command in COMMANDS:
        assert f"streamptron {command} " in text
    for words in ("--reload-seconds", "--corrections FOLDER", "--no-lowercase", "EXIT STATUS"):
        assert words in text
    assert "      streamptron train mail.tsv --model mail.model --ngrams 1,2 --fold-numbers" in text
    assert r"printf 'spam\twin a prize\nham\tsee you\n' > mail.tsv" in text
