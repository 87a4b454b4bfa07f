"""Postfix with the content filter of docs/mail.md: what comes by SMTP goes on with a field.

Its own queue, configuration and port, in a folder that is removed; the system's are not touched.
Only root can start it. Debian's sendmail would hand the mail to the system's Postfix, so a script
takes it in sendmail's place.
"""

import os
import re
import shutil
import smtplib
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command.test_mail import HAM, MAIL, boxes, model  # noqa: F401
from tests.command.test_serve import serving
from tests.support.library import needs_compiler
from tests.support.programs import spt
from tests.support.project import ROOT

pytestmark = pytest.mark.slow

WAIT = 60  # seconds, for what takes some tenths
BLOCK = r"^```\w+\n# {}\n(.*?)^```\n"  # of the page
SERVICES = """\
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""
MAIN = """\
compatibility_level = 3.6
config_directory = {folder}/conf
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = /tmp
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.example.org
mydestination =
virtual_mailbox_domains = example.org
virtual_mailbox_maps = static:box
virtual_transport = discard
smtpd_relay_restrictions = reject_unauth_destination
alias_maps =
alias_database =
"""
TAKES = '#!/bin/sh\ncat > "{folder}/out/.$$" && mv "{folder}/out/.$$" "{folder}/out/$$.eml"\n'


@pytest.fixture
def folder():
    if shutil.which("postfix") is None:
        pytest.skip("Postfix is not installed: apt-get install postfix")
    if os.geteuid() != 0:
        pytest.skip("only root can start Postfix")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        for name in ("conf", "queue", "data", "out"):
            Path(folder, name).mkdir()
        shutil.chown(Path(folder, "data"), "postfix")
        shutil.chown(Path(folder, "out"), "nobody")
        yield folder


def blocks(name):
    """What the page has for a file."""
    text = (ROOT / "docs" / "mail.md").read_text()
    return re.findall(BLOCK.format(name), text, re.MULTILINE | re.DOTALL)


@contextmanager
def running(folder, lines):
    """Postfix with such lines; where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    lines = placed(lines, folder, {"smtp inet": f"127.0.0.1:{port} inet"})
    Path(folder, "conf", "master.cf").write_text(SERVICES + lines)
    Path(folder, "conf", "main.cf").write_text(MAIN.format(folder=folder))
    Path(folder, "takes").write_text(TAKES.format(folder=folder))
    Path(folder, "takes").chmod(0o755)
    started = postfix(folder, "start")
    try:
        if started.returncode:
            pytest.skip(f"Postfix does not start here: {started.stdout}{log(folder)}")
        yield port
    finally:
        postfix(folder, "stop")


def placed(text, folder, more):
    """What the page has, with this folder's files in it."""
    names = {
        "user=streamptron": "user=nobody",
        "/var/lib/streamptron/mail.sock": f"{folder}/sock",
        "/usr/sbin/sendmail": f"{folder}/takes",
        "/usr/local/bin/streamptron-mail": f"{folder}/filter",
        **more,
    }
    for theirs, ours in names.items():
        text = text.replace(theirs, ours)
    return text


def postfix(folder, what):
    return subprocess.run(
        ["postfix", "-c", f"{folder}/conf", what],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=WAIT,
        check=False,
    )


def log(folder):
    path = Path(folder, "log")
    return path.read_text() if path.exists() else ""


def sent(port, folder, mail):
    """Send a mail by SMTP; what comes out behind the filter."""
    out = Path(folder, "out")
    known = set(out.glob("*.eml"))
    with smtplib.SMTP("127.0.0.1", port, timeout=WAIT) as link:
        link.sendmail("a@example.com", ["b@example.org"], mail.replace(b"\n", b"\r\n"))
    ends = time.monotonic() + WAIT
    while not (new := set(out.glob("*.eml")) - known):
        assert time.monotonic() < ends, log(folder)
        time.sleep(0.05)
    return new.pop().read_bytes()


def goes_on(mail):
    return b"X-Streamptron" not in mail and mail.endswith(b"\n\nwin money\n")


def test_mails_go_through_spamc_and_go_on_without_a_server(folder, model):  # noqa: F811
    if shutil.which("spamc") is None:
        pytest.skip("spamc is not installed: apt-get install spamc")
    model = Path(shutil.copy(model, folder))
    (lines,) = (text for text in blocks("/etc/postfix/master.cf") if "spamc" in text)
    with running(folder, lines) as port:
        with serving(model) as (path, _, _):
            os.chmod(path, 0o666)
            mail = sent(port, folder, MAIL)
            assert mail.startswith(b"X-Streamptron: spam 0.")
            assert mail.endswith(b"\n\nwin money\n")
            assert sent(port, folder, HAM % (1, 1)).startswith(b"X-Streamptron: ham 0.")
        assert goes_on(sent(port, folder, MAIL))


@needs_compiler
def test_mails_go_through_spt_and_go_on_without_a_model(folder, model):  # noqa: F811
    model = Path(shutil.copy(model, folder))
    model.chmod(0o644)
    program = shutil.copy(spt(), f"{folder}/spt")
    (lines,) = (text for text in blocks("/etc/postfix/master.cf") if "spamc" not in text)
    (script,) = blocks("/usr/local/bin/streamptron-mail")
    ours = {"/usr/bin/spt": program, "/var/lib/streamptron/mail.model": str(model)}
    Path(folder, "filter").write_text(placed(script, folder, ours))
    Path(folder, "filter").chmod(0o755)
    with running(folder, lines) as port:
        assert sent(port, folder, MAIL).startswith(b"X-Streamptron: spam 0.")
        assert sent(port, folder, HAM % (1, 1)).startswith(b"X-Streamptron: ham 0.")
        model.unlink()
        assert goes_on(sent(port, folder, MAIL))
