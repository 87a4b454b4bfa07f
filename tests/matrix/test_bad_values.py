"""A bad value is refused by its row and column, and nothing is learned."""

import pickle
import random

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import Perceptron
from tests.support.doors import refused, trained
from tests.support.marks import in_turn
from tests.support.matrices import (
    CALLS,
    DENSE,
    FORMS,
    INF,
    NAN,
    WAYS,
    both_ways,
    csr,
    every_call,
    random_batch,
    untouched,
)
from tests.support.variants import (
    LEARNERS,
    every_learner,
    labels_for,
    make,
)


def late_row(form, way, dtype=float):
    """1000 rows, and how to put a value into row 900, column 7."""
    n_columns = 20 if way == "in place" else 150 * 8 // np.dtype(dtype).itemsize
    dense = np.zeros((1000, n_columns), dtype)
    dense[:, 3:9] = 1.0
    if form in DENSE:
        X = DENSE[form](dense, None, way)
        X[900, 7] = 1.0

        def put(value):
            X.flags.writeable = True
            X[900, 7] = value

        return X, put
    X = csr(np.where(np.arange(n_columns) < 12, 1.0, 0.0) * np.ones((1000, 1)), way)
    if dtype is not float:
        X.data = X.data.astype(dtype)
    if form == "CSR of int64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)

    def put(value):
        X.data[900 * 12 + 7] = value

    return X, put


BAD = {"NaN": NAN, "inf": INF, "-inf": -INF, "too large": 1.0000001e50, "too small": -1e51}


PLACES = ["csr_array", "CSR of int64", "array", "array, Fortran", "array, part", "array, backwards"]


@pytest.mark.parametrize(
    ("form", "kind", "way", "learner"), in_turn(PLACES, BAD, WAYS, LEARNERS, n=2)
)
def test_bad_value_is_refused_by_row_and_column_and_nothing_is_learned(learner, form, kind, way):
    X, put = late_row(form, way)
    put(BAD[kind])
    ys = [labels_for(learner)[i % 2] for i in range(1000)]
    for call in CALLS.values():
        with untouched(X):
            message = refused(
                trained(learner),
                lambda model, call=call: call(model, X, ys),
                "X",
                "row 900",
                "column 7",
                error=ValueError,
            )
        assert ("impute" if kind == "NaN" else "finite") in message
    names = [f"feature {j}" for j in range(X.shape[1])]
    refused(
        trained(learner),
        lambda model: model.learn_many(X, ys, feature_names=names),
        "row 900",
        "column 'feature 7'",
        error=ValueError,
    )
    put(1.0)
    model = trained(learner)
    model.learn_many(X, ys)
    assert model.n_seen == 1040


@pytest.mark.parametrize("dtype", ["f2", "f4", "longdouble", ">f4", ">f8"])
@pytest.mark.parametrize("form", ["csr_array", "array", "array, Fortran"])
@both_ways
def test_bad_value_of_every_dtype_is_refused_by_row_and_column(form, dtype, way):
    dtype = np.dtype(dtype)
    X, put = late_row(form, way, dtype)
    for value in (NAN, INF, -INF, *([1e51] if dtype.itemsize >= 8 else [])):
        put(value)
        for call in CALLS.values():
            refused(
                trained("MIRA"),
                lambda model, call=call: call(model, X, ["label 0"] * 1000),
                "row 900",
                "column 7",
                error=ValueError,
            )


@pytest.mark.parametrize("form", ["CSR, unsorted", "CSR, repeated", "coo, repeated"])
@pytest.mark.parametrize("kind", BAD)
def test_bad_value_of_a_matrix_that_is_to_be_put_in_order_is_refused(form, kind):
    rng = random.Random(kind)
    dense, ys, _ = random_batch(rng, "MIRA")
    for sign in (1, -1):
        X = FORMS[form](dense, rng, "in place")
        X.data[::sign][-30] = BAD[kind]
        for call in CALLS.values():
            with untouched(X):
                refused(
                    trained("MIRA"),
                    lambda model, call=call, X=X: call(model, X, ys),
                    "row",
                    "column",
                    error=ValueError,
                )


def test_repeated_entries_are_refused_for_their_sum():
    indices, indptr = np.array([1, 1]), np.array([0, 2])
    for values, said in (([9e49, 9e49], "1.8e+50"), ([INF, -INF], "row 0"), ([NAN, 1.0], "row 0")):
        X = sp.csr_array((np.array(values), indices, indptr), shape=(1, 2))
        refused(Perceptron(), lambda model, X=X: model.learn_many(X, [True]), said, "column 1")
        refused(Perceptron(), lambda model, X=X: model.predict_many(X), said, "column 1")


