"""Mini-batches as frames: bad cells, labels and weights are refused by their row."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from streamptron import Perceptron, Tokenizer
from tests.support.doors import INF, MANY_CALLS, NAN, refused, trained
from tests.support.marks import in_turn
from tests.support.variants import (
    LEARNERS,
    every_learner,
    labels_for,
)


def bad_columns():
    """(how, column, error, whether the message can name a row): the cell in row 1 is bad."""
    for library, series in (("pandas", pd.Series), ("polars", pl.Series), ("pyarrow", pa.array)):
        yield f"{library} NaN", series([1.0, NAN, 3.0]), ValueError, True
        yield f"{library} inf", series([1.0, INF, 3.0]), ValueError, True
        yield f"{library} too large", series([1.0, -1e51, 3.0]), ValueError, True
        yield f"{library} text", series(["a", "7", "b"]), TypeError, True
    for library, series in (("polars", pl.Series), ("pyarrow", pa.array)):
        yield f"{library} NaN and missing", series([None, NAN, 1.0]), ValueError, True
        yield f"{library} list", series([[1], [2], [3]]), TypeError, False
    yield "pandas numbers as categories", pd.Series([1, 2], dtype="category"), TypeError, False
    yield "pandas dates", pd.Series(pd.date_range("2020-01-01", periods=3)), TypeError, False
    yield "pandas complex", pd.Series([1, 1j, 2]), TypeError, False
    objects = {
        "NaN": (NAN, ValueError, True),
        "inf": (INF, ValueError, True),
        "too large for a float": (10**400, ValueError, True),
        "text": ("7", TypeError, True),
        "bytes": (b"a", TypeError, False),
        "list": ([1], TypeError, False),
        "complex": (1j, TypeError, False),
        "array": (np.array(1.0), TypeError, False),
    }
    for kind, (value, error, row) in objects.items():
        column = pd.Series([1, None, True], dtype=object)
        column[1] = value
        yield f"object {kind}", column, error, row
    yield "polars dates", pl.Series(pd.date_range("2020-01-01", periods=3)), TypeError, False


BAD_COLUMNS = {how: rest for how, *rest in bad_columns()}


def frame_with(column, name="the culprit"):
    """A frame of the column's library: a good column and this one."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"good": np.ones(len(column)), name: column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"good": np.ones(len(column)), name: column})
    return pa.table({"good": np.ones(len(column)), name: column})


@pytest.mark.parametrize(("how", "learner"), in_turn(BAD_COLUMNS, LEARNERS, n=2))
def test_bad_cell_of_a_frame_is_refused_by_row_and_column(learner, how):
    column, error, row = BAD_COLUMNS[how]
    X = frame_with(column)
    ys = [labels_for(learner)[i % 2] for i in range(len(column))]
    for call in MANY_CALLS.values():
        names = ["'the culprit'", *(["row 1"] if row else [])]
        model = trained(learner)
        refused(model, lambda model, call=call: call(model, X, ys), *names, error=error)


NO_TABLES = {
    "dict": {"a": [1.0, 2.0]},
    "dict of a row": {"a": 1.0},
    "list": [[1.0], [2.0]],
    "list of dicts": [{"a": 1.0}, {"a": 2.0}],
    "Series": pd.Series([1.0, 2.0]),
    "Index": pd.Index([1.0, 2.0]),
    "polars Series": pl.Series([1.0, 2.0]),
    "pyarrow array": pa.array([1.0, 2.0]),
    "LazyFrame": pl.LazyFrame({"a": [1.0, 2.0]}),
    "number of numpy": np.float64(1.0),
    "buffer": memoryview(np.ones((2, 1))),
    "generator": (row for row in [[1.0], [2.0]]),
    "None": None,
    "int": 1,
    "str": "ab",
    "bytes": b"ab",
    "type": pd.DataFrame,
}


@pytest.mark.parametrize(("kind", "learner", "call"), in_turn(NO_TABLES, LEARNERS, MANY_CALLS))
def test_mini_batch_that_is_no_frame_array_or_matrix_is_refused(learner, kind, call):
    X = NO_TABLES[kind]
    refused(
        trained(learner),
        lambda model: MANY_CALLS[call](model, X, labels_for(learner)[:2]),
        "X is",
        type(X).__name__,
        "frame",
        "numpy array",
        "sparse matrix",
        error=TypeError,
    )


