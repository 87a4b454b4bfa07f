"""The matrix door: sparse matrices, arrays and frames are learned as the dicts that their rows are.

The dict of a row has its values that are not 0, in the order of the columns. A model that has
learned a batch is afterwards the same, to the last bit of its pickle, as one that was given these
dicts one by one.

A batch is learned in one of two ways, and both are tested wherever it matters: "in place", checked
as a whole before; or, where it is much larger than the model, "on a copy" of it, checked on the way
(see COPY_LEAST in _core.pyx).
"""

import copy
import gc
import math
import pickle
import random
import signal
import sys
import threading
import time
import tracemalloc
import weakref
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from streams import KEYS, make_key, needs_data, random_events, svmlight
from test_doors import Fault, Once, assert_learns_on_alike, refused, trained
from test_state import in_another_process
from test_twin import KEPT, RULES, check_answers, check_counts, check_weights, seeds, twins
from test_twin import labels_for as labels_for_rule
from threads import eager, finished
from variants import LEARNERS, answers, every_learner, every_variant, labels_for, learned, make

from streamptron import Perceptron

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
    return [
        {name: value for name, value in zip(names, row, strict=True) if value}
        for row in dense.tolist()
    ]


def widened(dense, way):
    """For a batch that is to be learned on a copy: with as many columns of zeros as it takes."""
    if way == "in place":
        assert dense.nbytes <= COPY_LEAST
        return dense
    n_columns = COPY_LEAST // 8 // max(1, len(dense)) + dense.shape[1] + 1
    return np.hstack([dense, np.zeros((len(dense), n_columns))])


def padded(X, way):
    """A CSR matrix, with as much unused room behind its values as it takes to be learned on a copy.

    What is in that room is nobody's business, and would be refused if it were read.
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
    if isinstance(model, Perceptron):
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


# Batches are what their rows are


@seeds(1)
@both_ways
@every_variant
def test_batches_of_all_kinds_and_dicts_in_turn_are_learned_as_their_rows_bit_for_bit(
    learner, variant, way, seed
):
    rng = random.Random(f"{learner}, {variant}, {way}, {seed}")
    model, twin = make(learner, variant), make(learner, variant)
    dense, ys, ws = random_batch(rng, learner, n=150, weighted=True)
    forms = rng.sample(list(FORMS), 5)
    last = 0
    for form in forms:
        first, last = last, min(150, last + rng.randint(15, 25))
        part = widened(dense[first:last], way_of(form, way))
        X = FORMS[form](part, rng, way)
        names = {}
        if not is_frame(X) and rng.random() < 0.5:
            names["feature_names"] = texts(X)
        rows = dicts(part[:, : X.shape[1]], names.get("feature_names", column_names(X)))
        y, w = ys[first:last], ws[first:last]
        assert_answers_alike(model, twin, X, rows, **names)
        if rng.random() < 0.5:
            model.learn_many(X, y, w, **names)
        else:
            expected = []
            before = copy.deepcopy(twin)
            for x, label, weight in zip(rows, y, w, strict=True):
                expected.append(before.predict_one(x))
                before.learn_one(x, label, weight)
            assert listed(model.test_then_train_many(X, y, w, **names)) == expected
        learn_each(twin, rows, y, w)
        x = rng.choice(rows)
        assert answers(model, x) == answers(twin, x)
        for each in (model, twin):  # and now one as a dict
            each.learn_one(x, ys[0])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert twin.n_seen == last + len(forms)
    assert twin.n_updates > 5


@both_ways
@pytest.mark.parametrize("form", FORMS)
@every_learner
def test_matrix_of_every_kind_is_its_rows_and_stays_as_it_is(learner, form, way):
    rng = random.Random(f"{learner}, {form}")
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way_of(form, way))
    X = FORMS[form](dense, rng, way)
    rows = dicts(dense, column_names(X))
    if form in ("array", "csr_array", "CSR, repeated"):
        assert_learned_on(way, X, make(learner))

    model, tested, twin = (make(learner) for _ in range(3))
    with untouched(X):
        model.learn_many(X, ys)
        predictions = tested.test_then_train_many(X, ys)
        expected = [twin.test_then_train_one(x, y) for x, y in zip(rows, ys, strict=True)]
        assert listed(predictions) == expected
        assert pickle.dumps(model) == pickle.dumps(tested) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, rows)
    assert model.n_features > 5


@seeds(1)
@pytest.mark.parametrize("kept", [kept for kept in KEPT if kept.endswith("best")])
@pytest.mark.parametrize("rule", RULES)
def test_matrices_are_learned_as_the_twin_learns_their_rows(rule, kept, seed):
    rng = random.Random(f"{rule}, {kept}, {seed}")
    labels = labels_for_rule(rule)
    class_weight = rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}])
    model, twin = twins(rule, class_weight=class_weight, half_life=20, **KEPT[kept])
    values = "real" if twin.average == "exponential" else "small"
    events = list(random_events(rng, 200, n_features=15, labels=labels, values=values))
    for first in range(0, 200, 50):
        part = events[first : first + 50]
        dense = np.zeros((len(part), 15))
        for row, (x, _, _) in zip(dense, part, strict=True):
            for name, value in x.items():
                row[int(name.removeprefix("word"))] = value
        way = rng.choice(WAYS)
        dense = widened(dense, way)
        model.learn_many(rng.choice([csr, np.asarray])(dense), [y for _, y, _ in part])
        for x, (_, y, _) in zip(dicts(dense), part, strict=True):
            twin.learn_one(x, y)
        check_counts(model, twin)
        for x in dicts(dense[:5]):
            check_answers(model, twin, x)
    check_weights(model, twin)
    assert twin.n_updates > 20


@needs_data
@every_variant
def test_real_matrix_is_learned_as_its_rows_bit_for_bit(learner, variant):
    rows, ys = zip(*svmlight("a9a", 1500), strict=True)
    ys = [y == 1 for y in ys] if learner == "Perceptron" else [f"label {y + 2}" for y in ys]
    data = [value for x in rows for value in x.values()]
    indices = [column for x in rows for column in x]
    X = sp.csr_array((data, indices, np.cumsum([0, *map(len, rows)])), shape=(1500, 124))
    model, twin = make(learner, variant), make(learner, variant)
    half = {"in place": slice(750), "on a copy": slice(750, 1500)}
    for way, part in half.items():
        model.learn_many(padded(X[part], way), ys[part])
        learn_each(twin, rows[part], ys[part])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, X[:100], rows[:100])
    assert twin.n_mistakes > 200


@both_ways
@pytest.mark.parametrize("variant", ["default", "pocket", "hashed", "no intercept"])
@every_learner
def test_rows_of_many_values_are_learned_as_they_are(learner, variant, way):
    """Rows of more values than are checked at a time, and blocks that end anywhere."""
    rng = np.random.default_rng(5)
    n_columns = 2500 if way == "in place" else 5000
    dense = rng.integers(-2, 3, (30, n_columns)).astype(float)
    dense[rng.random(dense.shape) < 0.3] = 0.0
    dense[::3, 50:] = 0.0
    dense[5] = 0.0
    ys = [labels_for(learner)[i % 2] for i in range(30)]
    model, twin = make(learner, variant), make(learner, variant)
    model.learn_many(dense, ys)
    model.learn_many(csr(dense), ys)
    for _ in range(2):
        learn_each(twin, dicts(dense), ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, csr(dense), dicts(dense))


@both_ways
@every_learner
def test_broadcast_array_is_one_row_again_and_again(learner, way):
    row = np.arange(-2.0, 2.0)
    n = 50 if way == "in place" else 40_000
    X = np.broadcast_to(row, (n, 4))
    labels = labels_for(learner)
    ys = [labels[i % 2] for i in range(n)]
    model, twin = make(learner), make(learner)
    model.learn_many(X, ys)
    learn_each(twin, dicts(row[None, :]) * n, ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert listed(model.predict_many(X)) == [twin.predict_one(dicts(row[None, :])[0])] * n


@both_ways
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@every_learner
def test_memory_mapped_matrix_is_learned_from_its_file(learner, mode, way, tmp_path):
    rng = random.Random(4)
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way)
    matrix = csr(dense, way)
    saved = {"dense": dense, "data": matrix.data, "indices": matrix.indices}
    for name, array in saved.items():
        np.save(tmp_path / f"{name}.npy", array)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    mapped = {name: np.load(tmp_path / f"{name}.npy", mmap_mode=mode) for name in saved}
    assert all(isinstance(array, np.memmap) for array in mapped.values())
    X = sp.csr_array((mapped["data"], mapped["indices"], matrix.indptr), shape=dense.shape)
    by_array, by_matrix, twin = (make(learner) for _ in range(3))
    by_array.learn_many(mapped["dense"], ys)
    by_matrix.learn_many(X, ys)
    learn_each(twin, dicts(dense), ys)
    assert pickle.dumps(by_array) == pickle.dumps(by_matrix) == pickle.dumps(twin)
    assert_answers_alike(by_array, twin, X, dicts(dense))
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc", "coo", "lil", *DENSE])
@every_learner
def test_batch_without_rows_is_nothing_and_one_without_columns_is_empty_events(learner, form):
    model = make(learner)
    labels = labels_for(learner)
    for label in labels[:2]:
        model.learn_one({0: 1}, label)
    twin = copy.deepcopy(model)

    def made(shape):
        return FORMS[form](np.zeros(shape), random.Random(1), "in place")

    X = made((0, 3))
    model.learn_many(X, [])
    model.learn_many(X, np.empty(0, int), w=np.empty(0))
    for answer in (model.test_then_train_many(X, []), model.predict_many(X)):
        assert isinstance(answer, np.ndarray)
        assert len(answer) == 0
    assert model.predict_proba_many(X).shape == (0, 2)
    assert model.decision_function_many(X).shape == ((0,) if learner == "Perceptron" else (0, 2))
    assert pickle.dumps(model) == pickle.dumps(twin)

    X = made((3, 0))
    model.learn_many(X, [*labels[:2], labels[0]])
    learn_each(twin, [{}] * 3, [*labels[:2], labels[0]])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, X, [{}] * 3)


@both_ways
@every_learner
def test_rows_without_values_are_empty_events(learner, way):
    dense = np.zeros((30, 4))
    dense[[3, 17, 29], [0, 3, 1]] = 2.0
    dense = widened(dense, way)
    ys = [labels_for(learner)[i % 2] for i in range(30)]
    rows = dicts(dense)
    assert rows.count({}) == 27
    for X in (csr(dense, way), dense, sp.csc_array(dense)):
        model, twin = make(learner), make(learner)
        model.learn_many(X, ys)
        learn_each(twin, rows, ys)
        assert pickle.dumps(model) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, rows)


# Kinds of numbers


def extremes(dtype):
    """Values of a dtype at its ends that a float64 can hold, and some between."""
    if dtype.kind == "b":
        return [True, False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        most = int(info.max) if info.bits < 64 else int(info.max) + 1 - 2 ** (info.bits - 53)
        middle = [2**53, 2**62 + 2**10] if info.bits == 64 else [most // 2]
        return [0, 1, 2, int(info.min), most, *middle]
    info = np.finfo(dtype)
    big = min(float(info.max), 1e50)
    return [0.0, -0.0, 0.5, -1.25, float(info.tiny), float(info.smallest_subnormal), big, -big]


NUMBERS = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "longdouble"]
BIG_ENDIAN = [">u2", ">i2", ">u4", ">i4", ">u8", ">i8", ">f2", ">f4", ">f8"]


@seeds(1)
@both_ways
@pytest.mark.parametrize("dtype", NUMBERS + BIG_ENDIAN)
@every_learner
def test_values_of_every_dtype_are_the_floats_that_they_equal(learner, dtype, way, seed):
    rng = random.Random(f"{learner}, {dtype}, {seed}")
    dtype = np.dtype(dtype)
    n_columns = 10 if way == "in place" else COPY_LEAST // dtype.itemsize // 60 + 20
    dense = np.zeros((60, n_columns), dtype)
    dense[:, :10] = [[rng.choice(extremes(dtype)) for _ in range(10)] for _ in range(60)]
    # not by scipy, which knows fewer dtypes: every cell is there, zeros too
    cells = padded(csr(np.ones((60, 10))), way)
    values = np.zeros(len(cells.data), dtype)
    values[:600] = dense[:, :10].ravel()
    cells.data = values
    few = csr(np.ones((60, 10)))
    few.data = np.ascontiguousarray(dense[:, :10]).ravel()
    ys = [rng.choice(labels_for(learner)) for _ in range(60)]
    rows = dicts(dense.astype(float))
    for X in (dense, np.asfortranarray(dense), cells, few):
        model, twin = make(learner), make(learner)
        with untouched(X):
            model.learn_many(X, ys)
            learn_each(twin, rows, ys)
            assert pickle.dumps(model) == pickle.dumps(twin)
            assert_answers_alike(model, twin, X, rows)


@pytest.mark.parametrize("dtype", ["f2", ">f8", ">i4", "?", "i1", "u8", "longdouble"])
@every_learner
def test_unsorted_and_repeated_entries_of_every_dtype_are_put_in_order(learner, dtype):
    X = sp.csr_array(
        (np.ones(9), [3, 0, 2, 2, 1, 0, 4, 1, 2], [0, 3, 3, 6, 9]), shape=(4, 5), dtype=float
    )
    X.data = np.array([1, 0, 1, 1, 1, 1, 1, 0, 1]).astype(dtype)
    twice = 1.0 if dtype == "?" else 2.0  # as scipy sums truth values
    rows = [{2: 1.0, 3: 1.0}, {}, {0: 1.0, 1: 1.0, 2: 1.0}, {2: 1.0, 4: 1.0}]
    ys = [labels_for(learner)[i % 2] for i in range(4)]
    for indices in (X.indices, [3, 0, 2, 2, 2, 0, 4, 1, 2]):
        X.indices = np.array(indices, np.int32)
        if indices is not X.indices and X.indices[4] == 2:
            rows[2] = {0: 1.0, 2: twice}
        model, twin = make(learner), make(learner)
        with untouched(X):
            model.learn_many(X, ys)
            learn_each(twin, rows, ys)
            assert pickle.dumps(model) == pickle.dumps(twin)
            assert_answers_alike(model, twin, X, rows)


def test_repeated_entries_of_narrow_ints_are_summed_as_scipy_sums_them():
    X = sp.csr_array((np.array([200, 100], np.uint8), [0, 0], [0, 2]), shape=(1, 1))
    assert X.toarray().tolist() == [[44]]
    model = Perceptron.from_weights({0: 1.0})
    assert model.decision_function_many(X).tolist() == [44.0]


@pytest.mark.parametrize("dtype", ["i8", "u8", "longdouble"])
@pytest.mark.parametrize("form", ["array", "csr", "pandas", "pandas, columns apart", "polars"])
@both_ways
@every_learner
def test_number_that_a_float_cannot_hold_is_refused(learner, form, dtype, way):
    if form in FRAMES and dtype == "longdouble":
        pytest.skip("a frame of float128 is not known to all of them")
    dense = np.zeros((1000, 20 if way == "in place" or form == "polars" else 150), dtype)
    lossy = {"i8": [2**53 + 1, -(2**53) - 1, 2**63 - 1, 1 - 2**63], "u8": [2**53 + 1, 2**64 - 1]}
    for value in lossy.get(dtype, [np.longdouble(1) / 3, np.longdouble("1e4000")]):
        dense[900, 7] = value
        if form == "csr":
            X = sp.csr_array(dense)
            assert X.dtype == dtype
        elif form == "pandas, columns apart":
            X = pd.DataFrame({j: column.copy() for j, column in enumerate(dense.T)})
        else:
            X = {"array": np.asarray, "pandas": pd.DataFrame, "polars": pl.DataFrame}[form](dense)
        for call in CALLS.values():
            message = refused(
                trained(learner),
                lambda model, call=call, X=X: call(model, X, [labels_for(learner)[0]] * 1000),
                "X",
                "row 900",
                "column 'column_7'" if form == "polars" else "column 7",
                error=ValueError,
            )
            assert "exact" in message


# Names of columns


CALLS = {
    "learn_many": lambda model, X, y, **names: model.learn_many(X, y, **names),
    "test_then_train_many": lambda model, X, y, **names: model.test_then_train_many(X, y, **names),
    "predict_many": lambda model, X, y, **names: model.predict_many(X, **names),
    "predict_proba_many": lambda model, X, y, **names: model.predict_proba_many(X, **names),
    "decision_function_many": lambda model, X, y, **names: model.decision_function_many(X, **names),
}
every_call = pytest.mark.parametrize("call", CALLS)

HOLDERS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "array": lambda names: objects(names),
    "Index": lambda names: pd.Index(objects(names), dtype=object, tupleize_cols=False),
    "Series": lambda names: pd.Series(objects(names), dtype=object),
}


def objects(values):
    """An array of objects, which numpy does not look into."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("keys", [*KEYS, "mixed"])