NO_NUMBERS = {
    "objects": np.ones((3, 2), object),
    "text": np.full((3, 2), "1"),
    "bytes": np.full((3, 2), b"1"),
    "complex": np.ones((3, 2), complex),
    "times": np.zeros((3, 2), "M8[s]"),
    "durations": np.zeros((3, 2), "m8[s]"),
    "records": np.zeros((3, 2), [("a", float), ("b", int)]),
    "void": np.zeros((3, 2), "V8"),
    "complex CSR": sp.csr_array(np.ones((3, 2), complex)),
    "complex COO": sp.coo_array(np.ones((3, 2), complex)),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@every_learner
def test_matrix_of_no_numbers_is_refused_by_its_dtype(learner, kind):
    X = NO_NUMBERS[kind]
    for call in CALLS.values():
        message = refused(
            trained(learner),
            lambda model, call=call: call(model, X, [labels_for(learner)[0]] * 3),
            "X",
            str(X.dtype),
            error=TypeError,
        )
        assert "numbers" in message


def test_sparse_objects_are_refused_by_their_dtype():
    X = sp.csr_array(np.eye(2))
    X.data = X.data.astype(object)
    refused(Perceptron(), lambda model: model.predict_many(X), "X", "object", error=TypeError)


WRONG_SHAPES = {
    "0": np.array(1.0),
    "1": np.ones(3),
    "3": np.ones((3, 2, 2)),
    "sparse 1": sp.csr_array(np.ones(3)),
    "sparse coo 1": sp.coo_array(np.ones(3)),
    "sparse 3": sp.coo_array(np.ones((3, 2, 2))),
    "masked 1": np.ma.masked_array(np.ones(3), mask=[0, 0, 0]),
    "masked 3": np.ma.masked_array(np.ones((3, 1, 1)), mask=[[[0]], [[1]], [[0]]]),
}


@pytest.mark.parametrize("kind", WRONG_SHAPES)
@every_learner
def test_matrix_of_other_than_two_dimensions_is_refused(learner, kind):
    X = WRONG_SHAPES[kind]
    for call in CALLS.values():
        message = refused(
            trained(learner),
            lambda model, call=call: call(model, X, [labels_for(learner)[0]] * 3),
            "X has",
            f"{X.ndim} dimension{'' if X.ndim == 1 else 's'}",
            "two",
            error=ValueError,
        )
        assert ("X[None, :]" in message) == (X.ndim == 1)


@every_call
@every_learner
def test_masked_value_is_refused_by_row_and_column(learner, call):
    X = np.ma.masked_array(np.ones((30, 4)), mask=np.zeros((30, 4)))
    X[17, 2] = np.ma.masked
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, X, [labels_for(learner)[0]] * 30),
        "row 17",
        "column 2",
        "masked",
        error=ValueError,
    )
    assert "impute" in message


# --- Where it stands in its row


def rows_of_every_length(way, fill=1.0):
    """Rows of 1 to 11 entries and the place of each of those in the data."""
    X = csr(np.tril(np.full((11, 11), fill)), way)
    return X, [(r, j, int(X.indptr[r]) + j) for r in range(11) for j in range(r + 1)]


@both_ways
@every_learner
def test_bad_value_is_found_wherever_it_stands_in_its_row(learner, way):
    X, places = rows_of_every_length(way)
    ys = [labels_for(learner)[i % 3 % len(labels_for(learner))] for i in range(X.shape[0])]
    kinds = list(BAD.values())
    model = trained(learner)
    before = pickle.dumps(model)
    for i, (r, j, place) in enumerate(places):
        X.data[place] = kinds[i % len(kinds)]
        for call in CALLS.values():
            with pytest.raises(ValueError, match=f"row {r}, column {j}\\b"):
                call(model, X, ys)
        X.data[place] = 1.0
    assert pickle.dumps(model) == before


@both_ways
@every_learner
def test_stored_zero_is_no_entry_wherever_it_stands_in_its_row(learner, way):
    X, places = rows_of_every_length(way)
    X.resize(11, 121)
    for r, j, place in places:
        X.indices[place] = 11 * r + j  # a feature of its own, which only its value brings in
    ys = [labels_for(learner)[i % 3 % len(labels_for(learner))] for i in range(X.shape[0])]
    for i, (_, _, place) in enumerate(places):
        X.data[place] = -0.0 if i % 2 else 0.0
        without = X.copy()
        without.eliminate_zeros()
        many, one_by_one = make(learner), make(learner)
        many.learn_many(X, ys)
        for r, y in enumerate(ys):
            first, last = without.indptr[r], without.indptr[r + 1]
            columns, values = without.indices[first:last], without.data[first:last]
            one_by_one.learn_one(dict(zip(columns.tolist(), values.tolist(), strict=True)), y)
        assert pickle.dumps(many) == pickle.dumps(one_by_one)
        assert list(many.predict_many(X)) == list(many.predict_many(without))
        X.data[place] = 1.0
