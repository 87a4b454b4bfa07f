"""A pass of streamptron.study.fit over a CSR matrix beside one call of learn_many on its rows.

Each model learns the whole matrix once more in every round: by learn_many; by a pass in a fixed
order; by one in a new random order, which is drawn within its time; and by learn_many on a copy of
the matrix in that order. A pass checks the rows only the first time, which is not timed. The aim:
no pass takes more than 1.1 times learn_many's time.

Times are CPU times of the process. A ratio is one of medians; in brackets, where 5 % and 95 % of
the ratios within single rounds lie.
"""

from time import process_time

import numpy as np

import streamptron
from benchmarks import common
from benchmarks.bench_matrix import a9a, mnist
from streamptron.estimator.finite import data_of

TWO = ("Perceptron", "MIRA", "AROW", "AdaptiveClassifier")
MANY = ("MulticlassPerceptron", "MIRA", "AROW", "AdaptiveClassifier")


def times(kind, X, y, rounds):
    """{way: the time of each round}"""
    rng = np.random.default_rng(0)
    models = [kind() for _ in range(4)]
    fixed, permuted = (data_of((X, y), None, models[0]._checked_label) for _ in range(2))

    def copied():
        order = rng.permutation(len(y))
        models[3].learn_many(X[order], y[order])

    ways = {
        "learn_many": lambda: models[0].learn_many(X, y),
        "fixed": lambda: fixed.learn(models[1]),
        "permuted": lambda: permuted.learn(models[2], rng.permutation(len(y))),
        "copied": copied,
    }
    found = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way in rng.permutation(list(ways)):
            began = process_time()
            ways[way]()
            if number:
                found[way].append(process_time() - began)
    return found


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--rows", type=int, help="at most, of each matrix")
    parser.add_argument("--rounds", type=int, help="how many (default 10)")
    args = parser.parse_args()
    args.rows = args.rows or (2000 if args.quick else None)
    args.rounds = args.rounds or (2 if args.quick else 10)
    common.header(args, "a9a, MNIST")
    common.need_data()
    digits = mnist(args.rows)
    halves = digits.with_labels("MNIST, 5 to 9", lambda labels: labels >= 5)
    for task, learners in ((a9a(args.rows), TWO), (halves, TWO[:2]), (digits, MANY)):
        common.section(str(task))
        rows = []
        for learner in learners:
            found = times(getattr(streamptron, learner), task.X, task.y, args.rounds)
            whole = found.pop("learn_many")
            cells = [f"{1000 * common.median(whole):.2f}"]
            for each in found.values():
                ratios = [a / b for a, b in zip(each, whole, strict=True)]
                low, high = common.quantile(ratios, 0.05), common.quantile(ratios, 0.95)
                ratio = common.median(each) / common.median(whole)
                cells.append(f"{ratio:.2f} ({low:.2f}-{high:.2f})")
            rows.append([learner, *cells])
        common.table(["", "learn_many, ms", "fixed", "permuted", "a permuted copy"], rows)


if __name__ == "__main__":
    main()
