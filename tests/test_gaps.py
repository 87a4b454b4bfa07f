"""Columns of numbers that lie far from 0: there 0, written or absent, is a gap and no value."""

import copy
import math
import pickle
import random

import numpy as np
import pytest

import streamptron
from streamptron import AdaptiveClassifier
from tests.late.test_undo import check_adaptive, learn_and_undo, n_undone
from tests.support.marks import seeds
from tests.support.shards import merged_twin, pair_of, shards_of
from tests.support.variants import learned
from tests.test_adaptive import LABELS, check_answers, check_stream, n_wrong, told_by, twins
from tests.test_columns import by_name
from tests.twin import adaptive

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

sparse = pytest.importorskip("scipy.sparse")

labels_2_or_9 = pytest.mark.parametrize("labels", [(False, True), LABELS[:9]], ids=len)
shapes = pytest.mark.parametrize("shape", ["line", "auto"])


def far_events(rng, n, labels=(False, True), gaps=0.15, fails=True):
    """(x, y): three columns far from 0, two of which decide, with gaps; one that is not far.

    `fails`: where "kelvin" is missing the label is the last one.
    """
    for _ in range(n):
        sizes = [rng.gauss(0.0, 1.0) for _ in range(3)]
        place = int((math.erf((sizes[0] + sizes[1]) / 2.0) + 1.0) / 2.0 * len(labels))
        x = {"kelvin": 280.0 + 8.0 * sizes[2], "year": 1990.0 + sizes[0], "loss": sizes[1] - 40.0}
        x = {name: value for name, value in x.items() if rng.random() >= gaps}
        if fails and "kelvin" not in x:
            place = len(labels) - 1
        yield {**x, "near": rng.gauss(0.5, 1.0), "word": 1}, labels[place]


def rows(seed, n=200, labels=(False, True)):
    """The same as rows of numbers, with 0 in a gap."""
    names = ["kelvin", "year", "loss", "near"]
    events = list(far_events(random.Random(seed), n, labels))
    X = np.array([[x.get(name, 0.0) for name in names] for x, _ in events])
    return X, [y for _, y in events]


def gaps_in(model):
    """The columns whose gaps have weights."""
    weights = model.weights
    names = set(weights) if len(model.labels) < 3 else {j for its in weights.values() for j in its}
    return {name[1] for name in names if isinstance(name, tuple) and name[:1] == ("gap",)}


# --- What it is for


def test_gaps_at_random_cost_what_they_cost_where_0_is_the_mean():
    def events(far):
        rng = random.Random(1)
        for _ in range(2000):
            z = [rng.gauss(0.0, 1.0) for _ in range(4)]
            x = {f"c{j}": far + z[j] for j in range(4) if rng.random() > 0.1}
            yield x, z[0] + z[1] - z[2] > 0

    usual = n_wrong(AdaptiveClassifier(), events(0.0))
    for far in (4.0, -10.0, 1000.0):
        assert n_wrong(AdaptiveClassifier(), events(far)) < usual * 1.1


@pytest.mark.parametrize("zero", [True, False], ids=["0", "absent"])
@shapes
@labels_2_or_9
def test_a_sensor_that_fails_is_seen(labels, shape, zero):
    model = AdaptiveClassifier(shape=shape)
    events = list(far_events(random.Random(2), 1200, labels))
    for x, y in events[:1000]:
        model.learn_one({"kelvin": 0.0, **x} if zero else x, y)
    failed = [x for x, _ in events[1000:] if "kelvin" not in x]
    assert sum(model.predict_one(x) == labels[-1] for x in failed) > 0.85 * len(failed) > 20
    assert gaps_in(model) == {"kelvin", "year", "loss"}


def test_of_two_columns_with_gaps_the_one_that_speaks_has_a_share():
    model = AdaptiveClassifier()
    for x, y in far_events(random.Random(3), 1000):
        model.learn_one(x, y)
    parts = dict(model.explain_one({"near": 0.5}))
    assert parts["kelvin"] > abs(parts["year"])
    weights = model.weights
    assert weights["gap", "kelvin"] > abs(weights["gap", "year"])
    assert ("gap", "near") not in weights


def test_mean_and_deviation_of_a_column_are_those_of_its_values():
    model = AdaptiveClassifier()
    for x, y in far_events(random.Random(4), 800):
        model.learn_one(x, y)
    mean, deviation, size = model._columns()["kelvin"]
    assert size == pytest.approx(mean, rel=1e-3)
    assert mean == pytest.approx(280.0, abs=2.0)
    assert deviation == pytest.approx(8.0, abs=2.0)


