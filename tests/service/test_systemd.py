"""Under systemd: a socket that is handed over, and what is said of readiness."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
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


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_units_of_the_page_are_sound(tmp_path):
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    files = []
    for name, text in re.findall(r"^```ini\n# \S*/(\S+)\n(.*?)^```", page, re.M | re.S):
        file = tmp_path / name.replace("@", "@news")
        file.write_text(text.replace("/usr/bin/streamptron", sys.executable))
        files.append(str(file))
    assert len(files) == 2
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
