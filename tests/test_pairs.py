"""Pairs of features, `degree=2` and `interactions`, equal their plain-Python twin at every door."""

import copy
import itertools
import pickle
import random
import re
from collections import ChainMap, Counter, OrderedDict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamptron
from streamptron import ModelFileError, MulticlassPerceptron, Pair, Perceptron, Tokenizer, load
from streamptron.keeping.layout import Contents
from streamptron.keeping.write import write
from tests.support.doors import assert_learns_on_alike, refused
from tests.support.marks import in_turn, seeds
from tests.support.streams import (
    KEYS,
    VALUES,
    labelled_texts,
    make_key,
    needs_data,
    random_events,
    svmlight,
    tagging_stream,
)
from tests.support.twins import (
    KEPT,
    RULES,
    check_counts,
    check_explanation,
    check_stream,
    check_weights,
    labels_for,
    twins,
)
from tests.support.variants import (
    LEARNERS,
    PAIRING,
    every_pairing_learner,
    learned,
    make,
)
from tests.support.variants import labels_for as labels_of
from tests.twin import adaptive
from tests.twin.pairs import paired, with_pairs
from tests.twin.text import features

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

rules = pytest.mark.parametrize("rule", RULES)
# a frozenset has no bytes that a pair's name could hold
NAMES = [keys for keys in KEYS if keys != "object"]
WITHIN = [values for values in VALUES if values != "wild"]  # products of these are too large
FIELDS = ("user", "ad", "ad:big", "hour")
INTERACTIONS = {
    "degree=2": {"degree": 2},
    "two fields": {"interactions": (("user", "ad"),)},
    "within a field": {"interactions": (("ad", "ad"), ("ad", "user"))},
    "longest field": {"interactions": (("ad:big", "ad"), ("hour", "ad:big"), ("hour", "user"))},
}
paired_with = pytest.mark.parametrize("params", INTERACTIONS.values(), ids=INTERACTIONS)


def fielded_events(rng, n, **kwargs):
    """Random events with names of some fields and of none."""
    names = {
        f"word{i}": (
            f"{FIELDS[i % 4]}{(':', '=', '^')[i % 3]}{'long ' * (i % 5)}{i}",
            FIELDS[i % 4],
            f"{FIELDS[i % 4]}ly{i}",
            i,
            ("user", i),
            f"ad:{i}",
        )[i % 6]
        for i in range(40)
    }
    for x, y, w in random_events(rng, n, **kwargs):
        yield {names[name]: value for name, value in x.items()}, y, w


# --- Equal to the twin


@seeds(1)
@pytest.mark.parametrize("kept", [kept for kept in KEPT if kept.endswith("best")])
@rules
def test_learner_with_all_pairs_equals_its_twin_at_every_event(rule, kept, seed):
    rng = random.Random(f"{rule}, {kept}, {seed}")
    model, twin = twins(rule, degree=2, half_life=20, **KEPT[kept])
    events = random_events(
        rng,
        n=80,
        labels=labels_for(rule),
        keys=rng.choice(NAMES),
        values="real" if twin.average == "exponential" else rng.choice(WITHIN),
        weighted=True,
    )
    check_stream(model, twin, events)
    assert twin.n_updates > 0
    assert any(isinstance(name, Pair) for name in twin.slots)
    model._check()


@seeds(1)
@paired_with
@rules
def test_learner_with_interactions_equals_its_twin_at_every_event(rule, params, seed):
    rng = random.Random(f"{rule}, {params}, {seed}")
    model, twin = twins(rule, **params)
    check_stream(
        model, twin, fielded_events(rng, 150, labels=labels_for(rule), values="real", size=12)
    )
    assert any(isinstance(name, Pair) for name in twin.slots)


