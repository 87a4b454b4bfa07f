"""Dovecot's IMAPSieve with the files of docs/mail.md: what users move is learned.

Dovecot's imap process speaks on its standard streams, without a daemon, with a configuration and a
mailbox in a folder of its own. It refuses to be root, so root runs it as another user.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from streamptron import Journal
from tests.command.test_mail import HAM, MAIL, boxes, model  # noqa: F401
from tests.command.test_serve import asked, serving
from tests.support.project import ROOT

pytestmark = pytest.mark.slow

IMAP = "/usr/lib/dovecot/imap"
NOBODY = 65534
BLOCK = re.compile(r"^```\w+\n# (/etc/dovecot/\S+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CONF = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
mail_home = {folder}/home
mail_location = maildir:~/Maildir
mail_uid = {user}
mail_gid = {group}
first_valid_uid = 1
ssl = no
namespace inbox {{
  inbox = yes
  separator = /
}}
"""


class Imap:
    """An imap process whose user is logged in."""

    def __init__(self, folder):
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.folder = folder
        self.process = subprocess.Popen(
            [IMAP, "-c", f"{folder}/dovecot.conf"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            cwd=folder,
            env={"HOME": f"{folder}/home", "USER": "ann", "PATH": "/usr/bin:/bin"},
            **(as_nobody if os.geteuid() == 0 else {}),
        )
        first = self.process.stdout.readline()
        if not first.startswith(b"* PREAUTH"):
            self.process.kill()
            pytest.skip(f"Dovecot's imap does not start here: {first.decode()}")

    def do(self, command, literal=None):
        self.process.stdin.write(f"a {command}\r\n".encode())
        while line := self.process.stdout.readline():
            if line.startswith(b"+ "):
                self.process.stdin.write(literal + b"\r\n")
            elif line.startswith(b"a "):
                assert line.startswith(b"a OK"), line
                return
        raise AssertionError(f"{command}: imap has ended; {self.log()}")

    def put(self, mail, folder):
        mail = mail.replace(b"\n", b"\r\n")
        self.do(f"APPEND {folder} {{{len(mail)}}}", mail)

    def move(self, from_, to, how="MOVE"):
        """Move all the mails of a folder."""
        self.do(f"SELECT {from_}")
        self.do(f"{how} 1:* {to}")

    def log(self):
        path = Path(self.folder, "log")
        return path.read_text() if path.exists() else ""


@pytest.fixture
def folder():
    """A folder that another user can reach, with Dovecot's files in it."""
    if not os.path.exists(IMAP):
        pytest.skip("Dovecot is not installed: apt-get install dovecot-imapd")
    if not os.path.exists("/usr/lib/dovecot/modules/lib95_imap_sieve_plugin.so"):
        pytest.skip("Dovecot's Sieve is not installed: apt-get install dovecot-sieve")
    if shutil.which("spamc") is None:
        pytest.skip("spamc is not installed: apt-get install spamc")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        user, group = os.geteuid() or NOBODY, os.getegid() or NOBODY
        conf = CONF.format(folder=folder, user=user, group=group)
        files = dict(BLOCK.findall((ROOT / "docs" / "mail.md").read_text()))
        assert len(files) == 4
        for name, text in files.items():
            text = text.replace("/etc/dovecot/sieve", f"{folder}/sieve")
            text = text.replace("/var/lib/streamptron/mail.sock", f"{folder}/sock")
            if name.endswith(".conf"):
                conf += text
                continue
            path = Path(folder, "sieve", os.path.basename(name))
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        Path(folder, "dovecot.conf").write_text(conf)
        Path(folder, "home").mkdir()
        if os.geteuid() == 0:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, user, group)
        yield folder


@pytest.fixture
def learner(folder, model):  # noqa: F811
    """The model's file, where the other user finds the socket beside it."""
    return Path(shutil.copy(model, folder))


@pytest.fixture
def imap(folder):
    """A user's mailbox, with folders."""
    imap = Imap(folder)
    try:
        for name in ("Junk", "Trash", "Archive"):
            imap.do(f"CREATE {name}")
        yield imap
        imap.do("LOGOUT")
        imap.process.wait(60)
    finally:
        imap.process.kill()
        imap.process.communicate()


def labels(path):
    """What the server remembers, by way of what it saves."""
    journal = Journal.load(path)
    return [journal.label_of(id) for id in journal]


def test_what_is_moved_into_junk_and_out_of_it_is_learned(folder, learner, imap):
    with serving(learner, "--learn", "--save-every", "1") as (path, _, _):
        os.chmod(path, 0o666)
        imap.put(MAIL, "INBOX")
        imap.move("INBOX", "Junk")
        assert labels(learner) == ["spam"]
        imap.move("Junk", "INBOX")
        assert labels(learner) == ["ham"], imap.log()
        imap.move("INBOX", "Junk", "COPY")
        assert labels(learner) == ["spam"]
        assert asked(path, "PING")[0] == "SPAMD/1.5 0 PONG"


def test_trash_and_other_folders_teach_nothing(folder, learner, imap):
    before = learner.read_bytes()
    with serving(learner, "--learn", "--save-every", "1") as (path, _, _):
        os.chmod(path, 0o666)
        imap.put(MAIL, "Junk")
        imap.move("Junk", "Trash")
        imap.put(HAM % (7, 7), "INBOX")
        imap.move("INBOX", "Archive", "COPY")
        imap.move("INBOX", "Trash")
    assert learner.read_bytes() == before


def test_a_mail_is_moved_though_nobody_learns(folder, imap):
    imap.put(MAIL, "INBOX")
    imap.move("INBOX", "Junk")
    junk = Path(folder, "home", "Maildir", ".Junk")
    assert [path.read_bytes() for kind in ("cur", "new") for path in (junk / kind).iterdir()] == [
        MAIL
    ]
