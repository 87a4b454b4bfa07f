"""Rows with grades: learn_many is learn_one, whatever holds the rows; bad rows change nothing."""

import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from streamptron import Perceptron, RankingPerceptron, Tokenizer
from streamptron.files import read
from streamptron.metrics import ndcg
from tests.support import streams
from tests.support.candidates import documents, learn_by_one
from tests.support.marks import seeds
from tests.support.streams import DATA, needs_data
from tests.support.variants import learned

pytestmark = pytest.mark.once  # another Python would say the same

N = 12  # columns
NAMES = [f"name {j}" if j % 2 else ("tuple", j) for j in range(N)]
VARIANTS = {
    "default": {},
    "pocket": {"pocket": True, "serve": "pocket"},
    "MIRA": {"update": "margin"},
    "exponential": {"average": "exponential", "half_life": 20},
    "hashed": {"hash_bits": 20},
    "hashed, colliding": {"hash_bits": 2},
    "ceiling": {"max_features": 5},
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def make(variant="default"):
    return RankingPerceptron(**VARIANTS[variant], hash_seed=1)


def dense(rows, dtype=float):
    X = np.zeros((len(rows), N), dtype)
    for r, x in enumerate(rows):
        X[r, list(x)] = list(x.values())
    return X


def unsorted(rows):
    """A CSR matrix whose columns fall within the rows."""
    X = sp.csr_array(dense(rows))
    indices, data = X.indices.copy(), X.data.copy()
    for first, last in zip(X.indptr, X.indptr[1:], strict=False):
        indices[first:last] = indices[first:last][::-1]
        data[first:last] = data[first:last][::-1]
    return sp.csr_array((data, indices, X.indptr), X.shape)


def with_zeros(rows):
    """A CSR matrix that stores zeros."""
    return sp.csr_array((dense(rows).ravel(), np.tile(np.arange(N), len(rows)),
                         np.arange(len(rows) + 1) * N), (len(rows), N))  # fmt: skip


def frame(of):
    return lambda rows: of({str(name): column for name, column in enumerate(dense(rows).T)})


FORMS = {
    "csr": lambda rows: sp.csr_array(dense(rows)),
    "csc": lambda rows: sp.csc_array(dense(rows)),
    "unsorted": unsorted,
    "with zeros": with_zeros,
    "dense": dense,
    "fortran": lambda rows: np.asfortranarray(dense(rows)),
    "list": list,
    "pandas": frame(pd.DataFrame),
    "polars": frame(pl.DataFrame),
}


def named(form, rows):
    return (
        [{str(j): v for j, v in x.items()} for x in rows] if form in ("pandas", "polars") else rows
    )


@seeds(1, 1)
@every_variant
@pytest.mark.parametrize("form", FORMS)
def test_learn_many_is_learn_one_row_by_row(form, variant, seed):
    rng = random.Random(f"{form}, {variant}, {seed}")
    model, other, by_one = make(variant), make(variant), make(variant)
    for _ in range(4):
        rows, grades, qid = documents(rng, 8, N)
        w = [rng.choice([0.0, 1.0, 0.5, 3.0]) for _ in rows]
        X = FORMS[form](rows)
        model.learn_many(X, np.array(grades) if rng.random() < 0.5 else grades, qid, w)
        other.learn_many(named(form, rows), grades, qid, w)
        assert learned(model) == learned(other)
        learn_by_one(by_one, named(form, rows), grades, qid, w)
        assert by_one.weights == model.weights
        assert (by_one.n_seen, by_one.n_updates) == (model.n_seen, model.n_updates)
        assert by_one.averaged_weights == model.averaged_weights
        scores = model.decision_function_many(X, qid)
        expected = []
        for query in dict.fromkeys(qid):
            some = [x for x, its in zip(named(form, rows), qid, strict=True) if its == query]
            expected += other.decision_function_one(some)
        assert list(scores) == expected
        assert list(model.predict_many(X, qid)) == expected
        everything = model.decision_function_many(X)
        assert list(everything) == other.decision_function_one(named(form, rows))
    assert model.n_updates > 5


@seeds(2)
def test_features_may_be_named(seed):
    rng = random.Random(seed)
    model, other = make(), make()
    rows, grades, qid = documents(rng, 20, N)
    model.learn_many(dense(rows), grades, qid, feature_names=NAMES)
    other.learn_many([{NAMES[j]: v for j, v in x.items()} for x in rows], grades, qid)
    assert learned(model) == learned(other)
    scores = model.decision_function_many(sp.csr_array(dense(rows)), qid, feature_names=NAMES)
    assert scores.shape == (len(rows),)
    assert model.weights.keys() <= set(NAMES)


@every_variant
def test_batch_much_larger_than_the_model_is_learned_the_same(variant):
    """Such a one is learned on a copy, and checked block by block."""
    rng = random.Random(1)
    rows, grades, qid = documents(rng, 6000, N)
    X = dense(rows)
    assert X.nbytes > 1 << 20
    whole, parts = make(variant), make(variant)
    whole.learn_many(X, grades, qid)
    first = qid.index("query 2500")
    for part in (slice(None, first), slice(first, None)):
        parts.learn_many(sp.csr_array(X[part]), grades[part], qid[part])
    assert learned(whole) == learned(parts)
    X[-1, 3] = math.nan
    before = learned(whole)
    with pytest.raises(ValueError, match=f"row {len(rows) - 1}, column 3"):
        whole.learn_many(X, grades, qid)
    assert learned(whole) == before


def test_only_the_order_of_grades_counts_and_equal_ones_teach_nothing():
    rows, grades, qid = documents(random.Random(3), 20, N)
    one, other, none = make(), make(), make()
    one.learn_many(rows, grades, qid)
    other.learn_many(rows, [grade**3 / 7 - 2 for grade in grades], qid)
    assert learned(one) == learned(other)
    none.learn_many(rows, [1] * len(rows), qid)
    none.learn_many([], [], [])
    none.learn_many(np.zeros((0, N)), [], [])
    assert none.n_seen == 0
    assert (
        none.decision_function_many([]).shape == none.predict_many(np.zeros((0, N))).shape == (0,)
    )


def test_series_and_frames_are_answered_in_kind():
    rows, grades, qid = documents(random.Random(3), 10, N)
    X = pd.DataFrame(dense(rows), columns=[str(name) for name in NAMES])
    X.index = X.index + 100
    model = make()
    model.learn_many(X, pd.Series(grades, index=X.index), pd.Series(qid, index=X.index))
    scores = model.decision_function_many(X, pd.Series(qid))
    assert isinstance(scores, pd.Series)
    assert list(scores.index) == list(X.index)
    assert scores.tolist() == model.decision_function_many(X.rename(columns=str), qid).tolist()
    more = pl.DataFrame({str(name): X[str(name)].to_numpy() for name in NAMES})
    assert isinstance(model.predict_many(more, pl.Series(qid)), pl.Series)


def test_rows_may_be_texts_of_a_tokenizer():
    model = make()
    texts = Tokenizer().transform_many(["see the manual", "do not know", "see"])
    model.learn_many(list(texts), [2, 0, 1], [1, 1, 1])
    assert np.argmax(model.decision_function_many(list(texts))) == 0


ROWS = [{0: 1.0}, {1: 1.0}, {2: 1.0}, {0: 2.0}]
BAD = {
    "qid comes back": ({"qid": [1, 1, 2, 1]}, ValueError, "qid has 1 again in row 3"),
    "qid comes back as an equal": ({"qid": [1, 2, 2, True]}, ValueError, "qid has True again"),
    "qid missing": ({"qid": [1, 1, None, 2]}, ValueError, "qid has None in row 2"),
    "qid nan": ({"qid": [1, 1, math.nan, 2]}, ValueError, "qid has nan in row 2"),
    "qid not hashable": ({"qid": [1, 1, [2], 2]}, TypeError, r"qid has \[2\], a list, in row 2"),
    "qid too short": ({"qid": [1, 1, 1]}, ValueError, "qid has 3 entries; X has 4 rows"),
    "qid one number": ({"qid": 1}, TypeError, "qid is an int"),
    "qid a text": ({"qid": "1111"}, TypeError, "qid is a str"),
    "grades too long": ({"grades": [1] * 5}, ValueError, "grades has 5 entries; X has 4 rows"),
    "grades nan": ({"grades": [1, 0, math.nan, 0]}, ValueError, "grades in row 2"),
    "grades inf": ({"grades": [1, 0, 0, math.inf]}, ValueError, "grades in row 3"),
    "grades text": ({"grades": [1, "0", 0, 0]}, TypeError, "grades in row 1"),
    "grades None": ({"grades": [1, None, 0, 0]}, TypeError, "grades in row 1"),
    "grades one number": ({"grades": 1}, TypeError, "grades is an int"),
    "grades a matrix": ({"grades": np.zeros((4, 2))}, (TypeError, ValueError), "grades"),
    "w too short": ({"w": [1.0]}, ValueError, "w has 1 entries"),
    "w below 0": ({"w": [1, 1, -1, 1]}, ValueError, "in row 2: w=-1"),
    "w nan": ({"w": math.nan}, ValueError, "w"),
}


@pytest.mark.parametrize("form", ["csr", "list"])
@pytest.mark.parametrize("bad", BAD)
def test_what_does_not_fit_is_named_and_nothing_has_changed(bad, form):
    given, error, match = BAD[bad]
    model = make()
    model.learn_many(ROWS, [2, 1, 0, 0], [1, 1, 2, 2])
    before = learned(model)
    X = FORMS[form](ROWS)
    with pytest.raises(error, match=match):
        model.learn_many(X, **{"grades": [2, 1, 0, 0], "qid": [1, 1, 2, 2], "w": 1.0, **given})
    assert learned(model) == before
    if "qid" in given:
        with pytest.raises(error, match=match):
            model.decision_function_many(X, given["qid"])


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        ([{0: 1.0}, {1: math.nan}], ValueError, r"X\[1\]\[1\]"),
        ([{0: 1.0}, {1: "x"}], TypeError, r"X\[1\]\[1\]"),
        ([{0: 1.0}, 5], TypeError, r"X\[1\] is 5"),
        ([{0: 1.0}, {1: [None]}], TypeError, r"X\[1\]\[1\]"),
        (np.array([[1.0], [math.nan]]), ValueError, "row 1, column 0"),
        (np.array(["x", "y"]), ValueError, "dimension"),
        (np.array([["x"], ["y"]]), TypeError, "X has dtype"),
    ],
)
def test_bad_row_is_named_and_nothing_has_changed(X, error, match):
    model = make()
    model.learn_one([{0: 1.0}, {1: 1.0}], 1)
    before = learned(model)
    with pytest.raises(error, match=match):
        model.learn_many(X, [1, 0], [1, 1])
    assert learned(model) == before
    with pytest.raises(error, match=match):
        model.decision_function_many(X)
    model._check()


