"""The operations on RankingPerceptron; see operations.py."""

from itertools import accumulate
from math import fsum
from pathlib import Path

import numpy as np
import pytest

import streamptron
from streamptron import Tokenizer
from tests.support import candidates
from tests.support.candidates import RULES, check_answers, check_weights, twins
from tests.support.operations_on_labels import INF, MAPPINGS, MATRICES, NAN, Pair, rows_of
from tests.support.streams import KEYS, VALUES, make_key
from tests.support.texts import random_parameters, random_text
from tests.support.twins import KEPT
from tests.twin.text import features

TWO = {"a": {"word1": 1}, "b": {"word2": 1}}
BAD = {
    "NaN": lambda model: model.learn_one({**TWO, "c": {"word1": NAN}}, "a"),
    "a value beyond the limit": lambda model: model.learn_one([{"word1": 1}, {"new": -1e51}], 0),
    "bytes": lambda model: model.learn_one({**TWO, "c": {"new": b"x"}}, "a"),
    "a candidate that is a list": lambda model: model.learn_one([{"new": 1}, ["new"]], 0),
    "no candidates": lambda model: model.learn_one({}, "a"),
    "candidates that are a str": lambda model: model.learn_one("ab", 0),
    "an unknown id": lambda model: model.learn_one(TWO, "c"),
    "an id without a hash": lambda model: model.learn_one(TWO, []),
    "a place beyond the list": lambda model: model.learn_one([{"new": 1}] * 2, 2),
    "a negative weight": lambda model: model.learn_one(TWO, "a", -1.0),
    "a question with infinity": lambda model: model.rank_one([{"word1": INF}]),
    "NaN in a row": lambda model: model.learn_many([[1, 2], [1, NAN]], [0, 1], [1, 1]),
    "NaN among the grades": lambda model: model.learn_many(np.ones((2, 2)), [1, NAN], [1, 1]),
    "too few grades": lambda model: model.learn_many(np.ones((2, 2)), [1], [1, 1]),
    "a query that comes back": lambda model: model.learn_many(np.eye(3), [1, 2, 3], [1, 2, 1]),
    "a bad weight": lambda model: model.learn_many(np.eye(2), [1, 2], [1, 1], [1.0, -1.0]),
    "too few names": lambda model: model.learn_many(
        np.eye(2), [1, 2], [1, 1], feature_names=["new"]
    ),
    "NaN in rows to score": lambda model: model.decision_function_many([[1, NAN]]),
}


class CandidatePair(Pair):
    """RankingPerceptron and its twin. Candidates in a list have their places as ids."""

    BAD = BAD

    def __init__(self, rule, params, folder):
        self.model, self.twin = twins(rule.partition(" ")[2], **params)
        self.path = Path(folder, "model")

    def answers(self, candidates):
        check_answers(self.model, self.twin, candidates)

    def weights(self):
        check_weights(self.model, self.twin)

    # Choices

    def learn(self, mapping, candidates, chosen, w):
        given = {y: MAPPINGS[mapping](x) for y, x in candidates.items()}
        self.model.learn_one(given, chosen, w)
        self.twin.learn_one(candidates, chosen, w)

    def learn_list(self, candidates, chosen, w):
        place = list(candidates).index(chosen)
        self.model.learn_one(list(candidates.values()), place, w)
        self.twin.learn_one(dict(enumerate(candidates.values())), place, w)

    def ask(self, mapping, candidates):
        self.answers({y: MAPPINGS[mapping](x) for y, x in candidates.items()})

    def explain(self, mapping, candidates):
        if not candidates:
            return
        given = {y: MAPPINGS[mapping](x) for y, x in candidates.items()}
        scores = sorted(self.twin.decision_function_one(candidates).values(), reverse=True)
        lead = scores[0] - (scores[1] if len(scores) > 1 else 0.0)
        parts = self.model.explain_one(given)
        assert fsum(part for _, part in parts) == pytest.approx(lead, rel=1e-9, abs=1e-9)

    def learn_texts(self, texts, params, w):
        tokenizer = Tokenizer(**params)
        self.model.learn_one([tokenizer.transform_one(text) for text in texts], 0, w)
        self.twin.learn_one({i: features(text, **params) for i, text in enumerate(texts)}, 0, w)

    # Queries

    def learn_first(self, n):
        self.twin.learn_many(*self.rows, last=n)

    def _learn_graded(self, X, events, grades, qid, ws, **names):
        self.rows = events, grades, qid, ws
        self.model.learn_many(X, grades, qid, ws, **names)
        self.twin.learn_many(events, grades, qid, ws)

    def learn_rows(self, kind, dense, grades, qid, ws):
        self._learn_graded(*rows_of(kind, dense), grades, qid, ws)

    def learn_named_rows(self, kind, names, dense, grades, qid, ws):
        X, events = rows_of(kind, dense)
        events = [{names[j]: v for j, v in x.items()} for x in events]
        self._learn_graded(X, events, grades, qid, ws, feature_names=names)

    def learn_dicts(self, rows, grades, qid, ws):
        order = dict.fromkeys(name for x in rows for name in x)  # that of all their features
        events = [{name: x[name] for name in order if name in x} for x in rows]
        self._learn_graded(rows, events, grades, qid, ws)

    def ask_rows(self, kind, dense, qid):
        X, events = rows_of(kind, dense)
        scores = np.asarray(self.model.decision_function_many(X, qid)).tolist()
        for query in dict.fromkeys(qid):
            place = [r for r in range(len(qid)) if qid[r] == query]
            expected = self.twin.decision_function_one({r: events[r] for r in place})
            if self.twin.average == "exponential":
                expected = pytest.approx(expected, rel=1e-12, abs=1e-11)
            assert {r: scores[r] for r in place} == expected

    def mapped(self, candidates):
        self.model.save(self.path)
        check_answers(streamptron.load(self.path, mmap=True), self.twin, candidates)


