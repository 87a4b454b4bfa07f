"""Classes of any kind, in whatever order they join."""

import numpy as np
import pandas as pd
import pytest

from streamptron import MulticlassPerceptron, Perceptron
from streamptron.sklearn import PerceptronClassifier
from tests.support.classifiers import (
    PAIRED,
    SERVES,
    both,
    core,
    every_classifier,
    every_classifier_without_votes,
    every_serve,
    names,
    paired,
    problem,
    two_or_more,
    weights_of,
)
from tests.support.counts import counts_of
from tests.support.marks import seeds
from tests.support.variants import learned

KINDS = {
    "strs": lambda y: names(y),
    "objects": lambda y: names(y).astype(object),
    "ints": lambda y: y * 7 - 3,
    "small ints": lambda y: y.astype(np.int8),
    "floats": lambda y: y + 1.0,
    "series": lambda y: pd.Series(names(y)),
    "list": lambda y: names(y).tolist(),
}


@every_classifier_without_votes
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_of_any_kind(classifier, kind, call, n_classes):
    X, y = problem(0, n_classes)
    labels = KINDS[kind](y)
    model = getattr(classifier(random_state=0), call)(X, labels)
    expected = getattr(classifier(random_state=0), call)(X, y)
    assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    assert weights_of(model) == weights_of(expected)
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.predict(X)])
    kept = model.classes_
    assert model.partial_fit(X, labels).classes_ is kept


@every_classifier
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_truth_values_are_classes(classifier, call):
    X, y = problem(0, 2)
    model = getattr(classifier(random_state=0), call)(X, y == 1)
    assert model.classes_.dtype == bool
    assert model.predict(X).dtype == bool
    assert weights_of(model) == weights_of(getattr(classifier(random_state=0), call)(X, y))


@every_classifier
@seeds(3)
def test_classes_stay_sorted_in_whatever_order_they_join(classifier, seed):
    X, y = problem(seed, 5, n=200)
    order = np.random.default_rng(seed).permutation(5)
    model = classifier()
    for n_known in range(1, 6):
        rows = np.isin(y, order[:n_known])
        model.partial_fit(X[rows], names(y[rows]))
        assert model.classes_.tolist() == sorted(names(order[:n_known]))
        assert model.model_.labels == names(order[:n_known]).tolist()

    decisions, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_array_equal(p.argmax(axis=1), decisions.argmax(axis=1))
    for x, *columns in zip(X.tolist(), decisions.tolist(), p.tolist(), strict=True):
        event = {j: value for j, value in enumerate(x) if value}
        answers = model.model_.decision_function_one(event), model.model_.predict_proba_one(event)
        for column, answer in zip(columns, answers, strict=True):
            assert dict(zip(model.classes_.tolist(), column, strict=True)) == answer
    if not hasattr(model, "coef_"):
        return
    served = model.model_.weights if classifier in PAIRED else model.model_.averaged_weights
    for label, coef in zip(model.classes_.tolist(), model.coef_.tolist(), strict=True):
        assert {j: weight for j, weight in enumerate(coef) if weight} == served[label]


def without_calibration(model):
    """All that a model has learned but how its probabilities are calibrated."""
    state = model.__getstate__()
    kinds, *rest = counts_of(state["serve"])
    return {**state, "serve": ([kind[:2] for kind in kinds], *rest), "y_name": None}


@every_serve
@seeds(3)
@pytest.mark.parametrize("weighted", [False, True])
def test_third_class_finds_what_two_vectors_would_have_learned(serve, seed, weighted):
    X, y = problem(seed, 3, n=240)
    params = SERVES[serve]
    class_weight = {"class 0": 2.0, "class 2": 0.5} if weighted else None
    model = PerceptronClassifier(**params, class_weight=class_weight, random_state=0)
    labels = ["class 0", "class 1"]
    two = core(PerceptronClassifier, 2, labels, class_weight=class_weight, **params)
    first = np.flatnonzero(y < 2)[:100]
    for _ in range(4):
        model.partial_fit(X[first], names(y[first]))
        two.learn_many(X[first], names(y[first]))
    assert isinstance(model.model_, Perceptron)
    before = model.decision_function(X), model.model_.predict_proba_many(X)

    third = np.flatnonzero(y == 2)[:1]
    model.partial_fit(X[third], names(y[third]), sample_weight=[0.0])  # nothing to learn
    assert isinstance(model.model_, MulticlassPerceptron)
    assert model.classes_.tolist() == ["class 0", "class 1", "class 2"]
    two._add_label("class 2")
    assert without_calibration(model.model_) == without_calibration(two)

    # no decision between the two has changed
    after = model.decision_function(X)
    np.testing.assert_array_equal(after[:, 1], before[0])
    np.testing.assert_array_equal(after[:, 0], -before[0])
    assert not after[:, 2].any()
    # nor the odds, but for one factor a vector that answers, and where they are cut
    p = model.model_.predict_proba_many(X)
    near = np.abs(before[0]) <= np.median(np.abs(before[0]))
    factors = (p[:, 1] / p[:, 0] * before[1][:, 0] / before[1][:, 1])[near]
    assert len(np.unique(factors.round(9))) <= 1 + serve.startswith("best")
    rest = np.setdiff1d(np.arange(len(y)), first)
    model.partial_fit(X[rest], names(y[rest]))
    two.learn_many(X[rest], names(y[rest]))
    assert without_calibration(model.model_) == without_calibration(two)