@pytest.mark.parametrize(
    ("X", "cure"),
    [
        ([{"a": 1.0}, {"b": 2.0}], "pandas.DataFrame(X).fillna(0)"),
        ([[1.0, 0.0], [0.0, 2.0]], "numpy.array(X)"),
        (["a", "b b"], "Tokenizer().transform_many(X)"),
    ],
    ids=["dicts", "lists", "texts"],
)
def test_list_is_refused_with_what_makes_rows_of_it(X, cure):
    model = Perceptron()
    refused(model, lambda model: model.learn_many(X, [True, False]), cure, error=TypeError)
    rows = eval(cure, {"pandas": pd, "numpy": np, "Tokenizer": Tokenizer, "X": X})
    before = model.n_seen
    model.learn_many(rows, [True, False])
    assert model.n_seen == before + 2


@pytest.mark.parametrize("call", MANY_CALLS)
@every_learner
def test_columns_of_the_same_name_are_refused(learner, call):
    X = pd.DataFrame(np.ones((2, 3)), columns=["a", "twin", "twin"])
    with pytest.raises(ValueError, match="twin"):
        MANY_CALLS[call](trained(learner), X, labels_for(learner)[:2])


@every_learner
def test_columns_whose_names_are_equal_are_refused(learner):
    X = pd.DataFrame(np.ones((2, 2)), columns=pd.Index([1, True], dtype=object))
    with pytest.raises(ValueError, match="1"):
        trained(learner).learn_many(X, labels_for(learner)[:2])


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_labels_of_another_length_than_the_frame_are_refused(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    y = labels_for(learner)[0]
    for n in (0, 2, 4):
        for ys in ([y] * n, pd.Series([y] * n, dtype=object), np.array([y] * n, dtype=object)):
            message = refused(
                trained(learner), lambda model, ys=ys: MANY_CALLS[call](model, X, ys), "y", "3"
            )
            assert str(n) in message
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, True), "y", error=TypeError)
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, None), "y", error=TypeError)


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@pytest.mark.parametrize(
    "ys",
    [
        "abc",
        b"abc",
        {"u": 1, "v": 2, "w": 3},
        {"u", "v", "w"},
        pd.DataFrame({"u": [1, 2, 3], "v": [1, 2, 3], "w": [1, 2, 3]}),
        pl.DataFrame({"u": [1, 2, 3], "v": [1, 2, 3], "w": [1, 2, 3]}),
        np.ones((3, 2)),
    ],
    ids=lambda ys: f"{type(ys).__module__}.{type(ys).__name__}",
)
@every_learner
def test_labels_of_a_frame_that_are_no_sequence_of_labels_are_refused(learner, ys, call):
    """A text, a table or a set has three of something too, and would be learned as nonsense."""
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, ys), "y")


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_label_of_a_row_is_refused_by_its_row(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    y = labels_for(learner)[0]
    bad = (None, NAN, [1]) if learner != "Perceptron" else ("spam", -1, 2, None, NAN, [1])
    for label in bad:
        refused(
            trained(learner),
            lambda model, label=label: MANY_CALLS[call](model, X, [y, label, y]),
            "row 1",
            repr(label),
        )
    for ys in (pl.Series([y, None, y]), pa.array([y, None, y]), pd.Series([y, None, y])):
        refused(trained(learner), lambda model, ys=ys: MANY_CALLS[call](model, X, ys), "row 1", "y")


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_sample_weights_of_a_frame_are_refused(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    ys = [labels_for(learner)[0]] * 3

    def using(w):
        return lambda model: getattr(model, call)(X, ys, w=w)

    for w in ([], [1.0], [1.0] * 4, np.ones(2), pd.Series([1.0] * 4)):
        refused(trained(learner), using(w), "w has", str(len(w)), "3", error=ValueError)
    for w in ([1, -1, 1], [1, NAN, 1], np.array([1, INF, 1]), pd.Series([1, -0.5, 1])):
        refused(trained(learner), using(w), "row 1", "w", error=ValueError)
    for w in ([1, None, 1], [1, "2", 1], ["1", "1", "1"], None, "111", object()):
        refused(trained(learner), using(w), "w", error=TypeError)
    for w in (-1, NAN, INF):
        refused(trained(learner), using(w), "w", error=ValueError)
