"""A bar at the terminal while files are read, and nothing of it elsewhere."""

import os
import select
import subprocess
import sys
import threading
import time

import pytest

from tests.support.commands import ENVIRONMENT, MAIL, run
from tests.support.marks import on_posix

pty, termios = map(pytest.importorskip, ("pty", "termios"))
pytestmark = on_posix
pytest.importorskip("tqdm")

COMMANDS = {
    "eval": "eval {} --model mail.model",
    "compare": "compare {} --learners adaptive,arow",
    "plot": "plot confusion {} --model mail.model -o confusion.png",
    "plot progressive": "plot progressive {} -o error.png",
}


def at_a_terminal(words, feed, folder):
    """What a command writes to the terminal that is its standard error, and its exit code."""
    terminal, its = pty.openpty()
    termios.tcsetwinsize(its, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "streamptron", *words],
        stderr=its,
        stdout=subprocess.DEVNULL,
        env={**ENVIRONMENT, "TERM": "xterm"},
        cwd=folder,
    )
    os.close(its)
    feeding = threading.Thread(target=feed)
    feeding.start()
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        seen += data
    feeding.join()
    os.close(terminal)
    return seen.decode(), process.wait(timeout=60)


@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize("command", COMMANDS)
def test_a_slow_file_has_a_bar_that_goes_on_and_is_gone_at_the_end(command, mail, tmp_path):
    pipe = tmp_path / "slow.tsv"
    os.mkfifo(pipe)

    def feed():
        with open(pipe, "wb", buffering=0) as file:
            for _ in range(15):
                file.write(MAIL * 300)
                time.sleep(0.1)

    words = COMMANDS[command].format("slow.tsv").split()
    seen, code = at_a_terminal(words, feed, tmp_path)
    assert code == 0, seen
    assert "B [00:" in seen  # so many bytes in so many seconds
    assert seen.rstrip("\r").endswith(" ")  # wiped out
    assert "Traceback" not in seen


def test_a_short_file_has_none(mail, tmp_path):
    words = COMMANDS["eval"].format("mail.tsv").split()
    assert at_a_terminal(words, lambda: None, tmp_path) == ("", 0)


@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_terminal_nothing_is_said(command, mail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*COMMANDS[command].format("mail.tsv").split())[1] == ""


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_a_bad_line_is_named_as_without_a_bar(command, mail, tmp_path):
    (tmp_path / "bad.tsv").write_bytes(MAIL + b"no tab\n")
    words = COMMANDS[command].format("bad.tsv").split()
    seen, code = at_a_terminal(words, lambda: None, tmp_path)
    assert code == 1
    assert "bad.tsv:5: " in seen
