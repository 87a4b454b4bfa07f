"""The learners in all their variants, and what the tests of them have in common."""

import copy
import inspect
import pickle
import random

import pytest

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    VotedPerceptron,
)
from streamptron.keeping.read import read
from tests.support.marks import in_turn
from tests.support.streams import KEYS, same_events

LEARNERS = {
    "Perceptron": Perceptron,
    "MulticlassPerceptron": MulticlassPerceptron,
    "MIRA": MIRA,
    "AROW": AROW,
    "AdaptiveClassifier": AdaptiveClassifier,
    "VotedPerceptron": VotedPerceptron,
}

# What every learner has that has the parameters.
SHARED = {
    "default": {},
    "exponential": {"average": "exponential", "half_life": 50},
    "no average": {"average": "none"},
    "pocket": {"pocket": True},
    "pocket, no average": {"pocket": True, "average": "none"},
    "serve current": {"serve": "current"},
    "serve average": {"serve": "average"},
    "serve exponential": {"serve": "average", "average": "exponential", "half_life": 20},
    "serve pocket": {"serve": "pocket", "pocket": True},
    "hashed": {"hash_bits": 20},
    "hashed, colliding": {"hash_bits": 2, "hash_seed": 5},
    "no intercept": {"intercept": False},
    "ceiling": {"max_features": 12},
    # "max_pairs" names those whose degree means this: a kernel has its own
    "pairs": {"degree": 2, "max_pairs": 10**6},
    "pairs under a ceiling": {"degree": 2, "max_pairs": 10**6, "max_features": 12},
    "pairs, hashed": {"degree": 2, "max_pairs": 10**6, "hash_bits": 20},
}
OWN = {
    "Perceptron": {
        "margin": {"margin": 0.5},
        "class weights": {"class_weight": {True: 2.0, False: 0.5}},
    },
    "MulticlassPerceptron": {
        "margin": {"margin": 0.5},
        "uniform": {"violators": "uniform"},
        "proportional": {"violators": "proportional", "margin": 0.5},
        "class weights": {"class_weight": {"label 1": 2.0, "label 3": 0.25, "sky": 2.0}},
    },
    "MIRA": {
        "C": {"C": 0.1},
        "update on mistakes": {"update": "mistake"},
        "uniform": {"violators": "uniform", "update": "mistake"},
        "proportional": {"violators": "proportional"},
        "class weights": {"class_weight": {"label 1": 2.0, "label 3": 0.25, "sky": 2.0}},
    },
    "AdaptiveClassifier": {
        "short steps": {"eta": 0.3, "forget": 0.03},
        "watching": {"forget": "auto"},
        "no naive Bayes": {"naive_bayes": False},
        "line": {"shape": "line"},
        "class weights": {"class_weight": {"label 1": 2.0, "label 3": 0.0, "sky": 2.0}},
        "false alarms": {"false_positive_rate": {"sky": 0.2, "label 1": 0.1, "label 3": 0.02}},
    },
    "VotedPerceptron": {
        "degree": {"degree": 2},
        "budget": {"budget": 20},
        "degree, budget, hashed": {"degree": 3, "budget": 20, "hash_bits": 20},
        "class weights": {"class_weight": {"label 1": 2.0, "label 3": 0.25, "sky": 2.0}},
    },
    "AROW": {
        "r": {"r": 0.1},
        "class weights": {"class_weight": {"label 1": 2.0, "label 3": 0.25, "sky": 2.0}},
    },
}


def has(learner, *parameters):
    """Whether a learner has these parameters."""
    return set(parameters) <= set(inspect.signature(LEARNERS[learner]).parameters)


VARIANTS = [
    (learner, variant)
    for learner in LEARNERS
    for variant, params in (SHARED | OWN[learner]).items()
    if has(learner, *params)
]

every_learner = pytest.mark.parametrize("learner", LEARNERS)
# those whose files can be used in place
PLACED = [learner for learner in LEARNERS if learner != "VotedPerceptron"]
every_placed_learner = pytest.mark.parametrize("learner", PLACED)
PLACED_VARIANTS = [pair for pair in VARIANTS if pair[0] in PLACED]
every_placed_variant = pytest.mark.parametrize(("learner", "variant"), PLACED_VARIANTS)
# those that may have a ceiling
every_limited_learner = pytest.mark.parametrize(
    "learner", [learner for learner in LEARNERS if has(learner, "max_features")]
)
# those that pair features
PAIRING = [learner for learner in LEARNERS if has(learner, "max_pairs")]
every_pairing_learner = pytest.mark.parametrize("learner", PAIRING)
# those that keep an average and a pocket
AVERAGERS = [learner for learner in LEARNERS if has(learner, "average", "pocket")]
# those that may start from weights
STARTERS = [
    learner for learner in LEARNERS if learner not in ("AdaptiveClassifier", "VotedPerceptron")
]
every_starter = pytest.mark.parametrize("learner", STARTERS)
# those that have one output for two labels; they start from {feature: weight}, if at all, and the
# others from {label: {feature: weight}}
ONE_OUTPUT = ("Perceptron", "AROW", "AdaptiveClassifier", "VotedPerceptron")
every_averager = pytest.mark.parametrize("learner", AVERAGERS)
# those that have weights: a kernel has none
every_linear_variant = pytest.mark.parametrize(
    ("learner", "variant"),
    [pair for pair in VARIANTS if "degree" not in OWN[pair[0]].get(pair[1], ())],
)
every_variant = pytest.mark.parametrize(("learner", "variant"), VARIANTS)


def every_variant_and_in_turn(name, values, n=1):
    """Each variant with n of the values, in turn: each learner meets all of them."""
    return pytest.mark.parametrize(("learner", "variant", name), in_turn(VARIANTS, values, n=n))


def make(learner, variant="default", **params):
    """A learner that is the same in every run: its hash is seeded.

    A parameter that the learner does not have is left out: without an average there is nothing
    that one could do to it.
    """
    given = {"hash_seed": 1, **(SHARED | OWN[learner])[variant], **params}
    return LEARNERS[learner](**{name: value for name, value in given.items() if has(learner, name)})


def most_weight(learner):
    """A sample weight near the largest, that a class weight may double."""
    return 1e29 if learner == "AdaptiveClassifier" else 1e50


def labels_for(learner, n=5):
    """Two labels for the Perceptron, n for the others."""
    return (False, True) if learner == "Perceptron" else tuple(f"label {i}" for i in range(n))


def named_events(learner, seed, n=150):
    """[(x, y, w)] with names of a kind that the seed chooses, values and weights of all sizes."""
    # a frozenset's own pickle depends on the order in which it was filled
    keys = random.Random(seed).choice([kind for kind in KEYS if kind != "object"])
    return same_events(seed, n, keys=keys, values="real", labels=labels_for(learner), weighted=True)


# Ways to have a model twice.
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
}


def learned(model):
    """All that a model has learned, as bytes: equal for models that will never differ.

    It leaves out the name of the last series of labels, which only mini-batches have.
    """
    state = model.__getstate__()
    del state["y_name"]
    return pickle.dumps(state)


def restored(model):
    """A model that has been pickled."""
    return pickle.loads(pickle.dumps(model))


def loaded(path, mmap=False):
    """The learner in a file, alone or behind its tokenizer."""
    return read(path, mmap).learner


def answers(model, x):
    """All that a model says of an event."""
    return model.predict_one(x), model.decision_function_one(x), model.predict_proba_one(x)
