"""Merging: how long it takes, how large a delta is, how long readers wait, and what it costs.

The loop in C takes the same arrays of weights from the same number of shards (floor_merge.c), the
least that a merge since a base has to read and write; names, which it has to compare as well, are
not in it. A reader waits for the interpreter's lock, for the gate, and for a core that is free. So
it runs in real time where the system allows it (Linux, as root); elsewhere most of the longest
waits is the scheduler's. What a reader of another model waits is not the gate's. With --errors: the
table of docs/merging.md.
"""

import contextlib
import copy
import ctypes
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import streamptron
from benchmarks import common
from streamptron import Delta, Perceptron, merge
from tests.support.streams import svmlight, tagging_stream, text_stream

SHARDS = 8
LOOP = Path(__file__).with_name("floor_merge.c")


def least(call, times=5):
    """The least CPU time of some calls, in ms, and what the last returned."""
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        found = call()
        best = min(best, time.thread_time() - start)
    return 1e3 * best, found


def shards_of(n, share):
    """A base of n features, and shards that each have touched a share of them."""
    rng = np.random.default_rng(0)
    names = [f"feature {i}" for i in range(n)]
    base = Perceptron.from_weights(dict.fromkeys(names, 0.5))
    base.learn_one({names[0]: 1}, False)
    shards = []
    for _ in range(SHARDS):
        shard = copy.deepcopy(base)
        for part in np.array_split(rng.permutation(n)[: int(share * n)], 20):
            x = {names[i]: 1 for i in part}
            shard.learn_one(x, not shard.predict_one(x))
        shards.append(shard)
    return base, shards


