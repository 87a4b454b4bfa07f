"""Dovecot's IMAPSieve with the files of docs/mail.md: what users move is learned.

Dovecot's imap process speaks on its standard streams, without a daemon, with a configuration and a
mailbox in a folder of its own. It refuses to be root, so root runs it as another user.
"""

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamptron import Journal, ModelFileError, load
from tests.command.test_mail import HAM, MAIL, boxes, model  # noqa: F401
from tests.command.test_serve import asked, serving
from tests.support.consumers import until
from tests.support.library import needs_compiler
from tests.support.programs import spt
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


def placed(text, folder):
    """What the page has, with this folder's files in it."""
    text = text.replace("/etc/dovecot/sieve", f"{folder}/sieve")
    text = text.replace("/usr/bin/spt", f"{folder}/spt")
    text = text.replace("/var/lib/streamptron/mail.sock", f"{folder}/sock")
    return text.replace("/var/lib/streamptron/mail.model", f"{folder}/mail.model")


@pytest.fixture
def folder():
    """A folder that another user can reach, with Dovecot's files in it."""
    if not os.path.exists(IMAP):
        pytest.skip("Dovecot is not installed: apt-get install dovecot-imapd")
    if not os.path.exists("/usr/lib/dovecot/modules/lib95_imap_sieve_plugin.so"):
        pytest.skip("Dovecot's Sieve is not installed: apt-get install dovecot-sieve")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder, "home").mkdir()
        Path(folder, "sieve").mkdir()
        yield folder


def configured(folder, conf, learn=""):
    """Write Dovecot's configuration with this file of the page, and scripts; `learn` starts
    that.
    """
    files = BLOCK.findall((ROOT / "docs" / "mail.md").read_text())
    assert len(files) == 8
    user, group = os.geteuid() or NOBODY, os.getegid() or NOBODY
    text = CONF.format(folder=folder, user=user, group=group)
    text += "".join(text for name, text in files if os.path.basename(name) == conf)
    Path(folder, "dovecot.conf").write_text(placed(text, folder))
    for name, text in files:
        path = Path(folder, "sieve", os.path.basename(name))
        if path.suffix != ".conf" and (path.name != "learn" or learn in text):
            path.write_text(placed(text, folder))
            path.chmod(0o755)
    if os.geteuid() == 0:
        for path in (Path(folder), *Path(folder).rglob("*")):
            os.chown(path, user, group)


@pytest.fixture
def by_spamc(folder):
    if shutil.which("spamc") is None:
        pytest.skip("spamc is not installed: apt-get install spamc")
    configured(folder, "99-streamptron.conf", "spamc")


@pytest.fixture
def by_spt(folder, learner):
    shutil.copy(spt(), f"{folder}/spt")
    configured(folder, "99-streamptron.conf", "spt learn")


@pytest.fixture
def learner(folder, model):  # noqa: F811
    """The model's file, where the other user finds the socket beside it."""
    return Path(shutil.copy(model, f"{folder}/mail.model"))


@contextmanager
def mailbox(folder):
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


@pytest.fixture
def imap(folder, by_spamc):
    with mailbox(folder) as imap:
        yield imap


def labels(path):
    """What the server remembers, by way of what it saves, which is soon after it has answered."""
    try:
        journal = Journal.load(path)
    except ModelFileError:  # nothing learned so far
        return []
    return [journal.label_of(id) for id in journal]


def test_what_is_moved_into_junk_and_out_of_it_is_learned(folder, learner, imap):
    with serving(learner, "--learn", "--save-every", "1") as (path, _, _):
        os.chmod(path, 0o666)
        imap.put(MAIL, "INBOX")
        imap.move("INBOX", "Junk")
        until(lambda: labels(learner) == ["spam"])
        imap.move("Junk", "INBOX")
        until(lambda: labels(learner) == ["ham"])
        imap.move("INBOX", "Junk", "COPY")
        until(lambda: labels(learner) == ["spam"])
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


@needs_compiler
def test_spt_learns_what_is_moved_and_takes_nothing_back(folder, learner, by_spt):
    with mailbox(folder) as imap:
        before = load(learner)[-1].n_seen
        imap.put(MAIL, "INBOX")
        for number, (from_, to) in enumerate((("INBOX", "Junk"), ("Junk", "INBOX")), 1):
            imap.move(from_, to)
            assert load(learner)[-1].n_seen == before + number, imap.log()
        imap.put(HAM % (7, 7), "Junk")
        imap.move("Junk", "Trash")
        assert load(learner)[-1].n_seen == before + 2


@needs_compiler
def test_what_is_delivered_is_judged_and_sorted(folder, learner):
    shutil.copy(spt(), f"{folder}/spt")
    configured(folder, "98-streamptron.conf")
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def deliver(mail):
        done = subprocess.run(
            ["/usr/lib/dovecot/dovecot-lda", "-c", f"{folder}/dovecot.conf"],
            input=mail,
            capture_output=True,
            cwd=folder,
            env={"HOME": f"{folder}/home", "USER": "ann", "PATH": "/usr/bin:/bin"},
            timeout=60,
            **(as_nobody if os.geteuid() == 0 else {}),
        )
        log = Path(folder, "log")
        assert done.returncode == 0, (done.stderr, log.read_text() if log.exists() else "")

    def there(name):
        return [path.read_bytes() for path in Path(folder, "home/Maildir", name).glob("new/*")]

    deliver(MAIL)
    deliver(HAM % (1, 1))
    (junk,), (inbox,) = there(".Junk"), there(".")
    assert b"\nX-Streamptron: spam 0." in b"\n" + junk
    assert b"\nX-Streamptron: ham 0." in b"\n" + inbox
    learner.unlink()
    deliver(MAIL)
    (mail,) = (mail for mail in there(".") if b"X-Streamptron" not in mail)
    assert mail.endswith(b"\n\nwin money\n")
