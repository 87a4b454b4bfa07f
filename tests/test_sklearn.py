"""streamptron.sklearn: scikit-learn's contract, and that the learners inside learn the same."""

import io
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from reference import MIRA as TwinMIRA
from reference import MulticlassPerceptron as TwinMulticlass
from reference import Perceptron as TwinPerceptron
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks
from streams import lines, needs_data, text_stream
from variants import learned

import streamptron.sklearn
from streamptron import MIRA, MulticlassPerceptron, Perceptron
from streamptron.estimator.epochs import JUDGED, loss
from streamptron.sklearn import MIRAClassifier, PerceptronClassifier

seeds = pytest.mark.parametrize("seed", range(3), ids="seed={}".format)
both = pytest.mark.parametrize("classifier", [PerceptronClassifier, MIRAClassifier])
two_or_more = pytest.mark.parametrize("n_classes", [2, 3, 6])

# Every kept vector, and what is needed to keep it.
SERVES = {
    "average": {},
    "exponential": {"average": "exponential", "half_life": 30},
    "soon forgotten": {"average": "exponential", "half_life": 1},
    "current": {"serve": "current"},
    "no average": {"serve": "current", "average": "none"},
    "pocket": {"serve": "pocket", "pocket": True},
    "best": {"serve": "best"},
    "best pocket": {"serve": "best", "average": "none", "pocket": True},
    "no intercept": {"fit_intercept": False},
}
every_serve = pytest.mark.parametrize("serve", SERVES)


