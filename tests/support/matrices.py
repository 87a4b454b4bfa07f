"""Batches of every form, the dicts that their rows are, and how the two are compared.

A batch is learned in one of two ways, and both are tested wherever it matters: "in place", checked
as a whole before; or, where it is much larger than the model, "on a copy" of it, checked on the way
(see COPY_LEAST in doors/batch.pyx).
"""

import copy
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from streamptron import Perceptron
from tests.support.streams import random_events
from tests.support.variants import labels_for, make

NAN, INF = float("nan"), float("inf")


# Batches that are learned on a copy have more bytes than this, and than four times the model.
COPY_LEAST = 1 << 20
COPY_TIMES = 4

WAYS = ("in place", "on a copy")
both_ways = pytest.mark.parametrize("way", WAYS)


# Batches, and what they are as dicts


def random_batch(rng, learner, n=60, n_columns=12, values="real", **more):
    """A dense batch, its labels and its weights, of which some can be learned."""
    events = random_events(
        rng, n, n_features=n_columns, values=values, labels=labels_for(learner), **more
    )
    dense = np.zeros((n, n_columns))
    ys, ws = [], []
    for row, (x, y, w) in zip(dense, events, strict=True):
        for name, value in x.items():
            row[int(name.removeprefix("word"))] = value
        ys.append(y)
        ws.append(w)
    return dense, ys, ws


def dicts(dense, names=None):
    """The rows as dicts, without zeros, in the order of the columns."""
    names = range(dense.shape[1]) if names is None else names
    assert len(names) == dense.shape[1]
    rows = [{} for _ in dense]
    some = np.nonzero(dense)
    for row, column, value in zip(*map(np.ndarray.tolist, (*some, dense[some])), strict=True):
        rows[row][names[column]] = value
    return rows


def widened(dense, way):
    """For a batch that is to be learned on a copy: with as many columns of zeros as it takes."""
    if way == "in place":
        assert dense.nbytes <= COPY_LEAST
        return dense
    n_columns = COPY_LEAST // 8 // max(1, len(dense)) + dense.shape[1] + 1
    return np.hstack([dense, np.zeros((len(dense), n_columns))])


def padded(X, way):
    """A CSR matrix, with as much unused room behind its values as it takes to be learned on a copy.

    What is in that room does not matter, and would be refused if it were read.
    """
    if way == "on a copy":
        room = COPY_LEAST // 8 + 1
        filling = NAN if X.dtype.kind == "f" else 1
        X.data = np.concatenate([X.data, np.full(room, filling, X.dtype)])
        X.indices = np.concatenate([X.indices, np.full(room, 10**6, X.indices.dtype)])
    return X


def csr(dense, way="in place"):
    return padded(sp.csr_array(dense), way)


def with_indices(dense, dtype, way):
    X = csr(dense, way)
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    return X


def shuffled(X, rng):
    """The entries of each row of a CSR matrix in another order."""
    for first, last in pairwise(X.indptr.tolist()):
        order = rng.sample(range(first, last), last - first)
        X.indices[first:last] = X.indices[order]
        X.data[first:last] = X.data[order]
    return X


def repeated(dense, rng):
    """A CSR matrix whose entries come in parts, each of which is exact; some add up to nothing."""
    rows = []
    for row in dense:
        parts = []
        for column, value in enumerate(row.tolist()):
            if value:
                parts += rng.choice([[(column, value)], [(column, value / 2)] * 2])
            elif rng.random() < 0.1:
                parts += [(column, 1.5), (column, -1.5)]
        rng.shuffle(parts)
        rows.append(parts)
    entries = [part for parts in rows for part in parts]
    return sp.csr_array(
        (
            np.array([value for _, value in entries], dtype=float),
            np.array([column for column, _ in entries], dtype=np.int32),
            np.cumsum([0, *map(len, rows)], dtype=np.int32),
        ),
        shape=dense.shape,
    )


def marked_sorted(X):
    """A CSR matrix that scipy believes to be sorted and without repetitions."""
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def explicit_zeros(dense, way):
    X = csr(np.where(dense == 0, 7.0, dense), way)
    X.data[: dense.size][X.data[: dense.size] == 7.0] = 0.0
    return X


def every_other(dense, order="C"):
    """The same numbers as part of a larger array."""
    around = np.full((2 * dense.shape[0] + 1, 3 * dense.shape[1] + 2), NAN, order=order)
    inside = around[1::2, 2::3]
    inside[...] = dense
    return inside