def test_columns_may_have_names_of_every_kind(keys, holder):
    rng = random.Random(f"{keys}, {holder}")
    learner = rng.choice(list(LEARNERS))
    model, twin = make(learner), make(learner)
    names = [make_key(keys, i) for i in range(12)]
    for form in ("csr_array", "array", "CSR, unsorted", "coo"):
        dense, ys, ws = random_batch(rng, learner, weighted=True)
        X = FORMS[form](dense, rng, "in place")
        rows = dicts(dense, names)
        model.learn_many(X, ys, ws, feature_names=HOLDERS[holder](names))
        learn_each(twin, rows, ys, ws)
        assert listed(model.predict_many(X, feature_names=HOLDERS[holder](names))) == [
            twin.predict_one(x) for x in rows
        ]
        learn_each(model, rows[:5], ys[:5])
        learn_each(twin, rows[:5], ys[:5])
        assert model.weights == twin.weights
        assert_answers_alike(model, twin, X, rows, feature_names=names)
    if keys not in ("object", "mixed"):  # names of that kind are numbered as they come
        assert pickle.dumps(model) == pickle.dumps(twin)


@both_ways
@pytest.mark.parametrize("keys", [key for key in KEYS if key != "object"])
@every_learner
def test_names_of_columns_are_hashed_as_those_of_dicts(learner, keys, way):
    rng = random.Random(keys)
    model, twin = (make(learner, hash_bits=8) for _ in range(2))
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way)
    names = [make_key(keys, i) for i in range(dense.shape[1])]
    for X in (dense, csr(dense, way)):
        model.learn_many(X, ys, feature_names=names)
        learn_each(twin, dicts(dense, names), ys)
        assert pickle.dumps(model) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, dicts(dense, names), feature_names=names)


def test_names_that_numpy_gives_to_texts_and_numbers_are_the_plain_ones():
    model = Perceptron.from_weights({"a": 2.0, "b": 3.0, 7: 5.0, 0.5: 7.0})
    X = np.array([[10.0, 1.0]])
    for names, expected in (
        (np.array(["a", "b"]), 23.0),
        (np.array([7, 0], np.int8), 50.0),
        (np.array([0.5, 7.0]), 75.0),
        (pd.Index(["b", "a"]), 32.0),
        (pd.RangeIndex(6, 8), 5.0),
        (range(7, 9), 50.0),
    ):
        assert model.decision_function_many(X, feature_names=names).tolist() == [expected]


