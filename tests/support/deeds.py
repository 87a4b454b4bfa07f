"""Models of every kind and form, and the deeds that each can be put through.

A deed takes a Case, does one thing to its model, and may leave another model in its place: a copy,
a file that was read, a merge. Whatever came before, the model is in good order after it: `sound`.
"""

import copy
import math
import pickle
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import pytest

import streamptron
from streamptron import Delta, load, merge
from tests.support.operations import MEMORY

NAMES = tuple(f"w{i}" for i in range(12))
COLUMNS = ("d", "e", "f")

# Each form of each kind of learner: its class, its parameters, and how many labels its stream has.
KINDS = {
    "two labels": ("Perceptron", {"average": "uniform", "pocket": True}, 2),
    "fours": ("MulticlassPerceptron", {"average": "exponential", "half_life": 5}, 6),
    "rows": ("MulticlassPerceptron", {"average": "uniform", "pocket": True}, 40),
    "margins": ("MIRA", {}, 5),
    "rows of margins": ("MIRA", {}, 40),
    "variances": ("AROW", {}, 2),
    "rows of variances": ("AROW", {}, 40),
    "adaptive": ("AdaptiveClassifier", {}, 2),
    "adaptive, labels": ("AdaptiveClassifier", {}, 5),
    "adaptive, rows": ("AdaptiveClassifier", {"shape": "line"}, 40),
    "watching": ("AdaptiveClassifier", {"forget": "auto"}, 4),
    "alarms": ("AdaptiveClassifier", {"false_positive_rate": {"L1": 0.1}}, 3),
    "votes": ("VotedPerceptron", {"budget": 20}, 3),
    "kernel": ("VotedPerceptron", {"degree": 2}, 3),
    "candidates": ("RankingPerceptron", {}, 0),
    "sets": ("MultiLabelClassifier", {}, 4),
    "rows of sets": ("MultiLabelClassifier", {"threshold": "f1"}, 40),
}
NAMED = {
    "exact": {},
    "hashed": {"hash_bits": 3},  # most names share a place
    "ceiling": {"max_features": 9},
}
UNDOES = (
    "Perceptron",
    "MulticlassPerceptron",
    "MIRA",
    "AdaptiveClassifier",
    "MultiLabelClassifier",
)
WEIGHTS = (1.0, 1.0, 1.0, 0.5, 1e9, 1e-9)


FORMS = [
    pytest.param(kind, named, id=f"{kind}, {named}")
    for kind in KINDS
    for named in NAMED
    if not (KINDS[kind][0] == "VotedPerceptron" and named == "ceiling")
]


class Case:
    """A model, the stream that it learns from, and the steps of it that may be taken back."""

    def __init__(self, kind, named, seed, n=40):
        self.learner, params, self.n_labels = KINDS[kind]
        self.rng = Random(seed)
        self.model = getattr(streamptron, self.learner)(hash_seed=1, **params, **NAMED[named])
        self.steps = []
        for _ in range(n):
            self.learn()

    @property
    def undoes(self):
        return self.learner in UNDOES

    def features(self):
        rng = self.rng
        x = {name: rng.choice((1, 1, 2, 0.5)) for name in rng.sample(NAMES, rng.randrange(4))}
        x |= {name: rng.gauss(3, 2) for name in rng.sample(COLUMNS, rng.randrange(4))}
        return x

    def event(self):
        if self.learner == "RankingPerceptron":
            return [self.features() for _ in range(3)]
        return self.features()

    def label(self):
        rng = self.rng
        if self.learner == "RankingPerceptron":
            return rng.randrange(3)
        if self.learner == "Perceptron":
            return rng.random() < 0.5
        if self.learner == "MultiLabelClassifier":
            return {f"L{i}" for i in rng.sample(range(self.n_labels), rng.randrange(3))}
        return f"L{rng.randrange(self.n_labels)}"

    def learn(self, model=None):
        """One event; the step is kept if it can be taken back."""
        model = self.model if model is None else model
        x, y, w = self.event(), self.label(), self.rng.choice(WEIGHTS)
        if self.undoes and self.rng.random() < 0.5:
            step = model.learn_one(x, y, w, undo=True)
            if model is self.model:
                self.steps.append(step)
        else:
            model.learn_one(x, y, w)

    def shards(self, n=3, mapped=False):
        """Copies of the model, or the model as a file that is used where it lies."""
        if mapped:
            return [in_place(self.model) for _ in range(n)]
        return [copy.deepcopy(self.model) for _ in range(n)]


def written(model):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "model")
        model.save(path)
        return load(path)


def in_place(model):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder, "model")
        model.save(path)
        return load(path, mmap=True)


