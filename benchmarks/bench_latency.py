"""The time of each learn_one, over millions of events whose vocabulary never stops growing.

An event has ten features: one or two that are new, the others drawn from all
earlier ones by Zipf's law. Labels are random and the margin is out of reach, so every event is an
update and every new feature is inserted: growth is what may stall an event, and it happens all
the time.

Two clocks: CPU (time.thread_time_ns, CLOCK_THREAD_CPUTIME_ID), which counts this thread's own
work, the page faults of its new memory included; and wall (time.perf_counter_ns), which also
counts whatever else the machine did meanwhile. Neither is corrected for the cost of reading it,
which is printed. The control is the same timing around sum(x.values()), which allocates nothing:
what it shows in the tail is the machine's, not the model's. The same events are run several times
in fresh processes; a stall of the model happens in each run, so the last table takes the smallest
of the runs, event by event.

Without --learner it is the Perceptron, with a margin out of reach; AdaptiveClassifier inserts every
feature of a labelled event anyway.

With --features N another stream instead, which is nothing but growth: ten features an event, all of
them new, until there are N. For each doubling of the model it shows the slowest learn_one by CPU,
which is where the steps are that one event takes for all the others. (64 million take 3.3 GB.)
"""

import gc
import multiprocessing
from functools import partial
from itertools import pairwise
from time import get_clock_info, perf_counter, perf_counter_ns, thread_time_ns

import numpy as np

import streamptron
from benchmarks import common

EVENT = 10  # features
BLOCK = 1000  # events made at a time
QUANTILES = (50, 99, 99.9, 99.99)
OVER = (20, 100, 1000)  # microseconds
LEARNERS = {
    "perceptron": partial(streamptron.Perceptron, margin=1e50),
    "adaptive": streamptron.AdaptiveClassifier,
}
ROWS = ("CPU", "wall", "control, CPU", "control, wall")


def blocks(n_events):
    """Lists of ({word: 1}, truth value), BLOCK at a time, the same ones in every process."""
    rng = np.random.default_rng(0)
    n_words = 0
    for first in range(0, n_events, BLOCK):
        n = min(BLOCK, n_events - first)
        n_new = rng.integers(1, 3, n)
        # log-uniform ranks: word k with a probability of about 1/k (Zipf)
        ids = np.exp(rng.random((n, EVENT)) * np.log(n_words + 1)).astype(np.int64) - 1
        next_word = n_words + np.cumsum(n_new) - n_new
        ids[:, 0] = next_word
        ids[:, 1] = np.where(n_new == 2, next_word + 1, ids[:, 1])
        n_words += int(n_new.sum())
        labels = (rng.random(n) < 0.5).tolist()
        words = [dict.fromkeys(map("w%d".__mod__, row), 1) for row in ids.tolist()]
        yield list(zip(words, labels, strict=True))


def run(n_events, learner):
    """Times in ns of learn_one and of the control by both clocks, and what the model held then."""
    model = LEARNERS[learner](hash_seed=1)
    learn_one = model.learn_one
    times = np.zeros((4, n_events), np.uint32)
    cpu, wall, control_cpu, control_wall = times
    gc.collect()
    gc.freeze()
    gc.disable()
    i = 0
    for block in blocks(n_events):
        for x, y in block:
            before_cpu = thread_time_ns()
            before = perf_counter_ns()
            learn_one(x, y)
            after = perf_counter_ns()
            after_cpu = thread_time_ns()
            cpu[i] = after_cpu - before_cpu
            wall[i] = after - before
            values = x.values
            before_cpu = thread_time_ns()
            before = perf_counter_ns()
            sum(values())
            after = perf_counter_ns()
            after_cpu = thread_time_ns()
            control_cpu[i] = after_cpu - before_cpu
            control_wall[i] = after - before
            i += 1
    return times, model.n_updates, model.n_features, model.memory_usage


def grow(n_features, learner):
    """CPU times in ns of learn_one; at the end of each span its seconds and the model's bytes."""
    model = LEARNERS[learner](hash_seed=1)
    learn_one = model.learn_one
    times = np.zeros(n_features // EVENT, np.uint32)
    at_end = []
    gc.collect()
    gc.freeze()
    gc.disable()
    for first, last in spans(len(times)):
        start = perf_counter()
        for i in range(first, last):
            x = dict.fromkeys(map("w%d".__mod__, range(EVENT * i, EVENT * i + EVENT)), 1)
            before = thread_time_ns()
            learn_one(x, i % 2 == 0)
            times[i] = thread_time_ns() - before
        at_end.append((perf_counter() - start, model.memory_usage))
    return times, at_end


def spans(n):
    """Events from 0 to those of a million features, and on to twice as many each time."""
    first, last = 0, 1_000_000 // EVENT
    while first < n:
        yield first, min(last, n)
        first, last = last, 2 * last


def in_fresh_process(function, n, learner):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, (n, learner))