WRONG_NAMES = {
    "too many": (["a", "b", "c", "d"], ValueError, ["4", "3 columns"]),
    "too few": (["a", "b"], ValueError, ["2", "3 columns"]),
    "none": ([], ValueError, ["0", "3 columns"]),
    "str": ("abc", TypeError, ["str"]),
    "bytes": (b"abc", TypeError, ["bytes"]),
    "dict": ({"a": 0, "b": 1, "c": 2}, TypeError, ["dict"]),
    "set": ({"a", "b", "c"}, TypeError, ["set"]),
    "int": (3, TypeError, ["int"]),
    "True": (True, TypeError, ["bool"]),
    "unhashable": (["a", ["b"], "c"], TypeError, ["['b']"]),
    "NaN": (["a", NAN, "c"], ValueError, ["nan"]),
    "twins": (["a", "twin", "twin"], ValueError, ["'twin'"]),
    "long twins": (["a", "a twin of many bytes", "a twin of many bytes"], ValueError, ["twin"]),
    "equal names": (["a", 1, True], ValueError, ["True"]),
    "equal numbers": ([0.0, "a", 0], ValueError, ["0"]),
    "equal objects": ([frozenset("a"), "a", frozenset("a")], ValueError, ["frozenset"]),
    "nested": ([["a", "b", "c"]], ValueError, ["1", "3 columns"]),
}


@pytest.mark.parametrize("kind", WRONG_NAMES)
@every_call
@every_learner
def test_names_that_do_not_fit_the_columns_are_refused(learner, call, kind):
    names, error, said = WRONG_NAMES[kind]
    for X in (np.eye(3), csr(np.eye(3)), sp.csc_matrix(np.eye(3))):
        message = refused(
            trained(learner),
            lambda model, X=X: CALLS[call](
                model, X, [labels_for(learner)[0]] * 3, feature_names=names
            ),
            *said,
            error=error,
        )
        assert "name" in message


@every_call
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@every_learner
def test_names_for_a_frame_are_refused_because_it_has_its_own(learner, library, call):
    X = FRAMES[library](np.eye(2), None, "in place")
    refused(
        trained(learner),
        lambda model: CALLS[call](model, X, labels_for(learner)[:2], feature_names=["a", "b"]),
        "feature_names",
        "frame",
        error=TypeError,
    )


@every_call
@every_learner
def test_column_whose_name_has_no_hash_of_its_own_is_refused_by_a_hashed_model(learner, call):
    names = ["a", frozenset("b")]
    refused(
        trained(learner, hash_bits=10),
        lambda model: CALLS[call](model, np.eye(2), labels_for(learner)[:2], feature_names=names),
        "frozenset({'b'})",
        "hash_bits",
        error=TypeError,
    )


@every_call
@every_learner
def test_names_of_columns_are_kept_only_once_learned(learner, call):
    class Name:
        pass

    model = make(learner)
    labels = labels_for(learner)
    model.learn_one({"a": 1}, labels[0])
    names = [Name(), Name()]
    gone = [weakref.ref(name) for name in names]
    # no values at first; then the second row is a mistake, and its feature is the first one
    CALLS[call](model, np.zeros((2, 2)), [labels[0]] * 2, feature_names=names)
    CALLS[call](model, np.array([[0.0, 0.0], [1.0, 0.0]]), labels[:2], feature_names=names)
    del names
    gc.collect()
    assert gone[1]() is None
    assert (gone[0]() is None) == ("learn" not in call and "train" not in call)


@every_variant
def test_names_of_the_last_event_outlive_the_model_that_a_copy_replaces(learner, variant):
    """The scratch points at the model's long names, and the model is another one afterwards."""
    model, twin = make(learner, variant), make(learner, variant)
    labels = labels_for(learner)
    names = [f"a name of more than fifteen bytes {i}" for i in range(12)]
    X = csr(np.zeros((4, 3)), "on a copy")  # learns no feature: rows stay what they are
    for i in range(20):
        x = dict.fromkeys(names[i % 5 : i % 5 + 3], 1.0)
        for each in (model, twin):
            each.learn_one(x, labels[i % 2], 2.0)
        assert answers(model, x) == answers(twin, x)
        if variant != "hashed":  # where each row has a chunk of its own
            assert_learned_on("on a copy", X, model)
        model.learn_many(X, labels[:2] * 2)
        learn_each(twin, [{}] * 4, labels[:2] * 2)
        other = dict.fromkeys(names[i % 7 + 2 :: -1], 1.0)
        for event in (x, other, x):
            assert answers(model, event) == answers(twin, event)
    assert pickle.dumps(model) == pickle.dumps(twin)


# Wide matrices, and ints from elsewhere


