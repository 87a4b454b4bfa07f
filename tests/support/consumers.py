"""The consumers of docs/exactly-once.md, their servers, and lives that end by SIGKILL.

A life runs a page's code in a process of its own, which kills itself at its n-th call: between any
two calls of the code, or of Python code that it calls, such as the save of a checkpoint. The
processes are forked from one that has imported everything, so that a life takes milliseconds.
"""

import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.support.processes import environment
from tests.support.project import ROOT

DOC = ROOT / "docs" / "exactly-once.md"
PATIENCE = 60  # seconds until a thing that has to happen is taken to have failed
EVERY = 25  # events from save to save


def code_of(first, changes):
    """The consumer of the page that begins with some lines, with other words in some places."""
    (code,) = re.findall(rf"```python\n({re.escape(first)}.*?)```", DOC.read_text("utf-8"), re.S)
    for old, new in {
        "every_events=1000": f"every_events={EVERY}",
        "MulticlassPerceptron()": "MulticlassPerceptron(hash_seed=1)",
        **changes,
    }.items():
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


# --- Lives


def live(code, moment):
    """Run the code, and be killed at a call."""

    def count(frame, what, _):
        nonlocal moment
        moment -= 1
        if moment < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    signal.alarm(PATIENCE)  # ends a life that comes to a stop
    sys.setprofile(count)
    exec(compile(code, str(DOC), "exec"), {"__name__": "__main__"})


def import_all():
    """Import what the codes do, and what is imported late: by the first save, for example."""
    from streamptron import Checkpoint, MulticlassPerceptron, Tokenizer

    for module in ("redis", "psycopg", "confluent_kafka.admin"):
        with suppress(ImportError):  # then no code needs it
            __import__(module)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        Checkpoint(Tokenizer() | MulticlassPerceptron(), path).save(position=1)
        Checkpoint.newest_saved(path).model.learn_one("a", "b")