def read_only(X):
    for array in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        array.flags.writeable = False
    return X


# How the same numbers may come: from a dense float64 array, a random.Random and the way.
SPARSE = {
    "csr_array": lambda dense, rng, way: csr(dense, way),
    "csr_matrix": lambda dense, rng, way: padded(sp.csr_matrix(dense), way),
    "CSR of int64": lambda dense, rng, way: with_indices(dense, np.int64, way),
    "CSR of uint16": lambda dense, rng, way: with_indices(dense[:, :60_000], np.uint16, "in place"),
    "CSR, read-only": lambda dense, rng, way: read_only(csr(dense, way)),
    "CSR, explicit zeros": lambda dense, rng, way: explicit_zeros(dense, way),
    "CSR, unsorted": lambda dense, rng, way: padded(shuffled(csr(dense), rng), way),
    "CSR, unsorted, read-only": lambda dense, rng, way: read_only(
        padded(shuffled(csr(dense), rng), way)
    ),
    "CSR, unsorted, unnoticed": lambda dense, rng, way: marked_sorted(
        padded(shuffled(csr(dense), rng), way)
    ),
    "CSR, repeated": lambda dense, rng, way: padded(repeated(dense, rng), way),
    "CSR, repeated, unnoticed": lambda dense, rng, way: marked_sorted(
        padded(repeated(dense, rng), way)
    ),
    "csc": lambda dense, rng, way: sp.csc_array(dense),
    "coo": lambda dense, rng, way: sp.coo_array(dense),
    "coo, repeated": lambda dense, rng, way: repeated(dense, rng).tocoo(),
    "lil": lambda dense, rng, way: sp.lil_array(dense),
    "dok": lambda dense, rng, way: sp.dok_array(dense),
    "bsr": lambda dense, rng, way: sp.bsr_array(dense),
    "dia": lambda dense, rng, way: sp.dia_array(dense),
}
DENSE = {
    "array": lambda dense, rng, way: dense.copy(),
    "array, Fortran": lambda dense, rng, way: np.asfortranarray(dense),
    "array, part": lambda dense, rng, way: every_other(dense),
    "array, part, Fortran": lambda dense, rng, way: every_other(dense, "F"),
    "array, backwards": lambda dense, rng, way: dense[::-1, ::-1].copy()[::-1, ::-1],
    "array, unaligned": lambda dense, rng, way: unaligned(dense),
    "array, read-only": lambda dense, rng, way: read_only(dense.copy()),
    "matrix": lambda dense, rng, way: dense.copy().view(np.matrix),
    "masked array": lambda dense, rng, way: np.ma.masked_array(dense.copy(), mask=dense == 1234.5),
}
FRAMES = {
    "pandas": lambda dense, rng, way: pd.DataFrame(dense.copy()),
    "pandas, columns apart": lambda dense, rng, way: pd.DataFrame(
        {j: column.copy() for j, column in enumerate(dense.T)}
    ),
    "pandas, sparse": lambda dense, rng, way: pd.DataFrame.sparse.from_spmatrix(
        sp.csr_array(dense)
    ),
    "pandas, some sparse": lambda dense, rng, way: pd.DataFrame(
        {j: pd.arrays.SparseArray(column) if j % 2 else column for j, column in enumerate(dense.T)}
    ),
    "pandas, nullable": lambda dense, rng, way: pd.DataFrame(dense.copy()).astype("Float64"),
    "polars": lambda dense, rng, way: pl.DataFrame(dense, schema=texts(dense)),
    "pyarrow": lambda dense, rng, way: pa.table(dict(zip(texts(dense), dense.T, strict=True))),
}
FORMS = {**SPARSE, **DENSE, **FRAMES}


def unaligned(dense):
    raw = np.zeros(dense.nbytes + 1, np.uint8)[1:]
    array = raw.view(float).reshape(dense.shape)
    assert not (array.size and array.flags.aligned)
    array[...] = dense
    return array


def texts(dense):
    """Names of columns for those frames that have none but texts."""
    return [str(j) for j in range(dense.shape[1])]


def way_of(form, way):
    """The way that is tested with a form: frames of very many columns take long to make."""
    return "in place" if form in FRAMES and form != "pandas" else way


def is_frame(X):
    return not (sp.issparse(X) or isinstance(X, np.ndarray))


def column_names(X):
    """The features that the columns of X are."""
    if isinstance(X, pd.DataFrame | pl.DataFrame):
        return list(X.columns)
    return X.column_names if isinstance(X, pa.Table) else range(X.shape[1])


