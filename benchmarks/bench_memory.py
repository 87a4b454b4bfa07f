"""Bytes a feature: by the model's own count (memory_usage) and by what the process gained (RSS).

Each model is built in a fresh process from events of a hundred new features,
named "w0", "w1" ..., with labels such that every event is an update and all its features
get weights. The gain of the process holds everything: the model, what the allocator wastes, and a
little scratch of the process itself, which shows in the small models.
"""

import copy
import ctypes
import gc
import mmap
import multiprocessing
import os
import time
from contextlib import suppress
from pathlib import Path

import streamptron
from benchmarks import common

EVENT = 100  # features
LABELS = [f"label {k}" for k in range(20)]
COPIES = 20
PAGE = 4096


def new_words(n):
    """Events of words that no other event has."""
    for first in range(0, n, EVENT):
        yield {f"w{i}": 1 for i in range(first, min(first + EVENT, n))}


def new_long_words(n):
    for x in new_words(n):
        yield {f"a name of more than fifteen bytes {name}": 1 for name in x}


def learn_two(model, n, events=new_words):
    # New words score nothing, and the intercept turns with every label: each event is a mistake.
    for t, x in enumerate(events(n)):
        model.learn_one(x, t % 2 == 0)


def learn_long(model, n):
    """The same with names that lie outside of the table."""
    learn_two(model, n, new_long_words)


def learn_one_label(model, n):
    # Without an intercept new words tie, and a tie is a mistake.
    for t, x in enumerate(new_words(n)):
        model.learn_one(x, LABELS[t % len(LABELS)])


def learn_all_labels(model, n):
    # The label learned last leads, so every next one is a mistake.
    for x in new_words(n):
        for label in LABELS:
            model.learn_one(x, label)


def learn_new_labels(model, n):
    """A label an event, each with a feature of its own and two of a hundred that all share."""
    for k in range(n):
        model.learn_one({f"w{k % 100}": 1, f"v{7 * k % 100}": 1, f"own {k}": 1}, k)


def resident():
    """Bytes of the process in memory, or None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def trim():
    """Give freed memory back to the system, so that using it again is seen as a gain."""
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def build(case):
    """The model's own count, and the gain of the process, in a process of its own."""
    make, learn, n = case
    make().learn_one({"w": 1}, True)  # what is loaded at the first use is not the model's
    trim()
    before = resident()
    model = make()
    learn(model, n)
    trim()
    after = resident()
    return getattr(model, "memory_usage", None), None if before is None else after - before


