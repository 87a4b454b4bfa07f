"""The operations on MultiLabelClassifier, whose events have several labels; see operations.py."""

import copy
import math
import typing
from pathlib import Path

import numpy as np

import streamptron
from streamptron import MultiLabelClassifier, Step
from tests.support.operations_on_labels import MAPPINGS, Pair, rows_of
from tests.support.streams import KEYS, VALUES, make_key
from tests.twin import labels, merge, undo

NAN = float("nan")
# of operations, as often as they are drawn
NAMES = (
    *("learn", "learn", "learn_undoably", "learn_undoably", "take_back", "take_back", "both"),
    *("ask", "explain", "learn_later", "learn_sets", "ask_sets", "weights", "merged", "bad"),
    *("pickle", "deepcopy", "copy", "clone", "state", "file", "mapped"),
)
LABELS = ("crude", "ship", 7, ("baked", "beans"), "grain", "corn", True)


class Twin(labels.MultiLabelClassifier):
    """The twin as the random calls ask it."""

    def __init__(self, threshold=0.5, **params):
        super().__init__(**params)
        self.threshold = threshold

    def above(self, label):
        if self.threshold == "f1":
            return self.best_threshold()
        if isinstance(self.threshold, dict):
            return self.threshold.get(label, 0.5)
        return self.threshold

    def predict_one(self, x):
        return {y: p > self.above(y) for y, p in self.probabilities(x).items()}


class SetPair(Pair):
    """A model and its twin; each method is an operation on both."""

    BAD: typing.ClassVar = {
        "NaN": lambda model: model.learn_one({"word1": 1, "word2": NAN}, ["crude"]),
        "a label as a set": lambda model: model.learn_one({"new": 1}, "crude"),
        "a label twice": lambda model: model.learn_one({"new": 1}, ["new", "new"], undo=True),
        "no truth": lambda model: model.learn_one({"new": 1}, {"crude": 2}),
        "a weight below 0": lambda model: model.test_then_train_one({"new": 1}, ["new"], -1.0),
        "a weight of NaN": lambda model: model.learn_one({"new": 1}, ["new"], NAN, undo=True),
        "too few sets": lambda model: model.learn_many(np.ones((2, 2)), [["new"]]),
        "a bad set in a batch": lambda model: model.learn_many(np.ones((2, 2)), [["new"], "new"]),
        "no indicators": lambda model: model.learn_many(np.ones((1, 1)), np.array([[2]])),
        "no step": lambda model: model.undo(b"st"),
    }

    def __init__(self, rule, params, folder):
        self.model = MultiLabelClassifier(**params, hash_seed=0)
        self.twin = Twin(**params)
        self.path = Path(folder, "model")
        self.steps = []

    def counts(self):
        model, twin = self.model, self.twin
        counts = (model.n_seen, model.n_updates, model.n_mistakes, model.n_features)
        assert counts == (twin.n_seen, twin.n_updates, twin.n_mistakes, len(twin.slots))
        assert model.n_evicted == twin.ceiling.n_evicted
        assert (model.labels, model.best_threshold) == (twin.labels, twin.best_threshold())

    def answers(self, x, model=None):
        model = model or self.model
        assert model.decision_function_one(x) == self.twin.decision_function_one(x)
        assert model.predict_proba_one(x) == self.twin.predict_proba_one(x)
        assert model.predict_one(x) == self.twin.predict_one(x)

    def weights(self):
        twin = self.twin
        assert self.model.intercept_ == {y: twin.kept[k].w0 for y, k in twin.place.items()}
        for y, row in self.model.weights.items():
            kept = {j: slot.row.get(twin.place[y]) for j, slot in twin.slots.items()}
            assert row == {j: entry.w for j, entry in kept.items() if entry and entry.w != 0}

    def mapped(self, x):
        self.model.save(self.path)
        self.answers(x, streamptron.load(self.path, mmap=True))

    def explain(self, mapping, x):
        for label in self.twin.labels:
            parts = self.model.explain_one(MAPPINGS[mapping](x), label)
            assert dict(parts).keys() <= {None, *x}
            score = self.twin.decision_function_one(x)[label]
            size = math.fsum(abs(part) for _, part in parts)
            assert abs(math.fsum(part for _, part in parts) - score) <= 1e-9 * max(1.0, size)

    # Steps, taken back in any order; tickets

    def learn_undoably(self, mapping, x, y, w):
        step = self.model.learn_one(MAPPINGS[mapping](x), y, w, undo=True)
        self.steps.append((step, undo.learn(self.twin, x, y, w)))

    def take_back(self, at):
        if self.steps:
            mine, its = self.steps.pop(int(at * len(self.steps)))
            self.model.undo(Step.from_bytes(bytes(mine)))
            undo.undo(self.twin, its)

    def learn_later(self, mapping, x, y, w):
        ticket = self.model.predict_ticket(MAPPINGS[mapping](x))
        answer = self.twin.predict_one(x)
        assert ticket.prediction == tuple(label for label in answer if answer[label])
        self.model.learn_ticket(bytes(ticket), y, w)
        self.twin.learn_one(x, y, w)

    # Batches

    def learn_sets(self, kind, dense, ys, ws):
        X, events = rows_of(kind, dense)
        self.model.learn_many(X, ys, w=ws)
        for x, y, w in zip(events, ys, ws, strict=True):
            self.twin.learn_one(x, y, w)

    def ask_sets(self, kind, dense):
        X, events = rows_of(kind, dense)
        found = self.model.predict_many(X)
        assert found.tolist() == [list(self.twin.predict_one(x).values()) for x in events]

    # Shards, which know no steps once they are one

    def merged(self, events):
        base, its = self.model, self.twin
        shards = [copy.deepcopy(base) for _ in range(2)]
        others = [copy.deepcopy(its) for _ in range(2)]
        for at, (x, y, w) in enumerate(events):
            shards[at % 2].learn_one(x, y, w)
            others[at % 2].learn_one(x, y, w)
        self.model = streamptron.merge(shards, since=base)
        self.twin = merge.merge(others, since=its)
        if len(events) > 0:
            self.steps = []


