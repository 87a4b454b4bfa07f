"""The ranking perceptron equals its plain-Python twin, to the last bit."""

import random
from math import fsum

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import RankingPerceptron
from tests.support import streams
from tests.support.candidates import (
    RULES,
    check_answers,
    check_weights,
    choices,
    documents,
    twins,
)
from tests.support.marks import seeds
from tests.support.streams import needs_data
from tests.support.twins import KEPT, check_counts, check_equal
from tests.twin import learners

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

every_rule = pytest.mark.parametrize("rule", RULES)


def learn_both(model, twin, *event):
    model.learn_one(*event)
    twin.learn_one(*event)
    check_counts(model, twin)


@seeds(1, 1)
@every_rule
@pytest.mark.parametrize("kept", KEPT)
def test_learner_equals_its_twin_at_every_choice(kept, rule, seed):
    rng = random.Random(f"{kept}, {rule}, {seed}")
    model, twin = twins(rule, **KEPT[kept])
    values = "small" if twin.average != "exponential" and rng.random() < 0.5 else "real"
    for candidates, chosen in choices(rng, 120, values):
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen, rng.choice([0.0, 0.5, 1.0, 1.0, 2.0]))
        if rng.random() < 0.3:  # the same candidates again, some of whose features are new
            check_answers(model, twin, candidates)
    check_weights(model, twin)
    assert twin.n_updates > 20


@seeds(1, 3)
@every_rule
@pytest.mark.parametrize("most", [4, 12])
def test_learner_under_a_ceiling_equals_its_twin(rule, most, seed):
    rng = random.Random(f"{rule}, {most}, {seed}")
    model, twin = twins(rule, pocket=rng.random() < 0.5, max_features=most)
    keys = rng.choice(("str", "long", "int", "tuple"))
    for candidates, chosen in choices(rng, 150, keys=keys):
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen)
        assert model.weights == twin.weights
    check_weights(model, twin)
    assert model.n_evicted > 10


@every_rule
def test_learner_in_a_hashed_table_equals_its_twin_where_nothing_collides(rule):
    model = RankingPerceptron(**RULES[rule], hash_bits=20, hash_seed=0)
    _, twin = twins(rule, half_life=1000)
    for candidates, chosen in choices(random.Random(1), 100, "real", "str"):
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen)


def test_learner_starts_from_weights_as_its_twin_does():
    start = {"word1": 2.0, ("word", 6, ""): -1.5, 7: 0.0}
    model = RankingPerceptron.from_weights(start, hash_seed=0)
    twin = learners.RankingPerceptron.from_weights(start)
    for candidates, chosen in choices(random.Random(2), 60):
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen)
    check_weights(model, twin)


@seeds(2)
@pytest.mark.parametrize("params", [{}, {"degree": 2}], ids=str)
def test_explanation_of_any_candidate_is_the_difference_to_the_best_other_one(params, seed):
    rng = random.Random(seed)
    model, twin = twins("MIRA", **params)
    for candidates, chosen in choices(rng, 80, "real", "str" if params else "mixed"):
        scores = twin.decision_function_one(candidates)
        for name in (None, *candidates):
            parts = model.explain_one(candidates, name)
            name = model.predict_one(candidates) if name is None else name
            others = {other: s for other, s in scores.items() if other != name}
            rival = twin.prediction(others)
            lead = scores[name] - (others[rival] if others else 0.0)
            assert fsum(part for _, part in parts) == pytest.approx(lead, rel=1e-12, abs=1e-15)
            d = twin.event(candidates[name])
            if others:
                d = twin.difference(twin.vectors(candidates), name, rival)
            kind = twin.served_for(candidates)
            expected = {j: v * twin.weight(kind, True, j) for j, v in d}
            check_equal(dict(parts), expected, exact=False)
            assert [abs(part) for _, part in parts] == sorted(
                (abs(part) for _, part in parts), reverse=True
            )
        learn_both(model, twin, candidates, chosen)


def check_scores(model, twin, rows, qid):
    """The scores of rows, query by query."""
    scores = model.decision_function_many(rows, qid)
    for query in dict.fromkeys(qid):
        place = [r for r in range(len(qid)) if qid[r] == query]
        twins_scores = twin.decision_function_one({r: rows[r] for r in place})
        check_equal({r: scores[r] for r in place}, twins_scores, twin.average != "exponential")


@seeds(1, 3)
@every_rule
@pytest.mark.parametrize(
    "kept", ["none serve=best", "uniform serve=best", "uniform pocket serve=pocket"]
)
def test_learner_of_graded_rows_equals_its_twin(kept, rule, seed):
    rng = random.Random(f"{kept}, {rule}, {seed}")
    model, twin = twins(rule, **KEPT[kept])
    for _ in range(4):
        rows, grades, qid = documents(rng, 10)
        w = [rng.choice([0.0, 1.0, 2.0]) for _ in rows]
        model.learn_many(rows, grades, qid, w)
        twin.learn_many(rows, grades, qid, w)
        check_counts(model, twin)
        check_scores(model, twin, rows, qid)
    check_weights(model, twin)
    assert twin.n_updates > 5


@needs_data
@pytest.mark.parametrize("rule", ["perceptron", "MIRA"])
def test_learner_equals_its_twin_on_real_queries(rule):
    model, twin = twins(rule, pocket=True)
    for number, query in enumerate(streams.rank(25)):
        rows, grades = zip(*query, strict=True)
        X = np.zeros((len(rows), 301))
        for r, x in enumerate(rows):
            X[r, list(x)] = list(x.values())
        names = list(range(301))
        candidates = dict(enumerate(rows))
        check_answers(model, twin, candidates)
        model.learn_many(sp.csr_array(X), grades, [number] * len(rows), feature_names=names)
        twin.learn_many(rows, grades, [number] * len(rows))
        best = max(candidates, key=lambda r: grades[r])
        learn_both(model, twin, candidates, best)
    check_weights(model, twin)
    assert twin.n_updates > 100
