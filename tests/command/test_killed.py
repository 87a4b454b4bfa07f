"""Trainings that are killed behind a save, or started again when they are done."""

import signal
import subprocess
import sys

import pytest

from streamptron.keeping.read import read as contents
from tests.command.test_train import mail_file
from tests.support.commands import ENVIRONMENT, SEEDED, run
from tests.support.variants import learned, loaded

DIES = """
import os, signal, sys
from streamptron.command.cli import main
from streamptron.keeping.lock import ModelLock
save, wanted = ModelLock.save, int(sys.argv[1])
def dies(*arguments):  # behind a save, where nothing but the end of the process is left
    global wanted
    save(*arguments)
    wanted -= 1
    if wanted == 0:
        os.kill(os.getpid(), signal.SIGKILL)
ModelLock.save = dies
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("words", [[], ["--epochs", "2"], ["--holdout", "0.5"]])
@pytest.mark.parametrize("saves", [1, 2, 3, 4, 5, 6])
def test_killed_behind_any_save_nothing_is_learned_twice(saves, words, tmp_path):
    file = mail_file(tmp_path, "tsv", 1, 4000)
    train = ["train", file, "-q", "--save-every", "1000", "-m"]
    run(*train, tmp_path / "whole", *words, *SEEDED)
    code = [sys.executable, "-c", DIES, saves, *train, tmp_path / "m", *words, *SEEDED]
    died = subprocess.run(list(map(str, code)), env=ENVIRONMENT, check=False).returncode
    assert died in (-signal.SIGKILL, 0)
    run("train", file, "-m", tmp_path / "m", "--resume")
    assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "whole"))
    assert contents(tmp_path / "m").lines == contents(tmp_path / "whole").lines


def test_files_that_were_learned_to_their_end_are_not_learned_again(tmp_path):
    file, train = tmp_path / "a.tsv", ("train", "-q", "-m", tmp_path / "m")
    file.write_bytes(b"spam\twin\n")
    run(*train, file)
    _, said = run(*train, "--resume", file)
    assert "have not changed; nothing is learned. To learn them once more give --epochs 2" in said
    assert loaded(tmp_path / "m").n_seen == 1
    _, said = run("train", "-m", tmp_path / "m", "--resume", file, "--epochs", "3")
    assert "goes on at the beginning of" in said
    assert loaded(tmp_path / "m").n_seen == 3
    with open(file, "ab") as more:  # it is another one then
        more.write(b"ham\tsee you\n")
    run(*train, "--resume", file)
    assert loaded(tmp_path / "m").n_seen == 5
