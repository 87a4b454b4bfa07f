"""Parameters, weights to start from, and that they do not change afterwards."""

import copy
import json
import pickle
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

import streamptron
from streamptron import MIRA, MulticlassPerceptron, ParameterError, Perceptron
from tests.support.doors import INF, NAN, Pairs, trained
from tests.support.variants import (
    LEARNERS,
    ONE_OUTPUT,
    STARTERS,
    every_averager,
    every_learner,
    every_starter,
    every_variant,
    has,
    labels_for,
    learned,
    make,
)

# Parameters


BAD_SHARED = [
    ("average", "mean", ValueError),
    ("average", "Uniform", ValueError),
    ("average", None, ValueError),
    ("average", True, ValueError),
    ("average", 1, ValueError),
    ("average", ["uniform"], ValueError),
    ("average", np.array(["uniform", "none"]), ValueError),
    ("half_life", 0, ValueError),
    ("half_life", 0.5, ValueError),
    ("half_life", -1, ValueError),
    ("half_life", NAN, ValueError),
    ("half_life", INF, ValueError),
    ("half_life", 10**400, ValueError),
    ("half_life", 1.001e10, ValueError),
    ("half_life", 1e16, ValueError),
    ("half_life", "1000", TypeError),
    ("half_life", None, TypeError),
    ("half_life", True, TypeError),
    ("pocket", 1, TypeError),
    ("pocket", "yes", TypeError),
    ("pocket", None, TypeError),
    ("serve", "last", ValueError),
    ("serve", None, ValueError),
    ("serve", "pocket", ValueError),  # without a pocket
    ("intercept", 0, TypeError),
    ("intercept", 1.0, TypeError),
    ("intercept", None, TypeError),
    ("class_weight", "balanced", TypeError),
    ("class_weight", 2.0, TypeError),
    ("class_weight", [1, 2], TypeError),
    ("class_weight", {True: -1}, ValueError),
    ("class_weight", {True: NAN}, ValueError),
    ("class_weight", {True: INF}, ValueError),
    ("class_weight", {True: "2"}, TypeError),
    ("class_weight", {True: None}, TypeError),
    ("class_weight", {None: 1.0}, ValueError),
    ("class_weight", {NAN: 1.0}, ValueError),
    ("max_features", 0, ValueError),
    ("max_features", -1, ValueError),
    ("max_features", 2**32, ValueError),
    ("max_features", 1e6, TypeError),
    ("max_features", "1000", TypeError),
    ("max_features", True, TypeError),
    ("hash_bits", 0, ValueError),
    ("hash_bits", -1, ValueError),
    ("hash_bits", 32, ValueError),
    ("hash_bits", 10**400, ValueError),
    ("hash_bits", 8.0, TypeError),
    ("hash_bits", "8", TypeError),
    ("hash_bits", True, TypeError),
    ("hash_seed", -1, ValueError),
    ("hash_seed", 2**64, ValueError),
    ("hash_seed", 1.0, TypeError),
    ("hash_seed", "secret", TypeError),
    ("hash_seed", True, TypeError),
]
BAD_MARGIN = [
    ("margin", -1, ValueError),
    ("margin", -1e-9, ValueError),
    ("margin", NAN, ValueError),
    ("margin", INF, ValueError),
    ("margin", 1e51, ValueError),
    ("margin", "0", TypeError),
    ("margin", None, TypeError),
    ("margin", True, TypeError),
    ("margin", [0.0], TypeError),
]
BAD_VIOLATORS = [
    ("violators", "all", ValueError),
    ("violators", None, ValueError),
    ("violators", 1, ValueError),
]
BAD_PARAMETERS = {
    "Perceptron": [
        *BAD_SHARED,
        *BAD_MARGIN,
        ("class_weight", {"spam": 2.0}, ValueError),
        ("class_weight", {-1: 2.0}, ValueError),
    ],
    "MulticlassPerceptron": BAD_SHARED + BAD_MARGIN + BAD_VIOLATORS,
    "MIRA": [
        *BAD_SHARED,
        *BAD_VIOLATORS,
        ("C", 0, ValueError),
        ("C", -1, ValueError),
        ("C", NAN, ValueError),
        ("C", INF, ValueError),
        ("C", "1", TypeError),
        ("C", None, TypeError),
        ("C", True, TypeError),
        ("update", "always", ValueError),
        ("update", None, ValueError),
        ("update", 1, ValueError),
    ],
}


