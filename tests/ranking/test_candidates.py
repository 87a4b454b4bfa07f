"""Candidates come as a dict or a list, of mappings or texts; what is wrong with them is named."""

import pickle
import random
from collections import ChainMap, Counter, OrderedDict, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from math import fsum, inf, nan
from types import MappingProxyType

import numpy as np
import pytest

from streamptron import MIRA, RankingPerceptron, Tokenizer, TopFeatures
from tests.support.candidates import choices
from tests.support.variants import learned


def test_features_that_both_candidates_have_alike_get_no_weight():
    model = RankingPerceptron()
    model.learn_one([{"a": 1, "same": 0.1}, {"b": 1, "same": 0.1}, {"c": 1}], 1)
    assert model.weights == {"b": 1.0, "a": -1.0}
    assert model.n_features == 2


def test_candidates_that_are_alike_teach_nothing():
    model = RankingPerceptron()
    model.learn_one([{"a": 0.1}, {"a": 0.1}], 1)
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (1, 0, 1)
    assert model.weights == {}


def test_one_candidate_teaches_nothing_and_is_no_mistake():
    for update in ("perceptron", "margin", "mistake"):
        model = RankingPerceptron(update=update)
        model.learn_one({"only": {"a": 1}}, "only")
        assert (model.n_seen, model.n_updates, model.n_mistakes) == (1, 0, 0)


def test_tie_is_learned_from():
    model = RankingPerceptron()
    model.learn_one([{"a": 1}, {"b": 1}], 0)
    assert (model.n_updates, model.n_mistakes) == (1, 0)
    assert model.weights == {"a": 1.0, "b": -1.0}


def test_step_of_mira_makes_the_lead_1():
    model = RankingPerceptron(update="margin", C=100, serve="current")
    candidates = [{"a": 3.0, "b": 1.0}, {"b": 2.0, "c": 1.0}, {}]
    model.learn_one(candidates, 0)
    scores = model.decision_function_one(candidates)
    assert scores[0] - scores[1] == pytest.approx(1.0, rel=1e-15)
    small = RankingPerceptron(update="margin", C=0.01)
    small.learn_one(candidates, 0)
    assert small.weights == {"a": 0.03, "b": -0.01, "c": -0.01}


def test_features_a_label_make_it_the_multiclass_mira():
    """The label's name in every feature, which makes the candidates disjoint: 2 x.x is d.d."""
    rng = random.Random(1)
    ranking = RankingPerceptron(update="margin", C=0.25, serve="current")
    mira = MIRA(C=0.25, serve="current", intercept=False)
    for label in "abc":
        mira.learn_one({}, label)
    for _ in range(100):
        x = {f"w{rng.randrange(9)}": rng.choice((1, 2, -1)) for _ in range(4)}
        by_label = {label: {(label, name): v for name, v in x.items()} for label in "abc"}
        chosen = rng.choice("abc")
        scores = ranking.decision_function_one(by_label)
        assert scores == pytest.approx(mira.decision_function_one(x), abs=1e-9)
        ranking.learn_one(by_label, chosen)
        mira.learn_one(x, chosen)
    assert ranking.n_updates == mira.n_updates > 20


def test_list_is_answered_with_places_and_a_dict_with_ids():
    model = RankingPerceptron()
    model.learn_one({"x": {"bad": 1}, "y": {"good": 1}}, "y")
    three = [{"bad": 1}, {"good": 1}, {}]
    assert model.predict_one(three) == 1
    assert model.rank_one(three) == [1, 2, 0]
    assert model.decision_function_one(three) == [-1.0, 1.0, 0.0]
    assert model.predict_one(tuple(three)) == 1
    named = dict(zip("pqr", three, strict=True))
    assert model.predict_one(named) == "q"
    assert model.rank_one(named) == ["q", "r", "p"]
    assert model.decision_function_one(named) == {"p": -1.0, "q": 1.0, "r": 0.0}
    p = model.predict_proba_one(named)
    assert list(p) == ["p", "q", "r"]
    assert fsum(p.values()) == pytest.approx(1.0)
    assert list(p.values()) == model.predict_proba_one(three)


