"""Sparse matrices whose arrays contradict each other are refused."""

import random

import numpy as np
import pytest

from streamptron import Perceptron
from tests.support.doors import refused, trained
from tests.support.matrices import CALLS, both_ways, csr
from tests.support.variants import LEARNERS, labels_for


def with_index(X, at, column):
    X.indices[at] = column


def with_starts(X, change, dtype=None):
    starts = X.indptr.tolist()
    change(starts)
    X.indptr = np.array(starts, dtype or X.indptr.dtype)


def broken_row(starts, row, start):
    starts[row] = start


# 1000 rows of 12 entries: what to do to it, and what the error says
BROKEN = {
    "column below 0": (lambda X: with_index(X, 900 * 12, -1), ["row 900", "-1"]),
    "column far below 0": (lambda X: with_index(X, 900 * 12, -(2**31)), ["row 900"]),
    "column too large": (lambda X: with_index(X, 901 * 12 - 1, X.shape[1]), ["row 900"]),
    "column far too large": (lambda X: with_index(X, 901 * 12 - 1, 2**31 - 1), ["row 900"]),
    "unsorted, column below 0": (lambda X: with_index(X, 900 * 12 + 5, -1), ["row 900", "-1"]),
    "unsorted, column too large": (
        lambda X: with_index(X, 900 * 12 + 5, 10**9),
        ["row 900", str(10**9)],
    ),
    "first row starts later": (lambda X: with_starts(X, lambda p: broken_row(p, 0, 1)), ["0"]),
    "first row starts before 0": (lambda X: with_starts(X, lambda p: broken_row(p, 0, -1)), ["0"]),
    "row ends before it starts": (
        lambda X: with_starts(X, lambda p: broken_row(p, 901, 5)),
        ["row 900"],
    ),
    "row ends before 0": (
        lambda X: with_starts(X, lambda p: broken_row(p, 901, -(10**9))),
        ["row 900"],
    ),
    "row ends beyond the data": (
        lambda X: with_starts(X, lambda p: broken_row(p, 901, 2**31 - 1)),
        ["row 900"],
    ),
    "last row ends beyond the data": (
        lambda X: with_starts(X, lambda p: broken_row(p, 1000, 2**31 - 1)),
        ["row 999"],
    ),
    "too few starts": (lambda X: with_starts(X, lambda p: p.pop()), ["indptr", "1000", "1001"]),
    "too many starts": (
        lambda X: with_starts(X, lambda p: p.append(12_000)),
        ["indptr", "1002", "1001"],
    ),
    "no starts": (lambda X: with_starts(X, lambda p: p.clear()), ["indptr", "1001"]),
    "starts that are not ints": (lambda X: with_starts(X, lambda p: None, float), ["indptr"]),
    "columns that are not ints": (
        lambda X: setattr(X, "indices", X.indices.astype(float)),
        ["indices", "float64"],
    ),
    "too few columns": (lambda X: setattr(X, "indices", X.indices[:10_807]), ["row 900"]),
    "too few values": (lambda X: setattr(X, "data", X.data[:10_807]), ["row 900"]),
    "no values": (lambda X: setattr(X, "data", X.data[:0]), ["row 0"]),
}


def broken(kind, form, way):
    X = csr(np.hstack([np.ones((1000, 12)), np.zeros((1000, 3))]), way)
    if kind.startswith("too few ") or kind == "no values":  # there must be no room behind
        X.data, X.indices = X.data[:12_000], X.indices[:12_000]
    if form == "int64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    if form == "unsorted":
        X.indices[:12] = X.indices[:12][::-1].copy()
    BROKEN[kind][0](X)
    return X


@both_ways
@pytest.mark.parametrize("form", ["int32", "int64", "unsorted"])
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_matrix_is_refused_and_nothing_is_learned(kind, form, way):
    X = broken(kind, form, way)
    learner = random.Random(f"{kind}, {form}").choice(list(LEARNERS))
    for call in CALLS.values():
        refused(
            trained(learner),
            lambda model, call=call: call(model, X, [labels_for(learner)[0]] * 1000),
            "X",
            *BROKEN[kind][1],
        )


def test_broken_matrix_with_numbers_that_a_float_cannot_hold_is_refused():
    for kind in ("too few columns", "row ends before 0", "row ends beyond the data"):
        X = broken(kind, "int32", "in place")
        X.data = np.full(len(X.data), np.longdouble(1) / 3)
        refused(Perceptron(), lambda model, X=X: model.predict_many(X), "X", error=ValueError)


def test_columns_that_wrap_around_in_their_own_dtype_are_refused():
    X = csr(np.eye(3))
    X.indices, X.indptr = np.array([0, 2**64 - 1, 2], np.uint64), X.indptr.astype(np.uint64)
    refused(Perceptron(), lambda model: model.predict_many(X), "row 1", error=ValueError)
