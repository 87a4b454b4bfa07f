"""Texts among the values name categories, and gaps are left out: as in CSV, by every door."""

import datetime
import io
import pickle
import random
from collections import OrderedDict
from enum import StrEnum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from streamptron import RankingPerceptron
from streamptron.files import read
from tests.support.doors import NAN, refused
from tests.support.variants import answers, every_learner, labels_for, make

CITIES = ["Paris", "Rome", "New York", "İzmir", "a=b", "", None]


class Color(StrEnum):
    RED = "red"


def same(learner, rows, plain, **params):
    """That a model learns and answers the same of some events as of others."""
    model, twin = make(learner, **params), make(learner, **params)
    ys = labels_for(learner)
    for turn, (x, z) in enumerate(zip(rows, plain, strict=True)):
        assert answers(model, x) == answers(twin, z)
        model.learn_one(x, ys[turn % 2])
        twin.learn_one(z, ys[turn % 2])
    assert pickle.dumps(model) == pickle.dumps(twin)


@every_learner
def test_text_is_a_category_and_nothing_is_nothing(learner):
    given = [
        {"city": "Paris", "size": 3},
        {"city": None, "size": 2, "ok": True},
        OrderedDict(city=np.str_("Rome"), color=Color.RED),
        {"city": "", "date": pd.NaT, "n": pd.NA, "since": np.datetime64("NaT", "s")},
        {"size": 1.5, "city": "1 Paris", datetime.date(2020, 1, 1): 1},
    ]
    plain = [
        {"city=Paris": 1, "size": 3},
        {"size": 2, "ok": 1},
        {"city=Rome": 1, "color=red": 1},
        {},
        {"size": 1.5, "city=1 Paris": 1, datetime.date(2020, 1, 1): 1},
    ]
    same(learner, given * 2, plain * 2)


def test_events_are_those_of_the_same_csv():
    rows = [{"city": city or "", "size": i % 3} for i, city in enumerate(CITIES)]
    file = pd.DataFrame(rows).assign(y="a").to_csv(index=False).encode()
    events = [x for x, _ in read(io.BytesIO(file), "csv", label="y")]
    same("AdaptiveClassifier", rows, events)


@every_learner
def test_what_is_missing_can_be_refused(learner):
    y = labels_for(learner)[0]
    for value in (None, "", pd.NA, pd.NaT, NAN):
        model = make(learner, missing="refuse")
        refused(
            model, lambda model, v=value: model.learn_one({"a": 1, "the culprit": v}, y), "culprit"
        )
    model = make(learner, missing="refuse")
    refused(
        model, lambda model: model.learn_many(pd.DataFrame({"c": ["a", None]}), [y, y]), "row 1"
    )


@every_learner
def test_nan_is_left_out_if_the_learner_says_so(learner):
    given = [{"a": NAN, "b": 1}, {"a": np.float32("nan")}, {"a": 2.0, "b": None}]
    same(learner, given, [{"b": 1}, {}, {"a": 2.0}], missing="skip_nan")
    ys = [labels_for(learner)[i % 2] for i in range(40)]
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    X[rng.random((40, 3)) < 0.3] = NAN
    rows = [{j: v for j, v in enumerate(row) if v == v} for row in X.tolist()]
    twin = make(learner, missing="skip_nan")
    for x, y in zip(rows, ys, strict=True):
        twin.learn_one(x, y)
    for form in (X, np.asfortranarray(X), sp.csr_array(X), pd.DataFrame(X), X.astype(np.float64)):
        model = make(learner, missing="skip_nan")
        model.learn_many(form, ys)
        assert pickle.dumps(model) == pickle.dumps(twin)
        refused(make(learner), lambda model, X=form: model.learn_many(X, ys), "skip_nan")


def test_a_value_of_missing_that_is_none_is_refused():
    with pytest.raises(ValueError, match="missing='drop'; it must be one of 'skip'"):
        make("MIRA", missing="drop")


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ({"city": "Paris", "city=Paris": 1}, "twice"),
        ({"a": "b=c", "a=b": "c"}, "twice"),
        ({("a", 1): "red"}, "name a category by a str"),
        ({"zip": "10115"}, "'zip=10115': 1"),
        ({"zip": "1e400"}, "reads as a number"),
    ],
    ids=str,
)
def test_category_that_is_no_single_feature_is_refused(x, said):
    refused(make("MIRA"), lambda model: model.learn_one(x, "a"), said)


def test_categories_among_candidates():
    model, twin = RankingPerceptron(hash_seed=1), RankingPerceptron(hash_seed=1)
    model.learn_one([{"c": "x", "n": 2}, {"c": "y", "n": None}], 1)
    twin.learn_one([{"c=x": 1, "n": 2}, {"c=y": 1}], 1)
    assert model.weights == twin.weights
    with pytest.raises(TypeError, match=r"candidates\[1\]\['c'\] is the text '7'"):
        model.learn_one([{"c": "x"}, {"c": "7"}], 1)
    assert model.rank_one([{"c": "x"}, {"c": "y"}]) == [1, 0]