def test_without_candidates_there_is_no_answer():
    model = RankingPerceptron()
    assert model.predict_one([]) is model.predict_one({}) is None
    assert model.rank_one({}) == []
    assert model.decision_function_one({}) == model.predict_proba_one({}) == {}
    assert model.decision_function_one([]) == model.predict_proba_one([]) == []


def test_equal_candidates_stay_in_their_order():
    model = RankingPerceptron()
    assert model.rank_one({"b": {"x": 1}, "a": {"y": 1}, "c": {}}) == ["b", "a", "c"]
    assert model.predict_one({"b": {"x": 1}, "a": {"y": 1}}) == "b"


class Items(Mapping):
    """A mapping of one's own, which may name something twice."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def __getitem__(self, name):
        return dict(self.pairs)[name]

    def __iter__(self):
        return (name for name, _ in self.pairs)

    def __len__(self):
        return len(self.pairs)

    def items(self):
        return list(self.pairs)


FORMS = [
    *(Counter, OrderedDict, MappingProxyType, lambda x: ChainMap(x)),
    *(lambda x: defaultdict(int, x), lambda x: Items(*x.items())),
    lambda x: {name: np.float64(value) for name, value in x.items()},
    lambda x: {name: Decimal(str(value)) for name, value in x.items()},
]


@pytest.mark.parametrize("form", FORMS)
def test_features_may_be_any_mapping(form):
    model, other = RankingPerceptron(hash_seed=1), RankingPerceptron(hash_seed=1)
    for candidates, chosen in choices(random.Random(1), 40, keys="str"):
        others = {name: form(x) for name, x in candidates.items()}
        assert other.predict_one(Items(*others.items())) == model.predict_one(candidates)
        model.learn_one(candidates, chosen)
        other.learn_one(MappingProxyType(others), chosen)
    assert learned(model) == learned(other)


def test_places_may_be_numpys_and_ids_any_that_are_equal():
    model = RankingPerceptron()
    both = [{"a": 1}, {"b": 1}]
    model.learn_one(both, np.int64(1))
    model.learn_one({1: {"a": 1}, 2: {"b": 1}}, 2.0)
    model.learn_one({True: {"a": 1}, None: {"b": 1}}, None)
    assert model.n_seen == 3
    assert model.predict_one(both) == 1


def test_weight_scales_the_step_and_0_teaches_nothing():
    model = RankingPerceptron()
    model.learn_one([{"a": 1}, {"b": 2}], 1, 0.0)
    assert (model.n_seen, model.n_updates) == (1, 0)
    model.learn_one([{"a": 1}, {"b": 2}], 1, w=0.5)
    assert model.weights == {"b": 1.0, "a": -0.5}


class Odd:
    """A name that only Python can read, hashed by code of one's own."""

    def __init__(self, hashed):
        self.hashed = hashed

    def __hash__(self):
        self.hashed()
        return 7

    def __eq__(self, other):
        return isinstance(other, Odd)


def test_code_of_names_may_use_the_model():
    model = RankingPerceptron()
    used = []

    def use():
        if len(used) < 3:
            used.append(None)
            model.learn_one([{"a": 1}, {"b": 1}], 1)

    model.learn_one([{"a": 1, Odd(use): 2}, {"c": 1}], 1)
    model._check()
    assert model.n_seen == 4
    assert model.predict_one([{"c": 1}, {"a": 1, Odd(use): 2}]) == 0


