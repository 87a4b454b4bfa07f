"""rsyslog runs the filter and the learners of docs/daemons.md: the files are read out of it.

Each test has an rsyslogd of its own, with its own socket, files and pid, under a folder that stands
for the root of the file system. Nothing of the system's is touched, and no rights are needed.
"""

import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import commands, programs
from tests.support.library import needs_compiler
from tests.support.marks import seeds, slow
from tests.support.programs import both
from tests.support.project import ROOT

DOC = ROOT / "docs" / "daemons.md"
STREAMPTRON = [sys.executable, "-m", "streamptron"]
TRAIN = "train --model {model} {file}"
PREDICT = "predict --model {model} --template {{label}}"

RSYSLOGD = shutil.which("rsyslogd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
pytestmark = [
    pytest.mark.skipif(
        RSYSLOGD is None and not os.environ.get("CI"),
        reason="there is no rsyslogd here: apt-get install rsyslog",
    ),
    pytest.mark.once,
    needs_compiler,
]

PATIENCE = 20  # seconds until a thing that has to happen is taken to have failed
SEVERITIES = {"crit": 2, "err": 3, "warning": 4, "info": 6}
KEYWORDS = {"failure": "err", "überlauf": "warning", "opened": "info"}  # a word names the label
ODD = [
    *"\"'\\%{}$é語🙂",
    "\\n",
    "%msg%",
    '{"$!": {"label": "no"}}',
    "#011",
    "$(date)",
    "\u2028",
    "\x85",
]


def random_text(rng, n_words=8, others=()):
    """A text with exactly one of KEYWORDS, among numbers and `others`; and its label."""
    words = [rng.choice((str(rng.getrandbits(64)), *others)) for _ in range(n_words)]
    keyword = rng.choice(list(KEYWORDS))
    words.insert(rng.randint(0, n_words), keyword)
    return " ".join(words), KEYWORDS[keyword]


class Daemon:
    """A private rsyslogd, the files of the docs, and the root folder that they see."""

    def __init__(self, root, program):
        self.root = root
        self.model = root / "var/lib/streamptron/severity.model"
        self.labelled = root / "var/log/labelled.log"
        self.errors = root / "var/log/streamptron.err"
        self.everything = root / "all.log"  # its first line says that rsyslogd has started
        self.socket = root / "log.sock"
        for folder in (self.model.parent, self.errors.parent, root / "spool"):
            folder.mkdir(parents=True)
        files = re.findall(
            r"^`(/\S+)`[^\n]*:\n\n```\w*\n(.*?)^```", DOC.read_text("utf-8"), re.M | re.S
        )
        for path, text in files:  # /var/log/x of the docs is ROOT/var/log/x here
            text = re.sub(r"(?<![\w.])/(?=(usr/local|usr/bin|var|etc)/)", f"{root}/", text)
            self.write_script(path.lstrip("/"), text)
        path = shlex.quote(os.pathsep.join(filter(None, sys.path)))  # rsyslogd hands on none
        python = f'#!/bin/sh\nPYTHONPATH={path} exec {shlex.join(STREAMPTRON)} "$@"\n'
        self.write_script("usr/bin/streamptron", python)
        if program is None:
            self.write_script("usr/bin/spt", python)
        else:
            (root / "usr/bin/spt").symlink_to(program)

    def write_script(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        file.chmod(0o755)

    def streamptron(self, command, file=None, **options):
        """Run the command as a user does, and return the lines that it wrote."""
        command = command.format(model=self.model, file=file).split()
        run = subprocess.run(
            [self.root / "usr/bin/streamptron", *command],
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            **options,
        )
        return run.stdout.split("\n")[:-1]

    def train(self, examples):
        """Make the model from (text, label) pairs."""
        file = self.root / "first.tsv"
        file.write_text("".join(f"{label}\t{text}\n" for text, label in examples), "utf-8")
        self.streamptron(TRAIN, file)

    def predict(self, texts):
        """What the model on disk says."""
        return self.streamptron(PREDICT, input="".join(f"{text}\n" for text in texts))

    def configure(self, *names):
        """rsyslogd's configuration, with these files of the docs."""
        included = "".join(
            f'include(file="{self.root}/etc/rsyslog.d/{name}.conf")\n' for name in names
        )
        config = self.root / "rsyslog.conf"
        config.write_text(f"""\
global(workDirectory="{self.root}/spool" processInternalMessages="on")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="{self.socket}")
action(type="omfile" file="{self.everything}")
{included}""")
        return config

    @contextmanager
    def running(self, *names):
        """From when rsyslogd listens until it has ended, and all that it started with it."""
        self.pid = None
        pid_file = self.root / "rsyslogd.pid"
        command = [RSYSLOGD, "-n", "-f", self.configure(*names), "-i", pid_file]
        # `timeout` ends it should these tests be killed
        process = subprocess.Popen(["timeout", "--foreground", "-k", "5", "90", *command])
        processes = []
        try:
            self.until(lambda: self.socket.exists() and self.everything.exists())
            self.pid = int(pid_file.read_text())
            yield
            processes = [self.pid, *self.children()]
            process.terminate()
            assert process.wait(PATIENCE) == 0
            self.until(lambda: not any(map(is_running, processes)))
        finally:
            process.terminate()
            for pid in filter(is_running, processes or [self.pid, *self.children()]):
                os.kill(pid, signal.SIGKILL)
            process.wait(PATIENCE)

    def children(self):
        """The pids of the programs that rsyslogd runs."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]

    def until(self, condition):
        """Wait for a condition and return what it gives; else fail with what rsyslogd has said."""
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            if time.monotonic() > end:
                said = [
                    file.read_text("utf-8", "replace")
                    for file in (self.everything, self.errors)
                    if file.exists()
                ]
                pytest.fail(
                    "it did not happen in time; the last words were\n"
                    + "\n".join(text[-2000:] for text in said)
                )
            time.sleep(0.01)
        return value

    def log(self, texts):
        """Log texts, one message each, as a shell script does."""
        file = self.root / "texts"
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        subprocess.run(
            ["logger", "-u", self.socket, "-t", "app", "--size", "32k", "-f", file],
            check=True,
            timeout=60,
        )

    def send(self, text, severity="info"):
        """Log bytes as a program does by syslog(3)."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect(str(self.socket))
            sock.send(b"<%d>Jan 31 12:00:00 app: %s" % (8 + SEVERITIES[severity], text))

    def n_logged(self):
        """How many messages rsyslogd has taken in."""
        return self.everything.read_bytes().count(b" app: ")

    def answers(self, n):
        """[(message, label, probability)] once there are n of them in the labelled log."""
        self.until(lambda: len(self.rows()) >= n)
        return [
            (row[4].removeprefix(b" "), row[1].decode(), row[2].decode()) for row in self.rows()
        ]

    def rows(self):
        lines = self.labelled.read_bytes().split(b"\n")[:-1] if self.labelled.exists() else []
        return [line.split(b" ", 4) for line in lines if b" app:" in line]

    def ask(self, text):
        """Log a text and return its label."""
        n = len(self.rows()) + 1
        self.send(text)
        return self.answers(n)[n - 1][1]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def daemon(request, tmp_path_factory):
    """With spt, or that of the two programs which a test that is marked by `both` is given."""
    assert RSYSLOGD, "there is no rsyslogd: apt-get install rsyslog"
    program = commands.PROGRAM if "program" in request.fixturenames else programs.spt()
    # the path of a socket has to be short
    daemon = Daemon(tmp_path_factory.mktemp("root"), program)
    daemon.train(random_text(random.Random(f"train {i}")) for i in range(300))
    return daemon


CONFIGS = ["30-streamptron-label", "31-streamptron-learn", "31-streamptron-learn-confirmed"]


@pytest.mark.parametrize("name", CONFIGS)
def test_rsyslogd_has_nothing_to_say_against_a_configuration_of_the_docs(daemon, name):
    check = subprocess.run(
        [RSYSLOGD, "-N", "1", "-f", daemon.configure(name)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert check.returncode == 0
    assert "error" not in check.stderr.lower()
    assert "warning" not in check.stderr.lower()
    assert "End of config validation run" in check.stderr


@both
@seeds(2)
def test_each_of_a_burst_of_messages_gets_its_own_label(daemon, seed):
    rng = random.Random(seed)
    examples = [random_text(rng, rng.choice((0, 3, 8, 40, 150)), ODD) for _ in range(2000)]
    with daemon.running("30-streamptron-label"):
        daemon.log(text for text, _ in examples)
        answers = daemon.answers(len(examples))
    assert [message.decode() for message, _, _ in answers] == [text for text, _ in examples]
    assert [label for _, label, _ in answers] == [label for _, label in examples]
    assert all(0 < float(probability) <= 1 for _, _, probability in answers)
    assert not daemon.errors.read_text()


def test_a_message_of_any_bytes_gets_one_label_and_the_next_one_its_own(daemon):
    odd = {
        "empty": b"",
        "blank": b"   ",
        "line feeds": b"\n\n failure \nhere\n",
        "tab": b"err\t failure",
        "controls": bytes(range(1, 32)) + b" failure \x7f",
        "NUL": b"a\0b failure \0",
        "not UTF-8": b"\xff failure \xc3",
        "too long": b"failure " + b"x" * 20_000,
        "long word": b"failure " + b"x" * 7000,
        "quotes": b'failure "}\\',
    }
    with daemon.running("30-streamptron-label"):
        for text in odd.values():
            daemon.send(text)
            daemon.send(b"opened")
        answers = daemon.answers(2 * len(odd))
    assert len(answers) == 2 * len(odd)
    assert [label for _, label, _ in answers[1::2]] == ["info"] * len(odd)
    for name, (message, label, _) in zip(odd, answers[::2], strict=True):
        assert label in (SEVERITIES if name in ("empty", "blank") else {"err"}), (name, message)


@pytest.mark.parametrize("busy", [False, True], ids=["between messages", "in a burst"])
def test_a_filter_that_is_killed_starts_again_and_no_message_is_lost(daemon, busy):
    examples = [random_text(random.Random(i), 8, ODD) for i in range(600)]
    with daemon.running("30-streamptron-label"):
        for i, (text, _) in enumerate(examples):
            if i % 200 == 100:
                if not busy:
                    daemon.answers(i)
                pid = daemon.until(daemon.children)[0]
                os.kill(pid, signal.SIGKILL)
                daemon.until(lambda pid=pid: busy or not is_running(pid))
            daemon.send(text.encode())
        answers = daemon.answers(len(examples))
        daemon.until(lambda: daemon.ask(b"failure") == "err")
    assert [message.decode() for message, _, _ in answers] == [text for text, _ in examples]
    for (_, label, _), (_, right) in zip(answers, examples, strict=True):
        # those that it died on pass without a label, never with that of another message
        assert label == right or (busy and label == "")


def test_a_filter_that_is_hung_up_on_loads_the_model_anew(daemon):
    with daemon.running("30-streamptron-label"):
        assert daemon.ask(b"failure") == "err"
        (pid,) = daemon.children()
        daemon.train([("failure", "info"), ("opened", "err")] * 10)
        assert daemon.ask(b"failure") == "err"
        os.kill(pid, signal.SIGHUP)
        daemon.until(lambda: daemon.ask(b"failure") == "info")
        assert daemon.children() == [pid]


def test_without_a_model_messages_pass_and_the_error_file_says_why_until_there_is_one(daemon):
    model = daemon.model.read_bytes()
    daemon.model.unlink()
    with daemon.running("30-streamptron-label"):
        assert [daemon.ask(b"failure") for _ in range(5)] == [""] * 5
        # what rsyslogd says of it is not a message for the filter, which would go on without end
        assert (daemon.root / "all.log").read_text().count("will be restarted") < 6
        assert str(daemon.model) in daemon.errors.read_text()
        daemon.model.write_bytes(model)
        daemon.until(lambda: daemon.ask(b"failure") == "err")


@both
@pytest.mark.parametrize("name", CONFIGS[1:])
def test_when_the_daemon_has_ended_the_last_message_is_learned_and_saved(daemon, name):
    daemon.train(
        [("zero", "err"), ("one", "warning"), ("two", "info")]
    )  # knows the labels, no more
    rng = random.Random(5)
    with daemon.running(name):
        for _ in range(600):
            text, label = random_text(rng)
            daemon.send(text.encode(), label)
        for _ in range(20):
            daemon.send(b"meltdown", "crit")
        daemon.until(lambda: daemon.n_logged() == 620)
    examples = [*(random_text(rng) for _ in range(200)), ("meltdown", "crit")]
    assert daemon.predict(text for text, _ in examples) == [label for _, label in examples]
    assert not daemon.errors.read_text()


@pytest.mark.parametrize("name", slow(CONFIGS[1:2], among=CONFIGS[1:]))
def test_a_learner_that_is_killed_starts_again_and_learns_on(daemon, name):
    with daemon.running(name):
        daemon.send(b"failure", "err")
        (pid,) = daemon.until(daemon.children)
        os.kill(pid, signal.SIGKILL)
        daemon.until(lambda: pid not in daemon.children())
        for _ in range(20):
            daemon.send(b"meltdown", "crit")
        daemon.until(lambda: daemon.n_logged() == 21)
        daemon.until(lambda: pid not in daemon.children() and daemon.children())
    assert daemon.predict(["failure", "opened", "meltdown"]) == ["err", "info", "crit"]


def test_confirmed_messages_of_a_time_without_a_model_are_learned_when_there_is_one(daemon):
    model = daemon.model.read_bytes()
    daemon.model.unlink()
    with daemon.running("31-streamptron-learn-confirmed"):
        for _ in range(20):
            daemon.send(b"meltdown", "crit")
        daemon.until(lambda: daemon.n_logged() == 20 and daemon.errors.exists())
        daemon.until(lambda: str(daemon.model) in daemon.errors.read_text())
        daemon.model.write_bytes(model)
        daemon.until(lambda: "resumed" in daemon.everything.read_text())
    assert daemon.predict(["failure", "opened", "meltdown"]) == ["err", "info", "crit"]


def test_filter_and_learner_work_side_by_side_on_one_model(daemon):
    with daemon.running("30-streamptron-label", "31-streamptron-learn"):
        before = daemon.model.read_bytes()
        for _ in range(1000):  # as many as --save-every of the docs
            daemon.send(b"meltdown", "crit")
        daemon.until(lambda: daemon.model.read_bytes() != before)
        assert {label for _, label, _ in daemon.answers(1000)} <= {"err", "warning", "info"}
        for pid in daemon.children():
            if b"--rsyslog" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGHUP)
        daemon.until(lambda: daemon.ask(b"meltdown") == "crit")


@pytest.mark.skipif(
    not (shutil.which("jq") or os.environ.get("CI")),
    reason="there is no jq here: apt-get install jq",
)
def test_the_journals_script_learns_from_every_kind_of_message(daemon):
    daemon.train([("zero", "err"), ("one", "info")])
    journal = [
        {"PRIORITY": "2", "MESSAGE": 'melt\tdown\nover "lines"'},
        {"PRIORITY": "4", "MESSAGE": [*b"odd bytes \xff\0\n"]},
        {"PRIORITY": "6", "MESSAGE": None},
        {"PRIORITY": "6"},
        {"MESSAGE": "überlauf"},
    ]
    lines = "".join(json.dumps(entry) + "\n" for entry in journal * 20)
    daemon.write_script("bin/journalctl", f"#!/bin/sh\ncat <<'END'\n{lines}END\n")
    path = f"{daemon.root}/bin:{os.environ['PATH']}"
    script = daemon.root / "usr/local/bin/streamptron-journal"
    run = subprocess.run(
        [script], env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    texts = ['melt down over "lines"', "odd bytes", "", "überlauf"]
    assert daemon.predict(texts) == ["crit", "warning", "", "info"]  # a blank line has no answer
