"""Our learners beside naive Bayes and linear SVMs, River's and scikit-learn's, on three real sets.

Each event is answered before it is learned, in one pass, in file order; the error is the share of
wrong answers, in percent. Words count as present or not.

River and our learners take one event at a time, as a dict. scikit-learn takes batches of 100 rows
of a matrix, which is how its `partial_fit` is used: a batch is answered, then learned. Its classes
and its vocabulary are declared first, as it wants them; its first batch has no answers, which are
not counted, and the others' first 100 events are not either.

ms   CPU time of the pass; the dicts and the matrix are made before it

River's linear SVM is its passive-aggressive classifier with the hinge loss, which is one with an
online step; `SGDClassifier(loss="hinge")` is scikit-learn's. With many labels River's is one
against all.
"""

import time
from itertools import islice

import numpy as np
import scipy.sparse
from river import linear_model, multiclass, naive_bayes

import streamptron
from benchmarks import common

BATCH = 100

# name: how many labels there are, how many events are taken, and the events
STREAMS = {
    "sms_spam": (2, None, lambda: common.text_events("sms_spam")),
    "20news_train": (20, 5_000, lambda: common.text_events("20news_train")),
    "a9a": (2, 20_000, lambda: common.svmlight_events("a9a")),
}


def one_against_all():
    return multiclass.OneVsRestClassifier(linear_model.PAClassifier())


# name: what makes a learner for two labels, and for many
BY_EVENT = {
    "AdaptiveClassifier": (streamptron.AdaptiveClassifier, streamptron.AdaptiveClassifier),
    "AROW": (streamptron.AROW, streamptron.AROW),
    "MIRA": (streamptron.MIRA, streamptron.MIRA),
    "Perceptron": (streamptron.Perceptron, streamptron.MulticlassPerceptron),
    "River naive Bayes": (naive_bayes.MultinomialNB, naive_bayes.MultinomialNB),
    "River PAClassifier": (linear_model.PAClassifier, one_against_all),
}


def learn_events(model, events):
    """The wrong answers after the first batch, and the seconds."""
    wrong = 0
    start = time.process_time()
    for n, (x, y) in enumerate(events):
        wrong += model.predict_one(x) != y and n >= BATCH
        model.learn_one(x, y)
    return wrong, time.process_time() - start


def matrix(events):
    """The events as rows of a matrix, a column for each feature, and the labels."""
    columns = {}
    indices = [columns.setdefault(name, len(columns)) for x, _ in events for name in x]
    values = [float(value) for x, _ in events for value in x.values()]
    ends = np.cumsum([0, *(len(x) for x, _ in events)])
    X = scipy.sparse.csr_matrix((values, indices, ends), shape=(len(events), len(columns)))
    return X, np.array([y for _, y in events])


def learn_batches(model, X, y):
    classes = np.unique(y)
    wrong = 0
    start = time.process_time()
    for at in range(0, len(y), BATCH):
        rows, labels = X[at : at + BATCH], y[at : at + BATCH]
        if at:
            wrong += int((model.predict(rows) != labels).sum())
        model.partial_fit(rows, labels, classes=classes)
    return wrong, time.process_time() - start


def scikit_learn():
    """Its learners, or none where it is not installed."""
    try:
        from sklearn.linear_model import SGDClassifier
        from sklearn.naive_bayes import MultinomialNB
    except ImportError:
        print("scikit-learn is not installed, and left out")
        return {}
    return {
        "scikit-learn MultinomialNB": MultinomialNB(),
        "scikit-learn SGDClassifier, hinge": SGDClassifier(loss="hinge", random_state=0),
        "the same, averaged": SGDClassifier(loss="hinge", average=True, random_state=0),
    }


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--events", type=int, help="at most, of each stream")
    args = parser.parse_args()
    if args.quick and args.events is None:
        args.events = 300
    common.header(args, ", ".join(STREAMS))
    common.need_data()
    for name, (n_labels, limit, stream) in STREAMS.items():
        events = list(islice(stream(), args.events or limit))
        common.section(f"{name}: {len(events):,} events, {n_labels} labels")
        counted = max(len(events) - BATCH, 1)
        rows = []
        for learner, makers in BY_EVENT.items():
            wrong, seconds = learn_events(makers[n_labels > 2](), events)
            rows.append([learner, f"{100 * wrong / counted:.2f}", f"{1e3 * seconds:.0f}"])
        X, y = matrix(events)
        for learner, model in scikit_learn().items():
            wrong, seconds = learn_batches(model, X, y)
            rows.append([learner, f"{100 * wrong / counted:.2f}", f"{1e3 * seconds:.0f}"])
        common.table(["", "error %", "ms"], rows)


if __name__ == "__main__":
    main()