BAD = [
    ("text", 0, TypeError, "candidates is 'text', a str"),
    (5, 0, TypeError, "candidates is 5"),
    ({"a", "b"}, "a", TypeError, "candidates is .* a set"),
    (iter([{}]), 0, TypeError, "candidates is .* a list_iterator"),
    (None, 0, TypeError, "candidates is None"),
    ({}, 0, ValueError, "candidates is empty"),
    ([], 0, ValueError, "candidates is empty"),
    ([{"a": 1}], 1, ValueError, "chosen=1 is not one of the 1 candidates"),
    ([{"a": 1}], -1, ValueError, "chosen=-1 is not one"),
    ([{"a": 1}], True, TypeError, "chosen=True, a bool"),
    ([{"a": 1}], 0.0, TypeError, "chosen=0.0, a float"),
    ([{"a": 1}], "a", TypeError, "chosen='a', a str"),
    ({"a": {"f": 1}}, "b", ValueError, r"chosen='b' is not one of the candidates.*\['a'\]"),
    ({"a": {"f": 1}}, ["a"], TypeError, r"chosen is \['a'\], a list"),
    ({"a": {"f": 1}}, None, ValueError, "chosen=None"),
    (Items((1, {"f": 1}), (True, {"g": 1})), 1, ValueError, "candidates has the id True twice"),
    (Items(("a", {}), ("b", {}), ("a", {})), "b", ValueError, "candidates has the id 'a' twice"),
    ([("a", {"f": 1})], 0, TypeError, r"candidates\[0\] is .* a tuple"),
    ([{"a": 1}, {"b": "7"}], 0, TypeError, r"candidates\[1\]\['b'\] is the text '7'"),
    ([{"a": 1}, 5], 0, TypeError, r"candidates\[1\] is 5, an int"),
    ({"x": {"a": 1}, "y": "text"}, "x", TypeError, r"candidates\['y'\].*Tokenizer"),
    ({"x": 1, "y": 2}, "x", TypeError, r"candidates\['x'\] is 1, an int"),
    ([{"a": nan}], 0, ValueError, r"candidates\[0\]\['a'\]"),
    ([{}, {"b": 2}, {"a": inf, "b": 1}], 0, ValueError, r"candidates\[2\]\['a'\]"),
    ([{}, Counter(b=b"x")], 0, TypeError, r"candidates\[1\]\['b'\]"),
    ([{}, {"a": 1e60}], 0, ValueError, r"candidates\[1\]\['a'\]"),
    ([{"a": 1}, {("t", object()): 1}], 0, None, None),
]


@pytest.mark.parametrize(("candidates", "chosen", "error", "match"), BAD)
def test_bad_candidates_are_named_and_nothing_has_changed(candidates, chosen, error, match):
    model = RankingPerceptron(hash_seed=1)
    model.learn_one([{"a": 1}, {"b": 1}], 1)
    before = learned(model)
    if error is None:
        model.predict_one(candidates)
    else:
        with pytest.raises(error, match=match):
            model.learn_one(candidates, chosen)
    assert learned(model) == before
    model._check()
    assert model.predict_one([{"a": 1}, {"b": 1}]) == 1


@pytest.mark.parametrize("w", [-1.0, nan, inf, "1", None])
def test_bad_weight_is_named_and_nothing_has_changed(w):
    model = RankingPerceptron(hash_seed=1)
    before = learned(model)
    with pytest.raises((TypeError, ValueError), match="w"):
        model.learn_one([{"a": 1}, {"b": 1}], 1, w)
    assert learned(model) == before


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"update": "pa"}, "update='pa'"),
        ({"update": "margin", "margin": 0.5}, "margin=0.5"),
        ({"update": "mistake", "margin": 0.5}, "margin=0.5"),
        ({"C": 0.5}, "C=0.5"),
        ({"update": "margin", "C": 0}, "C=0"),
        ({"margin": -1}, "margin=-1"),
        ({"serve": "pocket"}, "pocket=True"),
        ({"hash_bits": 3, "max_features": 4}, "choose one"),
    ],
)
def test_bad_parameter_is_named(params, match):
    with pytest.raises(ValueError, match=match):
        RankingPerceptron(**params)


def test_other_learners_have_no_perceptrons_update():
    with pytest.raises(ValueError, match="update='perceptron'"):
        MIRA(update="perceptron")


def test_parameters_that_it_does_not_have_are_not_there():
    model = RankingPerceptron()
    for name in ("intercept", "class_weight", "max_labels", "labels", "eta"):
        assert not hasattr(model, name)


