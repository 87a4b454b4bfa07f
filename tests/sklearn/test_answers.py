"""Answers of a classifier agree with each other."""

import numpy as np

from streamptron.sklearn import PerceptronClassifier
from tests.support.classifiers import (
    SERVES,
    both,
    every_serve,
    linear,
    names,
    problem,
    two_or_more,
)
from tests.support.marks import seeds


@both
@two_or_more
@every_serve
@seeds(3)
def test_answers_agree_with_each_other(classifier, n_classes, serve, seed):
    X, y = problem(seed, n_classes, n=120)
    model = classifier(**SERVES[serve], random_state=seed).fit(X, names(y))
    decision = model.decision_function(X)
    if n_classes == 2:
        assert decision.shape == (len(X),)
        assert model.coef_.shape == (1, X.shape[1])
        assert model.intercept_.shape == (1,)
        best = (decision > 0).astype(int)
    else:
        assert decision.shape == (len(X), n_classes)
        assert model.coef_.shape == (n_classes, X.shape[1])
        assert model.intercept_.shape == (n_classes,)
        best = decision.argmax(axis=1)
    if not serve.startswith("best"):
        by_weights = (X @ model.coef_.T + model.intercept_).reshape(decision.shape)
        np.testing.assert_allclose(decision, by_weights, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    p = model.predict_proba(X)
    assert p.shape == (len(X), n_classes)
    np.testing.assert_array_equal(p.argmax(axis=1), best)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    if serve == "no intercept":
        assert not model.intercept_.any()


@seeds(3)
def test_probabilities_give_way_to_the_prediction_only(seed):
    """Two classes that overlap and of which one is rare: there the calibration has an offset."""
    rng = np.random.default_rng(seed)
    y = rng.random(2000) < 0.1
    X = rng.normal(size=(2000, 3)) + y[:, None]
    model = PerceptronClassifier(random_state=seed, class_weight={True: 9.0}).fit(X, y)
    raw = model.model_.predict_proba_many(X)
    p = model.predict_proba(X)
    differs = (raw[:, 1] > raw[:, 0]) != model.predict(X)
    assert 0 < differs.sum() < len(X)
    np.testing.assert_array_equal(p[~differs], raw[~differs])
    np.testing.assert_allclose(p[differs], 0.5)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@linear
def test_tie_goes_to_the_first_class(classifier):
    X, y = problem(0, 3)
    for labels in (y, y % 2):
        model = classifier(fit_intercept=False).fit(X, labels)
        nothing = np.zeros((2, X.shape[1]))
        assert not model.decision_function(nothing).any()
        assert model.predict(nothing).tolist() == [0, 0]
        np.testing.assert_array_equal(model.predict_proba(nothing).argmax(axis=1), [0, 0])
