"""fit: weights of rows and classes, epochs, when to stop, real data."""

import copy
import io
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight

from streamptron import Perceptron
from streamptron.sklearn import PerceptronClassifier
from streamptron.sklearn.epochs import JUDGED, held_out, log_loss
from tests.support.classifiers import (
    both,
    core,
    epochs_by_hand,
    every_classifier,
    every_classifier_without_votes,
    names,
    problem,
    two_or_more,
    weights_of,
)
from tests.support.marks import seeds
from tests.support.streams import lines, needs_data
from tests.support.variants import learned

pytestmark = pytest.mark.once  # another Python would say the same

# --- Weights of rows and classes


@every_classifier
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


@every_classifier
@two_or_more
def test_weights_of_rows_are_the_cores(classifier, n_classes):
    X, y = problem(0, n_classes)
    w = np.random.default_rng(0).random(len(y)) + 0.1
    model = classifier(random_state=5, max_iter=3, tol=None).fit(X, y, sample_weight=w)
    by_hand = epochs_by_hand(core(classifier, n_classes), X, y, 5, 3, w)
    assert learned(model.model_) == learned(by_hand)


@every_classifier
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


@every_classifier
def test_weights_of_class_and_row_multiply(classifier):
    X, y = problem(0, 3)
    w = np.random.default_rng(0).random(len(y)) + 0.1
    c = {0: 3.0, 2: 0.25}
    model = classifier(random_state=0, class_weight=c).fit(X, y, sample_weight=w)
    product = w * np.array([3.0, 1.0, 0.25])[y]
    assert weights_of(model) == weights_of(
        classifier(random_state=0).fit(X, y, sample_weight=product)
    )


@every_classifier
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


@every_classifier
def test_every_epoch_has_an_order_of_its_own(classifier):
    X, y = problem(0, 2)
    model = classifier(random_state=0, max_iter=2, tol=None).fit(X, y)
    again = core(classifier, 2)
    order = np.random.RandomState(0).permutation(len(y))
    for _ in range(2):
        again.learn_many(X[order], y[order])
    assert learned(model.model_) != learned(again)


@every_classifier
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_without_shuffle_the_order_is_that_of_the_rows(classifier, sparse):
    X, y = problem(0, 3)
    X = sp.csr_array(X) if sparse else X
    model = classifier(shuffle=False, random_state=0, max_iter=3, tol=None).fit(X, y)
    by_hand = core(classifier, 3)
    for _ in range(3):
        by_hand.learn_many(X, y)
    assert learned(model.model_) == learned(by_hand)


@every_classifier
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


@every_classifier
def test_fit_begins_anew(classifier):
    X, y = problem(0, 3)
    model = classifier(random_state=0).fit(X[:, :5], names(y))
    once = pickle.dumps(classifier(random_state=0).fit(X, y))
    assert pickle.dumps(model.fit(X, y)) == once