# --- As the twin has it


@seeds(2)
@labels_2_or_9
@shapes
@pytest.mark.parametrize(
    "params",
    [{}, {"naive_bayes": False, "intercept": False}, {"max_features": 9}, {"max_features": 6}],
    ids=str,
)
def test_a_learner_with_gaps_equals_its_twin_at_every_event(params, shape, labels, seed):
    rng = random.Random(f"{params}, {shape}, {labels}, {seed}")
    model, twin = twins(shape=shape, **params)
    events = far_events(rng, 120, labels, gaps=rng.choice((0.05, 0.4)))
    check_stream(model, twin, [(x, y, rng.choice((1.0, 3.0))) for x, y in events])


@labels_2_or_9
@shapes
def test_columns_that_come_near_0_and_go_far_again_are_the_twins(shape, labels):
    rng = random.Random(5)
    model, twin = twins(shape=shape)
    events, ways = [], set()
    for i in range(900):
        x = {
            "slow": 30.0 * math.cos(i / 150) + rng.gauss(0.0, 1.0),
            "jumps": (20.0 if i % 300 < 150 else 2.0) + rng.gauss(0.0, 1.0),
            "steady": 10.0 + rng.random(),
        }
        x = {name: value for name, value in x.items() if rng.random() < 0.8}
        events.append((x, rng.choice(labels), 8.0))
    for event in events:
        check_stream(model, twin, [event])
        ways.add(tuple(twin.is_far(twin.slots[j].column) for j in twin.columns))
    assert len(ways) > 3


@labels_2_or_9
@seeds(2)
def test_contributions_sum_to_the_decision_and_are_the_twins(labels, seed):
    model, twin = twins()
    for x, y in far_events(random.Random(seed), 150, labels):
        model.learn_one(x, y)
        twin.learn_one(x, y)
    for x, _ in far_events(random.Random(seed + 100), 20, labels):
        parts = dict(model.explain_one(x))
        label = None if twin.two else model.predict_one(x)
        told = told_by(twin, x, label)
        assert parts == pytest.approx({j: told[j] for j in parts}, rel=1e-9)
        decision = model.decision_function_one(x)
        decision = decision if twin.two else decision[label]
        assert math.fsum(parts.values()) == pytest.approx(decision, rel=1e-12)


# --- Every door


@labels_2_or_9
@shapes
@pytest.mark.parametrize("bits", [None, 3, 20])
def test_rows_with_zeros_without_and_in_matrices_are_the_same_events(bits, shape, labels):
    X, y = rows(6, labels=labels)
    ways = [AdaptiveClassifier(shape=shape, hash_bits=bits, hash_seed=1) for _ in range(5)]
    for row, label in zip(X, y, strict=True):
        x = by_name(row)
        without = {j: x_j for j, x_j in x.items() if x_j}
        assert ways[0].predict_proba_one(x) == ways[1].predict_proba_one(without)
        ways[0].learn_one(x, label)
        ways[1].learn_one(without, label)
    ways[2].learn_many(X, y)
    ways[3].learn_many(np.asfortranarray(X), y)
    ways[4].learn_many(sparse.csr_matrix(X), y)
    for model in ways[1:]:
        assert learned(model) == learned(ways[0])
    found = ways[0].predict_proba_many(X)
    assert found.tolist() == [list(ways[0].predict_proba_one(by_name(row)).values()) for row in X]


@pytest.mark.parametrize("gap", [None, math.nan, "", 0], ids=repr)
def test_what_is_missing_is_a_gap_however_it_is_written(gap):
    model, other = (AdaptiveClassifier(missing="skip_nan", hash_seed=1) for _ in range(2))
    for x, y in far_events(random.Random(7), 200):
        whole = {"kelvin": gap, "year": gap, "loss": gap}
        model.learn_one({**whole, **x}, y)
        other.learn_one(x, y)
    assert learned(model) == learned(other)
    assert gaps_in(model)


# --- All that a model goes through


