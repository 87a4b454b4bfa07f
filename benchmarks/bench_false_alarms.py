"""`false_positive_rate`: the rate that was asked for, the real one, and what is caught with it.

Each event is answered, then learned, by a model for each rate. *Lost* is the share of the events of
other labels that are answered so, of the whole stream and of its second half; *caught* the share of
the label's own events that are found. Beside it: what the best fixed threshold of the rank catches
that loses as many, chosen in hindsight. The ranks are those of a model without the setting, which
has the same weights. Streams as they come, shuffled, and sorted by
label: first all of one, then all of the other, then as they came. At last what the setting takes.
"""

import random
import time

from benchmarks import common
from streamptron import AdaptiveClassifier

RATES = (0.01, 0.003, 0.001)
ROUNDS = 7  # of the times
LABEL = True  # spam, or an alert


def shuffled(events):
    return random.Random(1).sample(events, len(events))


def by_label(events):
    return sorted(events, key=lambda event: event[1]) + events


def ranks(events):
    """Of each event from the second label on: the rank of the label, and whether it is its own."""
    model = AdaptiveClassifier()
    found = []
    for x, y in events:
        if len(model.labels) > 1:
            found.append((model.decision_function_one(x), y == LABEL))
        model.learn_one(x, y)
    return found


def caught_in_hindsight(found, n_lost):
    """The share that a threshold catches which loses n of the others."""
    others = sorted((rank for rank, own in found if not own), reverse=True)
    own = [rank for rank, own in found if own]
    threshold = others[n_lost] if n_lost < len(others) else float("-inf")
    return sum(rank > threshold for rank in own) / len(own)


def answers(events, rate):
    """Of each event from the second label on: whether it was answered so, and is its own."""
    model = AdaptiveClassifier(false_positive_rate={LABEL: rate})
    found = []
    for x, y in events:
        two = len(model.labels) > 1
        answer = model.test_then_train_one(x, y)
        if two:
            found.append((answer == LABEL, y == LABEL))
    return found


def share(found, own):
    """Which share of the label's own events, or of the others, was answered so."""
    answered = [answer for answer, its in found if its == own]
    return sum(answered) / max(1, len(answered))


def row(name, events, found):
    cells = [name]
    for rate in RATES:
        given = answers(events, rate)
        n_lost = sum(answer for answer, own in given if not own)
        cells.append(
            f"{100 * share(given, False):.2f} ({100 * share(given[len(given) // 2 :], False):.2f})"
        )
        cells.append(f"{100 * share(given, True):.1f}")
        cells.append(f"{100 * caught_in_hindsight(found, n_lost):.1f}")
    return cells


def seconds(events, rates):
    model = AdaptiveClassifier(hash_seed=1, false_positive_rate=rates)
    start = time.process_time()
    for x, y in events:
        model.learn_one(x, y)
    return time.process_time() - start


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--events", type=int, help="at most, of each stream (default all)")
    args = parser.parse_args()
    limit = args.events or (300 if args.quick else None)
    common.header(args, ", ".join(common.BINARY_TEXTS))
    common.need_data()
    heads = ["stream"]
    for rate in RATES:
        heads += [f"lost of {100 * rate:g} %", "caught", "in hindsight"]
    streams = {name: list(common.text_events(name, limit)) for name in common.BINARY_TEXTS}
    for title, order in (
        ("as they come", list),
        ("shuffled", shuffled),
        ("sorted by label, then as they come", by_label),
    ):
        common.section(f"{title}: percent; in brackets of the second half")
        rows = []
        for name in common.BINARY_TEXTS:
            events = order(streams[name])
            rows.append(row(name, events, ranks(events)))
        common.table(heads, rows)
    common.section("CPU time of learn_one with the setting, times that without; the least of some")
    rows = []
    for name in common.BINARY_TEXTS:
        events, least = streams[name], {}
        for _ in range(1 if args.quick else ROUNDS):
            for rates in (None, {LABEL: 0.001}):
                took = seconds(events, rates)
                least[rates is None] = min(took, least.get(rates is None, took))
        rows.append([name, f"{least[False] / least[True]:.3f}"])
    common.table(["stream", "times"], rows)


if __name__ == "__main__":
    main()
