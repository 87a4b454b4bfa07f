"""The operations on learners of labels, VotedPerceptron apart at the end; see operations.py."""

import copy
import pickle
import random
import typing
from collections import ChainMap, Counter, OrderedDict
from math import fsum
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamptron
from streamptron import Tokenizer
from tests.support.streams import KEYS, VALUES, make_key
from tests.support.texts import random_parameters, random_text
from tests.support.twins import (
    KEPT,
    RULES,
    check_answers,
    check_counts,
    check_explanation,
    check_weights,
    labels_for,
    twins,
)
from tests.twin import voted
from tests.twin.text import features

MAPPINGS = {
    "dict": dict,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "proxy": MappingProxyType,
    "ChainMap": ChainMap,
}


def unsorted_csr(dense):
    """Each row's entries from the last to the first."""
    X = sp.csr_array(dense)
    for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[first:last] = X.indices[first:last][::-1].copy()
        X.data[first:last] = X.data[first:last][::-1].copy()
    X.has_sorted_indices = False
    return X


def repeated_coo(dense):
    """Every entry in two halves."""
    X = sp.coo_array(dense)
    coords = [np.concatenate((axis, axis)) for axis in X.coords]
    return sp.coo_array((np.concatenate((X.data / 2, X.data / 2)), coords), shape=dense.shape)


MATRICES = {
    "array": np.array,
    "Fortran": np.asfortranarray,
    "float32": lambda dense: dense.astype("f4"),
    "bool": lambda dense: dense != 0,
    "strided": lambda dense: np.repeat(dense, 2, axis=1)[:, ::2],
    "csr": sp.csr_array,
    "csr, int64": lambda dense: sp.csr_array(sp.coo_array(dense.astype("i8"))),
    "unsorted csr": unsorted_csr,
    "coo in parts": repeated_coo,
    "csc": sp.csc_array,
    "frame": pd.DataFrame,
}


def rows_of(kind, dense):
    """A matrix, and its rows as dicts."""
    X = MATRICES[kind](np.array(dense))
    values = X.toarray() if sp.issparse(X) else np.asarray(X)
    return X, [{j: v for j, v in enumerate(row) if v} for row in values.astype(float).tolist()]


def said(predictions):
    """As a list; pandas may make a NaN of None among texts."""
    return [None if label != label else label for label in predictions.tolist()]


def bad_csr():
    X = sp.csr_array(np.ones((3, 4)))
    X.indices[-1] = 1000
    return X


NAN, INF = float("nan"), float("inf")
BAD = {
    "NaN": lambda model: model.learn_one({"word1": 1, "word2": NAN}, True),
    "infinity": lambda model: model.learn_one({"word1": 1, "word2": -INF}, True),
    "a value beyond the limit": lambda model: model.learn_one({"word1": 1e51}, True),
    "bytes": lambda model: model.learn_one({"word1": 1, "new": b"x"}, True),
    "a text as a value": lambda model: model.learn_one(ChainMap({"new": 1, "b": "7"}), True),
    "a list": lambda model: model.learn_one(["word1"], True),
    "no label": lambda model: model.learn_one({"new": 1}, None),
    "a label without a hash": lambda model: model.learn_one({"new": 1}, []),
    "a negative weight": lambda model: model.learn_one({"new": 1}, True, -1.0),
    "a weight of NaN": lambda model: model.test_then_train_one({"new": 1}, True, NAN),
    "a question with NaN": lambda model: model.predict_proba_one({"word1": NAN}),
    "NaN in a row": lambda model: model.learn_many(np.array([[1, 2], [1, NAN]]), [True, False]),
    "NaN in a row of a question": lambda model: model.predict_many(np.array([[1, NAN]])),
    "too few labels": lambda model: model.learn_many(np.ones((3, 2)), [True]),
    "a bad label in a batch": lambda model: model.learn_many(np.ones((2, 2)), [True, None]),
    "a bad weight in a batch": lambda model: model.learn_many(
        np.ones((2, 2)), [True, False], w=[1.0, -1.0]
    ),
    "too few names": lambda model: model.learn_many(np.ones((1, 2)), [True], feature_names=["new"]),
    "a column that is not there": lambda model: model.learn_many(bad_csr(), [True, False, True]),
    "texts and too few labels": lambda model: model.learn_many(
        Tokenizer().transform_many(["new", "newer"]), [True]
    ),
}


