"""`make` tells a person at a terminal that a step goes on; a log gets a line before and after."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.support.marks import on_posix
from tests.support.project import ROOT

STEP = ROOT / ".ci" / "step"
SECONDS = re.compile(r"\r   \d+ s")

pytestmark = on_posix


def at_a_terminal(*words, after=None):
    """What somebody sees, and the exit code. `after` is called with the process when it counts."""
    ours, its = os.openpty()
    step = subprocess.Popen([STEP, *words], stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    seen = b""
    while True:
        try:
            read = os.read(ours, 1024)
        except OSError:  # Linux: the last who had it open has gone
            read = b""
        if not read:
            break
        seen += read
        if after and b" s" in read:
            after(step)
            after = None
    os.close(ours)
    return seen.decode().replace("\r\n", "\n"), step.wait()


def test_a_silent_step_counts_the_seconds_in_one_line():
    seen, code = at_a_terminal("--silent", "It compiles", "sleep", "2.5")
    assert re.fullmatch(
        r"-- It compiles\n(\r   [123] s){1,3}\r *\r   took [23] s, 0 s of CPU\n", seen
    ), seen
    assert code == 0


def test_a_step_that_prints_lines_of_its_own_counts_nothing():
    seen, code = at_a_terminal("It speaks", "sh", "-c", "sleep 1.5; echo a word; exit 3")
    assert re.fullmatch(r"-- It speaks\na word\n   took [12] s, 0 s of CPU\n", seen), seen
    assert code == 3


def test_a_step_that_ends_at_once_counts_nothing():
    seen, code = at_a_terminal("--silent", "It is there already", "false")
    assert seen == "-- It is there already\n   took 0 s, 0 s of CPU\n"
    assert code == 1


def test_a_log_gets_no_seconds():
    done = subprocess.run(
        [STEP, "--silent", "It compiles", "sleep", "1.5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"-- It compiles\n   took [12] s, 0 s of CPU\n", done.stdout)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_seconds_come_after_a_step_that_was_ended(number):
    def end(step):
        if number == signal.SIGINT:  # Ctrl-C goes to all who are at the terminal
            os.killpg(step.pid, number)
        else:
            step.send_signal(number)
        step.wait()

    start = time.monotonic()
    seen, code = at_a_terminal("--silent", "It compiles", "sleep", "4", after=end)
    assert code != 0
    assert time.monotonic() - start < 60, "it counted on"
    assert 1 <= len(SECONDS.findall(seen)) <= 3, seen
