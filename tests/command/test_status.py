"""predict --status: a file that says how it goes, and `info`, which says it of a model's file."""

import json
import re
import signal
import subprocess
import sys
import time

from tests.support.commands import ENVIRONMENT, answered, predict, process, run, saved


def said_by(path, **expected):
    """What the file says, as soon as it says what is expected."""
    for _ in range(300):
        if path.exists():
            found = json.loads(path.read_bytes())  # it is whole whenever it is read
            if expected.items() <= found.items():
                return found
        time.sleep(0.05)
    raise AssertionError(f"{found}, not {expected}")


def test_the_file_says_what_has_been_done(mail, told):
    _, model = mail
    path = model.with_name("status.json")
    words = ("predict", "--learn", "--save-every", "2", "-m", model, "--status", path)
    with process(*words) as running:
        found = said_by(path, state="running", lines=0, learned=0, saved=None)
        assert found["process"] == running.pid
        about = json.loads(told("info", model, "--json")[1])
        assert found["checksum"] == about["file"]["checksum"]
        for line in (b"spam\ta prize\n", b"a prize\n", b"\n", b"ham\ta prize\n", b"eggs\tx\n"):
            answered(running, line)
        found = said_by(path, lines=5, learned=3, unsaved=1, bad_lines=0, events=7)
        assert found["errors"] == 2
        assert found["saved"] is not None
        saved(model, 6)
        assert found["checksum"] != about["file"]["checksum"]
        about = json.loads(told("info", model, "--json")[1])
        assert found["checksum"] == about["file"]["checksum"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
    assert said_by(path, state="ended")["unsaved"] == 0


def test_who_only_answers_says_so_too(mail):
    _, model = mail
    path = model.with_name("status.json")
    predict(b"a prize\nyou\n", model, "--status", path)
    found = said_by(path, state="ended", lines=2, reloaded=None)
    assert "learned" not in found


def test_what_was_killed_says_that_it_was_running(mail):
    _, model = mail
    path = model.with_name("status.json")
    with process("predict", "-m", model, "--status", path) as running:
        answered(running, b"x\n")
        running.kill()
    assert said_by(path, state="running")


def test_a_place_that_cannot_be_written_is_named(mail, tmp_path):
    _, model = mail
    _, said = predict(b"", model, "--status", tmp_path / "no" / "s.json", code=1)
    assert f"{tmp_path / 'no' / 's.json'}: there is no folder" in said
    _, said = predict(b"", model, "--status", model, code=1)
    assert "that is the model's file" in said


def test_a_full_disk_is_said_once_and_stops_nothing(mail):
    _, model = mail
    code = """\
import errno, sys
from streamptron.command.cli import main
from streamptron.command import status

def full(path, buffers, **options):
    raise OSError(errno.ENOSPC, "No space left on device", path)

status.replace = full
status.SECONDS = 0.001
sys.exit(main(sys.argv[1:]))
"""
    path = model.with_name("status.json")
    done = subprocess.run(
        [sys.executable, "-c", code, "predict", "-m", str(model), "--status", str(path)],
        env=ENVIRONMENT,
        input=b"a prize\nyou\n",
        capture_output=True,
        check=True,
    )
    assert done.stdout.count(b"\n") == 2
    assert done.stderr.count(b"\n") == 1
    assert b"no status is written, will try again: " in done.stderr
    assert b"No space left on device" in done.stderr


def test_info_takes_a_file_and_says_what_it_is(mail):
    _, model = mail
    shown = run("info", model)[0].decode()
    assert shown == run("info", "--model", model)[0].decode()
    assert re.search(rf"^  bytes +{model.stat().st_size}$", shown, re.M)
    assert re.search(r'^  streamptron +"0\.1\.0"$', shown, re.M)
    assert "give the model file" in run("info", code=2)[1]
