"""Errors, orderings and log-losses of the learners beside peers, on every real stream.

Each event is answered before it is learned, in one pass, in file order. The first few thousand
events of the longer streams, words present or not. The last five have measurements instead of
words, as they come, unscaled: two of River's sets and three of its generators.

error     answers that were wrong, in percent; the first event, before which no label is known,
          does not count, here and in what follows
1-AUC     two labels: of the pairs of a positive and a negative event, those in the wrong order, in
          percent, a tie being half of one; by probability and by decision function
log-loss  minus the mean logarithm of the probability that the event's label had, in nats; events
          whose label had never come before are left out, and those before the second label came:
          there is one answer, and nothing to weigh
ECE       expected calibration error, in percent: how far the probability of the answer is from the
          share of answers that are right, on average over 15 bins of equal width; likewise from
          the second label on
MB        what the model takes at the end, where it says so

Peers: Vowpal Wabbit (`vw`, or the Python package vowpalwabbit; with many labels --oaa) with each
of three loss functions and, with logistic loss, each of its other optimizers (--coin, --ftrl,
--pistol), the one that erred least being marked; River's logistic regression by AdaGrad and its
AdPredictor (with many labels one against all; it does not see how large a measurement is, and gets
none), its multinomial naive Bayes, for measurements the Gaussian one (the complement one goes
through its whole vocabulary at every event), and its ZstdClassifier, which needs Python 3.14 and
compresses the texts as they are; scikit-learn's SGDClassifier with logistic loss, which learns
batches of 100 events, on features hashed to 2^18 numbers. Vowpal Wabbit says probabilities with
logistic loss only. Where there is no such answer a cell is empty.
"""

import math
import subprocess
import sys
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from river import datasets, linear_model, misc, multiclass, naive_bayes, optim
from river.datasets import synth
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

import streamptron
from benchmarks import common
from tests.support import streams

BITS = 22


# name: how many labels there are, how many events are taken, and the events
STREAMS = {
    **{name: (2, None, lambda name=name: common.text_events(name)) for name in common.BINARY_TEXTS},
    "a9a": (2, 20_000, lambda: common.svmlight_events("a9a")),
    "20news_train": (20, 5_000, lambda: common.text_events("20news_train")),
    "loghub_system": (16, 8_000, lambda: common.text_events("loghub_system")),
    "UPOS tags, en_ewt": (17, 30_000, lambda: streams.tagging_stream("train")),
    "MNIST": (10, 10_000, common.mnist_events),
}
MEASUREMENTS = {
    "Phishing": (2, None, datasets.Phishing),
    "ImageSegments": (7, None, datasets.ImageSegments),
    "SEA": (2, 5_000, lambda: synth.SEA(seed=1)),
    "Hyperplane": (2, 5_000, lambda: synth.Hyperplane(seed=1)),
    "Waveform": (3, 5_000, lambda: synth.Waveform(seed=1)),
}
STREAMS |= MEASUREMENTS
TEXTS = common.BINARY_TEXTS + common.MULTICLASS_TEXTS


def adagrad():
    return linear_model.LogisticRegression(optim.AdaGrad(0.1))


class HashedSGD:
    """scikit-learn's logistic regression by SGD on hashed features, learned by batches.

    It knows all labels before it starts. Each label's probability is the sigmoid of its score,
    and they are divided by their sum: what predict_proba does, but of an event's features alone.
    """

    bits, batch = 18, 100

    def __init__(self, labels):
        self.hasher = FeatureHasher(1 << self.bits, alternate_sign=False)
        self.model = SGDClassifier(loss="log_loss", random_state=0)
        self.labels = labels
        self.waiting = []
        self.learned = False

    def rows(self, xs):
        return self.hasher.transform([{str(j): float(v) for j, v in x.items()} for x in xs])

    def predict_proba_one(self, x):
        if not self.learned:
            return dict.fromkeys(self.labels, 1.0 / len(self.labels))
        row = self.rows([x])
        scores = self.model.coef_[:, row.indices] @ row.data + self.model.intercept_
        p = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
        p = np.array([1.0 - p[0], p[0]]) if len(p) == 1 else p / max(p.sum(), 1e-300)
        return dict(zip(self.model.classes_.tolist(), p.tolist(), strict=True))

    def predict_one(self, x):
        p = self.predict_proba_one(x)
        return max(p, key=p.get)

    def learn_one(self, x, y):
        self.waiting.append((x, y))
        if len(self.waiting) == self.batch:
            xs, ys = zip(*self.waiting, strict=True)
            self.model.partial_fit(self.rows(xs), list(ys), self.labels)
            self.learned, self.waiting = True, []


