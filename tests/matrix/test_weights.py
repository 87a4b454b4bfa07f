"""Weights of a batch's events."""

import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.doors import refused, trained
from tests.support.marks import in_turn
from tests.support.matrices import (
    INF,
    NAN,
    WAYS,
    both_ways,
    csr,
    dicts,
    learn_each,
    objects,
    random_batch,
    widened,
)
from tests.support.variants import (
    LEARNERS,
    every_learner,
    labels_for,
    make,
    most_weight,
)

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


@pytest.mark.parametrize(
    ("holder", "way", "variant", "learner"),
    in_turn(WEIGHT_HOLDERS, WAYS, ["default", "class weights"], LEARNERS),
)
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
    w = w if float(w) <= most_weight(learner) else most_weight(learner) / 2
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


@pytest.mark.parametrize(
    ("kind", "learner", "call"),
    in_turn(WRONG_WEIGHTS, LEARNERS, ["learn_many", "test_then_train_many"]),
)
def test_weights_that_do_not_fit_the_rows_are_refused(learner, call, kind):
    w, said = WRONG_WEIGHTS[kind]
    ys = [labels_for(learner)[0]] * 4
    for X in (np.ones((4, 2)), csr(np.ones((4, 2)))):
        message = refused(
            trained(learner), lambda model, X=X: getattr(model, call)(X, ys, w), *said
        )
        assert "x[" not in message