# --- Explanations


def test_explanation_says_what_puts_a_candidate_ahead_of_the_next():
    model = RankingPerceptron.from_weights({"near": 2.0, "price": -0.5, "old": 9.0})
    hotels = {"a": {"near": 1, "price": 3, "old": 1}, "b": {"price": 1, "old": 1}, "c": {}}
    assert model.explain_one(hotels) == [("near", 2.0), ("price", -1.0)]
    assert model.explain_one(hotels, "b") == [("near", -2.0), ("price", 1.0)]
    assert model.explain_one({"a": hotels["a"]}) == [("old", 9.0), ("near", 2.0), ("price", -1.5)]


def test_explanation_names_a_bad_argument():
    model = RankingPerceptron()
    with pytest.raises(ValueError, match="candidates is empty"):
        model.explain_one([])
    with pytest.raises(ValueError, match="chosen=2"):
        model.explain_one([{}, {}], 2)


def test_top_features_are_the_largest_of_each_sign():
    model = RankingPerceptron.from_weights({"near": 2.0, "price": -0.5, "old": -1.0, "new": 1.0})
    assert model.top_features(1) == TopFeatures([("near", 2.0)], [("old", -1.0)])
    with pytest.raises(ValueError, match="n=-1"):
        model.top_features(-1)


# --- Texts


def test_candidates_behind_a_tokenizer_are_texts():
    pipeline = Tokenizer() | RankingPerceptron(hash_seed=1)
    model = RankingPerceptron(hash_seed=1)
    texts = {"a": "do not know", "b": "see the manual", "c": "see the the cat"}
    rows = {name: dict.fromkeys(text.split(), 1) for name, text in texts.items()}
    for chosen in ("b", "a", "b"):
        pipeline.learn_one(texts, chosen)
        model.learn_one(rows, chosen)
    for each, candidates in ((pipeline, texts), (model, rows)):
        each.learn_one(candidates, chosen="c", w=2.0)
        each.learn_one(candidates=candidates, chosen="a")
    assert learned(pipeline[-1]) == learned(model)
    with pytest.raises(TypeError, match="cannot take a step back"):
        pipeline.learn_one(texts, chosen="a", undo=True)
    assert pipeline.predict_one(texts) == model.predict_one(rows)
    assert pipeline.rank_one(texts) == model.rank_one(rows)
    assert pipeline.decision_function_one(texts) == model.decision_function_one(rows)
    assert pipeline.predict_proba_one(texts) == model.predict_proba_one(rows)
    assert pipeline.explain_one(texts, "a") == model.explain_one(rows, "a")
    pipeline.learn_many(list(texts.values()), [0, 2, 1], [1, 1, 1])
    model.learn_many(list(rows.values()), [0, 2, 1], [1, 1, 1])
    assert learned(pipeline[-1]) == learned(model)
    scores = pipeline.predict_many(list(texts.values()))
    assert scores.tolist() == model.decision_function_one(list(rows.values()))
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.rank_one(texts) == pipeline.rank_one(texts)


def test_texts_of_fields_may_be_candidates():
    pipeline = Tokenizer(fields=("title", "body")) | RankingPerceptron()
    pages = [{"title": "cats", "body": "dogs"}, {"title": "dogs", "body": "cats"}]
    pipeline.learn_one(pages, 1)
    assert pipeline.predict_one(pages) == 1
    assert pipeline[-1].weights["title:dogs"] == 1.0


def test_candidate_that_is_no_text_is_named():
    pipeline = Tokenizer() | RankingPerceptron()
    with pytest.raises(TypeError, match=r"candidates\['b'\]: x is 5"):
        pipeline.learn_one({"a": "text", "b": 5}, "a")
    with pytest.raises(TypeError, match=r"in row 1: x is 5"):
        pipeline.learn_many(["text", 5], [0, 1], [0, 0])
    with pytest.raises(TypeError, match="candidates is 'text'"):
        pipeline.predict_one("text")
    assert pipeline[-1].n_seen == 0