def test_categories_in_tickets_and_explanations():
    model = make("MIRA")
    for x, y in [({"city": "Rome", "n": 1}, "b"), ({"city": "Paris", "n": 1}, "a")]:
        model.learn_one(x, y)
    assert "city=Paris" in model.debug_one({"city": "Paris"})
    assert "city=Paris" in dict(model.explain_one({"city": "Paris"}))
    twin = pickle.loads(pickle.dumps(model))
    for x in ({"city": "Rome"}, {"city": "Rome", datetime.date(2020, 1, 1): 1, "gap": None}):
        model.learn_ticket(model.predict_ticket(x), "a")
        twin.learn_one(x, "a")
    assert pickle.dumps(model) == pickle.dumps(twin)


def frames_of(rows):
    """The rows as frames of every library, with columns of every kind that can hold them."""
    table = pd.DataFrame(rows, columns=list(rows[0]))
    kinds = {"n": "Float64", "k": "Int64", "b": "boolean"}
    yield "pandas texts", table.astype({**kinds, "city": "str", "s": "str"})
    yield "pandas categories", table.astype({**kinds, "city": "category", "s": "category"})
    yield "pandas arrow", table.astype({**kinds, "city": "string[pyarrow]", "s": "string"})
    yield "pandas objects", pd.DataFrame(rows, dtype=object)
    polars = pl.DataFrame(rows)
    yield "polars texts", polars
    yield "polars categories", polars.with_columns(pl.col("city", "s").cast(pl.Categorical))
    arrow = pa.Table.from_pylist(rows)
    yield "pyarrow texts", arrow
    for at, name in ((1, "city"), (4, "s")):
        arrow = arrow.set_column(at, name, arrow[name].dictionary_encode())
    yield "pyarrow categories", arrow
    yield "pyarrow chunks", pa.concat_tables([arrow.slice(0, 7), arrow.slice(7)])


def random_rows(rng, n):
    return [
        {
            "n": rng.choice([None, 0.0, 1.5, -2.0]),
            "city": rng.choice(CITIES),
            "b": rng.choice([True, False, None]),
            "k": rng.choice([None, 0, 3, 2**40]),
            "s": rng.choice(["x", "y", None]),
        }
        for _ in range(n)
    ]


@pytest.mark.parametrize("seed", range(3))
@every_learner
def test_frame_is_learned_as_its_rows(learner, seed):
    rng = random.Random(f"{learner}, {seed}")
    rows = [*random_rows(rng, 30), {"n": 1.0, "city": "Rome", "b": True, "k": 1, "s": "x"}]
    ys = [rng.choice(labels_for(learner)[:2]) for _ in rows]
    twin = make(learner)
    predictions = []
    for x, y in zip(rows, ys, strict=True):
        predictions.append(twin.predict_one(x))
        twin.learn_one(x, y)
    for kind, frame in frames_of(rows):
        model = make(learner)
        found = model.test_then_train_many(frame, ys)
        found = found.to_pylist() if isinstance(found, pa.ChunkedArray) else list(found)
        assert found[1:] == predictions[1:], kind
        assert pickle.dumps(model) == pickle.dumps(twin), kind


def test_text_of_a_categorical_may_read_as_a_number():
    column = pd.Series(["10115", "75001", "10115"], dtype="category")
    for frame in (
        pd.DataFrame({"zip": column}),
        pl.DataFrame({"zip": pl.Series(column.to_list(), dtype=pl.Categorical)}),
        pl.DataFrame({"zip": pl.Series(column.to_list(), dtype=pl.Enum(["1", "75001", "10115"]))}),
    ):
        model = make("Perceptron")
        model.learn_many(frame, [True, False, True])
        assert set(model.weights) == {"zip=10115", "zip=75001"}


def test_feature_that_a_frame_has_twice_is_refused():
    X = pd.DataFrame({"city=Paris": [1.0, 0.0], "city": ["Paris", "Rome"]})
    refused(make("MIRA"), lambda model: model.learn_many(X, ["a", "b"]), "'city=Paris' twice")
    model = make("MIRA")
    model.learn_many(X.assign(city=["Bonn", "Rome"]), ["a", "b"])
    assert "city=Rome" in model.weights["b"]


def test_texts_of_columns_without_a_text_for_a_name_are_refused():
    X = pd.DataFrame({3: ["red", "blue"]})
    refused(make("MIRA"), lambda model: model.learn_many(X, ["a", "b"]), "name a category by a str")


def test_column_without_any_value_is_left_out():
    for frame in (
        pd.DataFrame({"a": [1.0, 2.0], "none": [None, None]}),
        pl.DataFrame({"a": [1.0, 2.0], "none": [None, None]}),
        pa.table({"a": [1.0, 2.0], "none": [None, None]}),
    ):
        model = make("Perceptron")
        model.learn_many(frame, [True, False])
        assert set(model.weights) <= {"a"}
