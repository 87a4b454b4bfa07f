"""Parameters of the learners that reach them through scikit-learn's classifiers."""

import inspect

import numpy as np
import pytest

import streamptron
from streamptron import Pair
from streamptron import sklearn as classifiers
from streamptron.learners.registry import BY_CLASS_NAME, parameters_of
from streamptron.sklearn import (
    AdaptiveClassifier,
    AROWClassifier,
    MIRAClassifier,
    PerceptronClassifier,
    VotedPerceptronClassifier,
)
from tests.support.classifiers import core, problem, two_or_more
from tests.support.variants import learned

pairing = pytest.mark.parametrize(
    "classifier", [PerceptronClassifier, MIRAClassifier, AdaptiveClassifier, AROWClassifier]
)
violating = pytest.mark.parametrize("classifier", [PerceptronClassifier, MIRAClassifier])


@pairing
@two_or_more
def test_pairs_of_columns_are_learned_as_the_core_learns_them(classifier, n_classes):
    X, y = problem(1, n_classes)
    model = classifier(degree=2, max_pairs=100, random_state=0).partial_fit(X, y)
    by_hand = core(classifier, n_classes, degree=2, max_pairs=100)
    by_hand.learn_many(X, y)
    assert learned(model.model_) == learned(by_hand)
    assert any(isinstance(name, Pair) for name in model.model_._weights("current")[1][0])
    with pytest.raises(ValueError, match=r"row 0 of X makes \d+ pairs.*max_pairs=2;"):
        classifier(degree=2, max_pairs=2).fit(np.ones((4, 5)), [0, 1, 0, 1])


@pytest.mark.parametrize("classifier", [PerceptronClassifier, MIRAClassifier, AROWClassifier])
def test_weights_of_pairs_have_no_place_in_coef(classifier):
    X, y = problem(0, 3)
    model = classifier(degree=2, random_state=0).partial_fit(X, y)
    with pytest.raises(AttributeError, match=r"no coef_ with degree=2.*model_\.weights"):
        _ = model.coef_
    assert not hasattr(model, "coef_")
    assert model.intercept_.shape == (3,)


@violating
@pytest.mark.parametrize("violators", ["uniform", "proportional"])
def test_violators_are_the_cores(classifier, violators):
    X, y = problem(1, 4)
    model = classifier(violators=violators, random_state=0).partial_fit(X, y)
    by_hand = core(classifier, 4, violators=violators)
    by_hand.learn_many(X, y)
    assert learned(model.model_) == learned(by_hand)
    assert learned(model.model_) != learned(classifier(random_state=0).partial_fit(X, y).model_)


@violating
def test_violators_count_from_the_third_class_on_and_are_checked_before(classifier):
    X, y = problem(1, 3)
    model = classifier(violators="uniform").partial_fit(X[y < 2], y[y < 2])
    model.partial_fit(X, y)
    assert model.model_.violators == "uniform"
    with pytest.raises(ValueError, match="violators='worst'"):
        classifier(violators="worst").fit(X[y < 2], y[y < 2])


@two_or_more
@pytest.mark.parametrize("params", [{}, {"degree": 2}, {"budget": 30}], ids=str)
def test_the_vote_is_the_cores(params, n_classes):
    X, y = problem(1, n_classes, values="small")
    model = VotedPerceptronClassifier(**params, random_state=0).partial_fit(X, y)
    by_hand = streamptron.VotedPerceptron(**params, missing="skip_nan", hash_seed=0)
    by_hand.learn_many(X, y)
    assert learned(model.model_) == learned(by_hand)
    decisions = model.decision_function(X)
    votes = by_hand.decision_function_many(X)
    if n_classes > 2:
        votes = votes[:, np.argsort(by_hand.labels)]
    assert (np.abs(decisions) == np.abs(votes)).all()
    predicted = model.classes_[decisions.argmax(axis=1) if n_classes > 2 else 1 * (decisions > 0)]
    assert (model.predict(X) == predicted).all()
    assert not hasattr(model, "coef_")


# A classifier that goes through its data several times answers by the average, whatever it is; and
# its own names of two parameters are scikit-learn's.
OTHERWISE = {"serve": "average"}
RENAMED = {"fit_intercept": "intercept"}
OF_FITTING = {
    *("max_iter", "tol", "shuffle", "random_state"),
    *("early_stopping", "validation_fraction", "n_iter_no_change"),
}


@pytest.mark.parametrize("name", classifiers.__all__)
def test_defaults_are_those_of_the_table(name):
    own = BY_CLASS_NAME[
        {"PerceptronClassifier": "MulticlassPerceptron"}.get(
            name, name if name in BY_CLASS_NAME else name.removesuffix("Classifier")
        )
    ]
    table = {n: each.default for n, each in parameters_of(own).items()} | {"margin": 0.0}
    found = inspect.signature(getattr(classifiers, name)).parameters
    assert set(found) >= {"max_iter", "shuffle", "random_state"}
    for parameter, each in found.items():
        if parameter not in OF_FITTING:
            said = table[RENAMED.get(parameter, parameter)]
            assert each.default == OTHERWISE.get(parameter, said), parameter