def drawn(rng):
    """A case: a rule, its parameters, and operations."""
    kept = KEPT[rng.choice(list(KEPT))]
    keys = rng.choice((*KEYS, "mixed"))
    in_a_file = keys not in ("object", "mixed")
    params = {**kept, "half_life": rng.choice((1, 20, 1000.5))}
    if in_a_file:  # a name that is a mere object has no place under a ceiling, and no pairs
        params["max_features"] = rng.choice((None, None, 3, 20, 100))
        params["degree"] = rng.choice((1, 1, 1, 2))
    # of an exponential average, which agrees to rounding only, nothing may be a tie
    noisy = kept["average"] == "exponential"
    values = "real" if noisy else rng.choice([*VALUES][:3])
    n_names = rng.choice((8, 40))

    def choice(most=6):
        return next(candidates.choices(rng, 1, values, keys, n_names, most))

    def weight():
        return rng.choice((1.0, 1.0, 0.5, 2.0, 0.0))

    def graded(n):
        starts = accumulate(rng.random() < 0.3 for _ in range(n))
        return [rng.randrange(3) for _ in range(n)], [*starts], [weight() for _ in range(n)]

    def dense(n, n_columns):
        share = rng.choice((0.1, 0.5, 1.0))
        return [
            [float(VALUES[values](rng)) if rng.random() < share else 0.0 for _ in range(n_columns)]
            for _ in range(n)
        ]

    def matrix():
        return rng.choice(["array", "Fortran", "strided", "csr", "csc"] if noisy else [*MATRICES])

    def operation():
        names = ["learn", "learn", "learn_list", "ask", "explain", "learn_rows", "learn_named_rows"]
        names += ["learn_dicts", "ask_rows", "weights", "pickle", "deepcopy", "copy", "clone"]
        names += ["state", "bad", "bad"] + ([] if noisy else ["learn_texts"])
        names += ["file", "mapped"] if in_a_file else []
        name = rng.choice(names)
        n, n_columns = rng.choice((1, 2, 7, 15)), rng.choice((1, 3, 12))
        if name in ("learn", "ask", "explain"):
            taken, chosen = choice()
            given = name, rng.choice(list(MAPPINGS)), taken
            return (*given, chosen, weight()) if name == "learn" else given
        if name == "learn_list":
            return name, *choice(), weight()
        if name == "learn_texts":
            texts = [random_text(rng, 5) for _ in range(rng.randint(1, 4))]
            return name, texts, {**random_parameters(rng), "fields": None}, weight()
        if name == "learn_rows":
            return name, matrix(), dense(n, n_columns), *graded(n)
        if name == "learn_named_rows":
            columns = [make_key(keys, i) for i in rng.sample(range(40), n_columns)]
            return name, rng.choice(("array", "csr")), columns, dense(n, n_columns), *graded(n)
        if name == "learn_dicts":
            rows = [x for _ in range(n) for x in choice(1)[0].values()]
            return name, rows, *graded(n)
        if name == "ask_rows":
            return name, matrix(), dense(n, n_columns), graded(n)[1]
        if name == "mapped":
            return name, choice()[0]
        if name == "bad":
            return name, rng.choice(list(BAD))
        return (name,)

    rule = f"RankingPerceptron {rng.choice(list(RULES))}"
    return rule, params, [operation() for _ in range(rng.choice((3, 10, 30)))]
