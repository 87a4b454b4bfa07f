"""The manual pages: written of the commands' own help, and `man` can show them."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.support.commands import COMMANDS, ENVIRONMENT
from tests.support.project import ROOT

PAGE = ROOT / "docs" / "streamptron.1"
PAGES = {"man.py": PAGE, "man_spt.py": ROOT / "docs" / "spt.1"}


@pytest.mark.parametrize("writer", PAGES)
def test_a_page_is_what_the_commands_say(writer):
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / writer)],
        env=ENVIRONMENT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    page = PAGES[writer]
    assert done.stdout == page.read_text("utf-8"), f"python docs/{writer} > docs/{page.name}"


def test_the_page_is_installed():
    assert '"share/man/man1" = ["docs/streamptron.1"]' in (ROOT / "pyproject.toml").read_text()


def shown(page):
    """What man shows, without its colours."""
    done = subprocess.run(
        ["man", "--warnings", "-l", str(page)],
        env={**ENVIRONMENT, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)


needs_man = pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")


@needs_man
def test_man_shows_each_command_and_its_options():
    text = shown(PAGE)
    for command in COMMANDS:
        assert f"streamptron {command} " in text
    for words in ("--reload-seconds", "--corrections FOLDER", "--no-lowercase", "EXIT STATUS"):
        assert words in text
    assert "      streamptron train mail.tsv --model mail.model --ngrams 1,2 --fold-numbers" in text
    assert r"printf 'spam\twin a prize\nham\tsee you\n' > mail.tsv" in text


def test_the_page_of_spt_names_every_command_and_option_that_it_reads():
    sources = {path.stem: path.read_text("utf-8") for path in (ROOT / "program").glob("*.c")}
    page = PAGES["man_spt.py"].read_text("utf-8").replace("\\-", "-")
    options = set(re.findall(r'"(--[a-z][a-z-]*)"', "".join(sources.values())))
    assert len(options) > 40
    missing = {name for name in options if not re.search(rf"{name}(?![a-z-])", page)}
    assert missing == {"--help", "--version"}
    for command in re.findall(r"\{\"(\w+)\", command_", sources["spt"]):
        assert f".SS spt {command} " in page


@needs_man
def test_man_shows_the_page_of_spt():
    text = shown(PAGES["man_spt.py"])
    for words in ("spt filter [OPTIONS]", "--reload-seconds S", "EXIT STATUS", "learn --as ham"):
        assert words in text
    assert r"printf 'spam\twin a prize\nham\tsee you\n' |" in text
