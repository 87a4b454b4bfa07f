"""Under systemd: a socket that is handed over, and what is said of readiness."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from tests.support.commands import ENVIRONMENT
from tests.support.project import ROOT
from tests.support.served import WAIT, Link

pytest.importorskip("starlette")

# What systemd does: the socket is number 3, and the process knows that it is meant.
START = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.executable, [sys.executable, "-m", "streamptron", *sys.argv[2:]])
"""


pytestmark = pytest.mark.once  # another Python would say the same


def test_a_socket_is_taken_over_and_readiness_is_said(tmp_path):
    model, path = tmp_path / "m", str(tmp_path / "sock")
    (Tokenizer() | AdaptiveClassifier()).save(model)
    with contextlib.ExitStack() as stack:
        heard = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(WAIT)
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        listener.listen()
        link = stack.enter_context(contextlib.closing(Link(path)))
        number = listener.fileno()
        words = ["-c", START, str(number), "serve", "-m", str(model)]
        server = subprocess.Popen(
            [sys.executable, *words],
            env={**ENVIRONMENT, "LISTEN_FDS": "1", "NOTIFY_SOCKET": str(tmp_path / "notify")},
            pass_fds=(number,),
            stderr=subprocess.PIPE,
        )
        stack.callback(server.kill)
        assert heard.recv(100) == b"READY=1"
        assert heard.recv(100) == b"WATCHDOG=1"
        assert link.post("/predict", {"text": "a"})["label"] is None
        server.send_signal(signal.SIGTERM)
        while heard.recv(100) != b"STOPPING=1":
            pass
        server.communicate(timeout=WAIT)
        assert server.returncode == 0
    assert os.path.exists(path)  # it is systemd's


def verified(tmp_path, units):
    """What systemd-analyze says of units, by their names."""
    files = []
    for name, text in units:
        file = tmp_path / name.replace("@", "@news")
        file.write_text(text.replace("/usr/bin/streamptron", sys.executable))
        files.append(str(file))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_units_of_the_page_are_sound(tmp_path):
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    units = re.findall(r"^```ini\n# \S*/(\S+)\n(.*?)^```", page, re.M | re.S)
    assert len(units) == 3
    assert verified(tmp_path, units) == (0, "")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_units_of_the_debian_package_are_sound(tmp_path):
    units = [
        (path.name.removeprefix("streamptron."), path.read_text("utf-8"))
        for path in (ROOT / "packaging" / "debian").glob("streamptron.streamptron-http@.*")
    ]
    assert len(units) == 2
    assert verified(tmp_path, units) == (0, "")


@pytest.mark.skipif(
    shutil.which("systemd-socket-activate") is None, reason="there is no systemd-socket-activate"
)
def test_systemds_own_tool_hands_a_socket_over(tmp_path):
    model, path = tmp_path / "m", str(tmp_path / "sock")
    (Tokenizer() | AdaptiveClassifier()).save(model)
    words = [sys.executable, "-m", "streamptron", "serve", "-m", str(model), "--learn"]
    names = [f"--setenv={name}" for name in ENVIRONMENT]
    activating = subprocess.Popen(
        ["systemd-socket-activate", *names, f"--listen={path}", *words],
        env={**os.environ, **ENVIRONMENT},
        stderr=subprocess.DEVNULL,
    )
    try:
        ends = time.monotonic() + WAIT
        while not os.path.exists(path) and time.monotonic() < ends:
            time.sleep(0.02)
        with contextlib.closing(Link(path)) as link:  # who is the first client, and waits
            assert link.post("/learn", {"text": "goal", "label": "sport"})["version"] == 1
        activating.terminate()  # it has become the server
        assert activating.wait(WAIT) == 0
    finally:
        activating.kill()
    assert load(model)[-1].n_seen == 1
