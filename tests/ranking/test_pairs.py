"""RankingPerceptron with pairs of features: each candidate has its own."""

import copy
import pickle
import random
from collections import Counter, OrderedDict

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import Pair, RankingPerceptron, Tokenizer
from tests.ranking.test_twin import learn_both
from tests.support.candidates import check_answers, check_weights, choices, documents, twins
from tests.support.marks import seeds
from tests.support.twins import KEPT, check_counts, check_equal
from tests.support.variants import learned
from tests.twin.pairs import paired

FIELDS = ("user:{}", "ad={}", "ad", "hour^{}", "{}")
PARAMETERS = {
    "degree=2": {"degree": 2},
    "interactions": {"interactions": (("user", "ad"), ("ad", "ad"), ("hour", "user"))},
    "a ceiling": {"degree": 2, "max_features": 30},
    "MIRA's step": {"degree": 2, "update": "margin", "C": 0.5},
    "a pocket": {"degree": 2, "pocket": True, "average": "none"},
}
with_pairs = pytest.mark.parametrize("params", PARAMETERS.values(), ids=PARAMETERS)


def fielded(candidates):
    """The same with names of some fields, and of none."""
    return {
        y: {FIELDS[len(str(name)) % 5].format(name) if i % 3 else name: v for name, v in x.items()}
        for i, (y, x) in enumerate(candidates.items())
    }


@seeds(2, 4)
@with_pairs
def test_learner_with_pairs_equals_its_twin_at_every_choice(params, seed):
    rng = random.Random(f"{params}, {seed}")
    model, twin = twins("perceptron", **{"update": "perceptron", **params})
    keys, values = rng.choice(("str", "long", "tuple", "int")), rng.choice(("small", "real"))
    for candidates, chosen in choices(rng, 80, values, keys):
        candidates = fielded(candidates)
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen, rng.choice([0.0, 1.0, 2.0]))
        if rng.random() < 0.3:
            check_answers(model, twin, candidates)
    check_weights(model, twin)
    assert twin.n_updates > 10


def test_hashed_pairs_that_do_not_collide_equal_the_twin():
    model = RankingPerceptron(degree=2, hash_bits=24, hash_seed=0)
    _, twin = twins("perceptron", degree=2, half_life=1000)
    for candidates, chosen in choices(random.Random(1), 60, "real", "str", n_features=15):
        check_answers(model, twin, candidates)
        learn_both(model, twin, candidates, chosen)


@seeds(2)
@pytest.mark.parametrize("kind", ["a list", "csr", "named"])
@with_pairs
def test_graded_rows_with_pairs_are_learned_as_the_twin_says(params, kind, seed):
    rng = random.Random(f"{params}, {kind}, {seed}")
    model, twin = twins("perceptron", **{"update": "perceptron", **params})
    columns = [f"ad:{j}" if j % 2 else f"user:a name of many bytes {j}" for j in range(12)]
    for _ in range(3):
        rows, grades, qid = documents(rng, 8)
        X = np.zeros((len(rows), 12))
        for r, x in enumerate(rows):
            X[r, list(x)] = list(x.values())
        names = {}
        if kind != "csr":
            rows = [{columns[j]: v for j, v in x.items()} for x in rows]
        if kind == "named":
            names = {"feature_names": columns}
        given = rows if kind == "a list" else sp.csr_array(X)
        model.learn_many(given, grades, qid, **names)
        twin.learn_many(rows, grades, qid)
        check_counts(model, twin)
        scores = model.decision_function_many(given, qid, **names)
        for query in dict.fromkeys(qid):
            place = [r for r in range(len(qid)) if qid[r] == query]
            expected = twin.decision_function_one({r: rows[r] for r in place})
            check_equal({r: scores[r] for r in place}, expected, exact=True)
    check_weights(model, twin)
    assert twin.n_updates > 5


def test_what_two_candidates_have_in_common_makes_no_weight_and_names_can_be_read():
    model = RankingPerceptron(degree=2, average="none", serve="current")
    hotels = {"Ritz": {"near": 1, "dear": 2}, "Inn": {"near": 1, "cheap": 1}}
    model.learn_one(hotels, "Inn")
    assert model.weights == {
        "cheap": 1.0,
        Pair("near", "cheap"): 1.0,
        "dear": -2.0,
        Pair("near", "dear"): -2.0,
    }
    assert model.explain_one(hotels, "Inn") == [
        ("dear", 4.0),
        (Pair("near", "dear"), 4.0),
        ("cheap", 1.0),
        (Pair("near", "cheap"), 1.0),
    ]
    start = RankingPerceptron.from_weights(model.weights, degree=2)
    assert start.decision_function_one(hotels) == model.decision_function_one(hotels)


def test_the_exclusive_or_of_two_features_is_ranked():
    candidates = [{"a": a, "b": b} for a, b in ((0, 0), (1, 1), (1, 0))]
    model, alone = RankingPerceptron(degree=2), RankingPerceptron()
    for each in (model, alone):
        for _ in range(50):
            each.learn_one(candidates, 2)
            each.learn_one([*candidates[:2], {"b": 1}], 2)
    assert model.predict_one(candidates) == model.predict_one([*candidates[:2], {"b": 1}]) == 2
    assert alone.predict_one(candidates) != 2