def copied(case):
    """Milliseconds of a deepcopy into memory new to the process, and into what was freed before.

    And of writing as many bytes for the first time: what the system takes to make them memory.
    """
    make, learn, n = case
    model = make()
    learn(model, n)
    copies, new, again, written = [], [], [], []
    for _ in range(COPIES):
        start = time.perf_counter()
        copies.append(copy.deepcopy(model))
        new.append(time.perf_counter() - start)
    for _ in range(COPIES // 2):
        del copies[0]
        start = time.perf_counter()
        copies.append(copy.deepcopy(model))
        again.append(time.perf_counter() - start)
    for _ in range(COPIES):
        start = time.perf_counter()
        with mmap.mmap(-1, model.memory_usage) as memory:
            memory[::PAGE] = bytes(-(-len(memory) // PAGE))
        written.append(time.perf_counter() - start)
    return [common.median(times) * 1e3 for times in (new, again, written)]


def averaged():
    return streamptron.Perceptron()


def pocketed():
    return streamptron.Perceptron(pocket=True)


def hashed():
    return streamptron.Perceptron(hash_bits=20)


def limited():
    return streamptron.Perceptron(max_features=1_000_000)


def multiclass():
    return streamptron.MulticlassPerceptron(intercept=False)


def adaptive():
    return streamptron.AdaptiveClassifier()


def river():
    from river import linear_model

    return linear_model.Perceptron()


def measured(name, cases, most=None):
    """A table; `most`: features that a model may keep."""
    rows = []
    for title, *case in cases:
        # A new process each: what another model left behind could be used again
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            own, gain = pool.apply(build, (case,))
        n = case[-1] if most is None else min(case[-1], most)
        row = [title, f"{case[-1]:,}", "" if own is None else f"{own:,}"]
        row.append("" if own is None else f"{own / n:.1f}")
        row += ["unknown", ""] if gain is None else [f"{gain:,}", f"{gain / n:.1f}"]
        rows.append(row)
    common.table([name, "features", "memory_usage", "a feature", "RSS gain", "a feature"], rows)


def timed(cases):
    rows = []
    for title, *case in cases:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows.append(
                [title, f"{case[-1]:,}", *(f"{ms:.2f}" for ms in pool.apply(copied, (case,)))]
            )
    common.table(["ms", "features", "new memory", "freed memory", "as many bytes, new"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument(
        "--features", type=int, nargs="+", help="sizes (default 10000 100000 1000000 4000000)"
    )
    parser.add_argument(
        "--labels",
        type=int,
        nargs="+",
        help="of AdaptiveClassifier (default 1000 10000; the time grows with the square)",
    )
    args = parser.parse_args()
    if args.labels is None:
        args.labels = [100] if args.quick else [1_000, 10_000]
    if args.features is None:
        args.features = [10_000] if args.quick else [10_000, 100_000, 1_000_000, 4_000_000]
    common.header(args, f"made up: events of {EVENT} new features, str names of 2 to 8 characters")
    some = min(100_000, max(args.features))
    river_sizes = [n for n in args.features if n <= 1_000_000]

    common.section("two labels (True, False)")
    measured(
        "bytes",
        [("Perceptron(), averaged", averaged, learn_two, n) for n in args.features]
        + [("Perceptron(pocket=True)", pocketed, learn_two, n) for n in river_sizes[-1:]]
        + [("River Perceptron", river, learn_two, n) for n in river_sizes],
    )
    common.section("two labels, names of 24 to 30 characters")
    measured("bytes", [("Perceptron()", averaged, learn_long, n) for n in river_sizes[-1:]])
    common.section("two labels, at most a million features; a feature: of those that are kept")
    many = 10_000 if args.quick else 6_000_000
    measured(
        "bytes",
        [
            ("Perceptron(max_features=1000000)", limited, learn_two, many),
            ("the same, names of 24 to 30 characters", limited, learn_long, many),
        ],
        most=1_000_000,
    )
    common.section("two labels, hashed: 2^20 slots however many features come")
    measured(
        "bytes",
        [("Perceptron(hash_bits=20)", hashed, learn_two, n) for n in args.features],
    )
    common.section(f"{len(LABELS)} labels")
    each = "MulticlassPerceptron(), each feature met with"
    measured(
        "bytes",
        [
            (f"{each} all labels", multiclass, learn_all_labels, some),
            (f"{each} one label", multiclass, learn_one_label, some),
        ],
    )
    common.section("AdaptiveClassifier, two and 20 labels")
    each = "each feature met with"
    measured(
        "bytes",
        [
            ("two labels", adaptive, learn_two, some),
            (f"20 labels, {each} all", adaptive, learn_all_labels, some),
            (f"20 labels, {each} one", adaptive, learn_one_label, some),
        ],
    )
    common.section("AdaptiveClassifier, every event a new label with a feature of its own")
    measured(
        "bytes",
        [("AdaptiveClassifier()", adaptive, learn_new_labels, n) for n in args.labels],
    )
    common.section("a deepcopy")
    timed(
        [
            ("Perceptron()", averaged, learn_two, some),
            ("Perceptron(), long names", averaged, learn_long, some),
            (f"MulticlassPerceptron(), {len(LABELS)} labels", multiclass, learn_all_labels, some),
        ]
    )


if __name__ == "__main__":
    main()