@pytest.mark.parametrize(
    ("learner", "name", "value", "error"),
    [(learner, *bad) for learner, table in BAD_PARAMETERS.items() for bad in table],
    ids=lambda value: f"{value!r:.20}".strip("'"),
)
def test_bad_parameter_is_refused_by_its_name(learner, name, value, error):
    with pytest.raises(error) as caught:
        LEARNERS[learner](**{name: value})
    assert isinstance(caught.value, TypeError) is (error is TypeError)
    assert name in str(caught.value)
    assert len(str(caught.value)) < 600
    if not isinstance(value, dict):  # of which a label may be the culprit
        assert isinstance(caught.value, ParameterError)
        assert caught.value.name == name
        assert caught.value.value is value
        assert caught.value.wanted in str(caught.value)


@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_all_violators_is_refused_by_the_names_of_the_two_ways_to_share(learner):
    with pytest.raises(ValueError, match=r"violators='all'.*'best', 'uniform', 'proportional'"):
        LEARNERS[learner](violators="all")


@every_averager
def test_average_cannot_be_served_where_there_is_none(learner):
    with pytest.raises(ValueError, match=r"serve='average' needs .*average='uniform'"):
        LEARNERS[learner](average="none", serve="average")
    with pytest.raises(ValueError, match="serve='pocket' needs pocket=True"):
        LEARNERS[learner](serve="pocket")


@every_learner
def test_unknown_parameter_is_refused(learner):
    with pytest.raises(TypeError, match="n_features"):
        LEARNERS[learner](n_features=100)
    other = "C" if learner != "MIRA" else "margin"
    with pytest.raises(TypeError, match=other):
        LEARNERS[learner](**{other: 1.0})
    assert not hasattr(LEARNERS[learner](), other)


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if not has(learner, "degree")])
def test_parameters_may_be_numpy_numbers(learner):
    name = {"MIRA": "C", "AROW": "r", "AdaptiveClassifier": "eta"}.get(learner, "margin")
    for number in (np.float64(0.5), np.float32(0.5), np.int64(2), Fraction(1, 2)):
        model = make(learner, **{name: number, "half_life": number + 1})
        assert getattr(model, name) is number
        assert learned(LEARNERS[learner](**{name: float(number)}, hash_seed=3)) == learned(
            LEARNERS[learner](**{name: float(number)}, hash_seed=3)
        )


@every_averager
def test_vectors_that_are_not_kept_cannot_be_read(learner):
    model = make(learner, "no average")
    with pytest.raises(ValueError, match=r"keeps no average.*average='uniform'"):
        _ = model.averaged_weights
    with pytest.raises(ValueError, match=r"keeps no pocket.*pocket=True"):
        _ = model.pocket_weights


# From weights


@every_variant
def test_model_from_weights_starts_from_them_in_every_kept_vector(learner, variant):
    if learner not in STARTERS:
        with pytest.raises(TypeError, match="cannot start from weights"):
            LEARNERS[learner].from_weights({"a": 1.0})
        return
    if variant == "no intercept":
        pytest.skip("from_weights takes the weight of that name, not the parameter")
    params = make(learner, variant)._get_params()
    del params["intercept"]
    if learner in ONE_OUTPUT:
        weights, bias = {"a": 1.5, "long enough a name": -2.0}, 0.5
    else:
        weights = {"u": {"a": 1.5, "long enough a name": -2.0}, "v": {"b": 1.0}, "w": {}}
        bias = {"u": 0.5, "v": 0.0, "w": 0.0}
    model = LEARNERS[learner].from_weights(weights, bias, **params)
    assert {**params, "intercept": True} == model._get_params()
    assert (model.n_seen, model.n_updates) == (0, 0)
    if variant != "hashed, colliding":
        decision = model.decision_function_one({"a": 2, "long enough a name": 1, "c": 1})
        assert (decision if learner in ONE_OUTPUT else decision["u"]) == 1.5
    if params["hash_bits"] is not None:
        return
    assert (model.weights, model.intercept_) == (weights, bias)
    if params.get("average", "none") != "none":
        assert (model.averaged_weights, model.averaged_intercept) == (weights, bias)
    if params.get("pocket"):
        assert (model.pocket_weights, model.pocket_intercept) == (weights, bias)


@every_starter
def test_weights_that_were_read_give_the_same_model_back(learner):
    model = trained(learner)
    served = {"serve": "current"} if has(learner, "serve") else {}
    again = LEARNERS[learner].from_weights(model.weights, model.intercept_, **served)
    assert (again.weights, again.intercept_) == (model.weights, model.intercept_)


BAD_WEIGHTS_GIVEN = {
    "no mapping": ([1.0], 0.0, TypeError, "weights"),
    "None": (None, 0.0, TypeError, "weights"),
    "text": ({"the culprit": "x"}, 0.0, TypeError, "'the culprit'"),
    "None as a weight": ({"the culprit": None}, 0.0, TypeError, "'the culprit'"),
    "NaN": ({"a": 1.0, "the culprit": NAN}, 0.0, ValueError, "'the culprit'"),
    "too large": ({"the culprit": 1e51}, 0.0, ValueError, "'the culprit'"),
    "unhashable": (Pairs((["k"], 1.0)), 0.0, TypeError, "['k']"),
    "intercept text": ({"a": 1.0}, "0", TypeError, "intercept"),
    "intercept NaN": ({"a": 1.0}, NAN, ValueError, "intercept"),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS_GIVEN)
