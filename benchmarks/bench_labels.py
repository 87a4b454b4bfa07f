"""Several labels an event: one MultiLabelClassifier beside a model a label, and beside peers.

Each event is answered before it is learned, in one pass, in file order, words present or not.
Answers are those above a probability of 1/2, or of what is said.

micro, macro   F1 in percent: of all labels of all events together, and the mean over labels
Hamming        labels that were wrong, in percent of all labels of all events
exact          events of which every label was right, in percent
LRAP           label ranking average precision, in percent: of each label that an event has, the
               share of labels ranked as high that it has too
us             CPU time to answer and learn an event, in microseconds, dicts included
MB             what the model takes at the end, where it says so

A second table has models that learned apart: four, each of which has learned every fourth of the
first 80 % of the events, merged once or 16 times on the way. They answer the last 20 %, and learn
nothing of these.

Peers: an AdaptiveClassifier a label, River's logistic regression by AdaGrad a label, and Vowpal
Wabbit's --multilabel_oaa with its best loss function, where `vw` is installed.
"""

import copy
import shutil
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import process_time

from river import linear_model, optim

from benchmarks import common
from streamptron import AdaptiveClassifier, MultiLabelClassifier, merge
from tests.support import streams

STREAMS = ("reuters_topics", "bibtex_tags")
SLOW = 2_000  # so many events are enough of what takes long


def events(name, limit=None):
    """({word: 1}, [label]) of a stream."""
    for text, labels in islice(streams.labelled_texts(name), limit):
        yield dict.fromkeys(text.split(), 1), list(dict.fromkeys(labels.split(",")))


class Grades:
    """What answers are worth."""

    def __init__(self):
        self.n = self.wrong = self.exact = 0
        self.precision = 0.0
        self.counts = {}  # {label: [right, said, there]}

    def add(self, answer, there, scores):
        """Count an answer's labels, those that there are, and {label: score} if it is known."""
        for label in answer | there:
            count = self.counts.setdefault(label, [0, 0, 0])
            count[0] += label in answer and label in there
            count[1] += label in answer
            count[2] += label in there
        self.n += 1
        self.wrong += len(answer ^ there)
        self.exact += answer == there
        ranked = sorted(scores, key=scores.get, reverse=True)
        found = [place for place, label in enumerate(ranked, 1) if label in there]
        self.precision += sum((k + 1) / place for k, place in enumerate(found)) / len(there)

    def row(self, n_labels):
        right, said, there = map(sum, zip(*self.counts.values(), strict=True))
        each = sum(2 * r / (s + t) for r, s, t in self.counts.values() if s + t)
        return (
            f"{200 * right / (said + there):5.1f}  {100 * each / n_labels:5.1f}  "
            f"{100 * self.wrong / self.n / n_labels:7.2f}  {100 * self.exact / self.n:5.1f}  "
            f"{100 * self.precision / self.n:4.1f}"
        )


class ALabel:
    """A model of two labels for each label; one that comes counts as absent from now on."""

    def __init__(self, make):
        self.make = make
        self.models = {}

    def decision_function_one(self, x):
        return {y: m.predict_proba_one(x).get(True, 0.0) - 0.5 for y, m in self.models.items()}

    def learn_one(self, x, there):
        for label in there:
            if label not in self.models:
                self.models[label] = self.make()
        for label, model in self.models.items():
            model.learn_one(x, label in there)

    @property
    def memory_usage(self):
        return sum(getattr(model, "memory_usage", 0) for model in self.models.values())


def graded(model, stream, above=0.0):
    """Its grades, microseconds an event, and megabytes. `above`: the score to be answered."""
    grades, spent = Grades(), 0.0
    for x, y in stream:
        start = process_time()
        scores = model.decision_function_one(x)
        model.learn_one(x, y)
        spent += process_time() - start
        least = above() if callable(above) else above
        grades.add({label for label, score in scores.items() if score > least}, {*y}, scores)
    return grades, 1e6 * spent / grades.n, model.memory_usage / 1e6


def logit(p):
    from math import log

    return log(p / (1 - p))