def loop_in_c(n):
    """The CPU time of the plain loop over such arrays, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/floor.so"
        subprocess.run(
            ["cc", "-O3", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, LOOP], check=True
        )
        loop = ctypes.CDLL(library).merge
    rng = np.random.default_rng(0)
    base = rng.random((n, 2))
    arrays = [base + (rng.random((n, 1)) < 0.1) for _ in range(SHARDS)]
    pointers = (ctypes.c_void_p * SHARDS)(*(array.ctypes.data for array in arrays))
    to = np.empty_like(base)
    call = lambda: loop(  # noqa: E731
        ctypes.c_void_p(base.ctypes.data), pointers, SHARDS, ctypes.c_void_p(to.ctypes.data), n
    )
    return least(call)[0]


def in_real_time(priority):
    """Let no other process stop this thread, if the system allows it."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def waits(model, applied, delta):
    """How long predict_one of a model took every 0.1 ms while a delta was applied, in ms, sorted.

    What it waits for the interpreter's lock, after the pause, is in it.
    """
    found, reading, done = [], threading.Event(), threading.Event()

    def read():
        in_real_time(2)
        reading.set()
        while not done.is_set():
            start = time.perf_counter()
            time.sleep(1e-4)
            model.predict_one({"feature 3": 1})
            found.append(1e3 * (time.perf_counter() - start - 1e-4))

    def apply():
        in_real_time(1)
        reading.wait()
        applied.apply(delta)
        done.set()

    threads = [threading.Thread(target=run) for run in (read, apply)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def print_waits(base, delta):
    """A reader's waits while its model changes, beside those while another one does."""
    for what in ("the model", "another model"):
        found = []
        for _ in range(5):
            model = copy.deepcopy(base)
            found += waits(model, model if what == "the model" else copy.deepcopy(base), delta)
        found.sort()
        half, most, longest = (found[int(part * (len(found) - 1))] for part in (0.5, 0.999, 1))
        print(f"  a reader of {what:13} waits       {half:8.3f}", end="")
        print(f"   99.9 %: {most:.3f}   at most: {longest:.3f}   of {len(found)}")


def times(n):
    print(f"{SHARDS} shards of {n} features, two labels, ms of CPU")
    print(f"  a loop in C over the weights alone   {loop_in_c(n):8.1f}")
    for share in (0.1, 1.0):
        base, shards = shards_of(n, share)
        ms, _ = least(lambda b=base, s=shards: merge(s, since=b))
        print(f"  merge since a base, {share:4.0%} touched    {ms:8.1f}")
        ms, delta = least(lambda b=base, s=shards: s[0].delta(b))
        rows = delta._parts[0].arrays["slots"][0][0]
        print(f"  a delta, {share:4.0%} touched               {ms:8.1f}", end="")
        print(f"   {len(delta.to_bytes()) / rows:.1f} bytes a row")
        together = Delta.combine([s.delta(base, shard=k) for k, s in enumerate(shards)])
        model = copy.deepcopy(base)
        start = time.perf_counter()
        model.apply(together)
        took = 1e3 * (time.perf_counter() - start)
        print(f"  apply {SHARDS} of them, wall               {took:8.1f}")
        print_waits(base, together)
    strangers = [
        Perceptron.from_weights({f"{k} {i}": 0.5 for i in range(n // SHARDS)})
        for k in range(SHARDS)
    ]
    ms, found = least(lambda: merge(strangers))
    print(f"  nothing in common: ns a name         {1e6 * ms / found.n_features:8.1f}")


STREAMS = {
    "a9a": (lambda: svmlight("a9a"), lambda: svmlight("a9a.t")),
    "sms_spam": (lambda: text_stream("sms_spam"), None),
    "trec07p, 12,000 mails": (lambda: text_stream("trec07p_first12000"), None),
    "loghub": (lambda: text_stream("loghub_system"), None),
    "20 newsgroups": (lambda: text_stream("20news_train"), None),
    "EWT, parts of speech": (lambda: tagging_stream("train"), lambda: tagging_stream("dev")),
}
TWO = ("a9a", "sms_spam", "trec07p, 12,000 mails")
PAIRS = [
    *((stream, "Perceptron") for stream in TWO),
    *((stream, name) for stream in list(STREAMS)[3:] for name in ("MulticlassPerceptron", "MIRA")),
    *((stream, name) for name in ("AROW", "AdaptiveClassifier") for stream in STREAMS),
]


def rows_of(name):
    """X, y, and how many rows are for learning: all of the first part, or three in four."""
    from scipy.sparse import csr_matrix

    first, second = STREAMS[name]
    events = list(first())
    n = len(events) if second else 3 * len(events) // 4
    events += list(second()) if second else []
    columns, indices, indptr = {}, [], [0]
    for x, _ in events:
        indices += [columns.setdefault(feature, len(columns)) for feature in x]
        indptr.append(len(indices))
    data = [float(value) for x, _ in events for value in x.values()]
    X = csr_matrix((data, indices, indptr), shape=(len(events), len(columns)))
    X.sort_indices()
    y = np.array([label for _, label in events], dtype=object)
    if name in TWO:
        y = np.array([label in ("spam", 1) for label in y])
    return X, y, n


def error(model, X, y):
    return 100 * np.mean(np.asarray(model.predict_many(X)) != y)


def mixed(base, X, y, mixes):
    """One pass by shards that start again from what they have learned together."""
    for rows in np.array_split(np.arange(len(y)), mixes):
        shards = []
        for k in range(SHARDS):
            shard = copy.deepcopy(base)
            shard.learn_many(X[rows[k::SHARDS]], y[rows[k::SHARDS]])
            shards.append(shard)
        base = merge(shards, since=base)
    return base


def served(model, kind):
    return model.clone({"serve": kind}, include_attributes=True)


def errors():
    print("| stream | learner | one machine | 1 mix | 3 mixes | 10 mixes | current, average |")
    print("|---|---|---|---|---|---|---|")
    data = {}
    for stream, learner in PAIRS:
        if stream not in data:
            data[stream] = rows_of(stream)
        X, y, n = data[stream]
        make = getattr(streamptron, learner)
        alone = make()
        alone.learn_many(X[:n], y[:n])
        row = [error(alone, X[n:], y[n:])]
        for mixes in (1, 3, 10):
            model = mixed(make(), X[:n], y[:n], mixes)
            row.append(error(model, X[n:], y[n:]))
        kept = ""
        if "average" in model._get_params():
            kinds = [error(served(model, kind), X[n:], y[n:]) for kind in ("current", "average")]
            kept = ", ".join(f"{e:.2f}" for e in kinds)
        print(
            f"| {stream} | {learner} |",
            " | ".join(f"{e:.2f}" for e in row),
            f"| {kept} |",
            flush=True,
        )


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--errors", action="store_true", help="the errors, instead of the times")
    parser.add_argument("--features", type=int, default=1_000_000)
    args = parser.parse_args()
    common.header(args, "real streams, see docs/choosing.md" if args.errors else "made up")
    print()
    if args.errors:
        common.need_data()
        errors()
    else:
        times(20_000 if args.quick else args.features)


if __name__ == "__main__":
    main()