def contents(X):
    """All that the caller has in X, the order of its entries too."""
    if isinstance(X, np.ndarray):
        return X.tobytes(), X.dtype, X.strides
    if sp.issparse(X):
        arrays = [part for part in vars(X).values() if isinstance(part, np.ndarray)]
        return [array.tobytes() for array in arrays], [array.dtype for array in arrays]
    return X.to_pandas() if isinstance(X, pa.Table) else copy.deepcopy(X)


@contextmanager
def untouched(*things):
    """Who leaves this must leave the things as they were."""
    before = [contents(X) for X in things]
    yield
    for X, old in zip(things, before, strict=True):
        if is_frame(X):
            assert (X.to_pandas() if isinstance(X, pa.Table) else X).equals(old)
        else:
            assert contents(X) == old


# What the answers to many are as those to one


def listed(column):
    """A series or array as a list of plain values. pandas may make a NaN of None among texts."""
    name = next(name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name))
    return [None if value != value else value for value in getattr(column, name)()]


def table(answer):
    """A frame or a 2-d array as a list of rows."""
    if isinstance(answer, pa.Table):
        answer = answer.to_pandas()
    return listed(answer if isinstance(answer, np.ndarray) else answer.to_numpy())


def assert_answers_alike(model, twin, X, rows, **names):
    """What the one says of many is what the other one says of each."""
    assert listed(model.predict_many(X, **names)) == [twin.predict_one(x) for x in rows]
    decisions = [twin.decision_function_one(x) for x in rows]
    found = model.decision_function_many(X, **names)
    if not isinstance(decisions[0] if decisions else twin.decision_function_one({}), dict):
        assert listed(found) == decisions
    elif twin.labels or not is_frame(X):
        assert table(found) == [list(decision.values()) for decision in decisions]
    if isinstance(model, Perceptron) or twin.labels or not is_frame(X):
        probabilities = [list(twin.predict_proba_one(x).values()) for x in rows]
        assert table(model.predict_proba_many(X, **names)) == probabilities


def learn_each(model, rows, ys, ws=None):
    for x, y, w in zip(rows, ys, [1.0] * len(rows) if ws is None else ws, strict=True):
        model.learn_one(x, y, w)


def bytes_of(X):
    if sp.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return 8 * X.size if isinstance(X, pd.DataFrame) else X.nbytes


def assert_learned_on(way, X, model):
    """That the core will learn X in the way that is to be tested."""
    on_a_copy = bytes_of(X) > max(COPY_LEAST, COPY_TIMES * (model.memory_usage + 1))
    assert on_a_copy == (way == "on a copy")


NUMBERS = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "longdouble"]
BIG_ENDIAN = [">u2", ">i2", ">u4", ">i4", ">u8", ">i8", ">f2", ">f4", ">f8"]


# Names of columns


CALLS = {
    "learn_many": lambda model, X, y, **names: model.learn_many(X, y, **names),
    "test_then_train_many": lambda model, X, y, **names: model.test_then_train_many(X, y, **names),
    "predict_many": lambda model, X, y, **names: model.predict_many(X, **names),
    "predict_proba_many": lambda model, X, y, **names: model.predict_proba_many(X, **names),
    "decision_function_many": lambda model, X, y, **names: model.decision_function_many(X, **names),
}
every_call = pytest.mark.parametrize("call", CALLS)


def objects(values):
    """An array of objects, which numpy does not look into."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


# Threads. A batch is learned, or answered, without the interpreter's lock.


def grown(learner, way, **params):
    """A model so large that a batch of some megabytes is learned in place, or one that is not."""
    model = make(learner, **{"budget": 20, **params})  # else a VotedPerceptron outgrows its batches
    if way == "in place":
        x = {f"a name of more than fifteen bytes {i}": 1.0 for i in range(30_000)}
        for label in labels_for(learner)[:2]:
            model.learn_one(x, label)
    else:
        for label in labels_for(learner)[:2]:
            model.learn_one({"a": 1.0}, label)
    return model


def threads_batch(learner, seed, n=2000, n_columns=150, labels=None):
    """A dense batch of whole numbers, of some megabytes, that is not too easy."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, n_columns)).astype(float)
    X[rng.random(X.shape) < 0.7] = 0.0
    labels = labels_for(learner) if labels is None else labels
    ys = rng.integers(0, len(labels), n)
    X[np.arange(n), ys] += 1.0
    return X, [labels[y] for y in ys]