def test_names_of_features_that_are_objects_are_forgotten_with_a_bad_row():
    model = make()
    model.learn_one([{0: 1.0}, {1: 1.0}], 1)
    before = learned(model)
    with pytest.raises(ValueError, match=r"X\[1\]"):
        model.learn_many([{frozenset("a"): 1.0}, {1: math.inf}], [1, 0], [1, 1])
    assert learned(model) == before


def test_unsigned_numbers_of_numpy_are_reversed_as_numbers():
    rows = [{"a": np.uint8(3)}, {"a": np.uint8(1), "b": np.bool_(True)}]
    one, other = make(), make()
    one.learn_many(rows, [0, 1], [7, 7])
    other.learn_many([{"a": 3}, {"a": 1, "b": 1}], [0, 1], [7, 7])
    assert learned(one) == learned(other)
    assert one.weights == {"a": -2.0, "b": 1.0}


@needs_data
def test_queries_of_a_file_are_learned_and_ranked_better_than_by_a_classifier(tmp_path):
    """On a fifth of the real queries, after the others; both with all their defaults."""
    path = tmp_path / "rank.svm"
    sizes = map(int, (DATA / "rank.train.query").read_text().split())
    qids = (query for query, size in enumerate(sizes) for _ in range(size))
    with path.open("w") as file:
        for line, qid in zip(streams.lines("rank.train"), qids, strict=True):
            label, _, rest = line.partition(" ")
            file.write(f"{label} qid:{qid} {rest}\n")
    records = list(read(path, format="svmlight").records())
    rows, grades, qid = zip(*[(r.x, float(r.y), r.qid) for r in records], strict=True)
    first = qid.index(160)
    ranking, classifier = make(), Perceptron(hash_seed=1)
    ranking.learn_many(rows[:first], grades[:first], qid[:first])
    for x, grade in zip(rows[:first], grades[:first], strict=True):
        classifier.learn_one(x, grade > 0)
    values = {"ranking": [], "classifier": []}
    for query in range(160, 201):
        some = [r for r in range(first, len(rows)) if qid[r] == query]
        its = [grades[r] for r in some]
        scores = ranking.decision_function_one([rows[r] for r in some])
        values["ranking"].append(ndcg(its, scores, 10))
        scores = [classifier.decision_function_one(rows[r]) for r in some]
        values["classifier"].append(ndcg(its, scores, 10))
    assert len(rows) == 3005
    assert np.mean(values["ranking"]) > np.mean(values["classifier"]) > 0.6