@pytest.mark.parametrize("keys", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_two_names_of_any_kind_make_the_pair_that_the_twin_says(keys, other):
    for i in range(6):
        x = {make_key(keys, i): 2.0, make_key(other, i + 7): 3.0}
        model = Perceptron(degree=2, intercept=False, average="none", serve="current")
        model.learn_one(x, True)
        assert list(model.weights.items()) == list(paired(x, Pair).items())
        assert dict(model.explain_one(x)) == {name: v * v for name, v in paired(x, Pair).items()}


@pytest.mark.parametrize("max_features", [1, 12, 60])
@rules
def test_pairs_count_under_a_ceiling_and_leave_as_the_twins_do(rule, max_features):
    rng = random.Random(f"{rule}, {max_features}")
    model, twin = twins(rule, degree=2, max_features=max_features)
    check_stream(model, twin, random_events(rng, 120, labels=labels_for(rule), size=5))
    assert twin.n_evicted > 20
    assert model.n_features <= max_features
    model._check()


@rules
def test_hashed_pairs_that_do_not_collide_equal_the_twin(rule):
    model, twin = twins(rule, degree=2, hash_bits=24)
    for x, y, w in random_events(random.Random(rule), 60, labels=labels_for(rule), n_features=12):
        assert model.decision_function_one(x) == twin.decision_function_one(x)
        if twin.labels:
            check_explanation(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    assert model.n_updates == twin.n_updates > 0


@paired_with
@pytest.mark.parametrize("labels", [(False, True), ("a", "b", "c")], ids=["two", "three"])
@pytest.mark.parametrize("learner", ["AdaptiveClassifier", "AROW"])
def test_second_order_learners_with_pairs_are_the_ones_given_the_pairs(learner, labels, params):
    """Their twins are compared with them elsewhere; here the learner without pairs is the twin."""
    model, plain = LEARNERS[learner](**params), LEARNERS[learner]()
    interactions = params.get("interactions")
    for x, y, w in fielded_events(random.Random(1), 150, labels=labels, values="real", size=10):
        given = paired(x, Pair, interactions)
        assert model.predict_proba_one(x) == plain.predict_proba_one(given)
        if model.n_seen:
            assert model.explain_one(x) == plain.explain_one(given)
        model.learn_one(x, y, w)
        plain.learn_one(given, y, w)
    assert model.weights == plain.weights


@needs_data
@pytest.mark.parametrize("learner", ["AdaptiveClassifier", "AROW"])
def test_second_order_twins_with_pairs_agree_on_a_real_stream(learner):
    model = LEARNERS[learner](degree=2)
    twin = with_pairs(getattr(adaptive, learner), Pair)() if learner == "AROW" else None
    plain = getattr(adaptive, learner)()
    for x, y in itertools.islice(svmlight("a9a"), 150):
        given = paired(x, Pair)
        asked = (twin or plain), x if twin else given
        assert model.decision_function_one(x) == asked[0].decision_function_one(asked[1])
        model.learn_one(x, y)
        asked[0].learn_one(asked[1], y)
    assert model.n_mistakes == asked[0].n_mistakes


# --- The same at every door


def twice(learner, **params):
    return make(learner, **params), make(learner, **params)


def assert_same_as_one_by_one(model, other, events, labels):
    """`other` has learned the events one by one; by now `model` is the same to the last bit."""
    for x, y in zip(events, labels, strict=True):
        other.learn_one(x, y)
    assert learned(model) == learned(other)
    assert other.n_updates > 0
    for x in events[:5]:
        assert model.predict_proba_one(x) == other.predict_proba_one(x)


MATRICES = {
    "array": np.asarray,
    "ints": lambda dense: np.asarray(dense).round().astype(np.int8),
    "csr": sp.csr_array,
    "wide csr": lambda dense: sp.csr_array(dense).astype(np.float32),
    "csc": sp.csc_array,
}


@pytest.mark.parametrize(
    ("learner", "kind", "params"),
    in_turn(PAIRING, MATRICES, [{}, {"max_features": 40}, {"hash_bits": 18}]),
)
def test_rows_of_a_matrix_are_learned_as_their_events(learner, kind, params):
    rng = random.Random(f"{learner}, {kind}, {params}")
    dense = [[rng.choice((0, 0, 1.0, -2.0, 3.0)) for _ in range(12)] for _ in range(60)]
    X = MATRICES[kind](dense)
    y = [rng.choice(labels_of(learner)) for _ in dense]
    model, other = twice(learner, degree=2, **params)
    asked = model.test_then_train_many(X, y).tolist()
    events = [{j: v for j, v in enumerate(row) if v} for row in dense]
    predictions = []
    for x, label in zip(events, y, strict=True):
        predictions.append(other.predict_one(x))
        other.learn_one(x, label)
    assert asked == predictions
    assert learned(model) == learned(other)
    assert model.predict_many(X).tolist() == [other.predict_one(x) for x in events]


@paired_with
@every_pairing_learner
def test_frames_and_named_columns_are_learned_as_their_events(learner, params):
    rng = random.Random(3)
    names = ["user=1", "user=2", "ad:x", "ad:y", "ad:big:z", "hour", "a name of no field at all"]
    dense = [[rng.choice((0.0, 1.0, 0.5)) for _ in names] for _ in range(50)]
    y = [rng.choice(labels_of(learner)) for _ in dense]
    events = [{n: v for n, v in zip(names, row, strict=True) if v} for row in dense]
    model, other = twice(learner, **params)
    model.learn_many(pd.DataFrame(dense, columns=names), pd.Series(y))
    model._y_name = None
    assert_same_as_one_by_one(model, other, events, y)
    model, other = twice(learner, **params)
    model.learn_many(sp.csr_array(dense), y, feature_names=names)
    assert_same_as_one_by_one(model, other, events, y)


@pytest.mark.parametrize("learner", ["Perceptron", "AdaptiveClassifier"])
def test_matrix_that_is_learned_on_a_copy_is_learned_as_its_events(learner):
    rng = np.random.default_rng(1)
    X = (rng.random((9000, 16)) < 0.2).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0.5
    assert X.nbytes > 1 << 20
    model, other = twice(learner, degree=2)
    model.learn_many(X, y)
    for row, label in zip(X, y, strict=True):
        other.learn_one({j: v for j, v in enumerate(row) if v}, bool(label))
    assert learned(model) == learned(other)


@pytest.mark.parametrize(
    "mapping", [Counter, OrderedDict, ChainMap], ids=lambda kind: kind.__name__
)
def test_every_mapping_makes_the_pairs_of_a_dict(mapping):
    model, other = twice("MulticlassPerceptron", degree=2)
    for x, y, _ in random_events(random.Random(4), 60, labels=("a", "b", "c")):
        assert model.predict_proba_one(mapping(x)) == other.predict_proba_one(x)
        model.learn_one(mapping(x), y)
        other.learn_one(x, y)
    assert learned(model) == learned(other)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("rule", "params"), in_turn(RULES, [{}, {"ngram_range": (1, 2), "fold_numbers": True}])
)
def test_texts_of_a_real_stream_equal_the_twin(rule, params):
    model, twin = twins(rule, degree=2)
    tokenizer = Tokenizer(**params, max_length=8)
    labels = labels_for(rule)
    batch = []
    for i, (text, label) in enumerate(labelled_texts("sms_spam", 90)):
        text = " ".join(text.split()[:12])
        x, y = features(text, **params, max_length=8), labels[label == "spam"]
        if i < 60:
            event = tokenizer.transform_one(text)
            assert model.predict_one(event) == twin.predict_one(x)
            assert model.decision_function_one(event) == twin.decision_function_one(x)
            model.learn_one(event, y)
            twin.learn_one(x, y)
        else:
            batch.append((text, x, y))
    texts, events, ys = zip(*batch, strict=True)
    model.learn_many(tokenizer.transform_many(texts), ys)
    for x, y in zip(events, ys, strict=True):
        twin.learn_one(x, y)
    check_weights(model, twin)
    check_counts(model, twin)


@needs_data
def test_tuples_of_a_real_stream_equal_the_twin():
    model, twin = twins("MulticlassPerceptron", degree=2)
    check_stream(model, twin, ((x, y, 1.0) for x, y in tagging_stream("train", 12)))


def test_fields_of_a_tokenizer_are_paired():
    tokenizer = Tokenizer(fields=("subject", "body"))
    model = tokenizer | Perceptron(interactions=[("subject", "body")])
    model.learn_one({"subject": "free prize", "body": "click free"}, True)
    own = {"subject:free", "subject:prize", "body:click", "body:free"}
    between = {
        Pair(f"subject:{a}", f"body:{b}") for a in ("free", "prize") for b in ("click", "free")
    }
    assert set(model[-1].weights) == own | between


@pytest.mark.parametrize("fields", [None, "subject", ("subject", "from")], ids=str)
def test_field_that_the_tokenizer_does_not_have_is_an_error(fields):
    with pytest.raises(ValueError, match=r"interactions has the field '(subject|body)'.*fields="):
        Tokenizer(fields=fields) | Perceptron(interactions=[("subject", "body"), ("body", "body")])


def test_event_predicted_then_learned_makes_the_pairs_of_each():
    """The scratch keeps an event's pairs for the next call; none of them may be the other's."""
    model, other = twice("Perceptron", degree=2)
    events = [
        {"a": 1, "b": 1},
        {"a": 1, "b": 1, "c": 1},
        {"a": 1, "b": 2},
        {"a": 1},
        {},
        {"a": 1, "b": 1e-200},
        {"a": 1, "b": 1e-200, "c": 1e-200},
        {"a": 1, "b": 1, ("a", "b"): 1},
        {"one name of many bytes": 1, "another name of many bytes": 1},
    ]
    rng = random.Random(5)
    for i in range(400):
        x = rng.choice(events)
        for _ in range(rng.randrange(3)):
            assert model.decision_function_one(x) == copy.deepcopy(other).decision_function_one(x)
        model.learn_one(x, i % 3 == 0)
        other.learn_one(dict(x), i % 3 == 0)
        other = copy.deepcopy(other)  # whose scratch is empty
    assert learned(model) == learned(other)


# --- Worked examples


@every_pairing_learner
def test_exclusive_or_is_learned(learner):
    """Minsky & Papert 1969: no weights of the two inputs alone can tell."""
    events = [({"a": a, "b": b}, a != b) for a, b in itertools.product((0, 1), repeat=2)]
    names = labels_of(learner)
    model, alone = make(learner, degree=2), make(learner)
    for each in (model, alone):
        for _ in range(300):
            for x, y in events:
                each.learn_one(x, names[y])
    assert [model.predict_one(x) for x, _ in events] == [names[y] for _, y in events]
    assert [alone.predict_one(x) for x, _ in events] != [names[y] for _, y in events]


EXCELLENT = {"excellent": 1.0}
TERRIBLE = {"terrible": 1.0}
NOT_EXCELLENT = {"not": 1.0, "excellent": 1.0}
NOT_TERRIBLE = {"not": 1.0, "terrible": 1.0}
SENTIMENT = [(EXCELLENT, True), (TERRIBLE, False), (NOT_EXCELLENT, False), (NOT_TERRIBLE, True)]
WEIGHTS = {
    "excellent": 1.0,
    "terrible": -1.0,
    Pair("not", "excellent"): -2.0,
    Pair("not", "terrible"): 2.0,
}


def test_the_sources_weights_for_excellent_and_terrible_answer_right():
    """CIML, chapter 4: +1, -1, 0 for "not", -2 and +2 for the pairs with it."""
    model = Perceptron.from_weights(WEIGHTS, degree=2, intercept=False)
    assert [model.decision_function_one(x) for x, _ in SENTIMENT] == [1, -1, -1, 1]
    assert [model.predict_one(x) for x, _ in SENTIMENT] == [y for _, y in SENTIMENT]
    assert model.explain_one(NOT_TERRIBLE) == [(Pair("terrible", "not"), 2.0), ("terrible", -1.0)]
    assert model.top_features(1).positive == [(Pair("not", "terrible"), 2.0)]
    assert model.top_features(1).negative == [(Pair("not", "excellent"), -2.0)]
    assert "not * terrible  1.00000   2.00000       2.00000" in model.debug_one(NOT_TERRIBLE)


def test_a_perceptron_learns_the_sources_weights():
    model = Perceptron(degree=2, intercept=False, average="none", serve="current")
    for _ in range(10):
        for x, y in SENTIMENT:
            model.learn_one(x, y)
    assert [model.predict_one(x) for x, _ in SENTIMENT] == [y for _, y in SENTIMENT]
    assert model.weights == WEIGHTS


# --- Names


def test_a_pair_is_no_tuple_and_has_no_order():
    assert Pair("a", "b") == Pair("b", "a")
    assert hash(Pair("a", "b")) == hash(Pair("b", "a"))
    assert tuple(Pair("b", "a")) == ("a", "b")
    assert Pair(True, 0.5) == Pair(0.5, 1)
    assert Pair("a", "b") != ("a", "b")
    assert Pair("a", Pair("b", "c")) != Pair(Pair("a", "b"), "c")
    assert repr(Pair("b", ("a", 1))) == "Pair('b', ('a', 1))"
    for twin in (copy.copy(Pair("a", 1)), pickle.loads(pickle.dumps(Pair("a", 1)))):
        assert twin == Pair("a", 1)
    with pytest.raises(AttributeError, match="cannot be changed"):
        Pair("a", "b").first = "c"
    with pytest.raises(TypeError, match="frozenset"):
        Pair("a", frozenset())


def test_a_tuple_and_a_pair_of_the_same_names_are_two_features():
    model = Perceptron(degree=2, intercept=False, average="none", serve="current")
    model.learn_one({"a": 1, "b": 1, ("a", "b"): 5}, True)
    assert model.weights[Pair("a", "b")] == 1.0
    assert model.weights["a", "b"] == 5.0
    assert len(model.weights) == 6


def test_a_pair_given_as_a_name_is_the_feature_that_the_learner_makes():
    model = Perceptron(degree=2, intercept=False, average="none", serve="current")
    model.learn_one({"a": 2, "b": 3}, True)
    assert Perceptron.from_weights(model.weights).weights == model.weights
    plain = Perceptron.from_weights(model.weights, intercept=False)
    assert plain.decision_function_one({Pair("b", "a"): 1.0}) == 6.0
    assert plain.decision_function_one({("x", Pair("b", "a")): 1.0}) == 0.0


def test_different_pairs_never_share_weights():
    """Names whose bytes, put together, are alike; and a pair of each two of many."""
    alike = ["a", "aa", "s", "p", "\x01", "s\x01a", b"a", 1, -1, 16, 0.5, None, (), ("a",)]
    alike += [("a", "a"), *(f"{i:x}" for i in range(60)), *range(-30, 200, 7), "a long name " * 3]
    model = Perceptron(degree=2, intercept=False, average="none", serve="current")
    x = {name: 1.0 + i for i, name in enumerate(dict.fromkeys(alike))}
    model.learn_one(x, True)
    assert model.weights == paired(x, Pair)
    assert model.n_features == len(x) * (len(x) + 1) // 2
    model._check()


@pytest.mark.parametrize("params", [{"degree": 2}, {"interactions": [("a", "b")]}], ids=str)
@every_pairing_learner
def test_names_that_are_mere_objects_are_refused(learner, params):
    model = make(learner, **params)
    model.learn_one({"a": 1, "b": 1}, labels_of(learner)[0])
    name = frozenset(("a",))
    for call in (
        lambda model: model.learn_one({"a": 1, name: 1}, labels_of(learner)[0]),
        lambda model: model.predict_one({"a": 1, name: 1}),
        lambda model: model.predict_many(np.ones((1, 1)), feature_names=[name]),
    ):
        refused(model, call, "frozenset", "degree=2 or interactions", error=TypeError)


# --- What is refused


@paired_with
@every_pairing_learner
def test_a_pair_in_an_event_would_count_twice_and_is_refused(learner, params):
    y = labels_of(learner)[0]
    x = {"user": 1.0, "ad": 1.0, "ad:x": 1.0, Pair("ad", "user"): 1.0}
    model = make(learner, **params)
    model.learn_one({"user": 1, "ad": 2}, y)
    for call in (
        lambda model: model.learn_one(x, y),
        lambda model: model.predict_one(ChainMap(x)),
        lambda model: model.explain_one({Pair("user", "ad"): 1}),
        lambda model: model.learn_many(np.ones((2, 4)), [y, y], feature_names=list(x)),
        lambda model: model.predict_many(pd.DataFrame(np.ones((2, 4)), columns=[*x])),
    ):
        refused(model, call, "Pair('ad', 'user')", "twice", "leave it out", error=TypeError)
    assert x.pop(Pair("user", "ad")) == 1.0
    model.learn_one({**x, ("ad", "user"): 1.0}, y)


BAD = [
    ({"degree": 0}, "degree=0"),
    ({"degree": 3}, "degree=3"),
    ({"degree": True}, "degree=True"),
    ({"degree": "2"}, "degree='2'"),
    ({"degree": 2.0}, "degree=2.0"),
    ({"degree": None}, "degree=None"),
    ({"max_pairs": 0}, "max_pairs=0"),
    ({"max_pairs": -1}, "max_pairs=-1"),
    ({"max_pairs": 2**31 + 1}, "max_pairs=2147483649"),
    ({"max_pairs": True}, "max_pairs=True"),
    ({"max_pairs": None}, "max_pairs=None"),
    ({"max_pairs": 1e6}, "max_pairs=1000000.0"),
    ({"interactions": "user,ad"}, "interactions='user,ad'"),
    ({"interactions": ["ab"]}, "interactions=['ab']"),
    ({"interactions": [("a",)]}, "interactions=[('a',)]"),
    ({"interactions": [("a", "b", "c")]}, "interactions=[('a', 'b', 'c')]"),
    ({"interactions": [("a", 1)]}, "interactions=[('a', 1)]"),
    ({"interactions": [("a", "")]}, "interactions=[('a', '')]"),
    ({"interactions": []}, "interactions=[]"),
    ({"interactions": {("a", "b")}}, "interactions={('a', 'b')}"),
    ({"interactions": [("a", "b"), ("b", "a")]}, "occurs twice"),
    ({"interactions": [(f"f{i}", "b") for i in range(64)]}, "interactions has 65 different fields"),
    ({"interactions": [("a", "b")], "degree": 2}, "degree=2 and interactions"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=[message for _, message in BAD])
@every_pairing_learner
def test_bad_parameter_is_named_and_changes_nothing(learner, params, message):
    model = make(learner, degree=2)
    model.learn_one({"a": 1, "b": 1}, labels_of(learner)[0])
    before = pickle.dumps(model)
    for call in (make, lambda learner, **params: model.__init__(**params)):
        with pytest.raises((TypeError, ValueError)) as caught:
            call(learner, **params)
        assert message in str(caught.value)
    assert pickle.dumps(model) == before


def test_interactions_are_copied_when_they_are_given():
    given = [["user", "ad"]]
    model = Perceptron(interactions=given)
    given.append(["user", "hour"])
    assert model.interactions == (("user", "ad"),)
    assert model.clone().interactions == model.interactions
    with pytest.raises(ValueError, match="degree cannot change"):
        model.clone({"degree": 2}, include_attributes=True)


TOO_MANY = {f"f{i}": 1.0 for i in range(6)}  # 15 pairs
TOO_LARGE = {"a": 1e30, "b": -1e21, "c": 1.0}
EVENTS = {
    "too many": (TOO_MANY, ("makes 15 pairs", "max_pairs=10", "raise max_pairs")),
    "too large": (TOO_LARGE, ("more than 1e+50", "scale the values")),
}
ONE = {
    "learn_one": lambda model, x, y: model.learn_one(x, y),
    "test_then_train_one": lambda model, x, y: model.test_then_train_one(x, y),
    "predict_one": lambda model, x, y: model.predict_one(x),
    "predict_proba_one": lambda model, x, y: model.predict_proba_one(x),
    "explain_one": lambda model, x, y: model.explain_one(x),
    "Counter": lambda model, x, y: model.learn_one(Counter(x), y),
    "ChainMap": lambda model, x, y: model.learn_one(ChainMap(x), y),
}


def ready(learner):
    model = make(learner, degree=2, max_pairs=10)
    for i, label in enumerate(labels_of(learner)):
        model.learn_one({f"f{i}": 1.0, f"f{i + 1}": 1.0, "é" * 9: 1}, label)
    return model


def assert_refused(model, call, *names):
    """The call is refused, and the model learns on as if it had not been made."""
    before, twin = pickle.dumps(model), copy.deepcopy(model)
    with pytest.raises(ValueError, match=re.escape(names[0])) as caught:
        call(model)
    assert pickle.dumps(model) == before
    for name in names:
        assert name in str(caught.value)
    for i in range(8):
        x = {f"f{i}": 1.0, f"f{i + 1}": 2.0}
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        for each in (model, twin):
            each.learn_one(x, labels_of(type(model).__name__)[i % 2])
    assert pickle.dumps(model) == pickle.dumps(twin)


@pytest.mark.parametrize("call", ONE)
@pytest.mark.parametrize("event", EVENTS)
@every_pairing_learner
def test_event_whose_pairs_are_too_many_or_too_large_is_refused(learner, event, call):
    x, names = EVENTS[event]
    y = labels_of(learner)[0]
    assert_refused(ready(learner), lambda model: ONE[call](model, x, y), "x makes", *names)


MANY = {
    "learn_many": lambda model, X, y, **names: model.learn_many(X, y, **names),
    "test_then_train_many": lambda model, X, y, **names: model.test_then_train_many(X, y, **names),
    "predict_many": lambda model, X, y, **names: model.predict_many(X, **names),
    "predict_proba_many": lambda model, X, y, **names: model.predict_proba_many(X, **names),
}


@pytest.mark.parametrize("call", MANY)
@pytest.mark.parametrize("kind", ["array", "csr"])
@pytest.mark.parametrize("event", EVENTS)
@every_pairing_learner
def test_row_whose_pairs_are_too_many_or_too_large_is_named(learner, event, kind, call):
    x, names = EVENTS[event]
    dense = np.zeros((9, 8))
    dense[:, :2] = 1.0
    dense[7, : len(x)] = list(x.values())
    y = [labels_of(learner)[i % 2] for i in range(9)]
    X = MATRICES[kind](dense)
    assert_refused(
        ready(learner), lambda model: MANY[call](model, X, y), "row 7 of X makes", *names
    )
    columns = {"feature_names": [f"c{j}" for j in range(8)]}
    assert_refused(
        ready(learner), lambda model: MANY[call](model, X, y, **columns), "row 7 of X makes", *names
    )


@pytest.mark.parametrize("learner", ["Perceptron", "AdaptiveClassifier"])
def test_row_of_a_matrix_that_is_learned_on_a_copy_is_named(learner):
    X = np.zeros((9000, 16))
    X[:, :2] = 1.0
    X[8500] = 1.0
    assert_refused(
        ready(learner),
        lambda model: model.learn_many(X, [labels_of(learner)[0]] * 9000),
        "row 8500 of X makes 120 pairs",
        "max_pairs=10",
    )


@pytest.mark.parametrize("call", MANY)
@pytest.mark.parametrize("text", ["a b c d e f", "é è ê ë à â"], ids=["ascii", "wide"])
@every_pairing_learner
def test_text_whose_pairs_are_too_many_is_named(learner, text, call):
    texts = ["a b c", "a a a a a a", text, "b c"]
    y = [labels_of(learner)[i % 2] for i in range(4)]
    X = Tokenizer().transform_many(texts)
    assert_refused(
        ready(learner), lambda model: MANY[call](model, X, y), "row 2 of X makes 15 pairs"
    )
    event = Tokenizer().transform_one(text)
    for _ in range(2):
        assert_refused(ready(learner), lambda model: model.learn_one(event, y[0]), "x makes 15")


def test_as_many_pairs_as_max_pairs_are_learned():
    model = Perceptron(degree=2, max_pairs=15)
    model.learn_one(TOO_MANY, True)
    model.learn_many(np.ones((2, 6)), [True, False])
    model.learn_many(Tokenizer().transform_many(["a b c d e f"]), [False])
    assert model.n_features == 3 * (6 + 15)
    with pytest.raises(ValueError, match="max_pairs=15"):
        model.learn_one({**TOO_MANY, "g": 1}, True)


def test_pairs_of_other_fields_do_not_count():
    model = Perceptron(interactions=[("user", "ad")], max_pairs=4)
    model.learn_one({"user:1": 1, "user:2": 1, "ad:1": 1, "ad:2": 1, **TOO_MANY}, True)
    with pytest.raises(ValueError, match="makes 6 pairs"):
        model.learn_one({"user:1": 1, "user:2": 1, "ad:1": 1, "ad:2": 1, "ad:3": 1}, True)
    model = Perceptron(interactions=[("user", "ad")])
    model.learn_one({"user:1": 1e40, "user:2": 1e40, "ad": 1e9}, True)
    with pytest.raises(ValueError, match=r"more than 1e\+50"):
        model.learn_one({"user:1": 1e40, "ad": 1e11}, True)


def test_a_product_of_zero_makes_no_pair_and_the_smallest_ones_do():
    model = Perceptron(degree=2, intercept=False, average="none", serve="current")
    model.learn_one({"a": 1e-200, "b": 1e-200, "c": 1e-120}, True)
    assert set(model.weights) == {"a", "b", "c", Pair("a", "c"), Pair("b", "c")}
    assert model.weights[Pair("a", "c")] == 1e-200 * 1e-120
    model.learn_one({"e": 1e25, "d": 0.5e25}, True)
    assert model.weights[Pair("e", "d")] == 1e25 * 0.5e25


# --- Model files


@pytest.mark.parametrize("params", [{}, {"max_features": 30}, {"hash_bits": 12}], ids=str)
@every_pairing_learner
def test_file_with_pairs_continues_and_answers_where_it_lies(learner, params, tmp_path):
    model = make(learner, degree=2, **params)
    for x, y, w in random_events(random.Random(6), 60, labels=labels_of(learner), keys="long"):
        model.learn_one(x, y, w)
    model.save(tmp_path / "model")
    loaded, mapped = load(tmp_path / "model"), load(tmp_path / "model", mmap=True)
    assert learned(loaded) == learned(model)
    assert (loaded.degree, loaded.max_pairs) == (2, 1_000_000)
    for x, _, _ in random_events(random.Random(7), 20, labels=labels_of(learner), keys="long"):
        assert mapped.predict_proba_one(x) == model.predict_proba_one(x)
        assert mapped.explain_one(x) == model.explain_one(x)
    assert mapped.weights == model.weights
    assert_learns_on_alike(loaded, model, learner)


def test_file_and_pickle_keep_interactions(tmp_path):
    model = Perceptron(interactions=[("user", "ad"), ("ad", "ad")], max_pairs=50)
    model.learn_one({"user:a": 1, "ad:b": 2, "ad:c": 2}, True)
    model.save(tmp_path / "model")
    for twin in (
        load(tmp_path / "model"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        model.clone(include_attributes=True),
    ):
        assert twin.interactions == (("user", "ad"), ("ad", "ad"))
        assert twin.max_pairs == 50
        twin.learn_one({"user:a": 1, "ad:d": 2}, False)
        assert Pair("user:a", "ad:d") in twin.weights


@pytest.mark.parametrize(
    "forged",
    [
        b"ps\x01bs\x01a",  # the greater half first
        b"ps\x01a",  # a half is missing
        b"ps\x01as\x01b!",
        b"p" * 200 + b"n" * 201,  # nested too deep
        b"pi\x0201n",  # an int with a zero before it
    ],
    ids=str,
)
def test_file_with_a_name_that_no_pair_has_is_refused(forged, tmp_path):
    model = Perceptron(degree=2)
    model.learn_one({b"x" * len(forged): 1.0}, True)
    params, arrays = model._file_state()
    shape, keys = arrays["keys"]
    words = np.frombuffer(keys, np.uint64).copy()
    # the name of kind 2 becomes one of kind 5 with the forged bytes
    words[5] ^= np.uint64((2 ^ 5) << 4)
    arrays = {**arrays, "keys": (shape, words.tobytes())}
    if len(forged) > 15:
        arrays["texts"] = ((len(forged),), forged)
    else:
        whole = (bytes(16) + forged)[-16:]
        high = int.from_bytes(b"\0" + whole[1:8] if len(forged) > 8 else bytes(8), "little")
        words[4] = int.from_bytes(whole[8:], "little")
        words[5] = (high & ~0xFF) | 5 << 4 | len(forged)
        arrays["keys"] = (shape, words.tobytes())
    other = Perceptron(degree=2)
    with pytest.raises(ValueError, match="a feature name is invalid"):
        other._set_file_state(params, arrays)


def test_damaged_names_of_a_mapped_file_are_a_model_file_error(tmp_path):
    model = Perceptron(degree=2)
    model.learn_one({"a name of many bytes": 1.0, "another of so many": 1.0}, True)
    write(tmp_path / "model", Contents(model))
    data = (tmp_path / "model").read_bytes()
    at = data.rindex(b"ps\x12another") + 1
    (tmp_path / "model").write_bytes(data[:at] + b"q" + data[at + 1 :])
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="damaged"):
        _ = load(tmp_path / "model", mmap=True).weights


def test_memory_of_pairs_is_counted():
    model = MulticlassPerceptron(degree=2)
    before = model.memory_usage
    model.learn_one({f"a name of many bytes {i}": 1 for i in range(100)}, "a")
    model.learn_one({f"a name of many bytes {i}": 1 for i in range(100)}, "b")
    assert model.n_features == 5050
    assert model.memory_usage - before > 5050 * (16 + 2 * 22 + 24)


def test_pairs_are_public():
    assert streamptron.Pair is Pair
    assert "Pair" in streamptron.__all__
