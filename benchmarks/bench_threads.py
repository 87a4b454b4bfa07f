"""Four threads read a model while a fifth teaches it: are all answers of one state, and how fast?

Every event has all features and turns all weights, +1 or -1, so that an answer which mixes two
states of the model is neither of two numbers. A reader asks without a pause and looks at each
answer; the learner learns without a pause. Each is alone first, in the same process, for the rate
it then has.

With the interpreter's lock held (events one at a time) five threads share one core; without it
(batches) they share the machine's, or have one each. A reader is expected to get its share of what
it does alone: alone * cores / threads, and at most alone. Found beside expected also holds what
waiting costs: rows are not answered while others are learned, but between blocks of them.
"""

import os
import threading
import time

import numpy as np
import scipy.sparse as sp

import streamptron
from benchmarks import common

READERS = 4
N = 256  # features
ROWS = 255  # of a batch: an odd number, so that it turns the weights

NAMES = [f"w{i}" for i in range(N)]
WORDS = dict.fromkeys(NAMES, 1.0)
X = dict.fromkeys([*NAMES, *range(N)], 1.0)  # words and columns
MATRIX = sp.csr_array(np.ones((ROWS, N)))
TEXTS = streamptron.Tokenizer().transform_many([" ".join(NAMES)] * ROWS)


def turning():
    """A model of weights +1; every event of the other label with weight 2 turns them."""
    model = streamptron.Perceptron(intercept=False, serve="current")
    model.learn_one(X, True)
    return model


def labels(model, n):
    return [(model.n_seen + i) % 2 == 0 for i in range(n)]


def learn_one(model):
    model.learn_one(WORDS, *labels(model, 1), 2.0)
    return 1


def learn_rows(model, rows):
    model.learn_many(rows, labels(model, ROWS), w=[2.0] * ROWS)
    return ROWS


def learn_matrix(model):
    return learn_rows(model, MATRIX)


def learn_texts(model):
    return learn_rows(model, TEXTS)


def ask_one(model):
    return [model.decision_function_one(WORDS)]


def ask_matrix(model):
    return model.decision_function_many(MATRIX)


def ask_texts(model):
    return model.decision_function_many(TEXTS)


CASES = (
    ("events", ask_one, learn_one, 1),
    ("CSR batches", ask_matrix, learn_matrix, os.cpu_count()),
    ("batches of texts", ask_texts, learn_texts, os.cpu_count()),
)


def reader(ask, model, stop, counts):
    """Ask until `stop` is set: how many answers, how many of which are of no state, calls."""
    n = odd = calls = 0
    while not stop.is_set():
        answer = ask(model)
        first = answer[0]
        same = abs(first) == N and (len(answer) == 1 or bool((answer == first).all()))
        n += len(answer)
        odd += not same
        calls += 1
    counts.append((n, odd, calls))


def learner(learn, model, stop, counts):
    n = 0
    while not stop.is_set():
        n += learn(model)
    counts.append((n, 0, 0))


def together(seconds, *targets):
    """Run threads together: what each has counted, and the seconds that they took."""
    stop = threading.Event()
    counts = [[] for _ in targets]
    threads = [
        threading.Thread(target=run, args=(*args, stop, counted))
        for (run, *args), counted in zip(targets, counts, strict=True)
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    return np.array([counted[0] for counted in counts]), took


def rates(seconds, turns, *targets):
    """All together, and the first and the last alone, in turn: the machine has its moods."""
    sums = [[0, 0.0] for _ in range(3)]
    for _ in range(turns):
        for total, some in zip(sums, (targets, targets[:1], targets[-1:]), strict=True):
            counts, took = together(seconds / turns / (1 if some is targets else 8), *some)
            total[0] = total[0] + counts
            total[1] += took
    (all_counts, took), *alone = sums
    return all_counts, all_counts[:, 0] / took, *(counts[0, 0] / took for counts, took in alone)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--seconds", type=float, help="of each of the three cases (default 20)")
    args = parser.parse_args()
    args.seconds = args.seconds or (0.3 if args.quick else 20)
    common.header(args, f"made up: events of {N} features, all of which turn their weights")

    rows = []
    for name, ask, learn, cores in CASES:
        model = turning()
        counts, found, alone, learns_alone = rates(
            args.seconds,
            1 if args.quick else 20,
            *[(reader, ask, model)] * READERS,
            (learner, learn, model),
        )
        _, mixed, calls = counts.sum(axis=0)
        each = found[:READERS].mean()
        share = alone * min(1.0, cores / (READERS + 1))
        rates_said = [f"{rate:,.0f}" for rate in (alone, share, each)]
        learner_said = [f"{rate:,.0f}" for rate in (learns_alone, found[READERS])]
        rows.append(
            [name, f"{calls:,}", f"{mixed:,}", *rates_said, f"{each / share:.2f}", *learner_said]
        )
    common.section(f"{READERS} readers and a learner; rates are rows a second and thread")
    headings = ["", "calls", "mixed", "a reader alone", "its share", "found", "found / share"]
    common.table([*headings, "learner alone", "learner found"], rows)


if __name__ == "__main__":
    main()