def answers(model, events):
    if isinstance(model, streamptron.RankingPerceptron):
        return [model.decision_function_one(x) for x in events]
    if isinstance(model, streamptron.VotedPerceptron):
        return [model.decision_function_one(x) for x in events]
    return [model.predict_proba_one(x) for x in events]


def numbers(found):
    """All numbers in an answer, whatever holds them."""
    if isinstance(found, dict):
        found = found.values()
    if isinstance(found, (list, tuple)) or hasattr(found, "__iter__"):
        return [number for part in found for number in numbers(part)]
    return [found]


def state(model):
    found = model.__getstate__()
    found.pop("y_name", None)
    return found


def same(one, other):
    return pickle.dumps(state(one)) == pickle.dumps(state(other))


def sound(case, model=None):
    """The model answers with numbers, and a file of it is read and answers alike."""
    model = case.model if model is None else model
    model._check()
    events = [case.event() for _ in range(3)]
    found = answers(model, events)
    assert all(math.isfinite(number) for number in numbers(found)), found
    again = written(model)
    assert answers(again, events) == found
    if case.learner != "VotedPerceptron":
        assert answers(in_place(model), events) == found


# --- Deeds


def learn(case):
    for _ in range(6):
        case.learn()


def learn_many(case):
    """As learn_one, row by row."""
    if case.learner == "RankingPerceptron":
        return
    names = [*NAMES[:6], *COLUMNS]
    X = np.array([[case.rng.gauss(1, 1) for _ in names] for _ in range(4)])
    y = [case.label() for _ in range(4)]
    one = copy.deepcopy(case.model)
    case.model.learn_many(X, y, feature_names=names)
    for row, label in zip(X.tolist(), y, strict=True):
        one.learn_one(dict(zip(names, row, strict=True)), label)
    events = [case.event() for _ in range(3)]
    assert answers(one, events) == answers(case.model, events)


def new_label(case):
    case.n_labels += 1 if case.learner != "Perceptron" else 0
    learn(case)


def undo(case):
    """The last step, at once."""
    if case.undoes:
        case.model.undo(case.model.learn_one(case.event(), case.label(), undo=True))


def undo_late(case):
    """Earlier steps, in an order of their own."""
    case.rng.shuffle(case.steps)
    for _ in range(min(len(case.steps), 3)):
        case.model.undo(case.steps.pop())


def copied(case):
    before = case.model
    case.model = copy.deepcopy(before)
    assert same(before, case.model)


def pickled(case):
    before = case.model
    case.model = pickle.loads(pickle.dumps(before))
    assert same(before, case.model)


def saved(case):
    before = case.model
    case.model = written(before)
    assert same(before, case.model)


def explained(case):
    """All that is asked of a model, in memory and where its file lies."""
    models = [case.model]
    if case.learner != "VotedPerceptron":
        models.append(in_place(case.model))
    for model in models:
        if case.learner == "VotedPerceptron" and model.degree > 1:
            continue
        x = case.features()
        if case.learner != "RankingPerceptron" and model._known_labels:
            model.explain_one(x)
            model.debug_one(x)
        model.top_features()
        if case.learner != "RankingPerceptron":
            assert all(math.isfinite(number) for number in numbers(model.intercept_))


def merged(case, undone=False, mapped=False):
    """Shards of one base, each of which has learned something, become one."""
    if case.learner == "VotedPerceptron":
        return
    base = case.model
    shards = case.shards()
    taken = [case.steps.pop() for _ in range(min(len(case.steps), 2))] if undone else []
    for shard in shards:
        for step in taken:
            shard.undo(step)
        for _ in range(3):
            case.learn(shard)
    if mapped:
        base, shards = in_place(base), [in_place(shard) for shard in shards]
    one = merge(shards, since=base)
    deltas = [shard.delta(base, shard=i) for i, shard in enumerate(shards)]
    other = copy.deepcopy(case.model)
    other.apply(Delta.combine([Delta.from_bytes(delta.to_bytes()) for delta in deltas]))
    events = [case.event() for _ in range(3)]
    assert answers(one, events) == answers(other, events)
    case.model, case.steps = one, []


def merged_undone(case):
    merged(case, undone=True)


def merged_in_place(case):
    merged(case, mapped=True)


def mean(case):
    """Models without a base in common."""
    if case.learner == "VotedPerceptron":
        return
    shards = case.shards(2)
    for shard in shards:
        case.learn(shard)
    case.model, case.steps = merge(shards), []


DEEDS = {
    deed.__name__: deed
    for deed in (
        *(learn, learn_many, new_label, undo, undo_late, copied, pickled, saved, explained),
        *(merged, merged_undone, merged_in_place, mean),
    )
}
