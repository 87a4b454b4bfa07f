"""Labels of a batch, in whatever holds them."""

import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tests.support.doors import refused, trained
from tests.support.marks import in_turn
from tests.support.matrices import (
    BIG_ENDIAN,
    CALLS,
    NAN,
    NUMBERS,
    WAYS,
    both_ways,
    csr,
    dicts,
    learn_each,
    listed,
    objects,
    random_batch,
    read_only,
    untouched,
    widened,
)
from tests.support.variants import (
    LEARNERS,
    every_learner,
    labels_for,
    learned,
    make,
)

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
    "a number": (1, ["y is an int"]),
    "an array of no dimension": (np.array(1), ["y is an ndarray"]),
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


@pytest.mark.parametrize(
    ("kind", "learner", "call"),
    in_turn(WRONG_LABELS, LEARNERS, ["learn_many", "test_then_train_many"]),
)
def test_labels_that_do_not_fit_the_rows_are_refused(learner, call, kind):
    y, said = WRONG_LABELS[kind]
    if learner == "Perceptron" and kind in ("NaN of an array", "not a time"):
        said = ["row", "y="]  # already the first is not a truth value
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
