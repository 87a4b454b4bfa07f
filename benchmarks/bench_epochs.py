"""How long the scikit-learn classifiers should learn: log-loss and errors on rows held out.

A third of the rows of each set is kept for the test; sets of less than 3,000 rows are divided three
times. Beside some numbers of epochs, the stop by the training rows (early_stopping=False) and by
the rows that fit holds out, which is the default. In brackets how many epochs these ran.
LogisticRegression is scikit-learn's, for a hundred steps at most.

log-loss  minus the mean logarithm of the probability of a row's class, in nats
mean      geometric mean of the log-losses, each with .005 added, by that of the best of its set

Texts are words that are there or not; texts of tables are one column for
each category. "sections" and "merchants" are made up, of a kind that a model learns by heart: lines
of eight words in forty sections, and a rare label among ten thousand merchants.
"""

import math
import warnings
from itertools import islice

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks import common, number_streams
from streamptron import sklearn
from tests.support import streams

TEXTS = ("sms_spam", "spamassassin", "trec07p_first12000", "20news_train", "loghub_system")
TEXTS += ("bgl_alert",)
MADE = ("sections", "merchants")
NUMBERS = (*number_streams.SPARSE, *number_streams.TABLES)
NUMBERS = tuple(name for name in NUMBERS if name != "elecNormNew")  # which is in time's order
SMALL = ("20news_train:1000", "sms_spam:400", "a9a:300")  # the first so many rows to learn
CLASSIFIERS = {
    "adaptive": sklearn.AdaptiveClassifier,
    "perceptron": sklearn.PerceptronClassifier,
    "mira": sklearn.MIRAClassifier,
    "arow": sklearn.AROWClassifier,
}
ONCE = {"tol": None, "early_stopping": False}
WAYS = {
    "1 epoch": {"max_iter": 1, **ONCE},
    "2": {"max_iter": 2, **ONCE},
    "5": {"max_iter": 5, **ONCE},
    "10": {"max_iter": 10, **ONCE},
    "training rows": {"early_stopping": False},
    "default": {},
}


def sections(n, rng):
    words, n_labels = 6000, 40
    own = rng.integers(0, words, (n_labels, 300))  # words that a label likes
    usual = 1 / np.arange(1, words + 1)
    usual /= usual.sum()
    y = rng.integers(0, n_labels, n)
    lines = [
        np.union1d(
            own[label, np.minimum(rng.geometric(0.02, 2), 300) - 1], rng.choice(words, 6, p=usual)
        )
        for label in y
    ]
    return matrix(lines, words), y


def merchants(n, rng):
    of_each = rng.normal(0, 1, 10_000)
    who, hour = rng.integers(0, 10_000, n), rng.integers(0, 24, n)
    p = 1 / (1 + np.exp(4 - 1.2 * of_each[who] - 0.5 * (hour < 6)))
    return matrix(np.column_stack([who, 10_000 + hour]), 10_024), rng.random(n) < p


def matrix(rows, n_columns):
    """Ones in some columns of each row."""
    starts = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(starts[-1]), np.concatenate(rows), starts), (len(rows), n_columns))


def events_of(name):
    if name in TEXTS:
        yield from streams.text_stream(name)
    else:
        yield from number_streams.events_of(name)


def rows_of(name, limit):
    """X and y, of labels that have ten rows."""
    name, _, n = name.partition(":")
    if name in MADE:
        X, y = {"sections": sections, "merchants": merchants}[name](limit, np.random.default_rng(3))
    else:
        events = list(islice(events_of(name), limit))
        X = DictVectorizer().fit_transform([x for x, _ in events])
        y = np.array([str(label) for _, label in events])
    if n:
        taken = np.random.default_rng(1).permutation(len(y))[: int(n) * 3 // 2]
        X, y = X[taken], y[taken]
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[numbers] >= 10
    return X[kept], y[kept]


def tested(model, X, y, seed):
    """Log-loss, errors in percent, and epochs."""
    learn, test = next(StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed).split(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[learn], y[learn])
    lost = log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_)
    return lost, 100 * np.mean(model.predict(X[test]) != y[test]), np.mean(model.n_iter_)


def bench(classifier, names, limit):
    losses, errors, every = [], [], []
    for name in names:
        X, y = rows_of(name, limit)
        seeds = range(1 if X.shape[0] >= 3000 else 3)
        models = {
            way: [classifier(random_state=seed, **params) for seed in seeds]
            for way, params in WAYS.items()
        }
        models["LogisticRegression"] = [LogisticRegression(max_iter=100) for _ in seeds]
        found = {
            way: np.mean([tested(model, X, y, seed) for seed, model in enumerate(each)], axis=0)
            for way, each in models.items()
        }
        stopped = ("training rows", "default")
        label = f"{name} ({X.shape[0]:,})"
        losses.append([label])
        for way, (lost, _, epochs) in found.items():
            losses[-1].append(f"{lost:.3f}" + f" ({epochs:.0f})" * (way in stopped))
        errors.append([label, *(f"{error:.2f}" for _, error, _ in found.values())])
        every.append([lost for lost, _, _ in found.values()])
    ratios = [[(lost + 0.005) / (min(row) + 0.005) for lost in row] for row in every]
    means = [math.exp(np.mean(np.log(column))) for column in zip(*ratios, strict=True)]
    common.table(
        ["log-loss", *WAYS, "LogisticRegression"],
        [*losses, ["mean, by the best", *(f"{mean:.3f}" for mean in means)]],
    )
    print()
    common.table(["errors, %", *WAYS, "LogisticRegression"], errors)


def main():
    every = (*TEXTS, *NUMBERS, *SMALL, *MADE)
    parser = common.parser(__doc__)
    parser.add_argument("--sets", nargs="+", choices=every, default=every, metavar="SET")
    parser.add_argument("--classifiers", nargs="+", choices=CLASSIFIERS, default=["adaptive"])
    parser.add_argument("--rows", type=int, default=12_000, help="at most, of each set")
    args = parser.parse_args()
    args.sets = list(args.sets)
    if args.quick:
        args.sets, args.rows = ["sms_spam", "vowel", "sections"], 300
    common.header(args, ", ".join(args.sets))
    common.need_data()
    for name in args.classifiers:
        common.section(CLASSIFIERS[name].__name__)
        bench(CLASSIFIERS[name], args.sets, args.rows)


if __name__ == "__main__":
    main()
