"""What the tests of the commands share."""

import os
import sys

import pytest

from streamptron.command.cli import main
from tests.support.commands import ENVIRONMENT, SEEDED, random_mail, written


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """A file of mail with many lines, and a model that has learned it."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "mail.tsv").write_bytes(written(random_mail(7, 2000)))
    words = ["train", str(folder / "mail.tsv"), "-m", str(folder / "mail.model"), "-q", *SEEDED]
    assert main(words) == 0
    return folder / "mail.tsv", folder / "mail.model"


@pytest.fixture
def shell(tmp_path):
    """What a shell's process is given: its folder, and the command in its PATH."""
    tool = tmp_path / "bin" / "streamptron"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m streamptron "$@"\n')
    tool.chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    return {"cwd": tmp_path, "env": environment}
