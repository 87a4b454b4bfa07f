"""Drift: errors before and after a change that is not announced, window by window.

Each event is answered before it is learned, in one pass, in file order, words present or not. At
half of the stream something changes for good:

flipped   what was True is False from then on, and the other way round: every word means the
          opposite
renamed   the labels have new names ("new spam"), the words mean what they did: the learner has to
          find out by itself that the old names are gone
none      nothing changes: what a short memory costs

The columns are the errors, in percent, of the events that come in each window: the last thousand
before the change, then the first hundred after it and so on; and of all events after it.
"""

from functools import partial
from itertools import islice, pairwise

import streamptron
from benchmarks import common

STREAMS = {
    **{name: partial(common.text_events, name) for name in common.BINARY_TEXTS},
    "a9a": lambda: common.svmlight_events("a9a"),
}

# What a label becomes. Renamed ones are texts from the start, for these are the same kind.
CHANGES = {
    "none": (lambda y: y, lambda y: y),
    "flipped": (lambda y: y, lambda y: not y),
    "renamed": (lambda y: f"old {y}", lambda y: f"new {y}"),
}

# Bounds of the windows, in events after the change.
BOUNDS = (-1000, 0, 100, 200, 500, 1000, 3000)

# Name: what makes a learner for truth values, and for names
LEARNERS = {
    "Adaptive, forget=0": (partial(streamptron.AdaptiveClassifier, forget=0),) * 2,
    "Adaptive, 2**-10": (partial(streamptron.AdaptiveClassifier, forget=2**-10),) * 2,
    "Adaptive, .03": (partial(streamptron.AdaptiveClassifier, forget=0.03),) * 2,
    "Adaptive, 1": (partial(streamptron.AdaptiveClassifier, forget=1),) * 2,
    "Adaptive, auto (the default)": (streamptron.AdaptiveClassifier,) * 2,
    "Perceptron": (streamptron.Perceptron, streamptron.MulticlassPerceptron),
    "AROW": (streamptron.AROW,) * 2,
}


def mistakes(model, events, before, after):
    """Of each event whether the answer was wrong; none, before the first label, is not."""
    half = len(events) // 2
    wrong = []
    for n, (x, y) in enumerate(events):
        label = (before if n < half else after)(y)
        wrong.append(model.test_then_train_one(x, label) not in (None, label))
    return wrong


def percent(wrong):
    return f"{100 * sum(wrong) / len(wrong):.2f}" if wrong else ""


def bench_stream(name, limit):
    events = list(islice(STREAMS[name](), limit))
    half = len(events) // 2
    windows = [
        (max(0, half + low), min(len(events), half + high)) for low, high in pairwise(BOUNDS)
    ]
    headings = [f"{low} to {high}" for low, high in pairwise(BOUNDS)]
    for change, (before, after) in CHANGES.items():
        common.section(f"{name}, labels {change}: {len(events):,} events, the change at {half:,}")
        rows = []
        for who, makers in LEARNERS.items():
            wrong = mistakes(makers[change == "renamed"](), events, before, after)
            cells = [percent(wrong[low:high]) for low, high in windows]
            rows.append([who, *cells, percent(wrong[half:]), percent(wrong)])
        common.table(["", *headings, "all after", "all"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS, metavar="STREAM")
    parser.add_argument("--events", type=int, help="at most, of each stream (default 6,000)")
    args = parser.parse_args()
    args.streams = list(args.streams)
    args.events = args.events or (200 if args.quick else 6000)
    common.header(args, ", ".join(args.streams))
    common.need_data()
    for name in args.streams:
        bench_stream(name, args.events)


if __name__ == "__main__":
    main()
