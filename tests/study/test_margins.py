"""Margins against slow and obvious ones, and the perceptron's theorem."""

import math
import pickle
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
)
from streamptron.study import dataset_margin, fit, geometric_margin, margin, mistake_bound
from tests.support.marks import seeds
from tests.support.studies import blobs, pairs_of


def separated(seed, **more):
    """Separable events with a margin worth the name."""
    X, ys = blobs(seed, **more)
    signs = np.where(ys, 1.0, -1.0)
    return X + 0.3 * signs[:, None] * np.sign(X.T @ signs), ys


@pytest.mark.parametrize("kind", [Perceptron, MulticlassPerceptron, MIRA, AROW])
def test_the_margin_of_a_model_is_that_of_its_worst_event(kind):
    X, ys = separated(1)
    model = kind()
    fit(model, (X, ys), epochs=200, seed=1)
    scores = model.decision_function_many(X)
    if scores.ndim == 2:
        one = list(model.labels).index(True)
        scores = scores[:, one] - scores[:, 1 - one]
    elif kind is AROW and model.labels[model._positive] is False:
        scores = -scores
    least = min(score if y else -score for score, y in zip(scores, ys, strict=True))
    assert least > 0
    weights = model._weights(model.serving)[1]
    length = math.sqrt(sum(w * w for each in weights for w in each.values()))
    for data in ((X, ys), (csr_array(X), ys), (pd.DataFrame(X), ys), pairs_of(X, ys)):
        assert margin(model, data) == pytest.approx(least, rel=1e-12)
        assert geometric_margin(model, data) == pytest.approx(least / length, rel=1e-12)


def test_of_many_labels_the_lead_over_the_best_other_one_counts():
    model = MulticlassPerceptron.from_weights(
        {"a": {"x": 3.0}, "b": {"x": 1.0, "y": 2.0}, "c": {"y": 1.0}}
    )
    assert margin(model, [({"x": 1}, "a"), ({"y": 2}, "b")]) == 2.0
    assert geometric_margin(model, [({"x": 1}, "a")]) == 2.0 / math.sqrt(15)
    assert margin(model, [({"x": 1}, "b")]) == -math.inf


def test_what_is_not_separated_has_a_margin_of_minus_infinity():
    X, ys = blobs(2, noise=0.4)
    model = Perceptron()
    fit(model, (X, ys), epochs=2)
    assert margin(model, (X, ys)) == geometric_margin(model, (X, ys)) == -math.inf
    assert dataset_margin((X, ys)) == -math.inf
    # an event on the boundary, and a label that the model has never met
    assert margin(Perceptron.from_weights({"x": 1.0}), [({"x": 0}, False)]) == -math.inf
    known = MulticlassPerceptron.from_weights({"a": {"x": 1.0}, "b": {}})
    assert margin(known, [({"x": 1}, "new")]) == -math.inf


def test_texts_have_margins_too():
    mail = Tokenizer() | Perceptron()
    data = (["win a prize", "see you"], [True, False])
    fit(mail, data, epochs=20)
    assert margin(mail, data) > 0
    rows = (Tokenizer().transform_many(data[0]), data[1])
    assert dataset_margin(rows) == pytest.approx(math.sqrt(5) / 2)


def slow_margin(X, signs):
    """The hard-margin problem given to a solver as it stands in the book: min |w|, y(wx+b) >= 1."""
    n = X.shape[1]
    found = minimize(
        lambda v: v[:n] @ v[:n] / 2,
        np.zeros(n + 1),
        jac=lambda v: np.append(v[:n], 0.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: signs * (X @ v[:n] + v[n]) - 1,
            "jac": lambda v: signs[:, None] * np.column_stack([X, np.ones(len(X))]),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert found.success
    return 1 / np.linalg.norm(found.x[:n])


@seeds(4)
def test_the_margin_of_data_is_that_of_the_widest_hyperplane(seed):
    X, ys = separated(seed, n=40, n_columns=3)
    X *= 10.0 ** (seed - 2)  # whatever the units
    expected = slow_margin(X / np.abs(X).max(), np.where(ys, 1.0, -1.0)) * np.abs(X).max()
    for data in ((X, ys), pairs_of(X, ys)):
        assert dataset_margin(data) == pytest.approx(expected, rel=1e-6)
    model = Perceptron()
    fit(model, (X, ys), epochs=2000, seed=seed)
    assert 0 < geometric_margin(model, (X, ys)) <= expected * (1 + 1e-9)


def test_the_margin_of_four_corners_is_known():
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]])
    assert dataset_margin((corners, [1, 1, 0, 0])) == pytest.approx(1.0)
    assert dataset_margin((corners, [1, 0, 0, 0])) == pytest.approx(1 / math.sqrt(2))
    assert dataset_margin((corners, [1, 0, 0, 1])) == -math.inf  # XOR
    both = np.column_stack([corners, corners[:, 0] * corners[:, 1]])
    assert dataset_margin((both, [1, 0, 0, 1])) == pytest.approx(1.0)


