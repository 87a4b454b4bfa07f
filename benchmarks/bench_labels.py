"""Many labels, and several labels an event, beside peers.

Each event is answered before it is learned, in one pass, in file order, words present or not.

Many labels: an AdaptiveClassifier, multinomial naive Bayes (alpha .1), and Vowpal Wabbit's --oaa
(-b 24) where `vw` is installed; it knows how many labels there will be. Words of the Brown corpus
from their neighbours (cloze) or from the two before (next), of the so many words that are most
frequent; languages by three letters in a row; which of 500 texts a sentence is from; templates and
systems of log lines; 20 newsgroups. The first 10,000 events of each, or with --whole those of
docs/measurements.md: 40,000, or what the stream has; of cloze 400,000 too.

labels         those that came
errors         answers that were wrong, in percent; the first, before any label is known, counts too
us             CPU time of this process to answer and learn an event, in microseconds
slowest        the most that an event took, in milliseconds of CPU time
file, memory   of the model at the end, in MB

Weights of many labels: MulticlassPerceptron, MIRA and AROW on templates of log lines, languages and
words from their neighbours.

Several labels: one MultiLabelClassifier beside a model a label, and beside peers. Answers are those
above a probability of 1/2, or of what is said.

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
import os
import random
import subprocess
import sys
import tempfile
from array import array
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from time import process_time

import numpy as np
from river import linear_model, optim

from benchmarks import common
from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    MultiLabelClassifier,
    merge,
)
from tests.support import streams

STREAMS = ("reuters_topics", "bibtex_tags")
SLOW = 2_000  # so many events are enough of what takes long
SHORT = 10_000  # events of many labels, unless all are asked for

# --- Many labels: their streams


def neighbours(sentence, at):
    """The two words before and after, pairs of them, last letters, and how long the sentence is."""
    p, q, n, o = ((sentence[k] if 0 <= k < len(sentence) else "") for k in near(at))
    return {
        f"p {p}": 1,
        f"q {q}": 1,
        f"n {n}": 1,
        f"o {o}": 1,
        f"pn {p} {n}": 1,
        f"pq {p} {q}": 1,
        f"no {n} {o}": 1,
        f"P {p[-3:]}": 1,
        f"N {n[-3:]}": 1,
        f"L {len(sentence) // 3}": 1,
    }


def near(at):
    return at - 1, at - 2, at + 1, at + 2


def before(sentence, at):
    """The two words before, and their pair."""
    p, q = ((sentence[k] if k >= 0 else "") for k in near(at)[:2])
    return {f"p {p}": 1, f"q {q}": 1, f"pq {p} {q}": 1}


@cache
def sentences_of_brown():
    """The sentences, and how often each word is met in them."""
    sentences = [text.split() for text, _ in streams.labelled_texts("brown")]
    return sentences, Counter(word for sentence in sentences for word in sentence)


def brown(features, most):
    """(features of a word's place, the word), of the `most` frequent words."""
    sentences, words = sentences_of_brown()
    frequent = {word for word, _ in words.most_common(most)}
    for sentence in sentences:
        for at, word in enumerate(sentence):
            if word in frequent:
                yield features(sentence, at), word


def threes(text):
    """Each three letters in a row."""
    return {text[k : k + 3]: 1 for k in range(max(len(text) - 2, 1))}


def texts(name, split=lambda text: dict.fromkeys(text.split(), 1)):
    for text, label in streams.labelled_texts(name):
        yield split(text), label


def shuffled(stream):
    """The events of a stream whose labels come one after the other."""
    stream = list(stream)
    random.Random(1).shuffle(stream)
    return stream


def many_streams(whole):
    """{name: (events, how many of them)}."""
    n = 40_000 if whole else SHORT
    found = {}
    for most in (100, 1_000, 5_000, 20_000):
        found[f"cloze, {most:,} words"] = lambda most=most: brown(neighbours, most), n
    for most in (100, 1_000, 5_000, 20_000):
        found[f"next, {most:,} words"] = lambda most=most: brown(before, most), n
    found["language"] = lambda: texts("udhr2", threes), n
    found["which text"] = lambda: shuffled(texts("brown")), 10**6 if whole else n
    found["log templates"] = lambda: texts("loghub_templates"), n
    found["20 newsgroups"] = lambda: common.text_events("20news_train"), 5_000
    found["log systems"] = lambda: common.text_events("loghub_system"), 8_000
    if whole:
        found["cloze, 20,000 words, long"] = lambda: brown(neighbours, 20_000), 400_000
    return found


# --- Many labels: who learns them


class NaiveBayes:
    """Multinomial naive Bayes: an event goes through what its features have met, and once through
    all labels."""

    def __init__(self, alpha=0.1):
        self.alpha = alpha
        self.labels = {}
        self.names = []
        self.n_events = np.zeros(64)  # by label
        self.n_words = np.zeros(64)
        self.features = {}  # {feature: ({label: place}, labels, counts)}

    def predict_one(self, x):
        K = len(self.labels)
        if not K:
            return None
        sums = self.n_words[:K] + self.alpha * max(len(self.features), 1)
        scores = np.log(self.n_events[:K]) - len(x) * np.log(sums)
        for feature in x:
            if feature in self.features:
                _, labels, counts = self.features[feature]
                # of those without a count log alpha, which all have
                scores[np.frombuffer(labels, np.int32)] += np.log1p(
                    np.frombuffer(counts, np.float64) / self.alpha
                )
        return self.names[int(scores.argmax())]

    def learn_one(self, x, y):
        k = self.labels.setdefault(y, len(self.labels))
        if k == len(self.names):
            self.names.append(y)
            if k == len(self.n_events):
                self.n_events = np.pad(self.n_events, (0, k))
                self.n_words = np.pad(self.n_words, (0, k))
        self.n_events[k] += 1
        self.n_words[k] += len(x)
        for feature in x:
            if feature not in self.features:
                self.features[feature] = {}, array("i"), array("d")
            places, labels, counts = self.features[feature]
            place = places.setdefault(k, len(labels))
            if place == len(labels):
                labels.append(k)
                counts.append(0.0)
            counts[place] += 1


def passed(model, stream):
    """Errors in percent, microseconds an event and milliseconds of the slowest."""
    n = wrong = spent = slowest = 0
    for x, y in stream:
        start = process_time()
        answer = model.predict_one(x)
        model.learn_one(x, y)
        took = process_time() - start
        n += 1
        wrong += answer != y
        spent += took
        slowest = max(slowest, took)
    return 100 * wrong / n, 1e6 * spent / n, 1e3 * slowest


def file_size(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        return path.stat().st_size


def vowpal_words(x):
    signs = str.maketrans(": |", "___")
    return " ".join(word.translate(signs) for word in x)


def one_of_many(stream):
    """Vowpal Wabbit's errors in percent and microseconds an event, its start included."""
    stream = list(stream)
    number = {y: k for k, y in enumerate(dict.fromkeys(y for _, y in stream), 1)}
    with tempfile.TemporaryDirectory() as folder:
        lines, answers = Path(folder, "lines"), Path(folder, "answers")
        with lines.open("w") as file:
            for x, y in stream:
                print(number[y], "|", vowpal_words(x), file=file)
        options = ["--oaa", str(len(number)), "-b", "24", "--quiet", "-p", answers, "-d", lines]
        spent = run([*common.vowpal_wabbit(), *options])
        with answers.open() as file:
            right = sum(float(a) == number[y] for a, (_, y) in zip(file, stream, strict=True))
    return 100 - 100 * right / len(stream), 1e6 * spent / len(stream)


def run(command):
    """The CPU time of a command."""
    start = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    end = os.times()
    return end.children_user + end.children_system - start.children_user - start.children_system


def many(whole, quick):
    """Print the table of many labels."""
    vw = bool(common.vowpal_wabbit())
    print(f"\n{'':26}           AdaptiveClassifier                      naive Bayes", end="")
    print("     Vowpal Wabbit" if vw else "     (Vowpal Wabbit is not on this machine)")
    print(f"{'':26}  events  labels  errors    us  slowest  file  memory  errors    us", end="")
    print("  errors    us" if vw else "")
    for name, (stream, n) in many_streams(whole).items():
        n = 200 if quick else n
        model, peer = AdaptiveClassifier(), NaiveBayes()
        errors, us, slowest = passed(model, islice(stream(), n))
        print(
            f"{name:26}  {model.n_seen:6}  {len(model.labels):6}  {errors:6.2f}  {us:4.0f}  "
            f"{slowest:7.1f}  {file_size(model) / 1e6:4.1f}  {model.memory_usage / 1e6:6.1f}",
            end="",
        )
        if model.n_seen <= 100_000:
            errors, us, _ = passed(peer, islice(stream(), n))
            print(f"  {errors:6.2f}  {us:4.0f}", end="")
            if vw:
                errors, us = one_of_many(islice(stream(), n))
                print(f"  {errors:6.2f}  {us:4.0f}", end="")
        print(flush=True)


# --- Many labels: learners with a weight for each feature and label


def weights(quick):
    """Print the table of these."""
    found = {
        "log templates": (lambda: texts("loghub_templates"), 32_000),
        "language": (lambda: texts("udhr2", threes), 8_000),
        "cloze, 1,000 words": (lambda: brown(neighbours, 1_000), 10_000),
    }
    print(f"\n{'':42}  events  labels  errors    us  slowest  file  memory")
    for name, (stream, n) in found.items():
        for cls in (MulticlassPerceptron, MIRA, AROW):
            model = cls()
            errors, us, slowest = passed(model, islice(stream(), 200 if quick else n))
            print(
                f"{name:18}  {cls.__name__:22}  {model.n_seen:6}  {len(model.labels):6}  "
                f"{errors:6.2f}  {us:4.0f}  {slowest:7.1f}  {file_size(model) / 1e6:4.1f}  "
                f"{model.memory_usage / 1e6:6.1f}",
                flush=True,
            )


# --- Several labels


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
        options = ["--multilabel_oaa", str(len(number)), "--loss_function", loss, "-b", "22"]
        options += ["--quiet", "-p", answers, "-d", lines]
        spent = run([*common.vowpal_wabbit(), *options])
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
    if common.vowpal_wabbit():
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


def several(quick):
    """Print the tables of several labels."""
    for name in STREAMS:
        labels = {label for _, there in events(name) for label in there}
        print(f"\n{name}: {len(labels)} labels")
        print(f"{'':32}  events  micro  macro  Hamming  exact  LRAP      us    MB")
        for learner, (grades, us, mb) in rows(name, quick):
            n = grades.n
            print(f"{learner:32}  {n:6}  {grades.row(len(labels))}  {us:6.0f}  {mb:4.0f}")
            sys.stdout.flush()
        print("\nlearned apart")
        for how, grades in rows_apart(name, quick):
            print(f"{how:32}  {grades.n:6}  {grades.row(len(labels))}")


def main(argv):
    parser = common.parser(__doc__)
    parser.add_argument("--whole", action="store_true", help="of many labels: all events")
    parser.add_argument("--part", choices=("many", "weights", "several"), help="only these")
    args = parser.parse_args(argv)
    common.header(args, f"Brown and others for many labels; {', '.join(STREAMS)}")
    common.need_data()
    if args.part in (None, "many"):
        many(args.whole, args.quick)
    if args.part in (None, "weights"):
        weights(args.quick)
    if args.part in (None, "several"):
        several(args.quick)


if __name__ == "__main__":
    main(sys.argv[1:])