# Who takes part: name: what makes a learner for two labels, and for many (None: it cannot)
OURS = {
    "AdaptiveClassifier": (streamptron.AdaptiveClassifier, streamptron.AdaptiveClassifier),
    "Perceptron": (streamptron.Perceptron, streamptron.MulticlassPerceptron),
    "Perceptron, uniform": (None, partial(streamptron.MulticlassPerceptron, violators="uniform")),
    "Perceptron, proportional": (
        None,
        partial(streamptron.MulticlassPerceptron, violators="proportional"),
    ),
    "MIRA": (streamptron.MIRA, streamptron.MIRA),
    "MIRA, uniform": (None, partial(streamptron.MIRA, violators="uniform")),
    "MIRA, proportional": (None, partial(streamptron.MIRA, violators="proportional")),
    "AROW": (streamptron.AROW, streamptron.AROW),
    "Perceptron, no average": (
        partial(streamptron.Perceptron, average="none"),
        partial(streamptron.MulticlassPerceptron, average="none"),
    ),
}
RIVER = {
    "River AdaGrad logistic": (adagrad, lambda: multiclass.OneVsRestClassifier(adagrad())),
    "River AdPredictor": (
        linear_model.AdPredictor,
        lambda: multiclass.OneVsRestClassifier(linear_model.AdPredictor()),
    ),
    "River naive Bayes": (naive_bayes.MultinomialNB, naive_bayes.MultinomialNB),
}
VOWPAL_WABBIT = {  # name: loss function, and other options
    **{loss: (loss, []) for loss in ("squared", "hinge", "logistic")},
    **{option: ("logistic", [option]) for option in ("--coin", "--ftrl", "--pistol")},
}

BINS = 15  # of the calibration error

HEADINGS = ["", "error", "1-AUC by P", "by decision", "log-loss", "ECE", "MB"]


class Tally:
    """What a learner said, event by event."""

    def __init__(self):
        self.wrong = []
        self.true = []  # two labels: which events were positive
        self.by_probability = []
        self.by_decision = []
        self.met = set()  # labels
        self.losses = []
        self.bins = np.zeros((BINS, 3))  # answers, the sum of their probabilities, right ones
        self.megabytes = ""

    def note(self, answer, y, probabilities=None, decision=None):
        if not self.met:
            self.met.add(y)
            return
        if answer is not None:
            self.wrong.append(answer != y)
        self.true.append(y is True)
        if probabilities is not None:
            self.by_probability.append(probabilities.get(True, 0.5))
        if probabilities is not None and len(self.met) > 1:
            if y in self.met:
                self.losses.append(-math.log(max(probabilities[y], 1e-15)))
            if answer is not None:
                p = probabilities.get(answer, 0.0)
                self.bins[min(int(p * BINS), BINS - 1)] += (1, p, answer == y)
        if decision is not None:
            self.by_decision.append(decision)
        self.met.add(y)

    @property
    def error(self):
        return 100 * sum(self.wrong) / len(self.wrong)

    @property
    def calibration_error(self):
        n, said, right = self.bins.T
        return 100 * np.abs(said - right).sum() / n.sum()

    def row(self, name):
        areas = [
            f"{misordered(self.true, found):.4f}" if found and any(self.true) else ""
            for found in (self.by_probability, self.by_decision)
        ]
        loss = f"{sum(self.losses) / len(self.losses):.4f}" if self.losses else ""
        calibration = f"{self.calibration_error:.2f}" if self.losses else ""
        return [name, f"{self.error:.3f}", *areas, loss, calibration, self.megabytes]


def misordered(true, scores):
    """1 - AUC in percent: by ranks, of which equals share the mean."""
    true = np.array(true)
    _, found, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[found]
    n, n_true = len(true), int(true.sum())
    if n_true in (0, n):
        return math.nan
    above = ranks[true].sum() - n_true * (n_true + 1) / 2
    return 100 * (1 - above / (n_true * (n - n_true)))