@seeds(3)
@every_learner
def test_columns_are_the_ints_that_dicts_have(learner, seed):
    """Ints learned before and after, of any sign and size, and floats, are told from columns."""
    rng = random.Random(f"{learner}, {seed}")
    model, twin = make(learner), make(learner)
    others = [-1, -2, 0.5, 2.5, 40, 41, 10**6, 2**32, 2**40 + 1, 2**61 - 2, 2**61, 2**64, "0", "1"]
    labels = labels_for(learner)
    for width in (3, 8, 2, 50, 50, 2000, 7, 100_000):
        for _ in range(20):
            x = {rng.choice([*others, *range(60)]): rng.gauss(0, 1) for _ in range(6)}
            y = rng.choice(labels)
            assert answers(model, x) == answers(twin, x)
            model.learn_one(x, y)
            twin.learn_one(x, y)
        n = rng.randint(5, 20)
        columns = rng.sample(range(width), min(width, 30))
        X = sp.lil_array((n, width))
        for row in range(n):
            for column in rng.sample(columns, min(2, width)):
                X[row, column] = rng.gauss(0, 1)
        X = sp.csr_array(X)
        rows = [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in pairwise(X.indptr.tolist())
        ]
        ys = [rng.choice(labels) for _ in range(n)]
        assert_answers_alike(model, twin, X, rows)
        model.learn_many(padded(X, rng.choice(WAYS)), ys)
        learn_each(twin, rows, ys)
        if rng.random() < 0.3:
            model = COPIES[rng.choice(list(COPIES))](model)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert model.weights == twin.weights


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@both_ways
@pytest.mark.parametrize(
    "width", [2**22 - 1, 2**22, 2**22 + 1, 2**31 - 1, 2**31, 2**32, 2**32 + 2, 2**61 - 1]
)
@pytest.mark.parametrize("params", [{}, {"hash_bits": 12}], ids=["exact", "hashed"])
@every_learner
def test_very_wide_matrix_is_learned_as_its_rows(learner, params, width, way):
    rng = random.Random(f"{learner}, {width}")
    columns = sorted({0, 1, 7, 255, width // 3, width - 2, width - 1, min(width, 2**32) - 1})
    rows = [
        {column: rng.gauss(0, 1) for column in columns if rng.random() < 0.5} for _ in range(80)
    ]
    dtype = np.int64 if width > 2**31 - 1 else np.int32
    X = sp.csr_array(
        (
            [value for x in rows for value in x.values()],
            np.array([column for x in rows for column in x], dtype),
            np.cumsum([0, *map(len, rows)], dtype=dtype),
        ),
        shape=(80, width),
    )
    assert X.indices.dtype == dtype
    ys = [rng.choice(labels_for(learner)) for _ in rows]
    model, twin = (make(learner, **params) for _ in range(2))
    for first in (0, 40):
        model.learn_many(padded(X[first : first + 40], way), ys[first : first + 40])
        learn_each(twin, rows[first : first + 40], ys[first : first + 40])
        assert_answers_alike(model, twin, X, rows)
        x = {width - 1: 1.0, 7: 1.0, width: 1.0}
        assert answers(model, x) == answers(twin, x)
    assert pickle.dumps(model) == pickle.dumps(twin)
    # the same rows shuffled, each entry in two halves
    halves = sp.csr_array(
        (
            np.repeat(X.data[::-1] / 2, 2),
            np.repeat(X.indices[::-1], 2),
            2 * (X.nnz - X.indptr[::-1]),
        ),
        shape=X.shape,
    )
    model.learn_many(halves, ys[::-1])
    learn_each(twin, rows[::-1], ys[::-1])
    assert pickle.dumps(model) == pickle.dumps(twin)


@every_call
@pytest.mark.parametrize("width", [2**61, 2**63 - 1])
def test_matrix_of_more_columns_than_can_be_told_apart_is_refused(width, call):
    X = sp.csr_array((np.ones(1), np.array([0]), np.array([0, 1])), shape=(1, width))
    refused(
        Perceptron(),
        lambda model: CALLS[call](model, X, [True]),
        "X has",
        str(width),
        "columns",
        error=ValueError,
    )


@pytest.mark.parametrize("params", [{}, {"hash_bits": 12}], ids=["exact", "hashed"])
def test_array_of_more_columns_than_a_model_keeps_at_hand_is_learned_as_its_rows(params):
    dense = np.zeros((2, 2**22 + 10), np.int8)
    dense[0, [0, 5, 2**22 - 1]] = 1, 2, 3
    dense[1, [0, 2**22, 2**22 + 9]] = 1, -2, -3
    rows = [{0: 1, 5: 2, 2**22 - 1: 3}, {0: 1, 2**22: -2, 2**22 + 9: -3}]
    model, twin = (make("Perceptron", **params) for _ in range(2))
    model.learn_many(dense, [False, True])
    learn_each(twin, rows, [False, True])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, dense, rows)


# Labels


LABEL_HOLDERS = {
    "list": list,
    "tuple": tuple,
    "array of objects": objects,
    "array": np.array,
    "column": lambda labels: np.array(labels)[:, None],
    "column of objects": lambda labels: objects(labels)[:, None],
    "part of an array": lambda labels: np.repeat(np.array(labels), 3)[1::3],
    "backwards": lambda labels: np.array(labels[::-1])[::-1],
    "read-only": lambda labels: read_only(np.array(labels)),
    "pandas": lambda labels: pd.Series(labels, index=range(5, 5 + len(labels))),
    "pandas objects": lambda labels: pd.Series(objects(labels), dtype=object),
    "pandas category": lambda labels: pd.Series(labels, dtype="category"),
    "pandas Index": lambda labels: pd.Index(labels),
    "polars": lambda labels: pl.Series(labels),
    "pyarrow": lambda labels: pa.array(labels),
    "pyarrow chunks": lambda labels: pa.chunked_array([pa.array(labels[:7]), pa.array(labels[7:])]),
}
LABELS = {
    "bool": [True, False],
    "int": [3, 1, 2],
    "negative int": [-5, 0, 70_000, 2**40],
    "large int": [2**62, 2**62 + 1, -(2**62)],
    "float": [0.5, -1.5, 2.0],
    "whole float": [1.0, 0.0, 3.0],
    "large float": [1e300, -1e300, 2.0**40, 0.0],
    "str": ["ham", "a label of more than fifteen bytes", "ж"],
}


@pytest.mark.parametrize("holder", LABEL_HOLDERS)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_those_that_they_equal(kind, holder):
    rng = random.Random(f"{kind}, {holder}")
    way = rng.choice(WAYS)
    learner = "Perceptron" if kind == "bool" else rng.choice(["MulticlassPerceptron", "MIRA"])
    dense, ys, _ = random_batch(rng, learner, n=100)
    dense = widened(dense, way)
    labels = {
        label: LABELS[kind][i % len(LABELS[kind])] for i, label in enumerate(dict.fromkeys(ys))
    }
    ys = [labels[y] for y in ys]
    model, tested, twin = (make(learner) for _ in range(3))
    held = LABEL_HOLDERS[holder](ys)
    model.learn_many(dense, held)
    expected = [twin.test_then_train_one(x, y) for x, y in zip(dicts(dense), ys, strict=True)]
    found = tested.test_then_train_many(csr(dense, way), held)
    assert listed(found) == expected
    assert learned(model) == learned(tested) == learned(twin)
    predictions = model.predict_many(dense)
    assert isinstance(predictions, np.ndarray)
    assert predictions.dtype == {bool: bool, int: int, float: float, str: object}[type(ys[0])]
    assert {type(label) for label in model._known_labels} == {type(ys[0])}
    assert predictions.tolist() == [twin.predict_one(x) for x in dicts(dense)]


@pytest.mark.parametrize("dtype", [*NUMBERS, *BIG_ENDIAN, "U", "S", "O", "M8[s]", "m8[s]"])
@both_ways
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_labels_of_every_dtype_come_back_as_pythons_own(learner, dtype, way):
    dense, ys, _ = random_batch(random.Random(1), learner)
    dense = widened(dense, way)
    y = np.array([int(label[-1]) for label in ys]).astype(dtype)
    model, twin = make(learner), make(learner)
    model.learn_many(dense, y)
    learn_each(twin, dicts(dense), list(y))
    assert model.labels == twin.labels
    assert list(map(type, model.labels)) == list(map(type, twin.labels))
    if dtype != "longdouble":
        assert not any(isinstance(label, np.generic) for label in model.labels)
        assert learned(model) == learned(twin)
    assert listed(model.predict_many(dense)) == [twin.predict_one(x) for x in dicts(dense)]


@pytest.mark.parametrize("dtype", [*NUMBERS, *BIG_ENDIAN, "O"])
def test_truth_values_may_be_ones_and_zeros_of_a_whole_dtype(dtype):
    dense, ys, _ = random_batch(random.Random(1), "Perceptron")
    model, twin = make("Perceptron"), make("Perceptron")
    y = np.array(ys).astype(dtype)
    model.learn_many(dense, y)
    learn_each(twin, dicts(dense), ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert model.predict_many(dense).dtype == bool


@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_equal_labels_of_different_types_are_the_one_seen_first(learner):
    dense = np.eye(6)
    for ys in (
        [1, True, 1.0, 0, False, -0.0],
        [1.0, 1, 0.0, False, True, 0],
        [np.int8(1), 1, 2.0] * 2,
    ):
        model, twin = make(learner), make(learner)
        model.learn_many(dense, ys)
        learn_each(twin, dicts(dense), ys)
        assert list(map(repr, model.labels)) == list(map(repr, twin.labels))
        assert learned(model) == learned(twin)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([True, False], bool),
        ([1, 2], np.int64),
        ([1.5, 2.0], np.float64),
        (["a", "b"], object),
        ([1, "b"], object),
        ([1, 2.5], object),
        ([True, 2], object),
        ([2**63, 1], object),
        ([2**64, 1], object),
        ([2**63, 2**63 + 1], object),
        ([("a", "tuple"), "b"], object),
        ([("a", "tuple"), ("two", "of them")], object),
        ([frozenset("a"), b"b"], object),
    ],
    ids=repr,
)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_predictions_are_an_array_of_the_type_of_the_labels(learner, labels, dtype):
    model = make(learner)
    assert model.predict_many(np.eye(2)).tolist() == [None, None]
    assert model.predict_proba_many(np.eye(2)).shape == (2, 0)
    assert model.decision_function_many(np.eye(2)).shape == (2, 0)
    first = model.test_then_train_many(np.eye(2), labels)
    assert first.dtype == object
    assert first[0] is None
    model.learn_many(np.eye(2), labels)
    for predictions in (
        model.predict_many(np.eye(2)),
        model.test_then_train_many(np.eye(2), labels),
    ):
        assert predictions.dtype == dtype
        assert predictions.shape == (2,)
        assert list(map(type, predictions.tolist())) == list(map(type, labels))
        assert predictions.tolist() == labels
    assert model.predict_proba_many(np.eye(2)).shape == (2, 2)
    assert model.decision_function_many(np.eye(2)).dtype == float


@both_ways
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_joins_in_the_middle_is_known_from_there(learner, way):
    dense = widened(np.eye(40) + 1.0, way)
    ys = [f"label {i // 3}" for i in range(40)]
    model, twin = make(learner), make(learner)
    for X in (dense, csr(dense, way)):
        expected = [twin.test_then_train_one(x, y) for x, y in zip(dicts(dense), ys, strict=True)]
        assert listed(model.test_then_train_many(X, ys)) == expected
        assert model.labels == twin.labels
        assert pickle.dumps(model) == pickle.dumps(twin)
        ys = [f"new {y}" for y in ys]
    assert len(model.labels) == 28


WRONG_LABELS = {
    "too few": ([0] * 3, ["y has 3", "4 rows"]),
    "too many": (np.zeros(5, int), ["y has 5", "4 rows"]),
    "none": ([], ["y has 0", "4 rows"]),
    "two columns": (np.zeros((4, 2), int), ["row 0", "y"]),
    "a row": (np.zeros((1, 4), int), ["y has 1", "4 rows"]),
    "a cube": (np.zeros((4, 1, 1), int), ["y"]),
    "a number": (1, ["y is a int"]),
    "an array of no dimension": (np.array(1), ["y is a ndarray"]),
    "None": (None, ["y is a NoneType"]),
    "str": ("0101", ["y is a str"]),
    "bytes": (b"0101", ["y is a bytes"]),
    "dict": ({0: 0, 1: 1, 2: 0, 3: 1}, ["y is a dict"]),
    "set": ({0, 1, 2, 3}, ["y is a set"]),
    "frame": (pd.DataFrame({"y": [0, 1, 0, 1]}), ["y is a DataFrame"]),
    "sparse": (sp.csr_array(np.zeros((4, 1))), ["y"]),
    "NaN": ([0, 1, NAN, 1], ["row 2", "y=nan"]),
    "NaN of an array": (np.array([0, 1, NAN, 1]), ["row", "y="]),
    "None in a list": ([0, 1, 0, None], ["row 3", "None"]),
    "None in an array": (objects([0, 1, None, 1]), ["row 2", "None"]),
    "list in a list": ([0, [1], 0, 1], ["row 1", "[1]"]),
    "dict in an array": (objects([0, 1, 0, {}]), ["row 3", "{}"]),
    "not a time": (pd.Series(pd.to_datetime(["2020-01-01"] * 2 + [None, "2020-01-01"])), ["y"]),
    "pandas missing": (pd.Series([0, 1, None, 1], dtype="Int64"), ["row 2"]),
    "polars missing": (pl.Series([0, 1, None, 1]), ["row 2"]),
    "pyarrow missing": (pa.array([0, 1, None, 1]), ["row 2"]),
    "masked": (np.ma.masked_array([0, 1, 0, 1], mask=[False, False, True, False]), ["row 2"]),
    "masked object": (np.ma.masked_array(objects([0, 1, 0, 1]), mask=[0, 1, 0, 0]), ["row 1"]),
}


@pytest.mark.parametrize("kind", WRONG_LABELS)
@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_labels_that_do_not_fit_the_rows_are_refused(learner, call, kind):
    y, said = WRONG_LABELS[kind]
    if learner == "Perceptron" and kind in ("NaN of an array", "not a time"):
        said = ["row", "y="]  # already the first is no truth value
    for X in (np.ones((4, 3)), csr(np.ones((4, 3)))):
        with untouched(X):
            refused(trained(learner), lambda model, X=X: CALLS[call](model, X, y), *said)


@both_ways
@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_label_of_a_late_row_is_refused_before_anything_is_learned(learner, call, way):
    dense = np.ones((1000, 10 if way == "in place" else 150))
    labels = labels_for(learner)
    for bad in ([], NAN, None, {}) + (("spam", 2, -1) if learner == "Perceptron" else ()):
        ys = [labels[i % 2] for i in range(1000)]
        ys[900] = bad
        refused(
            trained(learner),
            lambda model, ys=ys: CALLS[call](model, dense, ys),
            "row 900",
            repr(bad),
        )


# Weights of events