def vowpal_wabbit(name, limit, loss):
    """Its grades, from what it predicts before it learns each line."""
    stream = list(events(name, limit))
    number = {y: str(k) for k, y in enumerate({y: None for _, there in stream for y in there})}
    with tempfile.TemporaryDirectory() as folder:
        lines, answers = Path(folder, "lines"), Path(folder, "answers")
        with lines.open("w") as file:
            for x, y in stream:
                words = " ".join(word.replace(":", "_").replace("|", "_") for word in x)
                print(",".join(number[label] for label in y), "|", words, file=file)
        command = ["vw", "--multilabel_oaa", str(len(number)), "--loss_function", loss, "-b", "22"]
        start = process_time()
        subprocess.run([*command, "--quiet", "-p", answers, lines], check=True)
        spent = process_time() - start
        grades = Grades()
        with answers.open() as file:
            for line, (_, y) in zip(file, stream, strict=True):
                grades.add(set(filter(None, line.strip().split(","))), {number[v] for v in y}, {})
    return grades, 1e6 * spent / grades.n


def rows(name, quick):
    """(learner, its grades, microseconds, megabytes) of each."""
    limit = 200 if quick else None
    slow = 50 if quick else SLOW
    ours = MultiLabelClassifier()
    yield "MultiLabelClassifier", graded(ours, events(name, limit))
    yield "  above .3", graded(MultiLabelClassifier(), events(name, limit), logit(0.3))
    f1 = MultiLabelClassifier(threshold="f1")
    best = graded(f1, events(name, limit), lambda: logit(f1.best_threshold))
    yield f"  'f1', in the end {f1.best_threshold:.2f}", best
    alone = graded(ALabel(AdaptiveClassifier), events(name, limit))
    yield "an AdaptiveClassifier a label", alone
    river = ALabel(lambda: linear_model.LogisticRegression(optim.AdaGrad(0.1)))
    yield "the same", graded(MultiLabelClassifier(), events(name, slow))
    yield "River, logistic AdaGrad a label", graded(river, events(name, slow))
    if shutil.which("vw"):
        for loss in ("squared", "logistic", "hinge"):
            yield f"Vowpal Wabbit, {loss}", (*vowpal_wabbit(name, limit, loss), 0.0)


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def merged(stream, n, times):
    """One model of n that learned apart, and were merged so many times."""
    base = MultiLabelClassifier()
    size = -(-len(stream) // times)
    for first in range(0, len(stream), size):
        part = stream[first : first + size]
        shards = [learned(copy.deepcopy(base), part[k::n]) for k in range(n)]
        base = merge(shards, since=base)
    return base


def answered(model, stream):
    """The grades of a model that learns nothing more."""
    grades = Grades()
    for x, y in stream:
        scores = model.decision_function_one(x)
        grades.add({label for label, score in scores.items() if score > 0}, {*y}, scores)
    return grades


def rows_apart(name, quick):
    """(how, grades) of one model, of a quarter, and of four merged."""
    stream = list(events(name, 200 if quick else None))
    first, last = stream[: -len(stream) // 5], stream[-len(stream) // 5 :]
    yield "one model of all events", answered(learned(MultiLabelClassifier(), first), last)
    yield "one of a quarter", answered(learned(MultiLabelClassifier(), first[::4]), last)
    yield "four, merged in the end", answered(merged(first, 4, 1), last)
    yield "four, merged 16 times", answered(merged(first, 4, 16), last)


def main(argv):
    args = common.parser(__doc__).parse_args(argv)
    common.header(args, ", ".join(STREAMS))
    for name in STREAMS:
        labels = {label for _, there in events(name) for label in there}
        print(f"\n{name}: {len(labels)} labels")
        print(f"{'':32}  events  micro  macro  Hamming  exact  LRAP      us    MB")
        for learner, (grades, us, mb) in rows(name, args.quick):
            n = grades.n
            print(f"{learner:32}  {n:6}  {grades.row(len(labels))}  {us:6.0f}  {mb:4.0f}")
            sys.stdout.flush()
        print("\nlearned apart")
        for how, grades in rows_apart(name, args.quick):
            print(f"{how:32}  {grades.n:6}  {grades.row(len(labels))}")


if __name__ == "__main__":
    main(sys.argv[1:])