def run(model, events, two):
    """Answer, then learn."""
    tally = Tally()
    for x, y in events:
        answer = model.predict_one(x)
        probabilities = model.predict_proba_one(x)
        ask = getattr(model, "decision_function_one", None)
        decision = ask(x) if ask and two else None
        if isinstance(decision, dict):  # two labels that are two outputs
            decision = decision.get(True, 0.0) - decision.get(False, 0.0)
        tally.note(answer, y, probabilities, decision)
        model.learn_one(x, y)
    if hasattr(model, "memory_usage"):
        tally.megabytes = f"{model.memory_usage / 1e6:.2f}"
    return tally


# --- Vowpal Wabbit


def run_vowpal_wabbit(vw, events, n_labels, folder):
    """{name of the options: Tally}."""
    numbers = {}  # a name that is a number is its own hash: no two names collide
    labels = {False: -1, True: 1} if n_labels == 2 else {}
    path = folder / "events.vw"
    with open(path, "w", encoding="utf-8") as file:
        for x, y in events:
            label = labels.setdefault(y, len(labels) + 1)
            entries = (f"{numbers.setdefault(j, len(numbers))}:{v!r}" for j, v in x.items())
            file.write(f"{label} | {' '.join(entries)}\n")
    tallies = {}
    for name, (loss, more) in VOWPAL_WABBIT.items():
        options = ["--loss_function", loss, *more, "-b", str(BITS), "--quiet"]
        if n_labels > 2:
            options += ["--oaa", str(n_labels)]
            options += ["--probabilities"] if loss == "logistic" else []
        answers = folder / "answers.txt"
        subprocess.run([*vw, *options, "-d", str(path), "-p", str(answers)], check=True)
        tally = Tally()
        for (_, y), line in zip(events, answers.read_text().splitlines(), strict=True):
            if n_labels > 2 and loss == "logistic":
                pairs = (pair.split(":") for pair in line.split())
                probabilities = {int(label): float(p) for label, p in pairs}
                answer = max(probabilities, key=probabilities.get)
                tally.note(answer, labels[y], probabilities)
                continue
            said = float(line)
            if n_labels > 2:
                tally.note(said, labels[y])
                continue
            probabilities = None
            if loss == "logistic":
                p = 1 / (1 + math.exp(-said))
                probabilities = {False: 1 - p, True: p}
            tally.note(said > 0, y, probabilities, said)
        tallies[name] = tally
    return tallies


def bench_stream(name, limit, vw, folder):
    n_labels, most, stream = STREAMS[name]
    events = list(islice(stream(), limit or most))
    common.section(f"{name}: {len(events):,} events, {n_labels} labels")
    rows = []
    for who, makers in {**OURS, **RIVER}.items():
        make = makers[0 if n_labels == 2 else 1]
        if name in MEASUREMENTS and who == "River naive Bayes":
            make = naive_bayes.GaussianNB
        if name in MEASUREMENTS and who == "River AdPredictor":
            make = None
        if make is not None:
            rows.append(run(make(), events, n_labels == 2).row(who))
    labels = sorted({y for _, y in events})
    if len(labels) > 1:
        rows.append(run(HashedSGD(labels), events, n_labels == 2).row("scikit-learn SGD logistic"))
    if name in TEXTS and sys.version_info >= (3, 14):
        texts = [
            (text, common.text_label(name, label))
            for text, label in islice(streams.labelled_texts(name), len(events))
        ]
        rows.append(run(misc.ZstdClassifier(), texts, n_labels == 2).row("River ZstdClassifier"))
    if vw:
        tallies = run_vowpal_wabbit(vw, events, n_labels, folder)
        best = min(tallies, key=lambda name: tallies[name].error)
        for options, tally in tallies.items():
            mark = ", its best" if options == best else ""
            rows.append(tally.row(f"Vowpal Wabbit {options}{mark}"))
    common.table(HEADINGS, rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS, metavar="STREAM")
    parser.add_argument("--events", type=int, help="at most, of each stream")
    args = parser.parse_args()
    args.streams = list(args.streams)
    if args.quick and args.events is None:
        args.events = 60
    common.header(args, ", ".join(args.streams))
    common.need_data()
    vw = common.vowpal_wabbit()
    if vw is None:
        print("Vowpal Wabbit is not there")
    if sys.version_info < (3, 14):
        print("ZstdClassifier is not there: it needs Python 3.14")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.streams:
            bench_stream(name, args.events, vw, Path(folder))


if __name__ == "__main__":
    main()