def test_events_asked_and_learned_in_turn_have_the_pairs_of_each():
    """The scratch is used again; none of an event's pairs may be another's."""
    model, other = (RankingPerceptron(degree=2, hash_seed=1) for _ in range(2))
    texts = Tokenizer()
    events = [
        {"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 1, "c": 1}},
        {"x": {"a": 1}, "y": {}, "z": {"one name of many bytes": 1, "another of so many": 1}},
        {"x": {"a": 1, "b": 1e-200}, "y": Counter("abc"), "z": OrderedDict(a=1, d=2)},
        {"x": texts.transform_one("a b c"), "y": texts.transform_one("b c a name of many bytes")},
        [{"a": 1, "b": 1}, {("a", "b"): 1}],
        [{"a": 1}],
        [],
    ]
    rng = random.Random(5)
    for _ in range(300):
        candidates = rng.choice(events)
        plain = candidates
        if isinstance(candidates, dict):
            plain = {y: dict(x) for y, x in candidates.items()}
        for _ in range(rng.randrange(3)):
            answer = model.decision_function_one(candidates)
            assert answer == copy.deepcopy(other).decision_function_one(plain)
        if candidates:
            chosen = rng.choice(
                list(candidates if isinstance(candidates, dict) else range(len(candidates)))
            )
            model.learn_one(candidates, chosen)
            other.learn_one(plain, chosen)
            other = copy.deepcopy(other)  # whose scratch is empty
    assert learned(model) == learned(other)
    model._check()


TOO_MANY = {f"f{i}": 1.0 for i in range(6)}  # 15 pairs
TOO_LARGE = {"a": 1e30, "b": -1e21}
ASKED = {
    "learn_one": lambda model, candidates: model.learn_one(candidates, "ok"),
    "predict_one": lambda model, candidates: model.predict_one(candidates),
    "rank_one": lambda model, candidates: model.rank_one(candidates),
    "predict_proba_one": lambda model, candidates: model.predict_proba_one(candidates),
    "explain_one": lambda model, candidates: model.explain_one(candidates),
}


def ready():
    model = RankingPerceptron(degree=2, max_pairs=10)
    model.learn_one([{"f1": 1, "f2": 1}, {"f2": 1, "f3": 2}], 1)
    return model


@pytest.mark.parametrize("call", ASKED)
@pytest.mark.parametrize(
    ("x", "message"),
    [(TOO_MANY, "makes 15 pairs of features, more than max_pairs=10"), (TOO_LARGE, "scale the")],
    ids=["too many", "too large"],
)
def test_candidate_whose_pairs_are_too_many_or_too_large_is_named(x, message, call):
    model = ready()
    before = pickle.dumps(model)
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"^candidates\['bad'\] .*{message}"):
            ASKED[call](model, {"ok": {"f1": 1, "f2": 1}, "bad": x, "worse": TOO_MANY})
        assert pickle.dumps(model) == before
        assert model.predict_one({"ok": {"f1": 1, "f2": 1}, "better": {"f3": 1}}) == "better"


@pytest.mark.parametrize("many", [False, True], ids=["few", "learned on a copy"])
def test_row_of_a_query_whose_pairs_are_too_many_is_named_and_nothing_is_learned(many):
    model, n = ready(), 9000 if many else 9
    before = pickle.dumps(model)
    X = np.zeros((n, 16))
    X[:, :2] = 1.0
    X[n - 2, :6] = 1.0
    grades, qid = [r % 3 for r in range(n)], [r // 3 for r in range(n)]
    for call in (
        lambda: model.learn_many(X, grades, qid),
        lambda: model.decision_function_many(X, qid),
        lambda: model.decision_function_many(X, qid, n_jobs=2),
    ):
        with pytest.raises(ValueError, match=f"row {n - 2} of X makes 15 pairs"):
            call()
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("kept", [kept for kept in KEPT if kept.endswith("best")])
def test_pairs_are_features_like_any_other(kept):
    """The learner without pairs, given them, is the same."""
    model = RankingPerceptron(degree=2, **KEPT[kept])
    plain = RankingPerceptron(**KEPT[kept])
    for candidates, chosen in choices(random.Random(kept), 60, "real", "str"):
        given = {y: paired(x, Pair) for y, x in candidates.items()}
        assert model.predict_proba_one(candidates) == plain.predict_proba_one(given)
        model.learn_one(candidates, chosen)
        plain.learn_one(given, chosen)
    assert model.weights == plain.weights


def test_a_name_that_is_a_mere_object_has_no_pairs():
    model = ready()
    with pytest.raises(TypeError, match=r"frozenset.*degree=2 or interactions"):
        model.learn_one([{"a": 1, frozenset("a"): 1}, {"b": 1}], 0)