@pytest.mark.parametrize("several", [False, True], ids=["two labels", "many labels"])
def test_bad_weights_to_start_from_are_refused(several, kind):
    weights, intercept, error, name = BAD_WEIGHTS_GIVEN[kind]
    learner = MIRA if several else Perceptron
    given = ({"u": weights}, {"u": intercept}) if several else (weights, intercept)
    with pytest.raises(error) as caught:
        learner.from_weights(*given)
    assert name in str(caught.value)
    assert "Tokenizer" not in str(caught.value)
    assert "x[" not in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "intercept", "error", "name"),
    [
        ([1.0], None, TypeError, "weights"),
        ("ab", None, TypeError, "weights"),
        ({None: {"a": 1.0}}, None, ValueError, "None"),
        ({NAN: {"a": 1.0}}, None, ValueError, "nan"),
        ({"u": {"a": 1.0}}, 0.5, TypeError, "intercept"),
        ({"u": {"a": 1.0}}, [("u", 1.0)], TypeError, "intercept"),
        ({"u": {"a": 1.0}}, {"v": 0.5}, ValueError, "'v'"),
        (Pairs(("u", {}), ("u", {})), None, ValueError, "'u'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("learner", [MulticlassPerceptron, MIRA])
def test_bad_labels_to_start_from_are_refused(learner, weights, intercept, error, name):
    with pytest.raises(error, match=name) as caught:
        learner.from_weights(weights, intercept)
    assert type(caught.value) is error


@every_starter
def test_intercept_to_start_from_needs_a_learner_that_has_one(learner):
    weights = {"a": 1.0} if learner in ONE_OUTPUT else {"u": {"a": 1.0}}
    intercept = 0.5 if learner in ONE_OUTPUT else {"u": 0.5}
    with pytest.raises(ValueError, match="intercept=False"):
        # the constructor's parameter of the same name is taken by the weight itself
        subclass_without_intercept(LEARNERS[learner]).from_weights(weights, intercept)


def subclass_without_intercept(learner):
    class Mine(learner):
        def __init__(self):
            super().__init__(intercept=False)

    return Mine


# What the caller keeps


@every_learner
def test_class_weight_is_a_copy_that_nobody_can_change(learner, tmp_path):
    labels = labels_for(learner)
    given = {labels[0]: 2.0}
    model = make(learner, class_weight=given)
    before = pickle.dumps(model)
    given[labels[0]] = -5.0
    given["more"] = "bad"
    assert pickle.dumps(model) == before
    assert model.class_weight == {labels[0]: 2.0}
    assert repr(model.class_weight) == repr({labels[0]: 2.0})
    for change in (
        lambda kept: kept.update({labels[1]: 3.0}),
        lambda kept: kept.__setitem__(labels[1], 3.0),
        lambda kept: kept.__delitem__(labels[0]),
        lambda kept: kept.__ior__({labels[1]: 3.0}),
        lambda kept: kept.setdefault(labels[1], 3.0),
        lambda kept: kept.pop(labels[0]),
        lambda kept: kept.popitem(),
        lambda kept: kept.clear(),
    ):
        with pytest.raises(TypeError, match="clone"):
            change(model.class_weight)
    model.learn_one({"a": 1}, labels[1])
    model.learn_one({"a": 1}, labels[0])
    model.save(tmp_path / "model")
    for other in (
        model.clone(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        streamptron.load(tmp_path / "model"),
    ):
        assert other.class_weight == {labels[0]: 2.0}
        assert pickle.dumps(other.clone()) == pickle.dumps(model.clone())
        with pytest.raises(TypeError, match="clone"):
            other.class_weight[labels[0]] = 1.0
    kept = copy.deepcopy(model.class_weight)
    kept[labels[0]] = 9.0
    assert json.loads(json.dumps(dict.fromkeys(map(str, kept), 9.0))) == {str(labels[0]): 9.0}
    assert model.class_weight[labels[0]] == 2.0


def test_class_weight_of_a_mapping_of_the_users_own_is_read_once():
    class Fickle(Mapping):
        """Whose weights are others each time that they are read."""

        n = 0

        def __getitem__(self, label):
            self.n += 1
            return float(self.n)

        def __iter__(self):
            return iter([True])

        def __len__(self):
            return 1

    model = Perceptron(class_weight=Fickle())
    model.learn_one({"a": 1}, True)
    assert model.class_weight == {True: 1.0}
    assert model.weights == {"a": 1.0}
