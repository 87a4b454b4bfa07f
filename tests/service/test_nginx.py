"""The page's nginx in front of processes that answer, and one that learns."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.support.project import ROOT
from tests.support.served import WAIT, serving

pytest.importorskip("starlette")

pytestmark = [
    pytest.mark.once,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("nginx") is None, reason="there is no nginx"),
]

AROUND = """{user}
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {servers}
}}
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def in_front(folder, answers, teacher):
    """nginx with the configuration of the page, and where it listens."""
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    servers = re.search(r"^```nginx\n(.*?)^```", page, re.M | re.S)[1]
    for n, path in enumerate(answers, 1):
        servers = servers.replace(f"/run/streamptron-answers/{n}/sock", str(path))
    servers = servers.replace("/run/streamptron/news.http", str(teacher))
    port = free_port()
    servers = servers.replace("127.0.0.1:8081", f"127.0.0.1:{port}")
    user = "user root;" if os.geteuid() == 0 else ""  # or its workers could not reach the folder
    file = folder / "nginx.conf"
    file.write_text(AROUND.format(user=user, folder=folder, servers=servers))
    with subprocess.Popen(["nginx", "-c", str(file), "-p", str(folder)]) as process:
        try:
            ends = time.monotonic() + WAIT
            while time.monotonic() < ends:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.02)
            yield port
        finally:
            process.terminate()


def post(port, url, body):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)) as link:
        link.request("POST", url, json.dumps(body).encode())
        answer = link.getresponse()
        return answer.status, json.loads(answer.read())


def test_processes_that_answer_take_what_another_one_learns(tmp_path):
    # a process's socket lies beside the model, so each has a folder with the same file in it
    shared = tmp_path / "news.model"
    (Tokenizer() | AdaptiveClassifier()).save(shared)
    with contextlib.ExitStack() as stack:
        sockets = []
        for n in range(3):
            folder = tmp_path / str(n)
            folder.mkdir()
            words = ("--reload-seconds", "0.1")
            (folder / "news.model").symlink_to(shared)
            stack.enter_context(serving(folder / "news.model", *words, said=[]))
            sockets.append(folder / "sock")
        link, _ = stack.enter_context(serving(shared, "--learn"))
        port = stack.enter_context(in_front(tmp_path, sockets, Path(tmp_path / "sock")))
        status, done = post(port, "/learn", {"text": "goal", "label": "sport", "id": "a"})
        assert (status, done["version"]) == (200, 1)
        assert post(port, "/-/save", {})[0] == 200
        ends = time.monotonic() + WAIT
        while [post(port, "/predict", {"text": "goal"})[1]["label"] for _ in range(9)] != [
            "sport"
        ] * 9:
            assert time.monotonic() < ends
        assert link.get("/stats")["asked"] == 0
