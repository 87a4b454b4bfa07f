"""A stream whose vocabulary never stops growing, under a ceiling (max_features).

First: memory and speed. An event has thirty words of a Zipf law and two that are new,
a short one and a long one; its label is a coin, so that half of the events are mistakes and
bring their new words into the model. Printed are the process's memory and the speed of learn_one,
slice by slice.

Second: what is lost. The same stream with labels that the common words decide, and words of real
texts with made-up new words in between, learned by a model that may keep all features and by others
that may keep some. Then AdaptiveClassifier on real texts as they are; asked: at most 1.1 times the
error of the model that may keep all.
"""

import multiprocessing
import time
from itertools import chain

import numpy as np

import streamptron
from benchmarks import common
from benchmarks.bench_memory import resident, trim

# Events made at once, outside of the time that is taken; few, to be in the cache as new ones are.
CHUNK = 1000
COMMON = 50_000  # words that come again
KNOWN = 30  # of them in an event
CEILING = 1_000_000


def endless(n, seed, decided=False):
    """Lists of events, n in all; labels by a coin, or `decided` by the common words."""
    rng = np.random.default_rng(seed)
    words = np.array([f"common{i}" for i in range(COMMON)], dtype=object)
    zipf = np.cumsum(1 / (np.arange(COMMON) + 10))
    hidden = rng.standard_normal(COMMON)
    for first in range(0, n, CHUNK):
        drawn = np.searchsorted(zipf, rng.random((CHUNK, KNOWN)) * zipf[-1])
        known = words[drawn].tolist()
        coins = rng.random(CHUNK) < 0.5
        labels = (hidden[drawn].sum(axis=1) > 0 if decided else coins).tolist()
        chunk = []
        for t in range(CHUNK):
            x = dict.fromkeys(known[t], 1)
            x[f"w{first + t}"] = x[f"a name of some length {first + t}"] = 1
            chunk.append((x, labels[t]))
        yield chunk


def learn_endless(case):
    """A row for each slice of the stream; run in a process of its own."""
    n, n_slices, max_features = case
    stream = chain(endless(CHUNK, 1), endless(n, 0))
    streamptron.Perceptron().learn_one(*next(stream)[0])  # what the stream itself takes
    trim()
    before = resident()
    model = streamptron.Perceptron(max_features=max_features)
    rows, seconds, done, slice_done = [], 0.0, 0, 0
    for events in stream:
        start = time.process_time()
        for x, y in events:
            model.learn_one(x, y)
        seconds += time.process_time() - start
        done += len(events)
        slice_done += len(events)
        if slice_done * n_slices >= n or done >= n:
            del events, x
            trim()
            gain = None if before is None else resident() - before
            rows.append((done, model.n_features, model.n_evicted, model.memory_usage, gain))
            rows[-1] += (slice_done / seconds,)
            seconds, slice_done = 0.0, 0
    return rows


def endless_errors(n, ceilings):
    """A row of errors for each ceiling (None: no ceiling), where the common words decide."""
    models = [streamptron.Perceptron(max_features=ceiling, hash_seed=0) for ceiling in ceilings]
    wrong = [0] * len(models)
    for x, y in chain.from_iterable(endless(n, 0, decided=True)):
        for i, model in enumerate(models):
            wrong[i] += model.test_then_train_one(x, y) != y
    for model, mistakes in zip(models, wrong, strict=True):
        title = f"made up, {n:,} events" if model is models[0] else ""
        yield [title, *kept(model, 100 * mistakes / n, 100 * wrong[0] / n)]


def kept(model, error, least):
    """The cells that say what a model has kept, and at which price."""
    ratio = f"{error / least:.2f}" if least else ""
    return [f"{model.n_features:,}", f"{model.n_evicted:,}", f"{error:.2f}", ratio]


def with_noise(events, n):
    """Each event with n new words more."""
    for t, (x, y) in enumerate(events):
        yield {**x, **{f"noise {n * t + i}": 1 for i in range(n)}}, y


def progressive_error(model, events):
    wrong = n = 0
    for x, y in events:
        wrong += model.test_then_train_one(x, y) != y
        n += 1
    return 100 * wrong / n


def losses(name, learner, limit, n_noise):
    """Rows of errors on a real stream, by how many features may stay."""
    events = list(common.text_events(name, limit))
    vocabulary = len(set().union(*(x for x, _ in events)))
    vocabulary += n_noise * len(events)
    unlimited = learner(hash_seed=0)
    least = progressive_error(unlimited, with_noise(events, n_noise))
    title = f"{name}, {learner.__name__}, {vocabulary:,} words"
    rows = [[title, *kept(unlimited, least, least)]]
    for part in (2, 4, 10):
        model = learner(max_features=unlimited.n_features // part, hash_seed=0)
        error = progressive_error(model, with_noise(events, n_noise))
        rows.append(["", *kept(model, error, least)])
    return rows


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--events", type=int, default=5_000_000, help="default 5000000")
    parser.add_argument("--slices", type=int, default=20, help="lines printed (default 20)")
    args = parser.parse_args()
    ceiling = CEILING
    if args.quick:
        args.events, args.slices, ceiling = 50_000, 5, 10_000
    common.header(args, "made up: 30 words by Zipf and 2 new ones an event; then real texts")

    common.section(f"Perceptron(max_features={ceiling:,}), labels by a coin")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows = pool.apply(learn_endless, ((args.events, args.slices, ceiling),))
    common.table(
        ["events", "features", "evicted", "memory_usage", "RSS gain", "learn_one a second"],
        [
            [
                *(f"{cell:,}" for cell in row[:4]),
                "unknown" if row[4] is None else f"{row[4]:,}",
                f"{row[5]:,.0f}",
            ]
            for row in rows
        ],
    )
    roomy = [row for row in rows if not row[2]] or rows[:1]  # slices in which nothing had to leave
    end, start, full = rows[-1][5], rows[0][5], roomy[-1]
    print(f"\nspeed at the end by speed at the start: {end / start:.2f}")
    print(f"by speed before any had to leave, with {full[1]:,} features: {end / full[5]:.2f}")

    header = ["stream", "features kept", "evicted", "error", "by unlimited"]
    common.section("progressive error in percent, with 2 new words in every event")
    rows = endless_errors(min(args.events, 5_000_000), (None, ceiling, ceiling // 5, ceiling // 10))
    common.table(header, list(rows))

    common.section("progressive error in percent, with 10 new words in every event")
    common.need_data()
    limit = 500 if args.quick else None
    streams = [
        ("trec07p_first12000", streamptron.Perceptron),
        ("spamassassin", streamptron.Perceptron),
        ("20news_train", streamptron.MulticlassPerceptron),
        ("loghub_system", streamptron.MIRA),
    ]
    rows = [row for stream in streams for row in losses(*stream, limit, 10)]
    common.table(header, rows)

    common.section("AdaptiveClassifier, progressive error in percent, no words added")
    streams = [
        ("sms_spam", None),
        ("spamassassin", None),
        ("trec07p_first12000", None),
        ("20news_train", 5_000),
        ("loghub_system", 8_000),
    ]
    rows = [
        row
        for name, most in streams
        for row in losses(name, streamptron.AdaptiveClassifier, limit or most, 0)
    ]
    common.table(header, rows)


if __name__ == "__main__":
    main()