LEARNERS = {
    "Perceptron": Perceptron,
    "MulticlassPerceptron": MulticlassPerceptron,
    "MIRA": partial(MIRA, C=1e6),
    "MIRA, on mistakes": partial(MIRA, C=1e6, update="mistake"),
}


@seeds(3)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("learner", LEARNERS)
def test_mistakes_on_separable_data_stay_within_the_bound_in_any_order(learner, intercept, seed):
    X, ys = separated(seed, n=60)
    bound = mistake_bound((X, ys), intercept=intercept)
    for order in ("permute", "fixed"):
        model = LEARNERS[learner](intercept=intercept)
        fit(model, (X, ys), epochs=300, order=order, seed=seed)
        assert 0 < model.n_mistakes <= bound
        if learner == "Perceptron":
            assert model.n_updates <= bound


def test_the_bound_is_r_squared_by_gamma_squared_with_an_intercept_of_value_1():
    data = [({"x": 3.0}, True), ({"x": -1.0}, False)]
    # through the origin: x > 0, at a distance of 1
    assert mistake_bound(data, intercept=False) == pytest.approx(9.0)
    # the points (3, 1) and, mirrored, (1, -1): the nearest point of their segment to the origin
    gamma = 4 / math.sqrt(8)
    assert mistake_bound(data) == pytest.approx(10 / gamma**2)


def test_data_that_cannot_be_separated_have_no_bound():
    xor = [({"x": x, "y": y}, x != y) for x in (0, 1) for y in (0, 1)]
    with pytest.raises(ValueError, match="no hyperplane separates the labels"):
        mistake_bound(xor)
    shifted = [({"x": 1.0}, False), ({"x": 2.0}, True)]  # not through the origin
    assert mistake_bound(shifted) > 0
    with pytest.raises(ValueError, match="no hyperplane"):
        mistake_bound(shifted, intercept=False)


def test_margins_without_a_meaning_are_refused():
    data = [({"x": 1}, True), ({"x": 2}, False)]
    for ask in (margin, geometric_margin):
        for kind in (AdaptiveClassifier, VotedPerceptron):
            model = kind()
            model.learn_many(np.eye(2), [True, False])
            with pytest.raises(TypeError, match=kind.__name__):
                ask(model, data)
        with pytest.raises(TypeError, match="RankingPerceptron"):
            ask(RankingPerceptron(), data)
        with pytest.raises(ValueError, match="0 labels"):
            ask(MIRA(), data)
        with pytest.raises(TypeError, match="model is a dict"):
            ask({}, data)
    for ask in (dataset_margin, mistake_bound):
        with pytest.raises(ValueError, match="3 labels"):
            ask((np.eye(3), ["a", "b", "c"]))
        with pytest.raises(ValueError, match="1 label;"):
            ask((np.eye(2), ["a", "a"]))
        with pytest.raises(TypeError, match=r"list\(data\)"):
            ask(iter(data))
        with pytest.raises(ValueError, match="data is empty"):
            ask([])
    with pytest.raises(TypeError, match="intercept=1"):
        mistake_bound(data, intercept=1)


def test_asking_for_a_margin_changes_nothing():
    model = Perceptron.from_weights({0: 1.0})
    before = pickle.dumps(model)
    margin(model, (np.eye(2), [True, False]))
    assert pickle.dumps(model) == before


def test_without_scikit_learn_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(ImportError, match=r"streamptron\[study\]"):
        dataset_margin((np.eye(2), [True, False]))