WEIGHT_HOLDERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "float16": lambda w: np.array(w, np.float16),
    "float32": lambda w: np.array(w, np.float32),
    "longdouble": lambda w: np.array(w, np.longdouble),
    "big-endian": lambda w: np.array(w, ">f8"),
    "objects": objects,
    "part of an array": lambda w: np.repeat(np.array(w), 3)[1::3],
    "pandas": lambda w: pd.Series(w, index=range(7, 7 + len(w))),
    "pandas nullable": lambda w: pd.Series(w, dtype="Float64"),
    "polars": lambda w: pl.Series(w),
    "pyarrow": lambda w: pa.array(w),
}


@both_ways
@pytest.mark.parametrize("holder", WEIGHT_HOLDERS)
@pytest.mark.parametrize("variant", ["default", "class weights"])
@every_learner
def test_weights_of_rows_and_of_labels_are_those_of_events(learner, variant, holder, way):
    rng = random.Random(f"{learner}, {holder}, {way}")
    dense, ys, _ = random_batch(rng, learner, n=100)
    dense = widened(dense, way)
    ws = [rng.choice([0.0, 0.5, 1.0, 2.0, 0.1015625, 1024.0]) for _ in ys]
    model, tested, twin = (make(learner, variant) for _ in range(3))
    model.learn_many(csr(dense, way), ys, WEIGHT_HOLDERS[holder](ws))
    tested.test_then_train_many(dense, ys, w=WEIGHT_HOLDERS[holder](ws))
    learn_each(twin, dicts(dense), ys, ws)
    assert pickle.dumps(model) == pickle.dumps(tested) == pickle.dumps(twin)


@pytest.mark.parametrize(
    "w",
    [1, 1.0, 2, True, np.True_, 0, 0.5, np.float32(0.1), np.int8(3), np.float64(1e50)],
    ids=repr,
)
@pytest.mark.parametrize("variant", ["default", "class weights"])
@every_learner
def test_one_weight_is_that_of_all_rows(learner, variant, w):
    dense, ys, _ = random_batch(random.Random(3), learner)
    model, twin = make(learner, variant), make(learner, variant)
    model.learn_many(dense, ys, w)
    learn_each(twin, dicts(dense), ys, [float(w)] * len(ys))
    assert pickle.dumps(model) == pickle.dumps(twin)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i8", "u8"])
@every_learner
def test_weights_may_be_whole_numbers(learner, dtype):
    dense, ys, _ = random_batch(random.Random(3), learner)
    ws = [i % 2 if dtype == "?" else i % 5 for i in range(len(ys))]
    model, twin = make(learner), make(learner)
    model.learn_many(dense, ys, np.array(ws, dtype))
    learn_each(twin, dicts(dense), ys, ws)
    assert pickle.dumps(model) == pickle.dumps(twin)


BAD_WEIGHTS = {
    "negative": -1.0,
    "a little negative": -5e-324,
    "NaN": NAN,
    "inf": INF,
    "too large": 1e51,
}


@both_ways
@pytest.mark.parametrize("kind", BAD_WEIGHTS)
@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_weight_of_a_late_row_is_refused_by_its_row(learner, call, kind, way):
    dense = np.ones((1000, 10 if way == "in place" else 150))
    ws = [1.0] * 1000
    ws[900] = BAD_WEIGHTS[kind]
    for holder in ("list", "array", "pandas", "polars", "pyarrow", "objects"):
        w = WEIGHT_HOLDERS[holder](ws)
        refused(
            trained(learner),
            lambda model, w=w: getattr(model, call)(dense, [labels_for(learner)[0]] * 1000, w),
            "row 900",
            "w",
            error=ValueError,
        )


WRONG_WEIGHTS = {
    "too few": ([1.0] * 3, ["w has 3", "4 rows"]),
    "too many": (np.ones(5), ["w has 5", "4 rows"]),
    "none": ([], ["w has 0", "4 rows"]),
    "a column": (np.ones((4, 1)), ["w"]),
    "a row": (np.ones((1, 4)), ["w has 1", "4 rows"]),
    "an array of no dimension": (np.array(1.0), ["w"]),
    "None": (None, ["w is None"]),
    "str": ("1111", ["w is a str"]),
    "dict": ({0: 1, 1: 1, 2: 1, 3: 1}, ["w is a dict"]),
    "None in a list": ([1, None, 1, 1], ["row 1", "w is None"]),
    "text in a list": ([1, 1, "1", 1], ["row 2", "w is '1'"]),
    "text in an array": (np.array(["1", "1", "1", "1"]), ["row 0", "w is"]),
    "complex": (np.ones(4, complex), ["row 0", "w is"]),
    "missing": (pl.Series([1.0, None, 1.0, 1.0]), ["row 1", "w is"]),
    "masked": (np.ma.masked_array([1.0] * 4, mask=[False, False, True, False]), ["row 2"]),
    "negative number": (-1, ["w=-1"]),
    "NaN": (NAN, ["w is NaN"]),
    "too large": (1e51, ["w is 1e+51"]),
    "text": (object(), ["w is"]),
}


@pytest.mark.parametrize("kind", WRONG_WEIGHTS)
@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_weights_that_do_not_fit_the_rows_are_refused(learner, call, kind):
    w, said = WRONG_WEIGHTS[kind]
    ys = [labels_for(learner)[0]] * 4
    for X in (np.ones((4, 2)), csr(np.ones((4, 2)))):
        message = refused(
            trained(learner), lambda model, X=X: getattr(model, call)(X, ys, w), *said
        )
        assert "x[" not in message


# Bad values


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


@both_ways
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(
    "form",
    ["csr_array", "CSR of int64", "array", "array, Fortran", "array, part", "array, backwards"],
)
@every_learner
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