@seeds(3)
def test_third_class_leaves_the_pace_at_which_probabilities_are_learned(seed):
    """AdaGrad's sums of squares, beside those of two vectors that learned the same."""
    X, y = problem(seed, 2, n=5000)
    model = PerceptronClassifier(serve="best").partial_fit(X, y)
    two = core(PerceptronClassifier, 2, [0, 1], serve="best")
    two.learn_many(X, y)
    model.partial_fit(X[:1], [2], sample_weight=[0.0])
    ours, theirs = (counts_of(m.__getstate__()["serve"])[0] for m in (model.model_, two))
    for kind in (0, 1):  # the current weights and the average
        assert ours[kind][2] == pytest.approx(theirs[kind][2], rel=0.5)  # the temperature
        assert 1 / 3 < ours[kind][4] / theirs[kind][4] < 3


@every_classifier
@two_or_more
@seeds(3)
def test_cuts_make_no_difference_where_the_classes_are_given(classifier, n_classes, seed):
    X, y = problem(seed, n_classes)
    whole = classifier(random_state=0).partial_fit(X, y)
    cut = classifier(random_state=0)
    rng = np.random.default_rng(seed)
    for rows in np.split(np.arange(len(y)), np.sort(rng.integers(1, len(y), 10))):
        if len(rows):
            cut.partial_fit(X[rows], y[rows], classes=range(n_classes))
    assert learned(cut.model_) == learned(whole.model_)


@every_classifier
def test_first_call_may_have_one_class(classifier):
    X, y = problem(0, 2)
    model = classifier()
    model.partial_fit(X[y == 1], names(y[y == 1]))
    assert model.classes_.tolist() == ["class 1"]
    assert set(model.predict(X)) == {"class 1"}
    assert model.decision_function(X).shape == (len(X), 1)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    for _ in range(5):
        model.partial_fit(X, names(y))
    assert model.classes_.tolist() == ["class 0", "class 1"]
    assert model.score(X, names(y)) > 0.8
    if hasattr(model, "coef_"):
        by_weights = X @ model.coef_[0] + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), by_weights, atol=1e-9)


@paired
@pytest.mark.parametrize("n_known", [0, 1, 2, 3, 4])
def test_class_that_has_had_no_row_is_never_the_answer(classifier, n_known):
    """A class is known to these learners from its first row on."""
    X, y = problem(0, 4)
    rows = y < n_known
    model = classifier(random_state=0)
    model.partial_fit(
        X[rows] if n_known else X,
        y[rows] if n_known else y,
        classes=range(6),
        sample_weight=None if n_known else np.zeros(len(y)),
    )
    assert model.classes_.tolist() == list(range(6))
    assert sorted(model.model_.labels) == list(range(n_known))
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))
    decision = model.decision_function(X)
    assert decision.shape == (len(X), 6)
    assert np.isfinite(decision).all()
    if n_known:
        assert model.predict(X).max() < n_known
        assert not p[:, n_known:].any()
        assert (decision[:, n_known:].max(axis=1) < decision[:, :n_known].min(axis=1)).all()
    assert model.partial_fit(X, y).score(X, y) > 0.5


@paired
@pytest.mark.parametrize("only", [0, 1])
def test_one_class_of_two_is_the_answer_until_the_other_comes(classifier, only):
    X, y = problem(0, 2)
    model = classifier(random_state=0).partial_fit(X[y == only], y[y == only], classes=[0, 1])
    assert set(model.predict(np.vstack([X, np.zeros((1, X.shape[1]))]))) == {only}
    assert (model.predict_proba(X)[:, only] == 1).all()
    model.partial_fit(X, y)
    expected = core(classifier, 2)
    expected.learn_many(X[y == only], y[y == only])
    expected.learn_many(X, y)
    assert learned(model.model_) == learned(expected)
    np.testing.assert_array_equal(model.predict(X), expected.predict_many(X))


@seeds(3)
def test_scores_are_the_same_where_one_class_was_first(seed):
    X, y = problem(seed, 2)
    two = PerceptronClassifier(serve="current").partial_fit(X, y)
    one = PerceptronClassifier(serve="current").partial_fit(X[y == 1], y[y == 1]).partial_fit(X, y)
    assert isinstance(one.model_, MulticlassPerceptron)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert weights_of(one) == weights_of(two)


@both
def test_features_taught_behind_its_back_are_no_columns(classifier):
    X, y = problem(0, 2)
    model = classifier(serve="current").partial_fit(X, y)
    coef = model.coef_
    odd = {frozenset("ab"): 1.0, "word": 1.0, -1: 1.0, 10**6: 1.0, 2.5: 1.0}
    model.model_.learn_one(odd, 1 - int(model.model_.predict_one(odd)))  # a mistake
    np.testing.assert_array_equal(model.coef_, coef)
    model.partial_fit(X[:1], [2], sample_weight=[0.0])
    first, second, third = model.model_.weights.values()
    assert first[frozenset("ab")] == -second[frozenset("ab")] != 0
    assert not third
    by_weights = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), by_weights, atol=1e-9)


@every_classifier
def test_class_without_rows_may_be_announced(classifier):
    X, y = problem(0, 2)
    model = classifier().partial_fit(X, y, classes=[3, 1, 0])
    assert model.classes_.tolist() == [0, 1, 3]
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.partial_fit(X, y, classes=[2]).classes_.tolist() == [0, 1, 2, 3]


def test_joining_classes_do_not_change_what_a_model_of_two_has_learned():
    """The two go through a state of another kind of model, whose arrays are wider."""
    X, y = problem(3, 2, n=500)
    for params in (
        {},
        {"pocket": True},
        {"average": "exponential"},
        {"average": "none", "serve": "current"},
    ):
        model = PerceptronClassifier(random_state=0, **params).partial_fit(X, y)
        before = model.model_.weights
        model.partial_fit(X[:1], [2], sample_weight=[0.0])
        assert model.model_.weights[1] == before
        assert model.model_.weights[0] == {name: -w for name, w in before.items()}
        model.model_._check()