class Pair:
    """A model and its twin; each method is an operation on both."""

    def __init__(self, rule, params, folder):
        self.model, self.twin = twins(rule, **params)
        self.path = Path(folder, "model")

    # How the two are compared

    def counts(self):
        check_counts(self.model, self.twin)

    def answers(self, x):
        check_answers(self.model, self.twin, x)

    def weights(self):
        check_weights(self.model, self.twin)

    # Events

    def learn(self, mapping, x, y, w):
        self.model.learn_one(MAPPINGS[mapping](x), y, w)
        self.twin.learn_one(x, y, w)

    def both(self, mapping, x, y, w):
        assert self.model.test_then_train_one(MAPPINGS[mapping](x), y, w) == self.twin.predict_one(
            x
        )
        self.twin.learn_one(x, y, w)

    def ask(self, mapping, x):
        self.answers(MAPPINGS[mapping](x))

    def explain(self, mapping, x):
        if self.twin.labels:
            check_explanation(self.model, self.twin, MAPPINGS[mapping](x))

    def learn_text(self, text, params, y, w):
        self.model.learn_one(Tokenizer(**params).transform_one(text), y, w)
        self.twin.learn_one(features(text, **params), y, w)

    def ask_text(self, text, params):
        x = features(text, **params)
        event = Tokenizer(**params).transform_one(text)
        assert self.model.predict_one(event) == self.twin.predict_one(x)
        self.answers(x)

    # Batches

    def _learn_rows(self, X, events, ys, ws, asked, **names):
        self.rows = list(zip(events, ys, ws, strict=True))
        if asked:
            predictions = said(self.model.test_then_train_many(X, ys, w=ws, **names))
        else:
            self.model.learn_many(X, ys, w=ws, **names)
        for i, (x, y, w) in enumerate(self.rows):
            if asked:
                assert predictions[i] == self.twin.predict_one(x)
            self.twin.learn_one(x, y, w)

    def learn_first(self, n):
        """What the model has learned of a batch that ran out of memory after n rows."""
        for x, y, w in self.rows[:n]:
            self.twin.learn_one(x, y, w)

    def learn_rows(self, kind, dense, ys, ws, asked):
        self._learn_rows(*rows_of(kind, dense), ys, ws, asked)

    def learn_named_rows(self, kind, names, dense, ys, ws, asked):
        X, events = rows_of(kind, dense)
        events = [{names[j]: v for j, v in x.items()} for x in events]
        self._learn_rows(X, events, ys, ws, asked, feature_names=names)

    def ask_rows(self, kind, dense):
        X, events = rows_of(kind, dense)
        assert said(self.model.predict_many(X)) == [self.twin.predict_one(x) for x in events]

    def learn_texts(self, texts, params, ys, ws, asked):
        rows = Tokenizer(**params).transform_many(texts)
        self._learn_rows(rows, [features(text, **params) for text in texts], ys, ws, asked)

    # The model as a whole

    def pickle(self):
        self.model = pickle.loads(pickle.dumps(self.model))

    def deepcopy(self):
        self.model = copy.deepcopy(self.model)

    def copy(self):
        self.model = copy.copy(self.model)

    def clone(self):
        self.model = self.model.clone(include_attributes=True)

    def file(self):
        self.model.save(self.path)
        self.model = streamptron.load(self.path)

    def mapped(self, x):
        self.model.save(self.path)
        check_answers(streamptron.load(self.path, mmap=True), self.twin, x)

    def state(self):
        self.model.__setstate__(copy.deepcopy(self.model).__getstate__())

    # What must be refused

    BAD: typing.ClassVar = BAD

    def bad(self, which):
        before = pickle.dumps(self.model)
        try:
            self.BAD[which](self.model)
        except (TypeError, ValueError):
            pass
        else:
            raise AssertionError(f"{which} was not refused")
        assert pickle.dumps(self.model) == before, f"{which} has changed the model"


class VotedPair(Pair):
    """VotedPerceptron, whose twin says less."""

    def __init__(self, rule, params, folder):
        self.model = streamptron.VotedPerceptron(**params, hash_seed=0)
        self.twin = voted.VotedPerceptron(**params)
        self.path = Path(folder, "model")

    def counts(self):
        model, twin = self.model, self.twin
        assert (model.n_seen, model.n_updates, model.n_mistakes) == (
            *(twin.n_seen, twin.n_updates, twin.n_mistakes),
        )
        assert (model.n_kept, model.labels) == (len(twin.kept), twin.labels)

    def answers(self, x):
        assert self.model.predict_one(x) == self.twin.predict_one(x)
        assert self.model.decision_function_one(x) == self.twin.decision_function_one(x)
        assert self.model.predict_proba_one(x) == pytest.approx(
            self.twin.predict_proba_one(x), rel=1e-9
        )

    def weights(self):
        if self.twin.degree > 1:
            with pytest.raises(ValueError, match="a kernel has no weights"):
                _ = self.model.weights
            return
        weights, intercepts = {}, {}
        for output, perceptron in self.twin.outputs.items():
            vector = perceptron.vectors[-1][1]
            weights[output] = {
                name: w for name, w in vector.items() if w and name is not voted.INTERCEPT
            }
            intercepts[output] = vector.get(voted.INTERCEPT, 0.0)
        if self.twin.two:
            weights, intercepts = weights[True], intercepts[True]
        assert (self.model.weights, self.model.intercept_) == (weights, intercepts)

    def explain(self, mapping, x):
        if len(self.twin.labels) < 2 or self.twin.degree > 1:
            return
        score = self.twin.decision_function_one(x)
        score = score[self.twin.predict_one(x)] if isinstance(score, dict) else score
        parts = self.model.explain_one(MAPPINGS[mapping](x))
        assert fsum(part for _, part in parts) == pytest.approx(score, abs=1e-9)

    def mapped(self, x):
        self.model.save(self.path)
        with pytest.raises(streamptron.ModelFileError, match="cannot be used in place"):
            streamptron.load(self.path, mmap=True)