# Matrices that are broken


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
    "starts that are no ints": (lambda X: with_starts(X, lambda p: None, float), ["indptr"]),
    "columns that are no ints": (
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


# What it costs


def large_batches():
    """Batches of 12 to 50 MB, by what they are."""
    rng = np.random.default_rng(1)
    n, size = 80_000, 40
    columns = rng.integers(0, 40, (n, 1)) + 50 * np.arange(size)
    values = rng.choice([0.5, 1.0, -1.0, 2.0], (n, size))
    starts = np.arange(0, n * size + 1, size)
    for name, dtype in (("CSR", np.int32), ("CSR of int64", np.int64)):
        indices = columns.ravel().astype(dtype)
        X = sp.csr_array((values.ravel(), indices, starts.astype(dtype)), shape=(n, 2000))
        yield name, X
    n = 40_000  # of these some would take long
    values = values[:n]
    small = np.array([0, 1, 2, 0], np.int8)[rng.integers(0, 4, (n, 320), np.int8)]
    yield "int8", small
    yield "truth values", small == 1
    yield "float, part", values.repeat(2, axis=1)[:, ::2]
    yield "float, Fortran, backwards", np.asfortranarray(values.repeat(2, axis=1))[:, ::-1]
    yield "float32", np.hstack([values, values, values]).astype(np.float32)
    yield "pandas", pd.DataFrame(np.hstack([values, values]))


@pytest.fixture(scope="module")
def large():
    return dict(large_batches())


LARGE = [
    "CSR",
    "CSR of int64",
    "int8",
    "truth values",
    "float, part",
    "float, Fortran, backwards",
    "float32",
    "pandas",
]


def most_allocated(call):
    """The most bytes that Python and numpy had for a call at any time."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_large_matrix_is_read_where_it_lies(learner, kind, large):
    X = large[kind]
    n = X.shape[0]
    assert bytes_of(X) > 12_000_000
    ys = np.arange(n) % 2
    model = make(learner)
    spare = 300_000
    named = {"feature_names": [f"feature {j}" for j in range(X.shape[1])]}
    for names in [{}] if is_frame(X) else [{}, named]:
        CALLS["learn_many"](model, X[:500], ys[:500], **names)
        for call in ("predict_many", "predict_proba_many", "decision_function_many"):
            # no more than the answers and their labels; as a series they are a list first
            most = most_allocated(partial(CALLS[call], model, X, ys, **names))
            assert most < (90 if is_frame(X) else 16) * n + spare
        # the labels and their numbers
        assert most_allocated(partial(CALLS["learn_many"], model, X, ys, **names)) < 40 * n + spare
    assert model.n_seen >= n + 500


GROWTH = """
import gc, sys
import numpy as np, scipy.sparse as sp
from streamptron import {learner}

def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024

def batch(n, first, size):
    columns = np.arange(first, first + n * size).reshape(n, size)
    indices = columns.ravel().astype(np.int32)
    indptr = np.arange(0, n * size + 1, size, dtype=np.int32)
    return sp.csr_array((np.ones(n * size), indices, indptr), shape=(n, {columns}))

def learn(n, first, size):
    model.learn_many(batch(n, first, size), labels[np.arange(n) % len(labels)], 2.0)

labels = np.array({labels})
model = {learner}(hash_seed=1, **{params})
other = {learner}(hash_seed=1, **{params})
other.learn_many(batch(500, 0, 100), labels[np.arange(500) % len(labels)], 2.0)  # warm up
del other
learn(40, 0, 1)
gc.collect()
before, held = resident(), model.memory_usage
for first in range(1000, {columns} - {step}, {step}):
    learn({step} // 100, first, 100)
gc.collect()
print(resident() - before, model.memory_usage - held, model.n_features)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("learner", "params", "labels", "step", "most"),
    [
        ("Perceptron", {}, [False, True], 2000, 48),
        ("Perceptron", {}, [False, True], 200_000, 48),
        ("Perceptron", {"average": "none"}, [False, True], 2000, 40),
        ("MIRA", {"pocket": True}, [0, 1, 2, 3, 4, 5], 2000, 310),
    ],
    ids=["in place", "on a copy", "no average", "six labels and a pocket"],
)
def test_memory_usage_is_what_the_process_has_grown_by(learner, params, labels, step, most):
    """Of a column that is learned: its key, its weights and its place among the columns."""
    code = GROWTH.format(learner=learner, params=params, labels=labels, step=step, columns=601_000)
    resident, usage, n_features = map(int, in_another_process(code).split())
    assert n_features > 350_000
    assert 0.75 < usage / resident < 1.25
    assert usage / n_features < most


@both_ways
@every_learner
def test_refused_and_learned_batches_leave_no_memory_behind(learner, way):
    dense, ys, _ = random_batch(random.Random(1), learner)
    dense = widened(dense, way)
    bad = dense.copy()
    bad[50, 3] = NAN
    names = [f"a name of more than fifteen bytes {j}" for j in range(dense.shape[1])]
    model = make(learner)
    model.learn_many(dense, ys)
    model.learn_many(dense, ys, feature_names=names)

    def calls():
        for X in (dense, csr(dense, way)):
            for more in ({}, {"feature_names": names}):
                for call in CALLS.values():
                    call(model, X, ys, **more)
        for call in CALLS.values():
            with pytest.raises(ValueError, match="row 50"):
                call(model, bad, ys)

    calls()
    usage, things = model.memory_usage, len(gc.get_objects())
    references = [sys.getrefcount(thing) for thing in (dense, bad, ys, names, names[0])]
    for _ in range(3):
        calls()
    assert model.memory_usage < 1.1 * usage
    assert [sys.getrefcount(thing) for thing in (dense, bad, ys, names, names[0])] == references
    gc.collect()
    assert len(gc.get_objects()) < things + 1000


# Threads. A batch is learned, or answered, without the interpreter's lock.


def grown(learner, way, **params):
    """A model so large that a batch of some megabytes is learned in place, or one that is not."""
    model = make(learner, **params)
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


def decision_of(model, x):
    decision = model.decision_function_one(x)
    return (decision,) if isinstance(decision, float) else tuple(decision.values())


@seeds(3)
@every_learner
@eager
def test_who_asks_while_a_copy_learns_is_told_of_a_state_before_or_after(learner, seed):
    """Every answer is that of one of the known states, and they follow each other."""
    batches = []
    for i in range(6):
        joining = None if learner == "Perceptron" else [f"{i} {label}" for label in "uvw"]
        batches.append(threads_batch(learner, 10 * seed + i, labels=joining))
    model, twin = grown(learner, "on a copy"), grown(learner, "on a copy")
    assert_learned_on("on a copy", batches[0][0], model)
    x = {0: 1.0, 1: -1.0, 3: 2.0, "a": 1.0}
    row = np.zeros((1, 4))
    row[0, [0, 1, 3]] = 1.0, -1.0, 2.0

    def view(of):
        probabilities = of.predict_proba_one(x)
        return of.predict_one(x), decision_of(of, x), list(probabilities)

    states, rows = [view(twin)], [tuple(np.ravel(twin.decision_function_many(row)))]
    for X, ys in batches:
        twin.learn_many(X, ys)
        states.append(view(twin))
        rows.append(tuple(np.ravel(twin.decision_function_many(row))))

    def learn():
        for X, ys in batches:
            model.learn_many(X, ys)

    def ask(stop):
        seen = [[], [], []]
        while not stop.is_set():
            for answers_seen, answer in zip(
                seen,
                (model.predict_one(x), decision_of(model, x), list(model.predict_proba_one(x))),
                strict=True,
            ):
                if not answers_seen or answers_seen[-1] != answer:
                    answers_seen.append(answer)
        return seen

    def ask_many(stop):
        seen = []
        while not stop.is_set():
            answer = tuple(np.ravel(model.decision_function_many(row)))
            if not seen or seen[-1] != answer:
                seen.append(answer)
        return seen

    _, seen, seen_many = finished(learn, ask, ask_many)
    for answers_seen, known in [
        *zip(seen, zip(*states, strict=True), strict=True),
        (seen_many, rows),
    ]:
        at = 0
        for answer in answers_seen:
            assert answer in known[at:]
            at += list(known[at:]).index(answer)
    assert pickle.dumps(model) == pickle.dumps(twin)


@seeds(2)
@every_learner
@eager
def test_who_asks_while_a_batch_is_learned_in_place_is_told_of_a_state_between_rows(learner, seed):
    model, twin = grown(learner, "in place"), grown(learner, "in place")
    for label in labels_for(learner):
        for each in (model, twin):
            each.learn_one({0: 1.0}, label)
    X, ys = threads_batch(learner, seed)
    assert_learned_on("in place", X, model)
    x = {0: 1.0, 1: -1.0, 3: 2.0}
    states = {decision_of(twin, x)}
    for event, y in zip(dicts(X), ys, strict=True):
        twin.learn_one(event, y)
        states.add(decision_of(twin, x))

    row = np.array([[1.0, -1.0, 0.0, 2.0]])

    def ask(stop):
        seen = set()
        while not stop.is_set():
            seen.add(decision_of(model, x))
            seen.add(tuple(np.ravel(model.decision_function_many(row))))
        return seen

    _, *seen = finished(lambda: model.learn_many(X, ys), ask, ask)
    assert set().union(*seen) <= states
    assert pickle.dumps(model) == pickle.dumps(twin)


@both_ways
@seeds(2)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
@eager
def test_who_asks_while_labels_join_finds_labels_and_weights_together(learner, seed, way):
    """Whatever is read, copied or pickled meanwhile is a model in good order."""
    model, twin = grown(learner, way), grown(learner, way)
    batches = [
        threads_batch(learner, 7 * seed + i, 1500, 100, [f"{i} {j}" for j in range(30)])
        for i in range(4)
    ]

    def learn():
        for X, ys in batches:
            model.learn_many(X, ys)

    row = np.ones((3, 5))

    def ask(stop):
        while not stop.is_set():
            least = len(model.labels)
            assert model.predict_one({0: 1.0}) is not None
            for answer in (
                model.decision_function_one({0: 1.0}),
                model.predict_proba_one({1: 1.0}),
            ):
                assert least <= len(answer) <= len(model.labels)
            assert math.isclose(math.fsum(model.predict_proba_one({}).values()), 1.0)
            assert None not in model.predict_many(row).tolist()
            for answer in (model.decision_function_many(row), model.predict_proba_many(row)):
                assert least <= answer.shape[1] <= len(model.labels)
            assert np.allclose(model.predict_proba_many(row).sum(axis=1), 1.0)

    def keep(stop):
        kept = []
        while not stop.is_set():
            kept[4:] = [pickle.dumps(model), copy.deepcopy(model)]
        return kept

    *_, kept = finished(learn, ask, keep)
    for X, ys in batches:
        twin.learn_many(X, ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    for other in kept:
        other = pickle.loads(other) if isinstance(other, bytes) else other
        n = len(other.labels)
        assert len(other.decision_function_one({0: 1.0})) == len(other.predict_proba_one({})) == n
        other.learn_one({"only": 1.0}, "brand new")
        assert other.labels[n:] == ["brand new"]
        assert [y for y, weights in other.weights.items() if weights.get("only", 0.0) > 0] == [
            "brand new"
        ]


@both_ways
@every_learner
@eager
def test_two_threads_that_learn_take_turns(learner, way):
    (X, ys), (Z, zs) = threads_batch(learner, 1), threads_batch(learner, 2)
    model = grown(learner, way)
    in_turn = []
    for order in (((X, ys), (Z, zs)), ((Z, zs), (X, ys))):
        in_turn.append(copy.deepcopy(model))
        for batch in order:
            in_turn[-1].learn_many(*batch)
    finished(lambda: model.learn_many(X, ys), lambda: model.learn_many(Z, zs))
    assert pickle.dumps(model) in map(pickle.dumps, in_turn)

    before = model.n_seen
    events = dicts(X[:500])

    def learn_some():
        for _ in range(3):
            model.learn_many(X, ys)

    def learn_one_by_one():
        for x, y in zip(events, ys, strict=False):
            model.learn_one(x, y)
            model.test_then_train_one(x, y)

    def learn_small():
        for i in range(0, 500, 5):
            model.test_then_train_many(Z[i : i + 5], zs[i : i + 5])

    finished(learn_some, learn_some, learn_one_by_one, learn_small)
    assert model.n_seen - before == 6 * len(X) + 2 * 500 + 500


@pytest.mark.parametrize("call", ["learn_many", "predict_many"])
@both_ways
@every_learner
def test_other_threads_run_while_a_batch_is_learned_or_answered(learner, way, call):
    """Another thread counts; it sleeps between, so it counts as often as it gets the lock."""
    model = grown(learner, way)
    X, ys = threads_batch(learner, 3, 20_000)
    if way == "in place":
        X, ys = X[:2000], ys[:2000]
        assert_learned_on("in place", X, model)
    stop = threading.Event()
    counts = [0]

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(1e-5)

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    y = np.array(ys)
    advanced = 0
    for _ in range(300):  # until one call has been seen to let the other go on
        before = counts[0]
        CALLS[call](model, X, y)
        advanced = max(advanced, counts[0] - before)
        if advanced >= 8:
            break
    stop.set()
    thread.join(100)
    # with the lock held it would be let in where Python code runs, before and after the work
    assert advanced >= 8


@seeds(2)
@both_ways
@every_learner
@eager
def test_calls_of_every_kind_from_many_threads_end_in_a_model_in_good_order(learner, way, seed):
    model = grown(learner, way, pocket=bool(seed))
    batches = [threads_batch(learner, 100 * seed + i, 600, 250) for i in range(5)]
    names = [("column", j) for j in range(250)]
    label = labels_for(learner)[0]
    before = model.n_seen

    def learn():
        for i, (X, ys) in enumerate(batches):
            model.learn_many(X, ys)
            model.learn_many(csr(X, "on a copy"), ys)
            model.test_then_train_many(X[:, : 10 * i + 1], ys, feature_names=names[: 10 * i + 1])

    def learn_ones(stop):
        n = 0
        while not stop.is_set():
            model.learn_one({n % 300: 1.0, f"name {n}": 1.0}, label)
            n += 1
            time.sleep(1e-4)
        return n

    def ask_ones(stop):
        while not stop.is_set():
            model.predict_one({1: 1.0, ("column", 3): 1.0})
            model.predict_proba_one({5: 1.0})
            model.explain_one({1: 1.0, "a": 1.0})
            model.debug_one({1: 1.0, ("column", 3): 1.0})

    def ask_many(stop):
        width = 1
        while not stop.is_set():
            width = width % 400 + 7
            X = sp.csr_array(np.ones((5, width)))
            assert len(model.predict_many(X)) == 5
            model.predict_proba_many(X.toarray())
            model.decision_function_many(X[:, :3], feature_names=["a", 1, ("column", 2)])

    def look(stop):
        n_seen = 0
        while not stop.is_set():
            assert model.n_seen >= n_seen
            n_seen = model.n_seen
            assert model.n_mistakes <= model.n_seen + 1
            assert model.memory_usage > 0
            assert 0 < model.n_features < 10**6
            assert model.serving in ("current", "average", "pocket")
            model.top_features(3)

    def keep(stop):
        while not stop.is_set():
            assert pickle.loads(pickle.dumps(model)).n_seen <= model.n_seen
            copy.deepcopy(model).learn_one({1: 1.0}, label)
            model.clone(include_attributes=True)

    _, n, *_ = finished(learn, learn_ones, ask_ones, ask_many, look, keep)
    assert model.n_seen - before == 3 * 5 * 600 + n
    other = pickle.loads(pickle.dumps(model))
    assert pickle.dumps(other) == pickle.dumps(model)
    assert other.weights == model.weights
    learn()
    assert model.n_seen - before == 2 * 3 * 5 * 600 + n


@both_ways
@every_learner
@eager
def test_names_that_are_objects_are_not_lost_to_other_threads(learner, way):
    X, ys = threads_batch(learner, 5, n_columns=40)
    names = [frozenset((j, "column")) for j in range(40)]
    model, twin = grown(learner, way), grown(learner, way)
    X[: len(X) // 2, 20:] = 0.0  # these columns join in the middle
    many = np.hstack([X] * (3 if way == "in place" else 6))
    all_names = (
        names + [(name,) for name in names] * 0 + list(range(1000, 1000 + many.shape[1] - 40))
    )

    def ask(stop):
        while not stop.is_set():
            model.predict_one({"a": 1.0, frozenset("unknown"): 1.0})
            model.predict_many(np.ones((1, 2)), feature_names=["a", frozenset("unknown")])

    finished(lambda: model.learn_many(many, ys, feature_names=all_names), ask)
    twin.learn_many(many, ys, feature_names=all_names)
    assert model.weights == twin.weights
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert model.n_features >= 40


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
@pytest.mark.parametrize("readers", [0, 2], ids="readers={}".format)
@both_ways
@every_learner
@eager
def test_interrupt_comes_before_or_after_a_batch(learner, way, readers):
    """As Ctrl-C does it: a batch is learned as a whole, labels too, or not at all."""

    armed = False

    def interrupt(*_):
        if armed:
            raise Fault

    X, ys = threads_batch(learner, 6)
    model = grown(learner, way)
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            model.predict_one({1: 1.0})

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(readers)]
    for thread in threads:
        thread.start()
    old = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for i in range(8 if readers else 25):
            before = model.n_seen
            labels = ys if learner == "Perceptron" else [f"{i} {y}" for y in ys]
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, 0.0003 * (i + 1))
                model.learn_many(X, labels)
                armed = False
            except Fault:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert model.n_seen - before in (0, len(X))
            if learner != "Perceptron":
                assert (set(labels) <= set(model.labels)) == (model.n_seen > before)
                assert len(model.decision_function_one({})) == len(model.labels)
            model.learn_one({"after": 1.0}, labels_for(learner)[0])
            assert model.n_seen - before in (1, len(X) + 1)
            other = pickle.loads(pickle.dumps(model))
            assert_learns_on_alike(other, copy.deepcopy(other), learner)
    finally:
        signal.signal(signal.SIGALRM, old)
        stop.set()
        for thread in threads:
            thread.join(100)
    assert interrupted > 0


# Code of others that runs while a batch is read


class Actor:
    """A name or a label whose hash acts once: when it is asked for the `at`-th time."""

    def __init__(self, act, at=1):
        self.act, self.at = act, at

    def __hash__(self):
        self.at -= 1
        if self.at == 0:
            self.act()
        return 3

    def __eq__(self, other):
        return self is other


class ActingNumber(Fraction):
    """A weight of 1 that acts when it is read."""

    def __float__(self):
        self.act()
        return 1.0


class ActingList(list):
    """A list that acts when its second item is read."""

    def __iter__(self):
        for i, value in enumerate(list.__iter__(self)):
            if i == 1:
                self.act()
            yield value


def acting(kind, value, act):
    thing = kind(value)
    thing.act = act
    return thing


# How three labels, three weights and two names may act, each in its place
PLACES = {
    "labels": lambda act, ys, ws, names: (acting(ActingList, ys, act), ws, names),
    "weight": lambda act, ys, ws, names: (ys, [1.0, acting(ActingNumber, 1, act), 1.0], names),
    "weights": lambda act, ys, ws, names: (ys, acting(ActingList, ws, act), names),
    "name": lambda act, ys, ws, names: (ys, ws, ["b", Actor(act)]),
    "names": lambda act, ys, ws, names: (ys, ws, acting(ActingList, names, act)),
}

ACTIONS = {
    "learns": lambda model, known, new: model.learn_one({"a": 2, "q": 1, "c": 3}, known),
    "learns a new label": lambda model, known, new: model.learn_one({"a": 2, "q": 1}, new),
    "learns many new labels": lambda model, known, new: [
        model.learn_one({"q": 1}, new if isinstance(new, bool) else f"{new} {i}")
        for i in range(500)
    ],
    "learns a matrix": lambda model, known, new: model.learn_many(np.ones((2, 3)), [known, new]),
    "learns a large matrix": lambda model, known, new: model.learn_many(
        np.ones((2, 70_000)), [known, new]
    ),
    "learns named columns": lambda model, known, new: model.learn_many(
        np.ones((2, 3)), [known, new], feature_names=["q", "c", frozenset("x")]
    ),
    "predicts": lambda model, known, new: model.predict_one({"q": 1, "c": 1}),
    "predicts objects": lambda model, known, new: model.predict_one({frozenset("y"): 1, "c": 1}),
    "predicts a matrix": lambda model, known, new: model.predict_many(np.ones((2, 30))),
    "explains": lambda model, known, new: model.explain_one({"q": 1, "c": 1}),
    "is copied": lambda model, known, new: copy.deepcopy(model).learn_one({"c": 1}, new),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("call", "place"),
    [
        (call, place)
        for call in CALLS
        for place in PLACES
        if call in ("learn_many", "test_then_train_many") or place in ("name", "names")
    ],
)
@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_batch_that_uses_the_model_while_it_is_read_comes_after_what_it_did(
    learner, call, place, action
):
    """Or is refused, if it would learn while the batch is being learned: then it is as if never."""
    X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    labels = labels_for(learner)
    known, new = labels[0], labels[1] if learner == "Perceptron" else "new inside"
    given = [labels[0], labels[1], labels[0]], [1.0] * 3, ["b", "c"]

    def do(model, ys, ws, names):
        weights = {"w": ws} if call in ("learn_many", "test_then_train_many") else {}
        return CALLS[call](model, X, ys, feature_names=names, **weights)

    def run():
        model, twin = trained(learner), trained(learner)
        act = Once(lambda: ACTIONS[action](model, known, new))
        acting_given = PLACES[place](act, *given)
        try:
            found = do(model, *acting_given)
        except RuntimeError:
            assert "learn" in action or action == "predicts a matrix"
            assert "learn" in call or "train" in call
            assert act.action is None
            assert pickle.dumps(model) == pickle.dumps(twin)
            assert_learns_on_alike(model, twin, learner)
            return
        assert act.action is None

        ACTIONS[action](twin, known, new)
        expected = do(twin, *(acting_given if place == "name" else given))
        assert found is expected is None or np.array_equal(found, expected)
        assert model._known_labels == twin._known_labels
        assert (model.weights, model.intercept_) == (twin.weights, twin.intercept_)
        assert model.n_seen == twin.n_seen
        assert answers(model, {"b": 1, "q": 1}) == answers(twin, {"b": 1, "q": 1})

    finished(run)


def assert_each_has_weights_of_its_own(model, *labels):
    """A model has an output for each of its labels, and what is learned goes to the right one."""
    n = len(model.labels)
    assert len(set(model.labels)) == n
    assert len(model.decision_function_one({})) == len(model.predict_proba_one({})) == n
    for i, y in enumerate(labels):
        # without an intercept an event of one new feature is a tie, and so a mistake
        model.learn_one({f"only {i}": 1.0}, y)
        weights = model.weights.items()
        assert [label for label, w in weights if w.get(f"only {i}", 0.0) > 0] == [y]


def raise_fault(model, known, new):
    raise Fault


@pytest.mark.parametrize("at", range(1, 8), ids="at={}".format)
@pytest.mark.parametrize("action", ["raises", *ACTIONS])
@both_ways
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_acts_when_it_is_hashed_keeps_labels_and_outputs_together(
    learner, way, action, at
):
    """Whenever that is: the batch is learned as a whole with its labels, or not at all."""
    X = widened(np.eye(4), way)

    def run():
        model = make(learner, "no intercept")
        for y in ("x", "y"):
            model.learn_one({"a": 1}, y)
        n_inner = [0]

        def act():
            before = model.n_seen
            {**ACTIONS, "raises": raise_fault}[action](model, "x", "inner")
            n_inner[0] = model.n_seen - before

        label = Actor(act, at)
        done = False
        with suppress(Fault, RuntimeError):
            CALLS[rng.choice(["learn_many", "test_then_train_many"])](
                model, X, ["x", "first", label, "last"]
            )
            done = True
        label.at = 0
        assert done or action not in ("predicts", "predicts objects", "explains", "is copied")
        assert model.n_seen == 2 + 4 * done + n_inner[0]
        assert (
            (label in model.labels) == ("first" in model.labels) == ("last" in model.labels) == done
        )
        assert_each_has_weights_of_its_own(model, "x", "another", label)

    rng = random.Random(f"{learner}, {way}, {action}, {at}")
    finished(run)


class Busy:
    """A label whose hash uses the model every time, but not while it does so."""

    def __init__(self, use):
        self.use, self.busy = use, False

    def __hash__(self):
        if self.use is not None and not self.busy:
            self.busy = True
            try:
                self.use()
            finally:
                self.busy = False
        return 4


@pytest.mark.parametrize(
    "how", ["predicts", "predicts a matrix", "learns", "learns a matrix", "learns named columns"]
)
@pytest.mark.parametrize("call", ["learn_one", "learn_many", "test_then_train_many"])
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_whenever_it_is_hashed_hangs_nothing(learner, call, how):
    def run():
        model = make(learner, "no intercept")
        for y in ("x", "y"):
            model.learn_one({"a": 1}, y)
        label = Busy(lambda: ACTIONS[how](model, "x", "y"))
        done = False
        with suppress(RuntimeError):
            if call == "learn_one":
                model.learn_one({"q": 1}, label)
            else:
                CALLS[call](model, np.eye(3), ["x", label, "y"])
            done = True
        for ask in (model.predict_one, model.decision_function_one, model.predict_proba_one):
            ask({"q": 1})
        model.predict_many(np.eye(3))
        label.use = None
        assert done == (label in model.labels)
        assert_each_has_weights_of_its_own(model, "x", "another", label)

    finished(run, seconds=20)


@every_call
@every_learner
def test_error_of_a_names_own_code_passes_through_and_leaves_no_trace(learner, call):
    def fail():
        raise Fault

    faults = 0
    for at in range(1, 6):
        model = trained(learner)
        before = pickle.dumps(model)
        try:
            CALLS[call](
                model, np.eye(2), labels_for(learner)[:2], feature_names=["a", Actor(fail, at)]
            )
        except Fault:
            faults += 1
            assert pickle.dumps(model) == before
            assert_learns_on_alike(model, trained(learner), learner)
    assert faults > 1


@every_call
@pytest.mark.parametrize("use", ["predict_one", "learn_one", "predict_many", "learn_many"])
@both_ways
@every_learner
def test_name_that_uses_the_model_when_it_is_shown_in_an_error_hangs_nothing(
    learner, way, use, call
):
    label = labels_for(learner)[0]
    uses = {
        "predict_one": lambda: model.predict_one({"a": 1}),
        "learn_one": lambda: model.learn_one({"a": 1}, label),
        "predict_many": lambda: model.predict_many(np.ones((2, 30))),
        "learn_many": lambda: model.learn_many(np.ones((2, 30)), [label, label]),
    }

    class Name:
        def __repr__(self):
            uses[use]()
            return "<the culprit>"

    X = widened(np.ones((100, 2)), way)
    X[99, 1] = NAN
    names = ["a", Name(), *range(2, X.shape[1])]
    model = trained(learner)

    def run():
        with pytest.raises(ValueError, match="row 99"):
            CALLS[call](model, X, [label] * 100, feature_names=names)

    before = model.n_seen
    finished(run, seconds=20)
    assert model.n_seen - before <= 2 * 3
    model.learn_many(X[:99], [label] * 99, feature_names=names)
    assert model.n_seen - before >= 99


# From 3.12 on the collector waits until the interpreter is between two of its instructions, so it
# may never come in the middle of a call. That it came is asked of older ones only.
COLLECTS_BETWEEN_LINES = sys.version_info >= (3, 12)


@contextmanager
def collecting(act):
    """The collector runs as often as it can, and finds each time what acts when it is finalized.

    Gives a list, as long as there were acts that were not refused.
    """
    acts, state = [], {"on": True}

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            if state["on"]:
                state["on"] = False
                with suppress(RuntimeError):  # it would learn while a batch is being learned
                    act()
                    acts.append(True)
                state["on"] = True
                Cycle()

    threshold = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(1, 10**6, 10**6)
    try:
        Cycle()
        yield acts
    finally:
        state["on"] = False
        gc.set_threshold(*threshold)
        gc.unfreeze()


USES = {
    "predict_one": (0, lambda model, y: model.predict_one({"a": 1, frozenset("b"): 1, 3: 2})),
    "learn_one": (1, lambda model, y: model.learn_one({"a": 1, frozenset("b"): 1}, y)),
    "predict_many": (0, lambda model, y: model.predict_many(np.ones((2, 800)))),
    "learn_many": (2, lambda model, y: model.learn_many(np.ones((2, 800)), [y, y])),
    "learn names": (
        2,
        lambda model, y: model.learn_many(np.ones((2, 1)), [y, y], feature_names=["a"]),
    ),
}


@pytest.mark.parametrize("use", USES)
@both_ways
@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_finalizer_that_learns_or_asks_at_any_moment_spoils_nothing(learner, way, use):
    model = grown(learner, way)
    X, ys = threads_batch(learner, 8, 200, 700)
    bad = X.copy()
    bad[150, 20] = NAN
    names = [[str(j), j, (j, "name"), frozenset((j,))][j % 4] for j in range(X.shape[1])]
    rows, act = USES[use]
    before = model.n_seen
    with collecting(lambda: act(model, labels_for(learner)[0])) as acts:

        def run():
            for call in CALLS.values():
                for more in ({}, {"feature_names": names}):
                    call(model, X, ys, **more)
                    with pytest.raises(ValueError, match="row 150"):
                        call(model, bad, ys, **more)

        finished(run)
        n_acts = len(acts)
    assert model.n_seen - before == 4 * len(X) + rows * n_acts
    assert n_acts > 20 or COLLECTS_BETWEEN_LINES
    other = copy.deepcopy(model)
    assert other.weights == model.weights
    assert pickle.dumps(other) == pickle.dumps(model)
    assert_learns_on_alike(other, model, learner)


READS = {
    "predict_one": lambda model, x: model.predict_one(x),
    "predict_proba_one": lambda model, x: model.predict_proba_one(x),
    "decision_function_one": lambda model, x: model.decision_function_one(x),
    "explain_one": lambda model, x: model.explain_one(x),
    "debug_one": lambda model, x: model.debug_one(x),
    "top_features": lambda model, x: model.top_features(50),
    "weights": lambda model, x: model.weights,
    "averaged_weights": lambda model, x: model.averaged_weights,
    "memory_usage": lambda model, x: model.memory_usage > 0,
    "pickle": lambda model, x: pickle.dumps(model),
    "deepcopy": lambda model, x: pickle.dumps(copy.deepcopy(model)),
    "predict_many": lambda model, x: model.predict_many(np.eye(3)).tolist(),
    "predict_proba_many": lambda model, x: model.predict_proba_many(
        sp.csr_array(np.eye(3))
    ).tolist(),
    "decision_function_many": lambda model, x: model.decision_function_many(
        np.eye(3), feature_names=list(x)[:3]
    ).tolist(),
}


def model_of_many_names(learner):
    """A model that has learned names of every kind, and an event of them."""
    model = make(learner)
    names = [make_key(keys, i) for i in range(8) for keys in KEYS]
    rng = random.Random(9)
    for i in range(60):
        x = {name: rng.gauss(0, 1) for name in rng.sample(names, 20)}
        model.learn_one(x, labels_for(learner)[i % len(labels_for(learner))])
    return model, dict.fromkeys(names[::-1], 1.0)


@pytest.mark.parametrize("read", READS)
@every_learner
def test_answers_are_not_spoiled_by_a_finalizer_that_asks_for_others(learner, read):
    model, x = model_of_many_names(learner)
    expected = READS[read](model, x)
    with collecting(lambda: model.predict_one({"other": 1.0, 2: 1.0, 3: 1.0})) as acts:
        for _ in range(5):
            assert READS[read](model, x) == expected
    assert acts or COLLECTS_BETWEEN_LINES


@pytest.mark.parametrize("read", READS)
@every_learner
@eager
def test_answers_are_not_spoiled_by_other_threads_that_ask_for_others(learner, read):
    model, x = model_of_many_names(learner)
    expected = READS[read](model, x)

    def ask():
        for _ in range(100):
            assert READS[read](model, x) == expected

    def ask_for_others(stop):
        while not stop.is_set():
            model.predict_one({"other": 1.0, 2: 1.0, 3: 1.0})
            model.explain_one({("word", 1, None): 1.0, 2: 1.0, 3: 1.0})

    finished(ask, ask, ask_for_others)


@every_learner
@eager
def test_weights_are_those_of_one_state_while_batches_are_learned(learner):
    """All weights are the same after every row, so those that are read must be the same too."""
    model = make(learner, average="none", intercept=False, serve="current")
    labels = labels_for(learner)[:2]
    names = [("name", j) for j in range(400)]
    X = np.ones((2, 400))

    def learn():
        for i in range(30):  # a weight that grows makes every event a mistake
            model.learn_many(X, labels[::-1], [2.0**i] * 2, feature_names=names)

    def look(stop):
        while not stop.is_set():
            weights = model.weights
            if learner != "Perceptron":
                weights = weights.get(labels[0], {})
            assert len(set(weights.values())) <= 1
            assert len(weights) in (0, 400)

    finished(learn, look, look)
    assert model.n_seen == 60
