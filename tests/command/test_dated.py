"""Messages of services begin with the time, but in the journal, which has its own."""

import os
import re
import subprocess
import sys

import pytest

from tests.support.processes import environment

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ "


def told_by(words, log, **more):
    """What predict says on its standard error, a file, of a model that is not there."""
    with open(log, "w") as file:
        kept = os.fstat(file.fileno())
        journal = {"JOURNAL_STREAM": f"{kept.st_dev}:{kept.st_ino}"} if more.get("journal") else {}
        subprocess.run(
            [sys.executable, "-m", "streamptron", "predict", "--model", "none.model", *words],
            env={**environment(), **journal},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            cwd=log.parent,
            check=False,
        )
    return log.read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [["--status", "s.json"], ["--reload-seconds", "5"], ["--learn", "--save-seconds", "5"]],
    ids=str,
)
def test_a_service_says_when(words, tmp_path):
    if "--learn" in words:
        words = [*words, "--input", "labelled"]
    said = told_by(words, tmp_path / "log")
    assert re.fullmatch(rf"{TIME}streamptron: error: none.model: .*\n", said)


def test_the_journal_has_a_time_and_a_command_that_ends_at_once_needs_none(tmp_path):
    status = ["--status", "s.json"]
    assert told_by(status, tmp_path / "log", journal=True).startswith("streamptron: error: ")
    assert told_by([], tmp_path / "log").startswith("streamptron: error: ")
