"""Columns of numbers: what AdaptiveClassifier makes of measurements, whatever their unit."""

import copy
import math
import pickle
import random
import time

import numpy as np
import pytest

import streamptron
from streamptron import AdaptiveClassifier
from tests.support.marks import seeds
from tests.support.variants import learned
from tests.test_adaptive import LABELS, check_answers, check_stream, told_by, twins

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

sparse = pytest.importorskip("scipy.sparse")

labels_2_or_9 = pytest.mark.parametrize("labels", [(False, True), LABELS[:9]], ids=len)


def table(seed, n=200, labels=(False, True), columns=8):
    """Rows of numbers about means of their own, one value in six 0, and a label for each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)) * 10.0 ** rng.integers(-3, 4, columns)
    X += 5.0 * rng.normal(size=columns)
    place = np.argsort(np.argsort(X[:, 0] / np.std(X[:, 0]) + X[:, 1] / np.std(X[:, 1])))
    X[rng.random((n, columns)) < 1 / 6] = 0.0
    return X, [labels[i] for i in place * len(labels) // n]


def by_name(row):
    return dict(enumerate(row.tolist()))


def n_columns(model):
    return len(model._columns())


# --- The same event, however it is written


@labels_2_or_9
@seeds(2)
def test_rows_with_zeros_without_and_in_matrices_are_the_same_events(labels, seed):
    X, y = table(seed, labels=labels)
    ways = [AdaptiveClassifier(hash_seed=1) for _ in range(6)]
    for row, label in zip(X, y, strict=True):
        x = by_name(row)
        answers = [model.predict_proba_one(x) for model in ways[:2]]
        assert answers[0] == answers[1]
        ways[0].learn_one(x, label)
        ways[1].learn_one({j: x_j for j, x_j in x.items() if x_j}, label)
    ways[2].learn_many(X, y)
    ways[3].learn_many(np.asfortranarray(X), y)
    ways[4].learn_many(sparse.csr_matrix(X), y)
    ways[5].learn_many(sparse.csc_matrix(X), y)
    for model in ways[1:]:
        assert learned(model) == learned(ways[0])
    answers = [ways[0].predict_proba_one(by_name(row)) for row in X]
    for matrix in (X, sparse.csr_matrix(X)):
        found = ways[0].predict_proba_many(matrix)
        names = list(answers[0])
        assert found.tolist() == [[p[label] for label in names] for p in answers]


@pytest.mark.parametrize("gap", [None, math.nan, ""], ids=repr)
def test_what_is_missing_is_left_out_and_so_0_in_a_column(gap):
    model, other = (
        AdaptiveClassifier(missing="skip_nan", hash_seed=1),
        AdaptiveClassifier(missing="skip_nan", hash_seed=1),
    )
    X, y = table(3)
    for row, label in zip(X, y, strict=True):
        x = {f"c{j}": value for j, value in by_name(row).items()}
        model.learn_one({j: value or gap for j, value in x.items()}, label)
        other.learn_one(x, label)
    assert learned(model) == learned(other)


def test_nan_is_an_error_that_changes_nothing_and_says_what_to_do():
    model = AdaptiveClassifier()
    X, y = table(4)
    model.learn_many(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="missing"):
        model.learn_one({0: math.nan}, True)
    assert pickle.dumps(model) == before


# --- Units and offsets


def n_wrong(X, y):
    model = AdaptiveClassifier()
    wrong = 0
    for row, label in zip(X, y, strict=True):
        x = by_name(row)
        wrong += model.predict_one(x) != label
        model.learn_one(x, label)
    return wrong


@labels_2_or_9
@seeds(2)
def test_neither_unit_nor_offset_matters(labels, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 6)) + 3.0
    place = np.argsort(np.argsort(X[:, 0] + X[:, 1] - X[:, 2]))
    y = [labels[i] for i in place * len(labels) // 600]
    plain = n_wrong(X, y)
    assert plain < 600 * (0.1 if len(labels) == 2 else 0.75)
    for unit in (1e-30, 1e-3, 1e30, 2.0 ** rng.integers(-60, 60, 6)):
        assert abs(n_wrong(X * unit, y) - plain) <= 6
    for offset in (10.0, -1e3, 1e6):
        assert abs(n_wrong(X + offset, y) - plain) <= 12


# --- What becomes a column, and what stays a word


def test_words_stay_words():
    model = AdaptiveClassifier()
    for i in range(100):
        model.learn_one({"always": 1, "half": 7.5} if i % 2 else {"always": 1}, i % 2 == 1)
    assert n_columns(model) == 0


@labels_2_or_9
@pytest.mark.parametrize("shape", ["line", "auto"])
def test_words_that_turn_into_numbers_and_constants_that_jump_are_the_twins(shape, labels):
    rng = random.Random(5)
    model, twin = twins(shape=shape)
    events = []
    for i in range(300):
        x = {
            "constant": 1e50 if i == 150 else 1.0,
            "word, then number": 1.0 if i < 100 else rng.gauss(50, 1),
            "number, then word": rng.gauss(50, 1) if i < 100 else 1.0,
            "sign": rng.choice((-1.0, 1.0)),
            "tiny": 1e-50 * (1 + rng.random()),
            "vast": 1e50 * rng.random(),
            "too small to square": 1e-200 * rng.random(),
        }
        events.append((x, rng.choice(labels), 1.0))
    check_stream(model, twin, events)
    assert len(twin.columns) == n_columns(model) > 4
    assert all(math.isfinite(p) for p in model.predict_proba_one(x).values())


@labels_2_or_9
@seeds(3)
def test_columns_come_and_go_as_in_the_twin(labels, seed):
    rng = random.Random(seed)
    model, twin = twins(max_features=rng.choice((None, 6)))
    events = []
    for i in range(400):
        x = {j: rng.gauss(j, 1) for j in range(8) if rng.random() < abs(math.sin(i / 60 + j))}
        x |= {f"word{rng.randrange(20)}": 1 for _ in range(3)}
        events.append((x, rng.choice(labels), rng.choice((0.0, 0.5, 1.0, 2.0**19))))
    check_stream(model, twin, events)


@pytest.mark.parametrize("shape", ["line", "auto"])
def test_a_million_numbers_seen_once_cost_what_words_cost(shape):
    numbers, words = (AdaptiveClassifier(shape=shape, hash_seed=1) for _ in range(2))
    for i in range(1_000):
        names = [f"{i} {j}" for j in range(1_000)]
        numbers.learn_one({name: 1.0 + j for j, name in enumerate(names)}, i % 2 == 0)
        words.learn_one(dict.fromkeys(names, 1.0), i % 2 == 0)
    assert numbers.memory_usage == words.memory_usage
    assert n_columns(numbers) == 0


@pytest.mark.parametrize("labels", [2, 3])
def test_an_event_that_makes_columns_below_those_there_are_takes_its_features_time(labels):
    def seconds(names, i):
        before = time.process_time()
        model.learn_one({f"w{name}": value() for name in names}, i % labels)
        return time.process_time() - before

    model, value = AdaptiveClassifier(), random.Random(1).random
    low, high = range(60_000), range(30_000, 90_000)
    usual = [seconds(low, 0), seconds(high, 1), seconds(low, 0)]
    assert n_columns(model) == 30_000
    assert seconds(low, 0) < 10 * min(usual)  # one by one they took twenty times as long
    assert n_columns(model) == 60_000
    model._check()


def test_columns_cost_their_chunks_and_not_those_of_the_words_beside_them():
    models = [AdaptiveClassifier(hash_seed=1) for _ in range(2)]
    rng = random.Random(1)
    for i in range(200):
        words = {f"{i} {j}": 1 for j in range(100)}
        models[0].learn_one(words, i % 2 == 0)
        models[1].learn_one({**{j: rng.random() for j in range(5)}, **words}, i % 2 == 0)
    assert models[1].memory_usage < models[0].memory_usage + 60_000  # ten surfaces among it


# --- All that a model goes through


@labels_2_or_9
def test_models_of_columns_travel_and_learn_on(labels, tmp_path):
    X, y = table(6, labels=labels)
    model = AdaptiveClassifier(hash_seed=1)
    for row, label in zip(X[:100], y, strict=False):
        model.learn_one(by_name(row), label)
    path = tmp_path / "model"
    model.save(path)
    placed = streamptron.load(path, mmap=True)
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), streamptron.load(path)]
    for row in X[100:150]:
        x = by_name(row)
        assert placed.predict_proba_one(x) == model.predict_proba_one(x)
        assert placed.explain_one(x) == model.explain_one(x)
    for other in others:
        assert learned(other) == learned(model)
        for row, label in zip(X[100:], y[100:], strict=True):
            other.learn_one(by_name(row), label)
        other._check()
    for row, label in zip(X[100:], y[100:], strict=True):
        model.learn_one(by_name(row), label)
    assert all(learned(other) == learned(model) for other in others)


@labels_2_or_9
def test_steps_taken_back_at_once_leave_the_answers_as_they_were(labels):
    X, y = table(7, labels=labels)
    model = AdaptiveClassifier(hash_seed=1)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = by_name(row)
        if i > len(labels) and i % 3 == 0:
            before = model.predict_proba_one(x)
            model.undo(bytes(model.learn_one(x, label, undo=True)))
            assert model.predict_proba_one(x) == before
            model._check()
        model.learn_one(x, label)


def test_hashed_columns_are_the_exact_ones_where_nothing_collides(tmp_path):
    X, y = table(8)
    exact, hashed = AdaptiveClassifier(hash_seed=1), AdaptiveClassifier(hash_bits=22, hash_seed=1)
    for row, label in zip(X, y, strict=True):
        x = {f"c{j}": value for j, value in by_name(row).items()}
        exact.learn_one(x, label)
        hashed.learn_one(x, label)
    x = {"c1": X[0, 1], "c2": X[0, 2]}
    assert hashed.decision_function_one(x) == pytest.approx(exact.decision_function_one(x))
    hashed.save(tmp_path / "model")
    placed = streamptron.load(tmp_path / "model", mmap=True)
    assert placed.decision_function_one(x) == hashed.decision_function_one(x)
    # the names of what the event lacks are not kept: it is always there
    for model in (hashed, placed):
        explained = dict(model.explain_one(x))
        assert set(explained) <= {None, "c1", "c2"}
        assert math.fsum(explained.values()) == pytest.approx(model.decision_function_one(x))


@labels_2_or_9
@seeds(2)
def test_contributions_of_columns_sum_to_the_decision_and_are_the_twins(labels, seed):
    X, y = table(seed, labels=labels)
    model, twin = twins()
    for row, label in zip(X, y, strict=True):
        x = {j: value for j, value in by_name(row).items() if value}
        check_answers(model, twin, x)
        model.learn_one(x, label)
        twin.learn_one(x, label)
    label = labels[0]
    decision = model.decision_function_one(x)
    explained = dict(model.explain_one(x) if twin.two else model.explain_one(x, label))
    assert math.fsum(explained.values()) == pytest.approx(decision if twin.two else decision[label])
    its = told_by(twin, x, label)
    assert set(explained) - {None} == {j for j, share in its.items() if share} - {None}


# --- Probabilities


@labels_2_or_9
def test_probabilities_are_sharper_where_the_scores_are_too_cautious(labels):
    """Of many labels P is the softmax of tau times the decision; tau is learned, and pays."""
    rng = np.random.default_rng(9)
    y = rng.integers(len(labels), size=1_500)
    X = rng.normal(size=(1_500, 9)) * 0.5
    X[np.arange(1_500), y % 9] += 2.0
    model = AdaptiveClassifier()
    losses = np.zeros(2)
    for row, number in zip(X, y, strict=True):
        x, label = by_name(row), labels[number]
        P = model.predict_proba_one(x)
        if len(P) == len(labels) and model.n_seen > 200:
            losses[0] -= math.log(P[label])
            decision = model.decision_function_one(x)
            if len(labels) > 2:
                total = sum(math.exp(score) for score in decision.values())
                losses[1] -= math.log(math.exp(decision[label]) / total)
            best = max(P, key=P.get)
            assert best == model.predict_one(x)
        model.learn_one(x, label)
    if len(labels) > 2:
        assert losses[0] < losses[1]
    assert losses[0] > 0


def test_a_mean_of_the_largest_numbers_may_be_rounded_beyond_them():
    """A model of such is loaded, and a step of it taken back."""
    values = [-1e50, -1.5, -1e50, 1.0, 0.2, 0.9]
    weights = [10.0, 1e-9, 1e6, 10.0, 1.0, 10.0]
    model = AdaptiveClassifier()
    for i, (value, weight) in enumerate(zip(values, weights, strict=True)):
        model.learn_one({"x": value}, i == 4, weight)
    step = model.learn_one({"x": 1e50}, True, 1e6, undo=True)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba_one({"x": 1e50}) == model.predict_proba_one({"x": 1e50})
    again.undo(bytes(step))
    again._check()