@every_classifier
@two_or_more
def test_tol_ends_the_epochs(classifier, n_classes):
    X, y = problem(0, n_classes, n=300)
    classifier = partial(classifier, random_state=0, early_stopping=False)
    model = classifier(n_iter_no_change=3).fit(X, y)
    assert 4 <= model.n_iter_ < 100
    assert model.model_.n_seen == model.n_iter_ * len(y)
    # nothing can be this much better, so the first epoch is the best
    assert classifier(tol=1.0, n_iter_no_change=3).fit(X, y).n_iter_ == 4
    more = classifier(n_iter_no_change=30).fit(X, y)
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
        model = classifier(
            random_state=0, tol=tol, n_iter_no_change=1, max_iter=3, early_stopping=False
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert model.fit(X, y, sample_weight=w).n_iter_ == n_iter


@every_classifier_without_votes
@pytest.mark.parametrize("n_classes", [2, 3])
def test_part_of_many_rows_tells_when_to_stop(classifier, n_classes):
    X, y = problem(0, n_classes, n=12_000, n_features=100)
    assert X.size > JUDGED
    model = classifier(random_state=0, early_stopping=False).fit(X, y)
    assert 6 <= model.n_iter_ < 40
    assert model.score(X, y) > 0.85
    assert pickle.dumps(clone(model).fit(X, y)) == pickle.dumps(model)
    # what is judged is learned, too
    assert model.model_.n_seen == model.n_iter_ * len(y)


@every_classifier
def test_too_few_epochs_warn(classifier):
    X, y = problem(0, 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 epochs") as caught:
        classifier(max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert classifier(max_iter=2, tol=None).fit(X, y).n_iter_ == 2


def by_hand_with_rows_held_out(classifier, n_classes, X, y, seed, epochs, fraction=0.1):
    """The model of the best of some epochs, that epoch, and the log-loss after each."""
    rng = np.random.RandomState(seed)
    rows, held = held_out(rng, np.arange(len(y)), y, fraction)
    model, losses, best = core(classifier, n_classes), [], None
    for _ in range(epochs):
        order = rng.permutation(rows)
        model.learn_many(X[order], y[order])
        p = np.asarray(model.predict_proba_many(X[held]))
        known = {label: at for at, label in enumerate(model._known_labels)}
        own = p[np.arange(len(held)), [known[label] for label in y[held].tolist()]]
        losses.append(-np.log(np.maximum(own, np.finfo(float).eps)).mean())
        if losses[-1] == min(losses):
            best = copy.deepcopy(model)
    order = rng.permutation(held)
    best.learn_many(X[order], y[order])
    return best, int(np.argmin(losses)) + 1, losses


@every_classifier
@two_or_more
@seeds(3)
def test_the_epoch_that_answers_rows_held_out_best_is_kept_and_learns_them_too(
    classifier, n_classes, seed
):
    X, y = problem(seed, n_classes, n=400)
    model = classifier(random_state=seed, validation_fraction=0.25).fit(X, y)
    best, kept, losses = by_hand_with_rows_held_out(
        classifier, n_classes, X, y, seed, model.n_iter_, 0.25
    )
    assert learned(model.model_) == learned(best)
    assert model.n_iter_ >= kept + 5 or min(losses) > losses[kept - 1] - 1e-3
    assert min(losses[-5:]) > min(losses[:-5]) - 1e-3  # none of the last five was a step on


@every_classifier
def test_what_is_as_good_as_never_learned_again_is_not_learned_by_heart(classifier):
    """Columns that a few rows have, and labels by chance: more epochs would only remember them."""
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 2000), density=0.004, rng=rng, format="csr")
    X.data[:] = 1.0
    y = rng.integers(0, 2, 600)
    test = rng.integers(0, 2, 600)
    p, once, all_of_it = (
        classifier(random_state=0, **params).fit(X, y).predict_proba(X)
        for params in ({}, {"max_iter": 1}, {"early_stopping": False})
    )

    def lost(p):
        return -np.log(np.maximum(p[np.arange(600), test], 1e-15)).mean()

    assert lost(p) < 1.15 * lost(once)
    assert lost(p) <= lost(all_of_it)


@every_classifier
def test_log_loss_of_rows_counts_by_their_weight(classifier):
    """A feature tells the class, but of one row in ten the wrong one; such rows weigh little."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    wrong = rng.random(1000) < 0.1
    X = np.where(wrong, 1 - y, y)[:, None] * 2.0 - 1.0
    w = np.where(wrong, 1e-6, 1.0)
    model = classifier(random_state=0).fit(X, y, sample_weight=w)
    found = model.predict_proba(X)
    of_all, of_weight = (log_loss(found, y, each) for each in (None, w))
    assert of_weight < 0.1 < of_all
    assert of_all == pytest.approx(metrics.log_loss(y, found), rel=1e-6)
    assert of_weight == pytest.approx(metrics.log_loss(y, found, sample_weight=w), rel=1e-6)


@seeds(5)
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.97])
def test_a_share_of_each_class_is_held_out_and_each_keeps_a_row(fraction, seed):
    rng = np.random.RandomState(seed)
    sizes = [1, 1, 2, 3, 40, 500]
    y = rng.permutation(np.repeat(np.arange(6), sizes))
    rows = np.flatnonzero(rng.random_sample(len(y)) < 0.9)
    rest, held = held_out(rng, rows, y, fraction)
    assert sorted([*rest, *held]) == rows.tolist()
    assert {*y[rest]} == {*y[rows]}
    for label in range(6):
        n = sum(y[rows] == label)
        assert abs(sum(y[held] == label) - fraction * n) < 2
    assert abs(len(held) - fraction * len(rows)) < 1 + 6 * fraction


@every_classifier
def test_with_few_rows_or_nothing_to_decide_all_rows_are_learned_in_each_epoch(classifier):
    X, y = problem(0, 2, n=99)
    few = classifier(random_state=0).fit(X, y)
    assert learned(few.model_) == learned(
        classifier(random_state=0, early_stopping=False).fit(X, y).model_
    )
    assert few.model_.n_seen == 99 * few.n_iter_
    X, y = problem(0, 2, n=400)
    for params in ({"max_iter": 1}, {"max_iter": 3, "tol": None}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = classifier(random_state=0, **params).fit(X, y)
        assert model.model_.n_seen == 400 * params["max_iter"]
    with pytest.raises(ValueError, match="of 4 rows none can be held out: each class keeps one"):
        classifier(random_state=0, early_stopping=True).fit(np.eye(4), [0, 1, 2, 3])


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
