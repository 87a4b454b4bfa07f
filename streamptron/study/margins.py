"""Margins of models and of data, and bounds on mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamptron.common.names import type_shown
from streamptron.estimator.finite import data_of
from streamptron.estimator.looking import leads, learner_of


def margin(model: Any, data: Any) -> float:
    """The smallest distance of an event from the boundary, or -inf if one is on the wrong side.

    For two labels with one output, this is the least y (w x + b) with y = 1 or -1; with one output
    per label, it is the least lead of the label's score over the best other one (CIML, equation
    4.8). The weights are those that answer each event, see `serve`. An event on the boundary counts
    as on the wrong side.

    Parameters
    ----------
    model
        A learner whose scores are sums of weights times values: a Perceptron, MulticlassPerceptron,
        MIRA or AROW; or ``Tokenizer() | learner``.
    data
        Labelled events, as for ``fit``.

    Raises
    ------
    TypeError, ValueError
        If the model's scores are not distances from a boundary, or if an argument is invalid.

    Examples
    --------
    >>> from streamptron import Perceptron
    >>> from streamptron.study import margin
    >>> model = Perceptron.from_weights({"x": 2.0}, intercept=-1.0)
    >>> margin(model, [({"x": 3}, True), ({"x": -1}, False)])
    3.0
    >>> margin(model, [({"x": 3}, True), ({"x": 1}, False)])
    -inf
    """
    return _margin(model, data)[0]


def geometric_margin(model: Any, data: Any) -> float:
    """The margin divided by the length of the weights: a distance that does not depend on scale.

    Intercepts do not count in that length, which is that of the weights that answer best overall,
    ``model.serving``.

    Parameters
    ----------
    model, data
        As for ``margin``.

    Examples
    --------
    >>> from streamptron import Perceptron
    >>> from streamptron.study import geometric_margin
    >>> model = Perceptron.from_weights({"x": 2.0}, intercept=-1.0)
    >>> geometric_margin(model, [({"x": 3}, True), ({"x": -1}, False)])
    1.5
    """
    found, learner = _margin(model, data)
    if found == -math.inf:
        return found
    weights = learner._weights(learner.serving)[1]
    length = math.sqrt(math.fsum(w * w for each in weights for w in each.values()))
    return found / length if length else math.inf


def dataset_margin(data: Any) -> float:
    """The largest geometric margin of any hyperplane on the data, with any intercept.

    This is the margin of a hard-margin support vector machine; -inf if no hyperplane separates the
    labels. It needs scikit-learn, and is meant for thousands of events rather than millions.

    Parameters
    ----------
    data
        Events with exactly two labels, as for ``fit``; for texts, give what a Tokenizer's
        ``transform_many`` makes of them, with the labels.

    Raises
    ------
    TypeError, ValueError
        If data is invalid or does not have two labels.
    ImportError
        If scikit-learn is missing.

    Examples
    --------
    >>> from streamptron.study import dataset_margin
    >>> round(dataset_margin([({"x": 3}, True), ({"x": -1}, False), ({"x": -2}, False)]), 6)
    2.0
    """
    X, signs = _signed(data)
    return _widest(X[signs > 0], X[signs < 0])


def mistake_bound(data: Any, intercept: bool = True) -> float:
    """The most mistakes that a perceptron can make on the data, in any order and number of passes.

    It is (R / gamma)^2, where R is the length of the longest event and gamma the margin of the best
    hyperplane through the origin (CIML, theorem 2). The intercept is a feature of value 1, which
    counts in both. The bound holds for the `n_updates` of a Perceptron with ``margin=0`` that
    starts from 0. On two labels it also holds for the `n_mistakes` of a MulticlassPerceptron, and
    of MIRA with an unlimited C.

    Parameters
    ----------
    data
        Events with exactly two labels, as for ``dataset_margin``.
    intercept
        Whether the learner has an intercept.

    Raises
    ------
    ValueError
        If no hyperplane separates the labels, so that there is no bound; or if data does not have
        two labels.
    ImportError
        If scikit-learn is missing.

    Examples
    --------
    >>> from streamptron.study import mistake_bound
    >>> round(mistake_bound([({"x": 3}, True), ({"x": -1}, False)], intercept=False), 6)
    9.0
    """
    if not isinstance(intercept, bool):
        raise TypeError(f"intercept={intercept!r}; it must be True or False")
    from scipy.sparse import csr_array, diags_array, hstack

    X, signs = _signed(data)
    if intercept:
        X = hstack([X, np.ones((X.shape[0], 1))], format="csr")
    towards = csr_array(diags_array(signs) @ X)
    gamma = _widest(towards, -towards)  # mirrored, so that the best hyperplane has no intercept
    if gamma <= 0.0:
        raise ValueError(
            "no hyperplane separates the labels in data, so a perceptron never stops making "
            "mistakes, and there is no bound"
        )
    longest = float(np.asarray(X.multiply(X).sum(axis=1)).max())
    return longest / gamma**2


# --- Helpers


def _margin(model: Any, data: Any) -> tuple[float, Any]:
    tokenizer, learner = learner_of(model)
    if not learner._can("margin"):
        raise TypeError(
            f"the score of {type_shown(learner)} is not a distance from a hyperplane "
            "between labels; margins are for Perceptron, MulticlassPerceptron, MIRA and AROW"
        )
    lessons = data_of(data, tokenizer, learner._checked_label, missing=learner.missing)
    known = learner._known_labels
    if len(known) < 2:
        raise ValueError(f"model has met {len(known)} labels; a margin needs at least two")
    if any(label not in known for label in lessons.labels):
        return -math.inf, learner
    output = {label: at for at, label in enumerate(known)}
    ours = np.array([output[label] for label in lessons.labels])[lessons.numbers]
    scores = lessons.scores(learner)
    if scores.shape[1] == 1:
        found = np.where(ours == learner._positive, scores[:, 0], -scores[:, 0])
    else:
        found = leads(scores, ours)
    least = float(found.min())
    return (least if least > 0.0 else -math.inf), learner


def _signed(data: Any) -> tuple[Any, np.ndarray]:
    """The events as a CSR matrix, and 1.0 or -1.0 for each."""
    lessons = data_of(data)
    if len(lessons.labels) != 2:
        raise ValueError(
            f"data has {len(lessons.labels)} label{'s'[: len(lessons.labels) != 1]}; the margin of "
            "data needs exactly two"
        )
    X = lessons.matrix()
    if not np.isfinite(X.data).all():
        raise ValueError("data has a value that is missing or not finite; leave that event out")
    return X, np.where(lessons.numbers == 0, 1.0, -1.0)


def _widest(one: Any, other: Any) -> float:
    """Half of the widest gap between two sets of points; -inf if there is none."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack, vstack
        from sklearn.svm import SVC
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("scipy", "sklearn"):
            raise
        raise ImportError(
            'margins of data need scikit-learn: pip install "streamptron[study]"'
        ) from None
    X = csr_array(vstack([one, other], format="csr"))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    signs = np.repeat([1.0, -1.0], [one.shape[0], other.shape[0]])
    size = math.sqrt(float(np.asarray(X.multiply(X).sum(axis=1)).max()))
    if size == 0.0:
        return -math.inf
    X = X / size
    # a linear program finds out exactly whether there is a gap: y (w x + b) >= 1 for all
    A = hstack([X, np.ones((X.shape[0], 1))], format="csr").multiply(-signs[:, None])
    free = linprog(
        np.zeros(A.shape[1]), A_ub=csr_array(A), b_ub=-np.ones(A.shape[0]), bounds=(None, None)
    )
    if free.status == 2:
        return -math.inf
    machine = SVC(kernel="linear", C=1e12, tol=1e-9).fit(X, signs)
    w = np.asarray(machine.coef_.todense() if hasattr(machine.coef_, "todense") else machine.coef_)
    at = np.asarray(X @ w[0])
    gap = float(at[signs > 0].min() - at[signs < 0].max()) / float(np.linalg.norm(w))
    if not gap > 0.0:
        raise ArithmeticError(
            "the labels in data can be separated, but by less than the solver can tell; scale the "
            "features to the same size"
        )
    return size * gap / 2
