"""scikit-learn's classifiers, and the learners that they have inside."""

import numpy as np
import pytest

import streamptron
from streamptron import AROW, MIRA, MulticlassPerceptron, Perceptron, VotedPerceptron
from streamptron.sklearn import (
    AdaptiveClassifier,
    AROWClassifier,
    MIRAClassifier,
    PerceptronClassifier,
    VotedPerceptronClassifier,
)
from streamptron.sklearn.wrapper import Named
from tests.twin.learners import MIRA as TwinMIRA
from tests.twin.learners import MulticlassPerceptron as TwinMulticlass
from tests.twin.learners import Perceptron as TwinPerceptron

# those of an average and a pocket, and all
both = pytest.mark.parametrize("classifier", [PerceptronClassifier, MIRAClassifier])
PAIRED = {
    AdaptiveClassifier: streamptron.AdaptiveClassifier,
    AROWClassifier: AROW,
    VotedPerceptronClassifier: VotedPerceptron,
}
every_classifier = pytest.mark.parametrize(
    "classifier", [PerceptronClassifier, MIRAClassifier, *PAIRED]
)
# an epoch's votes take long, and a vote of 0 is against the positive one of two classes
every_classifier_without_votes = pytest.mark.parametrize(
    "classifier", [PerceptronClassifier, MIRAClassifier, AdaptiveClassifier, AROWClassifier]
)
paired = pytest.mark.parametrize("classifier", PAIRED)
# those whose scores are sums of weights times values
linear = pytest.mark.parametrize(
    "classifier", [PerceptronClassifier, MIRAClassifier, AROWClassifier]
)
two_or_more = pytest.mark.parametrize("n_classes", [2, 3, 6])


# Every kept vector, and what is needed to keep it.
SERVES = {
    "average": {},
    "exponential": {"average": "exponential", "half_life": 30},
    "soon forgotten": {"average": "exponential", "half_life": 1},
    "current": {"serve": "current"},
    "no average": {"serve": "current", "average": "none"},
    "pocket": {"serve": "pocket", "pocket": True},
    "best": {"serve": "best"},
    "best pocket": {"serve": "best", "average": "none", "pocket": True},
    "no intercept": {"fit_intercept": False},
}
every_serve = pytest.mark.parametrize("serve", SERVES)


def problem(seed, n_classes, n=80, n_features=12, values="real"):
    """X with many zeros, and classes 0 .. n_classes - 1 that can be learned in part."""
    rng = np.random.default_rng(seed)
    X = (
        rng.normal(size=(n, n_features))
        if values == "real"
        else rng.integers(-2, 3, (n, n_features))
    )
    X = np.where(rng.random(X.shape) < 0.5, X, 0).astype(float)
    y = (X @ rng.normal(size=(n_features, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    noisy = rng.random(n) < 0.1
    noisy[:n_classes] = False
    y[noisy] = rng.integers(0, n_classes, noisy.sum())
    return X, y


def names(y):
    """Classes as strs, which sort as the numbers do."""
    return np.array([f"class {number}" for number in range(10)])[y]


def core(classifier, n_classes, labels=None, fit_intercept=True, **params):
    """The learner that the classifier has inside, with its labels known if it takes them so."""
    if classifier in PAIRED:
        return PAIRED[classifier](
            intercept=fit_intercept, missing="skip_nan", hash_seed=0, **params
        )
    params = {"serve": "average", "missing": "skip_nan", "hash_seed": 0, **params}
    if classifier is PerceptronClassifier and n_classes == 2 and labels is None:
        return Perceptron(intercept=fit_intercept, **params)
    learner = MIRA if classifier is MIRAClassifier else MulticlassPerceptron
    labels = range(n_classes) if labels is None else labels
    return learner.from_weights(
        {label: {} for label in labels}, None if fit_intercept else False, **params
    )


def current(classifier):
    """What the classifier needs for its current weights to answer."""
    return {} if classifier in PAIRED else {"serve": "current"}


def twin(classifier, n_classes, fit_intercept=True, **params):
    """The same in plain Python."""
    params = {"serve": "average", "intercept": fit_intercept, **params}
    if classifier is PerceptronClassifier and n_classes == 2:
        return TwinPerceptron(**params)
    plain = TwinMIRA(**params) if classifier is MIRAClassifier else TwinMulticlass(**params)
    for label in range(n_classes):
        plain.start_output(label, {}, 0.0)
    return plain


def epochs_by_hand(model, X, y, seed, epochs, w=1.0):
    """The epochs of fit, by the core's own door."""
    rng = np.random.RandomState(seed)
    for _ in range(epochs):
        order = rng.permutation(len(y))
        model.learn_many(X[order], y[order], w if np.isscalar(w) else w[order])
    return model


def features_of(classifier):
    """The features that have weights."""
    learner = classifier.model_
    return {name for weights in learner._weights(learner.serving)[1] for name in weights}


def weights_of(classifier):
    if isinstance(classifier, AdaptiveClassifier | VotedPerceptronClassifier):  # it has no coef_
        known = getattr(classifier, "feature_names_in_", None)
        each = Named(np.eye(classifier.n_features_in_), None if known is None else known.tolist())
        decision = classifier._decision(classifier.classes_, classifier.model_, each)
        return decision.round(12).tolist()  # its output may be for the one class or the other
    return classifier.coef_.tolist(), classifier.intercept_.tolist()