@labels_2_or_9
@pytest.mark.parametrize("bits", [None, 4, 20])
def test_models_with_gaps_travel_and_learn_on(bits, labels, tmp_path):
    X, y = rows(8, labels=labels)
    model = AdaptiveClassifier(hash_bits=bits, hash_seed=1)
    model.learn_many(X[:120], y[:120])
    model.save(tmp_path / "model")
    after = [by_name(row) for row in X[120:]]
    answers = [model.predict_proba_one(x) for x in after]
    placed = streamptron.load(tmp_path / "model", mmap=True)
    others = [streamptron.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    base = copy.deepcopy(others[0])
    for other in (placed, *others):
        assert [other.predict_proba_one(x) for x in after] == answers
        assert other.explain_one(after[0]) == model.explain_one(after[0])
    model.learn_many(X[120:], y[120:])
    for other in others:
        for x, label in zip(after, y[120:], strict=True):
            other.learn_one(x, label)
        other._check()
        assert learned(other) == learned(model)
    there = copy.deepcopy(base)
    there.apply(model.delta(base))
    there._check()
    for x in after:
        assert there.predict_proba_one(x) == model.predict_proba_one(x)


@seeds(2)
@labels_2_or_9
@pytest.mark.parametrize("went_on", [True, False], ids=["since", "nothing in common"])
def test_merged_models_with_gaps_equal_the_merged_twins(went_on, labels, seed):
    rng = random.Random(f"{went_on}, {labels}, {seed}")
    base, base_twin = pair_of("AdaptiveClassifier")
    untrained = copy.deepcopy(base_twin)
    if went_on:
        for x, y in far_events(rng, 60, labels):
            base.learn_one(x, y)
            base_twin.learn_one(x, y)
    streams = [[(x, y, 1.0) for x, y in far_events(rng, 60, labels)] for _ in range(3)]
    model = streamptron.merge(shards_of(base, streams), since=base if went_on else None)
    twin = merged_twin(shards_of(base_twin, streams), base_twin if went_on else None, untrained)
    model._check()
    for x, y in far_events(rng, 40, labels):
        check_answers(model, twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)


@seeds(2)
@labels_2_or_9
@pytest.mark.parametrize("most", [None, 9, 6])
def test_steps_with_gaps_are_taken_back_as_by_the_twin(most, labels, seed, tmp_path):
    rng = random.Random(f"{most}, {labels}, {seed}")
    model, twin = pair_of("AdaptiveClassifier", max_features=most)
    events = [(x, y, 1.0) for x, y in far_events(rng, 100, labels, gaps=0.3)]
    model = learn_and_undo(rng, model, twin, events, tmp_path / "model", check_adaptive)
    model._check()


@pytest.mark.parametrize("most", [None, 25, 400])
def test_steps_of_pairs_with_gaps_are_taken_back_under_a_ceiling_too(most):
    model = AdaptiveClassifier(degree=2, max_features=most)
    assert n_undone(model, far_events(random.Random(9), 150)) > 80


# --- What has none


def test_words_are_never_missing():
    model = AdaptiveClassifier()
    for i in range(300):
        model.learn_one({"usual": 1} if i % 4 else {"other": 1}, i % 4 == 0)
    assert set(model.weights) == {"usual", "other"}


def test_a_pair_that_is_a_column_has_no_gap():
    class Paired(adaptive.AdaptiveClassifier):
        def has_hidden(self, column):
            return not isinstance(column, streamptron.Pair)

    model, twin = AdaptiveClassifier(degree=2), Paired()
    for x, y in far_events(random.Random(10), 150):
        x = {name: x[name] for name in ("kelvin", "year") if name in x}
        pair = streamptron.Pair("kelvin", "year")
        both = {**x, pair: x["kelvin"] * x["year"]} if len(x) == 2 else x
        assert model.predict_proba_one(x) == twin.predict_proba_one(both)
        model.learn_one(x, y)
        twin.learn_one(both, y)
    assert gaps_in(model) == {"kelvin", "year"}
    assert twin.is_far(twin.slots[pair].column)


def test_a_name_that_is_an_object_has_no_gap_and_its_gaps_are_no_outliers():
    class Name:
        pass

    model, other = AdaptiveClassifier(), AdaptiveClassifier()
    name, events = Name(), list(far_events(random.Random(11), 800, fails=False))
    renamed = [({name if j == "year" else j: x_j for j, x_j in x.items()}, y) for x, y in events]
    wrong = n_wrong(other, events)
    assert n_wrong(model, renamed) < 1.1 * wrong
    assert gaps_in(model) == {"kelvin", "loss"}
