"""What an error says to do is what helps."""

import pytest

from streamptron import MulticlassPerceptron, Perceptron
from tests.support.variants import every_learner, labels_for, make


def test_average_that_is_not_there_cannot_be_served_and_the_error_says_what_can():
    with pytest.raises(ValueError, match=r"average='uniform'.*serve='current'"):
        Perceptron(average="none", serve="average")


@every_learner
def test_nan_of_a_step_before_the_learner_is_told_with_a_cure_that_works(learner):
    from river import preprocessing

    y = labels_for(learner)[0]
    model = preprocessing.MinMaxScaler() | make(learner)
    with pytest.raises(ValueError, match=r"x\['a'\] is NaN.*MinMaxScaler.*StandardScaler gives 0"):
        model.predict_one({"a": 2.0})
    cured = preprocessing.StandardScaler() | make(learner)
    cured.predict_one({"a": 2.0})
    cured.learn_one({"a": 2.0}, y)
    assert cured.predict_one({"a": 2.0}) == y or learner == "Perceptron"


def test_prediction_before_the_first_label_is_a_gap_when_it_is_used_as_a_feature():
    guess = MulticlassPerceptron().predict_one({"a": 1})
    assert guess is None
    model = Perceptron()
    model.learn_one({"guess": guess, "a": 1}, True)
    assert list(model.weights) == ["a"]
    with pytest.raises(TypeError, match=r"x\['guess'\] is None.*missing='refuse'"):
        Perceptron(missing="refuse").learn_one({"guess": guess}, True)