def show_growth(n_features, n_runs, learner):
    """One table: each doubling of the model in a row."""
    least = None
    for _ in range(n_runs):
        times, at_end = in_fresh_process(grow, n_features, learner)
        least = times if least is None else np.minimum(least, times)
    rows = []
    for (first, last), (seconds, memory) in zip(spans(len(least)), at_end, strict=True):
        part = least[first:last]
        rows.append(
            [
                f"{EVENT * last:,}",
                f"{memory / (EVENT * last):.1f}",
                f"{EVENT * (last - first) / seconds:,.0f}",
                f"{np.median(part):,.0f}",
                f"{part.max() / 1e6:.3f}",
                f"{EVENT * (first + int(part.argmax()) + 1):,}",
                f"{(part > 1e6).sum():,}",
            ]
        )
    headings = ["to features", "bytes each", "new a second", "p50 ns", "slowest ms", "at", "> 1 ms"]
    common.section(
        f"growth: CPU of learn_one, {EVENT} new features an event; the smallest of {n_runs} runs, "
        "event by event"
    )
    common.table(headings, rows)


def clock_row(name, clock, read, n=200_000):
    """Resolution as the system says it, the smallest step seen, and the cost of a reading."""
    readings = [read() for _ in range(n)]
    steps = [after - before for before, after in pairwise(readings)]
    said = get_clock_info(clock).resolution * 1e9
    least = min((step for step in steps if step > 0), default=0)
    return [name, f"{said:g}", f"{least}", f"{common.median(steps):g}", f"{max(steps):,}"]


def row(name, times):
    quantiles = [f"{value:,.0f}" for value in np.percentile(times, QUANTILES)]
    at = int(times.argmax())
    over = [f"{(times > us * 1000).sum():,}" for us in OVER]
    return [name, *quantiles, f"{times[at]:,}", f"{at:,}", *over]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--events", type=int, help="how many (default 10000000)")
    parser.add_argument("--runs", type=int, help="how many, each in a fresh process (default 2)")
    parser.add_argument("--learner", choices=LEARNERS, default="perceptron")
    parser.add_argument("--features", type=int, help="growth only, to so many features")
    args = parser.parse_args()
    args.events = args.events or (30_000 if args.quick else 10_000_000)
    args.runs = args.runs or (1 if args.quick else 2)
    common.header(args, f"made up: {EVENT} features an event, 1 or 2 of them new, the others Zipf")

    common.section("the clocks, in ns")
    clocks = [
        clock_row("CPU (thread_time_ns)", "thread_time", thread_time_ns),
        clock_row("wall (perf_counter_ns)", "perf_counter", perf_counter_ns),
    ]
    common.table(["", "resolution", "least step", "one reading", "most"], clocks)

    if args.features:
        show_growth(args.features, args.runs, args.learner)
        return
    headings = ["", *(f"p{q:g}" for q in QUANTILES), "max", "at event"]
    headings += [f"> {us} us" for us in OVER]
    least = None
    for number in range(1, args.runs + 1):
        start = perf_counter()
        times, n_updates, n_features, memory = in_fresh_process(run, args.events, args.learner)
        least = times if least is None else np.minimum(least, times)
        common.section(
            f"run {number} of {args.runs}: learn_one in ns; {n_updates:,} updates, "
            f"{n_features:,} features and {memory / 2**20:,.0f} MiB at the end; "
            f"took {perf_counter() - start:.0f} s"
        )
        common.table(headings, [row(*pair) for pair in zip(ROWS, times, strict=True)])
    if args.runs > 1:
        common.section(f"the smallest of the {args.runs} runs, event by event: what repeats")
        common.table(headings, [row(*pair) for pair in zip(ROWS, least, strict=True)])
        slowest = np.argsort(least[0])[-5:][::-1]
        print("\nthe five slowest events by CPU, of the smallest of the runs:")
        for i in slowest:
            print(f"  event {i:>10,}: CPU {least[0, i]:,} ns, wall {least[1, i]:,} ns")


if __name__ == "__main__":
    main()