def drawn(rng, apart, number):
    """A case of two sources of random numbers, and a number that chooses the kind of values."""
    params = {
        "eta": rng.choice((1.0, 0.3, 5.0)),
        "forget": rng.choice((2**-10, 0.0, 0.5)),
        "threshold": rng.choice((0.5, 0.3, "f1", {"crude": 0.2})),
        "max_features": apart.choice((None, None, 3, 20, 100)),
    }
    keys = rng.choice([kind for kind in KEYS if kind != "object"])
    values = VALUES[("small", "real", "measured", "wild")[number % 4]]
    n_names = rng.choice((5, 40, 400))
    known = LABELS[: rng.choice((1, 3, 7))]

    def event():
        size = rng.choice((0, 1, 3, 8, 30))
        return {make_key(keys, rng.randrange(n_names)): values(rng) for _ in range(size)}

    def told():
        there = [y for y in known if rng.random() < 0.3]
        if rng.random() < 0.6:
            return there
        return {y: y in there for y in known if y in there or rng.random() < 0.5}

    def weight():
        return rng.choice((1.0, 1.0, 0.5, 2.0, 0.0, 3e5))

    def dense(n, n_columns):
        return [
            [float(values(rng)) * (rng.random() < 0.5) for _ in range(n_columns)] for _ in range(n)
        ]

    def operation():
        name = rng.choice(NAMES)
        if name in ("learn", "both", "learn_undoably", "learn_later"):
            return name, rng.choice(list(MAPPINGS)), event(), told(), weight()
        if name in ("ask", "explain"):
            return name, rng.choice(list(MAPPINGS)), event()
        if name == "take_back":
            return name, rng.random()
        if name == "mapped":
            return name, event()
        if name == "merged":
            return name, [(event(), told(), weight()) for _ in range(rng.choice((0, 3, 10)))]
        if name == "bad":
            return name, rng.choice(list(SetPair.BAD))
        n, n_columns = rng.choice((1, 7, 20)), rng.choice((1, 3, 12))
        kinds = ["array", "Fortran", "strided", "csr", "csc"]
        if name == "learn_sets":
            rows = [told() for _ in range(n)], [weight() for _ in range(n)]
            return name, rng.choice(kinds), dense(n, n_columns), *rows
        if name == "ask_sets":
            return name, rng.choice(kinds), dense(n, n_columns)
        return (name,)

    return "MultiLabelClassifier", params, [operation() for _ in range(rng.choice((3, 10, 30)))]
