"""Margins, of a model and of data, and how many mistakes they allow."""

from __future__ import annotations

import math
import typing
from typing import Any

import numpy as np

from streamptron.common.names import type_shown
from streamptron.estimator.finite import data_of
from streamptron.estimator.looking import learner_of

if typing.TYPE_CHECKING:
    from numpy.typing import NDArray


def margin(model: Any, data: Any) -> float:
    """How far the nearest event is on its label's side, or -inf if one is not.

    For two labels with one output that is the least y (w x + b) with y = 1 or -1; with an output a
    label, the least lead of the label's score over the best other one (CIML, equation 4.8). The
    weights are those that answer each event, see `serve`. An event on the boundary is on no side.

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
        If the scores of the model have no such meaning, or if an argument is invalid.

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
    """The margin divided by the length of the weights: a distance, whatever their scale.

    Intercepts do not count in that length. All events are taken with the weights that answer
    best overall, ``model.serving``.

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
    """The largest geometric margin that any hyperplane has on the data, its intercept free.

    This is the margin of a hard-margin support vector machine, and -inf if no hyperplane separates
    the labels. Needs scikit-learn, and is for thousands of events rather than for millions.

    Parameters
    ----------
    data
        Events of exactly two labels, as for ``fit``; of texts what ``transform_many`` of a
        Tokenizer makes, with the labels.

    Raises
    ------
    TypeError, ValueError
        If data is invalid or has not two labels.
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
    """How many mistakes a perceptron makes at most on the data, in any order and number of passes.

    That is (R / gamma)^2, where R is the length of the longest event and gamma the margin of the
    best hyperplane through the origin (CIML, theorem 2). The intercept is a feature of value 1: it
    counts in both. The bound is for a Perceptron with ``margin=0`` that starts from 0, and for the
    current weights: its n_updates stays within it. It is the same for MIRA with an unlimited C and
    for a MulticlassPerceptron, on two labels, where `n_mistakes` does.

    Parameters
    ----------
    data
        Events of exactly two labels, as for ``dataset_margin``.
    intercept
        Whether the learner has one.

    Raises
    ------
    ValueError
        If no hyperplane separates the labels: then there is no bound. If data has not two labels.
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


# --- What these are made of


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
        raise ValueError(f"model has met {len(known)} labels; a margin lies between two or more")
    if any(label not in known for label in lessons.labels):
        return -math.inf, learner
    output = {label: at for at, label in enumerate(known)}
    ours = np.array([output[label] for label in lessons.labels])[lessons.numbers]
    least = float(_leads(learner, lessons.scores(learner), ours).min())
    return (least if least > 0.0 else -math.inf), learner


def _leads(
    learner: Any, scores: NDArray[np.float64], outputs: NDArray[np.intp]
) -> NDArray[np.float64]:
    """How far each event's label is ahead; `outputs`: its number among the known labels."""
    if scores.shape[1] == 1:
        towards = outputs == learner._positive
        leads: NDArray[np.float64] = np.where(towards, scores[:, 0], -scores[:, 0])
        return leads
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, outputs] = -np.inf
    ahead: NDArray[np.float64] = scores[rows, outputs] - others.max(axis=1)
    return ahead


def _signed(data: Any) -> tuple[Any, NDArray[np.float64]]:
    """The events as a CSR matrix, and 1.0 or -1.0 for each."""
    lessons = data_of(data)
    if len(lessons.labels) != 2:
        raise ValueError(
            f"data has {len(lessons.labels)} label{'s'[: len(lessons.labels) != 1]}; the margin of "
            "data lies between two"
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
    # whether there is a gap is a linear program, whose answer is exact: y (w x + b) >= 1 for all
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
            "features to one size"
        )
    return size * gap / 2
