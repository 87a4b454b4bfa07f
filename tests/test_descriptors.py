"""Standard streams that are closed or full: a word if one is left, an exit code, no loss."""

import os
import subprocess
import sys
from itertools import product

import pytest

from tests.support.commands import ENVIRONMENT, MAIL, SEEDED
from tests.support.marks import in_turn
from tests.support.variants import learned, loaded

# What a shell writes, and which streams can be written then.
REDIRECTIONS = {
    "<&-": {"out", "err"},
    ">&-": {"err"},
    "2>&-": {"out"},
    ">/dev/full": {"err"},
    "2>/dev/full": {"out"},
    "<&- >&- 2>&-": set(),
    ">/dev/full 2>/dev/full": set(),
}
redirections = pytest.mark.parametrize("redirection", REDIRECTIONS)

# Words, whether they read the standard input, and whether they write the standard output.
COMMANDS = {
    "info": ("info -m mail.model", False, True),
    "info --json": ("info -m mail.model --json", False, True),
    "top": ("top -m mail.model", False, True),
    "explain": ("explain 'a prize' -m mail.model", False, True),
    "eval": ("eval mail.tsv -m mail.model", False, True),
    "compare": ("compare mail.tsv", False, True),
    "predict": ("predict -m mail.model", True, True),
    "predict file": ("predict mail.tsv -m mail.model", False, True),
    "predict vw": ("predict mail.vw -m vw.model", False, True),
    "predict --learn": ("predict --learn -m mail.model", True, True),
    "train": ("train mail.tsv -m new.model --hash-seed 1", False, False),
    "train -": ("train - -m new.model --format plain --hash-seed 1", True, False),
    "train vw": ("train mail.vw -m new.model", False, False),
    "--help": ("--help", False, True),
    "train --help": ("train --help", False, True),
    "--version": ("--version", False, True),
    "no words": ("", False, True),
    "usage": ("train mail.tsv --none", False, False),
    "failure": ("info -m none", False, False),
    "no command": ("learn", False, False),
}


def shell(words, folder):
    """(code, out, err) of words that a shell runs."""
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m streamptron {words}"],
        input=MAIL,
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def folder(mail, tmp_path):
    (tmp_path / "mail.vw").write_bytes(b"1 | a\n-1 | b\n")
    shell("train mail.vw -m vw.model --learner multiclass --quiet", tmp_path)
    return tmp_path


DAILY = in_turn(COMMANDS, REDIRECTIONS, n=2)


@pytest.mark.parametrize(
    ("command", "redirection"),
    [
        pytest.param(*case, marks=[] if case in DAILY else pytest.mark.slow)
        for case in product(COMMANDS, REDIRECTIONS)
    ],
)
def test_a_stream_that_is_closed_or_full_is_a_word_and_an_exit_code(command, redirection, folder):
    words, reads, writes = COMMANDS[command]
    there = REDIRECTIONS[redirection]
    before = (folder / "mail.model").read_bytes()
    code, out, err = shell(f"{words} {redirection}", folder)
    assert "Traceback" not in out + err
    assert "Exception" not in out + err
    expected = {"usage": 2, "no command": 2, "failure": 1}.get(command, 0)
    why = ""
    if writes and "out" not in there:
        expected = 1
        why = "the standard output "
    elif reads and "<&-" in redirection:
        expected = 1
        why = "the standard input is closed"
    assert code == expected, (out, err)
    if "err" in there:
        assert why in err
        assert ("streamptron: error: " in err) == (code != 0)
    if writes and code == 0:
        assert out
    if command.startswith("predict --learn") and code == 0:
        assert loaded(folder / "mail.model").n_seen == 8
    elif code:
        assert loaded(folder / "mail.model").n_seen >= 4
    else:
        assert (folder / "mail.model").read_bytes() == before
    if command.startswith("train") and "help" not in command:
        assert (folder / "new.model").exists() == (code == 0)
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


@redirections
def test_a_training_whose_progress_nobody_can_read_is_the_same_training(redirection, folder):
    code, out, _ = shell(f"train mail.tsv -m new.model {' '.join(SEEDED)} {redirection}", folder)
    assert (code, out) == (0, "")
    trained, same = (loaded(folder / f"{name}.model") for name in ("new", "mail"))
    assert learned(trained) == learned(same)


def test_what_was_learned_before_the_output_was_full_is_saved(folder):
    code, _, err = shell("predict --learn -m mail.model >/dev/full", folder)
    assert code == 1
    assert "the standard output cannot be written: No space left on device" in err
    assert loaded(folder / "mail.model").n_seen == 8


def test_no_file_of_ours_takes_the_place_of_a_standard_stream(folder):
    code = (
        "import os, sys; from streamptron.command.cli import main; n = main(sys.argv[1:]); "
        "kinds = [os.readlink(f'/proc/self/fd/{i}') for i in range(3)]; "
        "open('found', 'w').write(f'{n} {kinds}')"
    )
    (folder / "run.py").write_text(code)
    words = f"exec {sys.executable} run.py predict mail.tsv --learn -m mail.model <&- >&- 2>&-"
    subprocess.run(["sh", "-c", words], cwd=folder, env=ENVIRONMENT, timeout=60, check=True)
    assert (folder / "found").read_text() == f"1 {['/dev/null'] * 3}"
