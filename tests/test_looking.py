"""explain_one, decision_function_one, top_features: of any pipeline that ends in a learner."""

import pytest
from river import compose, linear_model, preprocessing

import streamptron
from streamptron import AROW, AdaptiveClassifier, MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.doors.model import Model

NUMBERS = [({"a": 1.0, "b": -2.0}, True), ({"a": -1.0, "b": 0.5}, False), ({"a": 2.0}, True)]
TEXTS = [("win a prize", True), ("see you", False), ("a prize for you", True)]
PIPELINES = {
    "learner": (Perceptron, NUMBERS),
    "scaler": (lambda: preprocessing.StandardScaler() | AdaptiveClassifier(), NUMBERS),
    "union": (
        lambda: (compose.Select("a") + compose.Prefixer("as_")) | MulticlassPerceptron(),
        NUMBERS,
    ),
    "function": (
        lambda: compose.FuncTransformer(lambda x: {"sum": sum(x.values())}) | AROW(),
        NUMBERS,
    ),
    "text": (lambda: Tokenizer() | AdaptiveClassifier(), TEXTS),
    "text and a step": (
        lambda: Tokenizer() | compose.FuncTransformer(dict) | compose.Prefixer("w_") | Perceptron(),
        TEXTS,
    ),
}


@pytest.mark.parametrize("kind", PIPELINES)
def test_a_pipelines_answers_are_its_learners_of_what_the_steps_make(kind):
    make, events = PIPELINES[kind]
    model = make()
    for x, y in events:
        model.learn_one(x, y)
    learner = model if isinstance(model, Model) else model[-1]
    before = learner.n_seen, learner.weights
    for x, _ in events:
        seen = x if learner is model else model.transform_one(x)
        assert streamptron.explain_one(model, x) == learner.explain_one(seen)
        assert streamptron.explain_one(model, x, False) == learner.explain_one(seen, False)
        score = learner.decision_function_one(seen)
        assert streamptron.decision_function_one(model, x) == score
    assert streamptron.top_features(model, 2) == learner.top_features(2)
    assert streamptron.top_features(model, 2, False) == learner.top_features(2, False)
    assert (learner.n_seen, learner.weights) == before


def test_a_pipeline_of_texts_has_them_itself():
    model = Tokenizer() | AdaptiveClassifier()
    for x, y in TEXTS:
        model.learn_one(x, y)
    assert model.decision_function_one("a prize") == streamptron.decision_function_one(
        model, "a prize"
    )
    assert model.top_features(1, label=True) == model[-1].top_features(1, True)
    longer = compose.FuncTransformer(str) | (Tokenizer() | Perceptron())
    with pytest.raises(TypeError, match=r"use streamptron.explain_one\(model, ...\)"):
        longer.explain_one("a prize")


def test_a_model_of_others_is_refused():
    with pytest.raises(TypeError, match="give a learner of streamptron, a pipeline that ends in"):
        streamptron.explain_one(preprocessing.StandardScaler() | linear_model.Perceptron(), {})
    ranking = streamptron.RankingPerceptron()
    ranking.learn_one([{"a": 1}, {"b": 1}], 1)
    assert streamptron.top_features(ranking) == ranking.top_features()
    with pytest.raises(ValueError, match="label='a'; RankingPerceptron has no labels"):
        streamptron.top_features(ranking, label="a")
