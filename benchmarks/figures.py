"""Published figures, reproduced: what was found beside what was published.

svmguide3: LIBOL, a library for online learning algorithms (Hoi, Wang & Zhao 2014), its manual:
one pass in 20 random orders, no intercept; the rate of mistakes and the number of updates. PA-I
with two labels is MIRA with half the C: MIRA takes tau = min(loss / (2 x.x), C) and moves both
labels' weights by it, so that their difference, which is PA-I's one vector, moves by 2 tau. (MIRA
learns nothing before it has met both labels, PA-I knows them: that is a few events.)

MNIST: one shuffled pass of the multiclass perceptron over the pixels / 255; test accuracy of the
last weights and of their average.
"""

import random
import statistics

import numpy as np

from benchmarks import common
from streamptron import MIRA, MulticlassPerceptron, Perceptron
from tests.support import streams

BATCH = 5000  # images


def found(values, digits, scale=1.0):
    """Mean and standard deviation."""
    values = [scale * value for value in values]
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.{digits}f} ± {deviation:.{digits}f}"


def svmguide3(n_orders):
    """[(learner, mistake rates, updates)] of one pass in n random orders."""
    events = [(x, y > 0) for x, y in streams.svmlight("svmguide3")]
    results = []
    for name, make in [
        ("Perceptron", lambda: Perceptron(intercept=False)),
        ("PA-I, C = 2^-4", lambda: MIRA(C=2**-5, intercept=False)),
    ]:
        rates, updates = [], []
        for seed in range(n_orders):
            model = make()
            for x, y in random.Random(seed).sample(events, len(events)):
                model.learn_one(x, y)
            rates.append(model.n_mistakes / model.n_seen)
            updates.append(model.n_updates)
        results.append((name, rates, updates))
    return results


def mnist(n_orders, n_train):
    """Test accuracies of the last weights and of the average, for n shuffled passes."""
    import pandas as pd

    def frame(images):
        return pd.DataFrame(images / 255, columns=[f"pixel {i}" for i in range(images.shape[1])])

    images, labels = streams.mnist("train")
    test, truth = streams.mnist("t10k")
    test = frame(test)
    last, averaged = [], []
    for seed in range(n_orders):
        order = np.random.default_rng(seed).permutation(len(images))[:n_train]
        model = MulticlassPerceptron(serve="current")
        for first in range(0, n_train, BATCH):
            rows = order[first : first + BATCH]
            model.learn_many(frame(images[rows]), labels[rows])
        other = MulticlassPerceptron.from_weights(
            model.averaged_weights, model.averaged_intercept, serve="current"
        )
        last.append((model.predict_many(test) == truth).mean())
        averaged.append((other.predict_many(test) == truth).mean())
    return last, averaged


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--orders", type=int, help="of svmguide3 (default 20)")
    parser.add_argument("--mnist-orders", type=int, help="of MNIST (default 5)")
    args = parser.parse_args()
    args.orders = args.orders or (2 if args.quick else 20)
    args.mnist_orders = args.mnist_orders or (1 if args.quick else 5)
    common.header(args, "svmguide3, MNIST")
    common.need_data()

    common.section(f"svmguide3: one pass, no intercept, {args.orders} random orders")
    published = {
        "Perceptron": (".332 ± .012", "412 ± 15"),
        "PA-I, C = 2^-4": (".236 ± .002", "763 ± 12"),
    }
    rows = []
    for name, rates, updates in svmguide3(args.orders):
        rate, count = published[name]
        rows.append([f"{name}: mistake rate", found(rates, 3), rate])
        rows.append([f"{name}: updates", found(updates, 0), count])
    common.table(["", "found", "published"], rows)

    n_train = 5000 if args.quick else 60_000
    common.section(
        f"MNIST: one shuffled pass over {n_train:,} images, {args.mnist_orders} orders; "
        "test accuracy in percent"
    )
    last, averaged = mnist(args.mnist_orders, n_train)
    rows = [
        ["last weights", found(last, 1, 100), "86.9 ± 2.1"],
        ["averaged weights", found(averaged, 1, 100), "92.3 ± 0.1"],
    ]
    common.table(["", "found", "published"], rows)


if __name__ == "__main__":
    main()
