"""MultiLabelClassifier keeps scikit-learn's contract, of indicator matrices and of classes."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

import streamptron
from streamptron.sklearn import MultiLabelClassifier
from tests.sklearn.test_contract import ORDER
from tests.support.marks import seeds
from tests.support.variants import learned


def expected_failures(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ORDER,
    }


@parametrize_with_checks(
    [MultiLabelClassifier(), MultiLabelClassifier(threshold="f1", max_iter=3, shuffle=False)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def problem(seed=0, n=200):
    X, Y = make_multilabel_classification(
        n, n_features=30, n_classes=6, n_labels=2, random_state=seed
    )
    return X.astype(float), Y


@seeds(2)
@pytest.mark.parametrize("of_y", [np.asarray, csr_array, csr_matrix, lambda Y: Y.astype(bool)])
def test_one_pass_learns_what_the_learner_learns(of_y, seed):
    X, Y = problem(seed)
    model = MultiLabelClassifier(random_state=0)
    for rows in (slice(0, 50), slice(50, 200)):
        model.partial_fit(csr_array(X[rows]), of_y(Y[rows]))
    own = streamptron.MultiLabelClassifier(missing="skip_nan", hash_seed=0)
    first = {k: bool(there) for k, there in enumerate(Y[0])}
    for r, (x, y) in enumerate(zip(X, Y, strict=True)):
        event = {j: value for j, value in enumerate(x.tolist()) if value}
        named = np.flatnonzero(y).tolist()
        later = {**dict.fromkeys(named, True), **{k: False for k in range(6) if k not in named}}
        own.learn_one(event, first if r == 0 else later if r == 50 else named)
    assert learned(model.model_) == learned(own)
    p = model.predict_proba(X)
    assert p.shape == Y.shape
    assert (model.predict(X) == (p > 0.5)).all()
    assert ((model.decision_function(X) > 0) == (p > 0.5)).all()


def test_it_learns_and_is_cross_validated():
    X, Y = problem(n=600)
    answers = cross_val_predict(MultiLabelClassifier(random_state=0), X, Y, cv=3)
    assert f1_score(Y, answers, average="micro") > 0.55


def test_a_label_that_no_row_has_keeps_its_column():
    X, Y = problem()
    Y[:, 5] = 0
    model = MultiLabelClassifier(random_state=0).fit(X, Y)
    assert model.predict_proba(X).shape == (200, 6)
    assert not model.predict(X)[:, 5].any()
    assert model.classes_.tolist() == list(range(6))


def test_a_threshold_a_column():
    X, Y = problem()
    model = MultiLabelClassifier(random_state=0, threshold={0: 0.01, 3: 0.99}).fit(X, Y)
    above = [0.01, 0.5, 0.5, 0.99, 0.5, 0.5]
    assert (model.predict(X) == (model.predict_proba(X) > above)).all()


@pytest.mark.parametrize(
    ("Y", "error", "says"),
    [
        (lambda Y: Y[:, :5], ValueError, "y has 5 columns; in the calls before it had 6"),
        (lambda Y: Y[:, 0], ValueError, "y is one class per row; in the calls before it was an"),
        (lambda Y: Y * 2, ValueError, "y has 2 in row"),
        (lambda Y: Y[:9], ValueError, "y has 9 rows; X has 200"),
    ],
)
def test_another_y_is_refused_and_changes_nothing(Y, error, says):
    X, good = problem()
    model = MultiLabelClassifier(random_state=0).partial_fit(X, good)
    before = learned(model.model_)
    with pytest.raises(error, match=says):
        model.partial_fit(X, Y(good))
    assert learned(model.model_) == before