def drawn(rng, apart, votes=False, numbers=None):
    """A case of two sources of random numbers, the second for the ceiling and for pairs.

    `votes`: one of VotedPerceptron, of whole numbers, whose sums are exact. Its twin is slow.
    `numbers`: of columns of numbers, whose values are these of VALUES.
    """
    rule = "VotedPerceptron" if votes else rng.choice(list(RULES))
    labels = labels_for(rule)[: rng.choice((2, 3, 6))]
    kept = KEPT[rng.choice(list(KEPT))]
    params = {
        **kept,
        "intercept": rng.random() < 0.7,
        "half_life": rng.choice((1, 20, 1000.5)),
        "class_weight": rng.choice((None, {labels[0]: 2.0, labels[1]: 0.5 if votes else 0.3})),
    }
    if votes:
        kept = {"average": "none"}
        params = {
            "degree": rng.choice((1, 1, 2, 3)),
            "budget": rng.choice((None, None, 1, 5, 40)),
            **{name: params[name] for name in ("intercept", "class_weight")},
        }
    if len(labels) > 2 and random.Random(f"{rule} {params}").random() < 0.2:
        labels = (*labels, *range(100, 140))  # beyond 32 a feature has a row
    # An exponential average agrees to rounding only, so nothing may be a tie: noise, and no texts.
    noisy = kept["average"] == "exponential"
    keys = rng.choice((*KEYS, "mixed"))
    in_a_file = keys not in ("object", "mixed")
    if in_a_file and not votes:  # a name that is a mere object has no place under a ceiling
        params["max_features"] = apart.choice((None, None, 3, 20, 100))
        params["degree"] = apart.choice((1, 1, 1, 1, 1, 1, 1, 2))  # whose twin is slow
    n_names = rng.choice((5, 40, 400))
    values = VALUES["real" if noisy else rng.choice([*VALUES][: 2 if votes else 3])]
    values = VALUES[numbers] if numbers else values
    whole_range = noisy or numbers == "wild"  # which neither float32 nor int64 holds

    def event():
        size = rng.choice((0, 1, 3, 8, 30))
        return {make_key(keys, rng.randrange(n_names)): values(rng) for _ in range(size)}

    # 300 columns have 45,000 pairs, with which the twin is busy for seconds
    most_columns = 12 if params.get("degree") == 2 and not votes else None

    def dense(n, n_columns):
        share = rng.choice((0.1, 0.5, 1.0))
        return [
            [float(values(rng)) if rng.random() < share else 0.0 for _ in range(n_columns)][
                :most_columns
            ]
            for _ in range(n)
        ]

    def text():
        some = [str(make_key("str", rng.randrange(n_names))) for _ in range(rng.choice((0, 2, 10)))]
        return " ".join([*some, random_text(rng, 5)])

    def label():
        return rng.choice(labels)

    def weight():
        return rng.choice((1.0, 1.0, 0.5, 2.0, 0.0))

    def labelled(n):
        return [label() for _ in range(n)], [weight() for _ in range(n)], rng.random() < 0.5

    def parameters():
        return {**random_parameters(rng), "fields": None}

    def matrix():
        return rng.choice(
            ["array", "Fortran", "strided", "csr", "csc"] if whole_range else [*MATRICES]
        )

    def batch():
        return rng.choice((1, 2, 7, 40)), rng.choice((1, 3, 12, 12 if votes else 300))

    def operation():
        names = ["learn", "learn", "both", "ask", "learn_rows", "learn_named_rows"]
        names += [
            "ask_rows",
            "weights",
            "pickle",
            "deepcopy",
            "copy",
            "clone",
            "state",
            "bad",
            "bad",
        ]
        names += [] if noisy else ["explain", "learn_text", "ask_text", "learn_texts"]
        names += ["file", "mapped"] if in_a_file else []
        name = rng.choice(names)
        mapping = rng.choice(list(MAPPINGS))
        n, n_columns = batch()
        if name in ("learn", "both"):
            return name, mapping, event(), label(), weight()
        if name in ("ask", "explain"):
            return name, mapping, event()
        if name == "learn_text":
            return name, text(), parameters(), label(), weight()
        if name == "ask_text":
            return name, text(), parameters()
        if name == "learn_rows":
            return name, matrix(), dense(n, n_columns), *labelled(n)
        if name == "learn_named_rows":
            columns = [make_key(keys, i) for i in rng.sample(range(400), n_columns)][:most_columns]
            return name, rng.choice(("array", "csr")), columns, dense(n, n_columns), *labelled(n)
        if name == "ask_rows":
            return name, matrix(), dense(n, n_columns)
        if name == "learn_texts":
            return name, [text() for _ in range(n)], parameters(), *labelled(n)
        if name == "mapped":
            return name, event()
        if name == "bad":
            return name, rng.choice(list(BAD))
        return (name,)

    return rule, params, [operation() for _ in range(rng.choice((3, 10, 30)))]
