"""The learners inside learn what they learn alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model

from streamptron import Perceptron
from streamptron.sklearn import MIRAClassifier, PerceptronClassifier
from tests.support.classifiers import (
    SERVES,
    both,
    core,
    current,
    epochs_by_hand,
    every_classifier,
    every_serve,
    linear,
    names,
    problem,
    twin,
    two_or_more,
    weights_of,
)
from tests.support.marks import seeds
from tests.support.variants import learned
from tests.twin.learners import Perceptron as TwinPerceptron


@both
@two_or_more
@every_serve
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_fit_is_the_core_learner_on_permuted_rows(classifier, n_classes, serve, sparse):
    X, y = problem(1, n_classes)
    X = sp.csr_array(X) if sparse else X
    params = SERVES[serve]
    model = classifier(**params, random_state=5, max_iter=4, tol=None).fit(X, y)
    by_hand = epochs_by_hand(core(classifier, n_classes, **params), X, y, 5, 4)
    assert learned(model.model_) == learned(by_hand)
    assert model.n_iter_ == 4


@every_classifier
@two_or_more
@seeds(3)
def test_partial_fit_is_one_pass_in_order(classifier, n_classes, seed):
    X, y = problem(seed, n_classes)
    model = classifier(random_state=0)
    by_hand = core(classifier, n_classes)
    for rows in (slice(0, 50), slice(50, 80)):
        model.partial_fit(X[rows], y[rows])
        by_hand.learn_many(X[rows], y[rows])
    assert learned(model.model_) == learned(by_hand)
    assert model.n_iter_ == 1


@both
@two_or_more
@every_serve
@seeds(3)
def test_coefficients_are_the_twins(classifier, n_classes, serve, seed):
    X, y = problem(seed, n_classes, values="small")
    model = classifier(**SERVES[serve]).partial_fit(X, names(y))
    plain = twin(classifier, n_classes, **SERVES[serve])
    events = [{j: value for j, value in enumerate(row) if value} for row in X.tolist()]
    for x, label in zip(events, y.tolist(), strict=True):
        plain.learn_one(x, label)

    weights, intercepts = plain.weights_of(plain.serving), plain.intercept_of(plain.serving)
    decisions = [plain.decision_function_one(x) for x in events]
    if isinstance(plain, TwinPerceptron):
        weights, intercepts = [weights], [intercepts]
    else:
        weights, intercepts = list(weights.values()), list(intercepts.values())
        decisions = np.array([list(decision.values()) for decision in decisions])
    coef = np.array([[row.get(j, 0.0) for j in range(X.shape[1])] for row in weights])
    if classifier is MIRAClassifier and n_classes == 2:
        coef, intercepts, decisions = (
            coef[1:] - coef[0],
            np.diff(intercepts),
            np.diff(decisions)[:, 0],
        )
    if SERVES[serve].get("average") == "exponential":  # which the twin sums up in another way
        np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, intercepts, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-12)
    else:
        np.testing.assert_array_equal(model.coef_, coef)
        np.testing.assert_array_equal(model.intercept_, intercepts)
        np.testing.assert_array_equal(model.decision_function(X), decisions)


@seeds(3)
def test_last_vector_is_scikit_learns_perceptron(seed):
    X, y = problem(seed, 2, values="small")
    theirs = sklearn.linear_model.Perceptron(shuffle=False, max_iter=7, tol=None).fit(X, y)
    ours = PerceptronClassifier(shuffle=False, max_iter=7, tol=None, serve="current").fit(X, y)
    assert weights_of(ours) == weights_of(theirs)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


@seeds(3)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_mira_for_two_classes_is_passive_aggressive_with_twice_its_c(seed, C):
    X, y = problem(seed, 2)
    w = np.zeros(X.shape[1])
    for x, label in zip(X, np.where(y == 1, 1.0, -1.0), strict=True):
        loss = max(0.0, 1.0 - label * (w @ x))
        if x @ x:
            w += min(2 * C, loss / (x @ x)) * label * x
    model = MIRAClassifier(C=C, fit_intercept=False, serve="current").partial_fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w)


@every_classifier
@two_or_more
def test_sparse_and_dense_of_any_dtype_give_the_same_bits(classifier, n_classes):
    X, y = problem(2, n_classes, values="small")
    expected = classifier(random_state=0).fit(X, y)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    others = {
        "csr matrix": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "int64 indices": wide,
        "csc": sp.csc_array(X),
        "coo": sp.coo_matrix(X),
        "float32": X.astype(np.float32),
        "float32 csr": sp.csr_array(X.astype(np.float32)),
        "int8": X.astype(np.int8),
        "int64 csr": sp.csr_array(X.astype(np.int64)),
        "columns first": np.asfortranarray(X),
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "objects": X.astype(object),
        "lists": X.tolist(),
        "frame": pd.DataFrame(X),
    }
    for name, other in others.items():
        model = classifier(random_state=0).fit(other, y)
        assert learned(model.model_) == learned(expected.model_), name
        decision = model.decision_function(other)
        np.testing.assert_array_equal(decision, expected.decision_function(X), err_msg=name)
    truth = classifier(random_state=0).fit(X > 0, y)
    assert weights_of(truth) == weights_of(classifier(random_state=0).fit((X > 0) * 1.0, y))


@linear
@two_or_more
@pytest.mark.parametrize("n_columns", [2**23, 2**33], ids=["2**23", "2**33"])
def test_columns_cost_nothing_where_they_are_empty(classifier, n_classes, n_columns):
    X, y = problem(2, n_classes)
    narrow = sp.csr_array(X)
    spread = narrow.indices.astype(np.int64) * (n_columns // X.shape[1] - 7)
    wide = sp.csr_array((narrow.data, spread, narrow.indptr), shape=(len(y), n_columns))
    model = classifier(random_state=0).fit(wide, y)
    expected = classifier(random_state=0).fit(narrow, y)
    np.testing.assert_array_equal(model.decision_function(wide), expected.decision_function(X))
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    assert model.model_.n_features == X.shape[1]


@every_classifier
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_disordered_csr_is_learned_and_left_alone(classifier, call):
    X, y = problem(3, 3, values="small")
    tidy = sp.csr_array(X)
    rows = np.repeat(np.arange(len(y)), np.diff(tidy.indptr))
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(rows)), rows))
    messy = sp.csr_array((tidy.data[order], tidy.indices[order], tidy.indptr), shape=tidy.shape)
    before = messy.data.copy(), messy.indices.copy()
    params = {"random_state": 0, **({"max_iter": 3, "tol": None} if call == "fit" else {})}
    model = getattr(classifier(**params), call)(messy, y)
    expected = getattr(classifier(**params), call)(tidy, y)
    assert learned(model.model_) == learned(expected.model_)
    assert (messy.data == before[0]).all()
    assert (messy.indices == before[1]).all()


@linear
@pytest.mark.parametrize("n_classes", [2, 3])
def test_model_goes_on_event_by_event(classifier, n_classes):
    X, y = problem(4, n_classes)
    model = classifier(random_state=0, **current(classifier)).fit(X, names(y))
    label = True if isinstance(model.model_, Perceptron) else "class 1"
    for _ in range(200):
        model.model_.learn_one({3: 5.0}, label)
    x = np.zeros((1, X.shape[1]))
    x[0, 3] = 5.0
    assert model.predict(x) == ["class 1"]
    parts = dict(model.model_.explain_one({3: 5.0}, label=label))
    at = 0 if n_classes == 2 else 1
    if n_classes == 2 and classifier is MIRAClassifier:
        parts = {feature: 2 * part for feature, part in parts.items()}
    assert parts[3] == pytest.approx(5.0 * model.coef_[at, 3])
    assert parts[None] == pytest.approx(model.intercept_[at])