def give_lives():
    """Let codes live, one after the other; for each a line comes and one goes."""
    import_all()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            live(*json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


class Lives:
    """Where codes live."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tests.support import consumers; consumers.give_lives()"],
            env={**environment(), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def live_and_die(self, code, moment):
        self.process.stdin.write(json.dumps((code, moment)) + "\n")
        self.process.stdin.flush()
        assert int(self.process.stdout.readline()) == -signal.SIGKILL


# --- Servers, and what they know of the events


class RedisServer:
    """A stream of Redis. A position is an entry's id."""

    module, install = "redis", "redis"
    program, package = "redis-server", "redis-server"
    begins = None  # how the code of the page does
    longest = 60_000  # calls of a life, of which two in three should reach a save

    def __init__(self, folder):
        import redis

        self.socket = str(folder / "socket")
        words = ["--port", "0", "--unixsocket", "socket", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(
            [find(self.program), *words], cwd=folder, stdout=subprocess.DEVNULL
        )
        self.client = redis.Redis(unix_socket_path=self.socket, decode_responses=True)
        until(lambda: os.path.exists(self.socket))
        until(self.client.ping)

    def begin(self, folder):
        """Forget everything; checkpoints will be in this folder."""
        self.folder = folder
        self.ids = []
        self.client.flushall()

    def close(self):
        self.client.close()
        stop(self.process)

    def code(self):
        return code_of(
            self.begins,
            {
                "/var/lib/streamptron/mail": str(self.folder / "mail"),
                "redis.Redis(": f"redis.Redis(unix_socket_path={self.socket!r}, ",
                "count=100,": "count=7,",
            },
        )

    def put(self, events):
        pipe = self.client.pipeline()
        for text, label in events:
            pipe.xadd("mail", {"text": text, "label": label})
        self.ids += pipe.execute()

    def n_learned(self, position):
        return self.ids.index(position) + 1

    def check(self, n):
        """What was acknowledged is in the file: of n events."""
        first = self.client.xrange("mail", count=1)[0][0]
        assert self.ids.index(first) < n


IMPORTS = "import redis\nfrom streamptron import Checkpoint, MulticlassPerceptron, Tokenizer\n\n"


class RedisStream(RedisServer):
    begins = f"{IMPORTS}path = "


class RedisGroup(RedisServer):
    begins = f"{IMPORTS}path, group = "

    def check(self, n):
        """Delivered to the end and acknowledged is at most what is in the file."""
        groups = self.client.xinfo_groups("mail")
        if groups:
            delivered = self.ids.index(groups[0]["last-delivered-id"]) + 1 if groups else 0
            assert delivered - groups[0]["pending"] <= n


class PostgreSQL:
    """A queue in a table. A position is the ids of the rows of the last save."""

    module, install = "psycopg", "psycopg[binary]"
    program, package = "initdb", "postgresql"
    longest = 20_000

    def __init__(self, folder):
        import psycopg

        # PostgreSQL refuses to run as root, and no other user could look into pytest's folders
        self.place = Path(tempfile.mkdtemp())
        who = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.place, nobody.pw_uid, nobody.pw_gid)
        initdb = find(self.program)
        words = ["-U", "mail", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            [initdb, "-D", self.place / "data", "--no-instructions", *words],
            check=True,
            cwd=self.place,
            stdout=subprocess.DEVNULL,
            **who,
        )
        # only the consumer is killed, so the server need not wait for its disk (-F)
        words = ["-F", "-h", "", "-k", self.place, "-B", "16MB"]
        self.process = subprocess.Popen(
            [Path(initdb).parent / "postgres", "-D", self.place / "data", *words],
            cwd=self.place,
            stderr=subprocess.DEVNULL,
            **who,
        )
        self.where = f"host={self.place} user=mail dbname="

        def answers():
            try:
                self.client = psycopg.connect(self.where + "postgres", autocommit=True)
            except psycopg.OperationalError:
                return False
            return True

        until(answers)
        self.client.execute("CREATE DATABASE mail")
        self.client.close()
        self.client = psycopg.connect(self.where + "mail", autocommit=True)

    def begin(self, folder):
        self.folder = folder
        (table,) = re.findall(r"```sql\n(.*?)```", DOC.read_text("utf-8"), re.S)
        self.client.execute("DROP TABLE IF EXISTS mail")
        self.client.execute(table)

    def close(self):
        self.client.close()
        stop(self.process, signal.SIGINT)
        shutil.rmtree(self.place)

    def code(self, name="mail"):
        return code_of(
            "import time\n\nimport psycopg\n",
            {
                "/var/lib/streamptron/mail": str(self.folder / name),
                "dbname=mail": self.where + "mail",
                "LIMIT 100": "LIMIT 7",
            },
        )

    def connect(self):
        import psycopg

        return psycopg.connect(self.where + "mail")

    def put(self, events):
        with self.client.cursor() as cursor:
            cursor.executemany("INSERT INTO mail (text, label) VALUES (%s, %s)", events)

    def n_learned(self, position):
        return max(position)

    def check(self, n):
        """All rows that are not in the file are in the table."""
        assert self.client.execute("SELECT min(id) FROM mail").fetchone()[0] <= n + 1


class Kafka:
    """librdkafka's own broker for tests. A position is the next offset of each partition."""

    module, install = "confluent_kafka", "confluent-kafka"
    program = None  # the broker is in the module
    longest = 16_000
    n_partitions = 4  # as the broker makes a topic

    def __init__(self, folder):
        pass

    def begin(self, folder):
        import confluent_kafka

        self.folder = folder
        self.client = confluent_kafka.Producer({"test.mock.num.brokers": 1, "log_level": 0})
        (broker,) = self.client.list_topics(timeout=PATIENCE).brokers.values()
        self.where = f"{broker.host}:{broker.port}"

    def close(self):
        self.client = None

    def code(self):
        return code_of(
            "from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, ",
            {"/var/lib/streamptron/mail": str(self.folder / "mail"), "localhost": self.where},
        )

    def put(self, events, partition=0):
        for text, label in events:
            self.client.produce("mail", value=text, key=label, partition=partition)
        assert self.client.flush(PATIENCE) == 0

    def group_code(self):
        """The consumer that shares the topic; it notices soon that another one is gone."""
        return code_of(
            "from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException\n",
            {
                "/var/lib/streamptron/mail": str(self.folder / "mail"),
                "localhost": self.where,
                "every_seconds=10": "every_seconds=0.2",
                '"group.id": "streamptron",': '"group.id": "streamptron",'
                '"session.timeout.ms": 1000, "heartbeat.interval.ms": 100,',
                "consumer.poll(1.0)": "consumer.poll(0.1)",
            },
        )

    def start(self, code):
        return subprocess.Popen([sys.executable, "-c", code], env=environment())

    def group_learned(self):
        """How many events of each partition have been learned, as far as it is saved."""
        from streamptron import Checkpoint

        found = [
            Checkpoint.newest_saved(self.folder / f"mail-{n}") for n in range(self.n_partitions)
        ]
        return [saved.position if saved else 0 for saved in found]

    def n_learned(self, position):
        assert position.keys() == {0}
        return position[0]

    def check(self, n):
        """The offset for those who watch is not ahead of the file's."""
        import confluent_kafka

        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": self.where, "group.id": "streamptron"}
        )
        (found,) = consumer.committed([confluent_kafka.TopicPartition("mail", 0)], PATIENCE)
        consumer.close()
        assert found.offset <= n


def find(program):
    """Where a program is; Debian keeps PostgreSQL's out of the way. None: nowhere."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), *folders]))


def stop(process, how=signal.SIGTERM):
    process.send_signal(how)
    process.wait(PATIENCE)
