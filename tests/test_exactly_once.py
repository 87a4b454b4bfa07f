"""The consumers of docs/exactly-once.md, killed again and again, learn each event once, in order.

The servers are the tests' own; they listen on a socket in a folder, or on the loopback.
"""

import importlib.util
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamptron import Checkpoint, MulticlassPerceptron, Tokenizer
from tests.support.marks import slow
from tests.support.variants import learned

if os.name != "posix":
    pytest.skip("kill -9", allow_module_level=True)
from tests.support import consumers

pytestmark = pytest.mark.once  # another Python would say the same

CONSUMERS = {
    "Redis": consumers.RedisStream,
    "Redis group": consumers.RedisGroup,
    "PostgreSQL": consumers.PostgreSQL,
    "Kafka": consumers.Kafka,
}
AHEAD = 250  # events, more than a life can learn


@pytest.fixture(scope="module", params=CONSUMERS)
def started(request, tmp_path_factory):
    kind = CONSUMERS[request.param]
    if importlib.util.find_spec(kind.module) is None:
        pytest.skip(f"there is no {kind.module} here: pip install {kind.install}")
    if kind.program and consumers.find(kind.program) is None:
        pytest.skip(f"there is no {kind.program} here: apt-get install {kind.package}")
    server = kind(tmp_path_factory.mktemp("server"))
    yield server
    server.close()


@pytest.fixture
def server(started, tmp_path):
    """A server with nothing in it."""
    started.begin(tmp_path)
    return started


def event(rng, k):
    return f"word{rng.randrange(40)} word{k}", f"label {k % 3}"


@pytest.fixture(scope="module")
def lives():
    with consumers.Lives() as lives:
        yield lives


@pytest.mark.slow
@pytest.mark.parametrize("n_kills", slow([100], among=[8, 100]))
def test_consumer_that_is_killed_again_and_again_learns_each_event_once(server, lives, n_kills):
    rng = random.Random(n_kills)
    code = server.code()
    events = []
    n, n_went_on = 0, 0
    once = Tokenizer() | MulticlassPerceptron(hash_seed=1)
    for _ in range(n_kills):
        new = [event(rng, k) for k in range(len(events), n + AHEAD)]
        server.put(new)
        events += new
        lives.live_and_die(code, rng.randrange(server.longest))
        saved = Checkpoint.newest_saved(server.folder / "mail")
        if saved is None:
            continue
        n_went_on += server.n_learned(saved.position) > n
        n = server.n_learned(saved.position)
        for text, label in events[once[-1].n_seen : n]:
            once.learn_one(text, label)
        assert saved.model[-1].n_seen == n
        assert learned(saved.model[-1]) == learned(once[-1])
        server.check(n)
    assert n_went_on > n_kills / 5


@pytest.mark.parametrize("started", ["PostgreSQL"], indirect=True)
def test_next_life_waits_for_the_last_statement_of_the_one_before(server, lives):
    rng = random.Random(1)
    events = [event(rng, k) for k in range(AHEAD)]
    server.put(events)
    name = str(server.folder / "mail")
    with server.connect() as last, ThreadPoolExecutor() as pool:
        last.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])
        last.execute("UPDATE mail SET worker = %s WHERE id < 9", [name])
        life = pool.submit(lives.live_and_die, server.code(), server.longest)
        time.sleep(0.3)
        assert Checkpoint.newest(server.folder / "mail") is None
        last.commit()
        last.close()
        life.result()
    saved = Checkpoint.newest_saved(server.folder / "mail")
    once = Tokenizer() | MulticlassPerceptron(hash_seed=1)
    for text, label in events[: max(saved.position)]:
        once.learn_one(text, label)
    assert learned(saved.model[-1]) == learned(once[-1])


@pytest.mark.parametrize("started", ["PostgreSQL"], indirect=True)
@pytest.mark.parametrize("n_lives", slow([20], among=[3, 20]))
def test_workers_that_share_a_queue_learn_each_row_once_between_them(server, lives, n_lives):
    rng = random.Random(n_lives)
    names = ["one", "two"]
    moments = server.longest // 8, server.longest
    n_rows = 0
    with consumers.Lives() as others, ThreadPoolExecutor() as pool:
        for _ in range(n_lives):
            server.put([event(rng, k) for k in range(2 * AHEAD)])
            n_rows += 2 * AHEAD
            ends = [
                pool.submit(place.live_and_die, server.code(name), rng.randrange(*moments))
                for place, name in zip((lives, others), names, strict=True)
            ]
            for end in ends:
                end.result()
    both = [saved for name in names if (saved := Checkpoint.newest_saved(server.folder / name))]
    # what is in a file may still be in the table, and the next life would delete it unread
    last = [number for saved in both for number in saved.position]
    left = server.client.execute("SELECT count(*) FROM mail WHERE id <> ALL(%s)", [last])
    n_seen = [saved.model[-1].n_seen for saved in both]
    assert sum(n_seen) == n_rows - left.fetchone()[0]
    assert len(n_seen) == 2
    assert min(n_seen) > 0


@pytest.mark.slow
@pytest.mark.parametrize("started", ["Kafka"], indirect=True)
@pytest.mark.parametrize("n_kills", slow([20], among=[2, 20]))
def test_processes_that_share_a_topic_learn_each_message_once(server, n_kills):
    rng = random.Random(n_kills)
    code = server.group_code()
    events = [[] for _ in range(server.n_partitions)]
    lives = [server.start(code) for _ in range(3)]
    try:
        for _ in range(n_kills):
            for n, its in enumerate(events):
                new = [event(rng, k) for k in range(len(its), len(its) + 200)]
                server.put(new, partition=n)
                its += new
            time.sleep(rng.uniform(0.5, 2.0))
            consumers.stop(lives[place := rng.randrange(3)], signal.SIGKILL)
            lives[place] = server.start(code)
        consumers.until(lambda: server.group_learned() == [len(its) for its in events])
        assert [life.poll() for life in lives] == [None] * 3
    finally:
        for life in lives:
            consumers.stop(life, signal.SIGKILL)
    for n, its in enumerate(events):
        once = Tokenizer() | MulticlassPerceptron(hash_seed=1)
        for text, label in its:
            once.learn_one(text, label)
        saved = Checkpoint.newest_saved(server.folder / f"mail-{n}")
        assert learned(saved.model[-1]) == learned(once[-1])
