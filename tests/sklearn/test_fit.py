"""fit: weights of rows and classes, epochs, when to stop, real data."""

import io
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.class_weight import compute_class_weight

from streamptron import Perceptron
from streamptron.estimator.epochs import JUDGED, loss
from streamptron.sklearn import PerceptronClassifier
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


@every_classifier_without_votes
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


@every_classifier
def test_too_few_epochs_warn(classifier):
    X, y = problem(0, 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 epochs") as caught:
        classifier(max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert classifier(max_iter=2, tol=None).fit(X, y).n_iter_ == 2


@every_classifier
@two_or_more
@seeds(3)
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


@every_classifier
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


@every_classifier
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