def problem(seed, n_classes, n=80, n_features=12, values="real"):
    """X with many zeros, and classes 0 .. n_classes - 1 that can be learned in part."""
    rng = np.random.default_rng(seed)
    X = (
        rng.normal(size=(n, n_features))
        if values == "real"
        else rng.integers(-2, 3, (n, n_features))
    )
    X = np.where(rng.random(X.shape) < 0.5, X, 0).astype(float)
    y = (X @ rng.normal(size=(n_features, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    noisy = rng.random(n) < 0.1
    noisy[:n_classes] = False
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return X, y


def names(y):
    """Classes as strs, which sort as the numbers do."""
    return np.array([f"class {number}" for number in range(10)])[y]


def core(classifier, n_classes, labels=None, fit_intercept=True, **params):
    """The learner that the classifier has inside, with its labels known."""
    params = {"serve": "average", "hash_seed": 0, **params}
    if classifier is PerceptronClassifier and n_classes == 2 and labels is None:
        return Perceptron(intercept=fit_intercept, **params)
    learner = MIRA if classifier is MIRAClassifier else MulticlassPerceptron
    labels = range(n_classes) if labels is None else labels
    return learner.from_weights(
        {label: {} for label in labels}, None if fit_intercept else False, **params
    )


def twin(classifier, n_classes, fit_intercept=True, **params):
    """The same in plain Python."""
    params = {"serve": "average", "intercept": fit_intercept, **params}
    if classifier is PerceptronClassifier and n_classes == 2:
        return TwinPerceptron(**params)
    plain = TwinMIRA(**params) if classifier is MIRAClassifier else TwinMulticlass(**params)
    for label in range(n_classes):
        plain.start_output(label, {}, 0.0)
    return plain


def epochs_by_hand(model, X, y, seed, epochs, w=1.0):
    """The epochs of fit, by the core's own door."""
    rng = np.random.RandomState(seed)
    for _ in range(epochs):
        order = rng.permutation(len(y))
        model.learn_many(X[order], y[order], w if np.isscalar(w) else w[order])
    return model


def weights_of(classifier):
    return classifier.coef_.tolist(), classifier.intercept_.tolist()


# --- scikit-learn's contract

ORDER = (
    "a row of weight 2 makes one step of twice the size, where two rows make two steps from "
    "different weights, as with scikit-learn's own Perceptron and SGDClassifier; that a row of "
    "weight 0 is as if it were not there has a test of its own"
)


def expected_failures(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ORDER,
    }


@parametrize_with_checks(
    [
        PerceptronClassifier(),
        PerceptronClassifier(serve="current"),
        PerceptronClassifier(average="exponential", half_life=20),
        PerceptronClassifier(pocket=True, serve="pocket"),
        MIRAClassifier(),
        MIRAClassifier(serve="current", average="none"),
        MIRAClassifier(C=0.1, update="mistake"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_checks_of_scikit_learn_pass(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or one of them is skipped
    check(estimator)


@both
@seeds
def test_cross_validation_finds_what_can_be_learned(classifier, seed):
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(classifier(random_state=seed), X, y).mean() > 0.85


@both
def test_grid_search_sets_parameters_from_numpy(classifier):
    X, y = problem(0, 3)
    own = (
        {"margin": np.array([0.0, 0.5])} if classifier is PerceptronClassifier else {"C": [0.1, 1]}
    )
    grid = {
        **own,
        "fit_intercept": np.array([True, False]),
        "max_iter": np.array([5]),
        "n_iter_no_change": np.array([2]),
        "tol": np.array([0.1]),
        "average": np.array(["uniform", "exponential"]),
    }
    search = GridSearchCV(classifier(random_state=0), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.5
    assert search.best_estimator_.n_iter_ <= 5


@needs_data
@both
def test_texts_in_a_pipeline(classifier):
    texts, y = zip(*((" ".join(x), y) for x, y in text_stream("sms_spam", 3000)), strict=True)
    vectorizer = HashingVectorizer(n_features=2**16, binary=True, norm=None, alternate_sign=False)
    model = make_pipeline(vectorizer, classifier(random_state=0)).fit(texts[:2000], y[:2000])
    assert model.score(texts[2000:], y[2000:]) > 0.97


@both
@two_or_more
def test_calibrated_classifier_takes_it_as_its_base(classifier, n_classes):
    X, y = problem(0, n_classes, n=400)
    model = CalibratedClassifierCV(classifier(random_state=0), cv=3).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@both
def test_clone_and_params_are_scikit_learns(classifier):
    model = classifier(half_life=7, class_weight={0: 2.0}, random_state=3)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "coef_")
    assert other.set_params(tol=None).tol is None


@both
@every_serve
@two_or_more
def test_pickle_keeps_everything(classifier, serve, n_classes):
    X, y = problem(0, n_classes)
    model = classifier(**SERVES[serve], random_state=0, max_iter=3, tol=None).fit(X, names(y))
    other = pickle.loads(pickle.dumps(model))
    assert weights_of(other) == weights_of(model)
    assert learned(other.model_) == learned(model.model_)
    for a in (model, other):
        a.partial_fit(X, names(y))
    assert learned(other.model_) == learned(model.model_)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


@both
def test_names_of_columns_are_kept_and_checked(classifier):
    X, y = problem(0, 2)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    model = classifier(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == X.shape[1]
    assert weights_of(model) == weights_of(classifier(random_state=0).fit(X, y))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[frame.columns[::-1]], y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[frame.columns[:5]], y)
    with pytest.raises(ValueError, match="X has 5 features"):
        classifier().fit(X, y).partial_fit(X[:, :5], y)


@both
def test_unfitted_says_so(classifier):
    X, _ = problem(0, 2)
    for answer in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(classifier(), answer)(X)
    for attribute in ("coef_", "intercept_", "classes_", "n_iter_", "model_"):
        assert not hasattr(classifier(), attribute)


# --- The learner inside


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


@both
@two_or_more
@seeds
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
@seeds
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


@seeds
def test_last_vector_is_scikit_learns_perceptron(seed):
    X, y = problem(seed, 2, values="small")
    theirs = sklearn.linear_model.Perceptron(shuffle=False, max_iter=7, tol=None).fit(X, y)
    ours = PerceptronClassifier(shuffle=False, max_iter=7, tol=None, serve="current").fit(X, y)
    assert weights_of(ours) == weights_of(theirs)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


@seeds
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


@both
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


@both
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


@both
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


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_model_goes_on_event_by_event(classifier, n_classes):
    X, y = problem(4, n_classes)
    model = classifier(random_state=0, serve="current").fit(X, names(y))
    label = "class 1" if isinstance(model.model_, MIRA | MulticlassPerceptron) else True
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


# --- Answers


@both
@two_or_more
@every_serve
@seeds
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


@seeds
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


@both
def test_tie_goes_to_the_first_class(classifier):
    X, y = problem(0, 3)
    for labels in (y, y % 2):
        model = classifier(fit_intercept=False).fit(X, labels)
        nothing = np.zeros((2, X.shape[1]))
        assert not model.decision_function(nothing).any()
        assert model.predict(nothing).tolist() == [0, 0]
        np.testing.assert_array_equal(model.predict_proba(nothing).argmax(axis=1), [0, 0])


# --- Classes


KINDS = {
    "strs": lambda y: names(y),
    "objects": lambda y: names(y).astype(object),
    "ints": lambda y: y * 7 - 3,
    "small ints": lambda y: y.astype(np.int8),
    "floats": lambda y: y + 1.0,
    "series": lambda y: pd.Series(names(y)),
    "list": lambda y: names(y).tolist(),
}


@both
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


@both
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_truth_values_are_classes(classifier, call):
    X, y = problem(0, 2)
    model = getattr(classifier(random_state=0), call)(X, y == 1)
    assert model.classes_.dtype == bool
    assert model.predict(X).dtype == bool
    assert weights_of(model) == weights_of(getattr(classifier(random_state=0), call)(X, y))


@both
@seeds
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
    for label, coef in zip(model.classes_.tolist(), model.coef_.tolist(), strict=True):
        kept = {j: weight for j, weight in enumerate(coef) if weight}
        assert kept == model.model_.averaged_weights[label]


def without_calibration(model):
    """All that a model has learned but how its probabilities are calibrated."""
    state = model.__getstate__()
    kinds, *rest = state["serve"]
    return {**state, "serve": ([kind[:2] for kind in kinds], *rest), "y_name": None}


@every_serve
@seeds
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


@seeds
def test_third_class_leaves_the_pace_at_which_probabilities_are_learned(seed):
    """AdaGrad's sums of squares, beside those of two vectors that learned the same."""
    X, y = problem(seed, 2, n=5000)
    model = PerceptronClassifier(serve="best").partial_fit(X, y)
    two = core(PerceptronClassifier, 2, [0, 1], serve="best")
    two.learn_many(X, y)
    model.partial_fit(X[:1], [2], sample_weight=[0.0])
    ours, theirs = (m.__getstate__()["serve"][0] for m in (model.model_, two))
    for kind in (0, 1):  # the current weights and the average
        assert ours[kind][2] == pytest.approx(theirs[kind][2], rel=0.5)  # the temperature
        assert 1 / 3 < ours[kind][4] / theirs[kind][4] < 3


@both
@two_or_more
@seeds
def test_cuts_make_no_difference_where_the_classes_are_given(classifier, n_classes, seed):
    X, y = problem(seed, n_classes)
    whole = classifier(random_state=0).partial_fit(X, y)
    cut = classifier(random_state=0)
    rng = np.random.default_rng(seed)
    for rows in np.split(np.arange(len(y)), np.sort(rng.integers(1, len(y), 10))):
        if len(rows):
            cut.partial_fit(X[rows], y[rows], classes=range(n_classes))
    assert learned(cut.model_) == learned(whole.model_)


@both
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
    by_weights = X @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), by_weights, atol=1e-9)


@seeds
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


@both
def test_class_without_rows_may_be_announced(classifier):
    X, y = problem(0, 2)
    model = classifier().partial_fit(X, y, classes=[3, 1, 0])
    assert model.classes_.tolist() == [0, 1, 3]
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.partial_fit(X, y, classes=[2]).classes_.tolist() == [0, 1, 2, 3]


# --- Weights of rows and classes


@both
@two_or_more
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_row_of_weight_0_is_as_if_it_were_not_there(classifier, n_classes, call):
    X, y = problem(0, n_classes)
    w = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], len(y))
    w[:n_classes] = 1.0
    for rows in (X, sp.csr_array(X)):
        model = getattr(classifier(random_state=0), call)(rows, y, sample_weight=w)
        other = getattr(classifier(random_state=0), call)(
            rows[w > 0], y[w > 0], sample_weight=w[w > 0]
        )
        assert learned(model.model_) == learned(other.model_)
        assert model.n_iter_ == other.n_iter_


@both
@two_or_more
def test_weights_of_rows_are_the_cores(classifier, n_classes):
    X, y = problem(0, n_classes)
    w = np.random.default_rng(0).random(len(y)) + 0.1
    model = classifier(random_state=5, max_iter=3, tol=None).fit(X, y, sample_weight=w)
    by_hand = epochs_by_hand(core(classifier, n_classes), X, y, 5, 3, w)
    assert learned(model.model_) == learned(by_hand)


@both
@two_or_more
def test_balanced_is_the_dict_that_it_stands_for(classifier, n_classes):
    X, y = problem(0, n_classes)
    labels = names(y)
    balance = compute_class_weight("balanced", classes=np.unique(labels), y=labels)
    weights = dict(zip(np.unique(labels).tolist(), balance.tolist(), strict=True))
    model = classifier(random_state=0, class_weight="balanced").fit(X, labels)
    other = classifier(random_state=0, class_weight=weights).fit(X, labels)
    assert learned(model.model_) == learned(other.model_)
    by_row = classifier(random_state=0).fit(X, labels, sample_weight=balance[y])
    assert weights_of(by_row) == weights_of(model)
    plain = classifier(random_state=0).fit(X, labels)
    assert weights_of(plain) != weights_of(model)


@both
def test_weights_of_class_and_row_multiply(classifier):
    X, y = problem(0, 3)
    w = np.random.default_rng(0).random(len(y)) + 0.1
    c = {0: 3.0, 2: 0.25}
    model = classifier(random_state=0, class_weight=c).fit(X, y, sample_weight=w)
    product = w * np.array([3.0, 1.0, 0.25])[y]
    assert weights_of(model) == weights_of(
        classifier(random_state=0).fit(X, y, sample_weight=product)
    )


@both
def test_class_of_more_weight_is_found_more_often(classifier):
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.3
    X = rng.normal(size=(1000, 3)) + 0.5 * y[:, None]
    shares = [
        classifier(random_state=0, class_weight={True: weight}).fit(X, y).predict(X).mean()
        for weight in (0.2, 1.0, 5.0)
    ]
    assert shares[0] < shares[1] < shares[2]


# --- Epochs


@both
def test_every_epoch_has_an_order_of_its_own(classifier):
    X, y = problem(0, 2)
    model = classifier(random_state=0, max_iter=2, tol=None).fit(X, y)
    again = core(classifier, 2)
    order = np.random.RandomState(0).permutation(len(y))
    for _ in range(2):
        again.learn_many(X[order], y[order])
    assert learned(model.model_) != learned(again)


@both
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_without_shuffle_the_order_is_that_of_the_rows(classifier, sparse):
    X, y = problem(0, 3)
    X = sp.csr_array(X) if sparse else X
    model = classifier(shuffle=False, random_state=0, max_iter=3, tol=None).fit(X, y)
    by_hand = core(classifier, 3)
    for _ in range(3):
        by_hand.learn_many(X, y)
    assert learned(model.model_) == learned(by_hand)


@both
@two_or_more
def test_random_state_repeats_a_fit_to_the_last_byte(classifier, n_classes):
    X, y = problem(0, n_classes)
    model = classifier(random_state=7, early_stopping=True)
    once, again = (pickle.dumps(model.fit(X, y)) for _ in range(2))
    assert once == again
    other = clone(model).set_params(random_state=8).fit(X, y)
    assert weights_of(other) != weights_of(model)
    state = np.random.RandomState(7)
    assert weights_of(clone(model).set_params(random_state=state).fit(X, y)) == weights_of(model)


@both
def test_fit_begins_anew(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).fit(X[:, :5], names(y))
    once = pickle.dumps(classifier(random_state=0).fit(X, y))
    assert pickle.dumps(model.fit(X, y)) == once


@both
@two_or_more
def test_tol_ends_the_epochs(classifier, n_classes):
    X, y = problem(0, n_classes, n=300)
    model = classifier(random_state=0, n_iter_no_change=3).fit(X, y)
    assert 4 <= model.n_iter_ < 100
    assert model.model_.n_seen == model.n_iter_ * len(y)
    # nothing can be this much better, so the first epoch is the best
    assert classifier(random_state=0, tol=1.0, n_iter_no_change=3).fit(X, y).n_iter_ == 4
    more = classifier(random_state=0, n_iter_no_change=30).fit(X, y)
    assert more.n_iter_ > model.n_iter_


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_loss_is_how_far_classes_are_behind(classifier, n_classes):
    """Two epochs by hand: what the second gains tells two values of tol apart."""
    X, y = problem(0, n_classes)
    w = np.random.default_rng(0).random(len(y)) + 0.1
    by_hand = core(classifier, n_classes)
    rng = np.random.RandomState(0)
    losses = []
    for _ in range(2):
        order = rng.permutation(len(y))
        by_hand.learn_many(X[order], y[order], w[order])
        lost = total = 0.0
        for scores, label, weight in zip(by_hand.decision_function_many(X), y, w, strict=True):
            if by_hand.__class__ is Perceptron:
                lead = scores if label else -scores
            else:
                lead = scores[label] - np.delete(scores, label).max()
            lost += weight * max(0.0, -lead)
            total += weight * abs(lead)
        losses.append(lost / total)
    gain = losses[0] - losses[1]
    assert gain > 0
    for tol, n_iter in ((gain * 1.000001, 2), (gain * 0.999999, 3)):
        model = classifier(random_state=0, tol=tol, n_iter_no_change=1, max_iter=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert model.fit(X, y, sample_weight=w).n_iter_ == n_iter


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_part_of_many_rows_tells_when_to_stop(classifier, n_classes):
    X, y = problem(0, n_classes, n=12_000, n_features=100)
    assert X.size > JUDGED
    model = classifier(random_state=0).fit(X, y)
    assert 6 <= model.n_iter_ < 40
    assert model.score(X, y) > 0.85
    assert pickle.dumps(clone(model).fit(X, y)) == pickle.dumps(model)
    # what is judged is learned, too
    assert model.model_.n_seen == model.n_iter_ * len(y)


@both
def test_too_few_epochs_warn(classifier):
    X, y = problem(0, 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 epochs") as caught:
        classifier(max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert classifier(max_iter=2, tol=None).fit(X, y).n_iter_ == 2


@both
@two_or_more
@seeds
def test_early_stopping_keeps_the_best_on_rows_held_out(classifier, n_classes, seed):
    X, y = problem(seed, n_classes, n=400)
    model = classifier(random_state=seed, early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert model.model_.n_seen % 300 == 0
    kept = model.model_.n_seen // 300
    assert kept + 5 == model.n_iter_  # as long as nothing gets better by less than tol
    # all of the epochs, without what decides when to stop
    best = [
        classifier(
            random_state=seed,
            early_stopping=True,
            validation_fraction=0.25,
            max_iter=n_iter,
            tol=None,
        )
        .fit(X, y)
        .model_.n_seen
        // 300
        for n_iter in range(1, model.n_iter_ + 1)
    ]
    assert best == np.maximum.accumulate(best).tolist()
    assert best[-1] == kept


@both
def test_mistakes_on_rows_held_out_count_by_their_weight(classifier):
    """A feature tells the class, but of one row in ten the wrong one; such rows weigh little."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    wrong = rng.random(1000) < 0.1
    X = np.where(wrong, 1 - y, y)[:, None] * 2.0 - 1.0
    w = np.where(wrong, 1e-6, 1.0)
    model = classifier(random_state=0, early_stopping=True).fit(X, y, sample_weight=w)
    decision = model.decision_function(X)
    assert loss(True, decision, y, None) == pytest.approx(wrong.mean())
    assert 0 < loss(True, decision, y, w) < 1e-6


@both
def test_early_stopping_holds_out_rows_of_every_class(classifier):
    X, y = problem(0, 3, n=400)
    first = classifier(random_state=0, early_stopping=True, max_iter=1, tol=None).fit(X, y)
    # by scikit-learn's own means, with the same random numbers
    rng = np.random.RandomState(0)
    split = StratifiedShuffleSplit(1, test_size=0.1, random_state=rng)
    learned_rows, held = next(split.split(X, y))
    assert set(y[held]) == {0, 1, 2}
    by_hand = core(classifier, 3)
    order = rng.permutation(learned_rows)
    by_hand.learn_many(X[order], y[order])
    assert learned(first.model_) == learned(by_hand)


# --- Real data


@needs_data
def test_a9a():
    X, y = load_svmlight_file(svmlight_bytes("a9a"), n_features=123)
    X_test, y_test = load_svmlight_file(svmlight_bytes("a9a.t"), n_features=123)
    model = PerceptronClassifier(random_state=0).fit(X, y)
    assert model.classes_.tolist() == [-1.0, 1.0]
    assert 1 - model.score(X_test, y_test) <= 0.165


def svmlight_bytes(name):
    return io.BytesIO("\n".join(lines(name)).encode())


# --- Bad input


@both
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_iter": 0}, ValueError, "max_iter=0; it must be an int of at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter=2.5; it must be an int of at least 1"),
        ({"n_iter_no_change": True}, TypeError, "n_iter_no_change=True; it must be an int"),
        ({"tol": -1.0}, ValueError, "tol=-1.0; it must be None or a number of at least 0"),
        ({"tol": float("nan")}, ValueError, "tol=nan"),
        ({"tol": "small"}, TypeError, "tol='small'"),
        ({"shuffle": 1}, TypeError, "shuffle=1; it must be True or False"),
        ({"early_stopping": "yes"}, TypeError, "early_stopping='yes'; it must be True or False"),
        (
            {"early_stopping": True, "validation_fraction": 1.0},
            ValueError,
            "validation_fraction=1.0; it must be a number above 0 and below 1",
        ),
        ({"fit_intercept": None}, TypeError, "fit_intercept=None; it must be True or False"),
        ({"pocket": 2}, TypeError, "pocket=2; it must be True or False"),
        ({"average": "mean"}, ValueError, "average='mean'; it must be one of 'none'"),
        ({"average": "none"}, ValueError, "serve='average' needs an average"),
        ({"serve": "pocket"}, ValueError, "serve='pocket' needs pocket=True"),
        ({"half_life": 0}, ValueError, "half_life=0; it must be a number of at least 1"),
        ({"class_weight": {0: -1.0}}, ValueError, "class_weight"),
        ({"class_weight": "equal"}, ValueError, "class_weight"),
        ({"class_weight": [1, 2]}, ValueError, "class_weight"),
        ({"random_state": "now"}, ValueError, "seed"),
    ],
)
def test_bad_parameter_is_named_by_fit(classifier, params, error, message):
    X, y = problem(0, 2)
    with pytest.raises(error, match=re.escape(message)):
        classifier(**params).fit(X, y)


def test_bad_parameter_of_a_learner_is_named():
    X, y = problem(0, 2)
    for call in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="margin=-1; it must be a number of at least 0"):
            getattr(PerceptronClassifier(margin=-1), call)(X, y)
        with pytest.raises(ValueError, match="C=0; it must be a number above 0"):
            getattr(MIRAClassifier(C=0), call)(X, y)
        with pytest.raises(ValueError, match="update='never'; it must be one of"):
            getattr(MIRAClassifier(update="never"), call)(X, y)


def with_cell(X, value, dtype=float):
    X = X.astype(dtype)
    X[41, 3] = value
    return X


BAD = {
    "NaN": (lambda X, y: (with_cell(X, np.nan), y), ValueError, "Input X contains NaN"),
    "infinite": (lambda X, y: (with_cell(X, np.inf), y), ValueError, "Input X contains infinity"),
    "too large": (lambda X, y: (with_cell(X, 1e60), y), ValueError, "1e+60 in row 41, column 3"),
    "too large, sparse": (
        lambda X, y: (sp.csr_array(with_cell(X, 1e60)), y),
        ValueError,
        "1e+60 in row 41, column 3",
    ),
    "no float": (
        lambda X, y: (with_cell(X, 2**60 + 1, np.int64), y),
        ValueError,
        "an int in row 41, column 3",
    ),
    "texts": (
        lambda X, y: (X.astype(str).astype(object) + "?", y),
        ValueError,
        "could not convert",
    ),
    "complex": (lambda X, y: (X + 1j, y), ValueError, "Complex data not supported"),
    "one row": (lambda X, y: (X[0], y), ValueError, "Expected 2D array"),
    "too few y": (lambda X, y: (X, y[:-1]), ValueError, "inconsistent numbers of samples"),
    "no y": (lambda X, y: (X, None), ValueError, "requires y to be passed"),
    "y of numbers": (lambda X, y: (X, y + 0.5), ValueError, "Unknown label type"),
    "NaN in y": (lambda X, y: (X, np.where(y == 0, np.nan, y)), ValueError, "Input y contains NaN"),
    "y of a mixture": (
        lambda X, y: (X, np.array(["one", 0] * (len(y) // 2), dtype=object)),
        TypeError,
        "y holds classes that cannot be sorted together",
    ),
    "negative weight": (
        lambda X, y: (X, y, with_weight(y, -1.0)),
        ValueError,
        "sample_weight is -1.0 in row 7; it must be at least 0",
    ),
    "huge weight": (
        lambda X, y: (X, y, with_weight(y, 1e60)),
        ValueError,
        "sample_weight is 1e+60 in row 7; it must be at least 0 and at most 1e+50",
    ),
    "NaN weight": (
        lambda X, y: (X, y, with_weight(y, np.nan)),
        ValueError,
        "Input sample_weight contains NaN",
    ),
    "weights of two dimensions": (
        lambda X, y: (X, y, np.ones((len(y), 2))),
        ValueError,
        "sample_weight has 2 dimensions; give one weight per row",
    ),
    "too few weights": (
        lambda X, y: (X, y, np.ones(3)),
        ValueError,
        "inconsistent numbers of samples",
    ),
}


def with_weight(y, value):
    w = np.ones(len(y))
    w[7] = value
    return w


@both
@pytest.mark.parametrize("bad", BAD)
@two_or_more
def test_bad_input_is_named_and_nothing_is_learned(classifier, bad, n_classes):
    make, error, message = BAD[bad]
    X, y = problem(0, n_classes, values="small")
    args = make(X, y)
    X_bad, y_bad, w_bad = args if len(args) == 3 else (*args, None)
    with pytest.raises(error, match=re.escape(message)):
        classifier(random_state=0).fit(X_bad, y_bad, sample_weight=w_bad)

    model = classifier(random_state=0)
    with pytest.raises(error, match=re.escape(message)):
        model.partial_fit(X_bad, y_bad, sample_weight=w_bad)
    assert not hasattr(model, "model_")
    model.partial_fit(X, y)
    before = pickle.dumps(model)
    for classes in (None, [9]):  # the second: with a class that would join
        with pytest.raises(error, match=re.escape(message)):
            model.partial_fit(X_bad, y_bad, classes=classes, sample_weight=w_bad)
        assert pickle.dumps(model) == before


@both
def test_bad_value_beside_rows_of_weight_0_is_found_before_anything_is_learned(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).partial_fit(X, y)
    before = pickle.dumps(model)
    w = np.ones(len(y))
    w[:5] = 0.0
    with pytest.raises(ValueError, match="in row 41, column 3"):
        model.partial_fit(with_cell(X, 1e60), y, sample_weight=w)
    assert pickle.dumps(model) == before


@both
def test_failed_fit_leaves_the_last_one(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).fit(X, y)
    before = weights_of(model)
    with pytest.raises(ValueError, match="in row 41, column 3"):
        model.fit(with_cell(X, 1e60), y)
    assert weights_of(model) == before


@both
def test_too_little_to_learn_from_is_said(classifier):
    X, y = problem(0, 2)
    with pytest.raises(ValueError, match="y has 1 class, 'class 0'; fit needs two or more"):
        classifier().fit(X[y == 0], names(y[y == 0]))
    with pytest.raises(ValueError, match="every row has the weight zero"):
        classifier().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="class_weight='balanced'; partial_fit cannot know"):
        classifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="Mix of label input types"):
        classifier().partial_fit(X, y).partial_fit(X, names(y))


BLOCKED = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import streamptron
print(streamptron.Perceptron().predict_one({}))
try:
    import streamptron.sklearn
except ImportError as error:
    print(error)
"""


def test_without_scikit_learn_only_this_module_is_missing_and_says_what_to_install():
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED],
        env={"PYTHONPATH": str(Path(streamptron.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    prediction, message = run.stdout.splitlines()
    assert prediction == "False"
    assert message.startswith("streamptron.sklearn needs scikit-learn 1.6 or later")
    assert message.endswith('pip install "streamptron[sklearn]"')


def test_classifier_without_an_average_says_that_serve_must_be_current():
    X, y = np.eye(2), [0, 1]
    with pytest.raises(ValueError, match=r"serve='current'"):
        PerceptronClassifier(average="none").fit(X, y)
    PerceptronClassifier(average="none", serve="current", tol=None, max_iter=2).fit(X, y)


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
