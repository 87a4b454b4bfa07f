"""Study and pictures of pipelines with steps, which learn with the learner; copies stay apart."""

import copy
import pickle

import pytest
from matplotlib.figure import Figure
from river import preprocessing

from streamptron import AdaptiveClassifier, Perceptron, plot
from streamptron.study import compare, fit, margin
from tests.support.pipelines import event, numbers, union

STREAM = [event(t) for t in range(150)]


def made(learner=Perceptron):
    return union() | learner(hash_seed=1)


def trained():
    model = made()
    for x, y in STREAM:
        model.learn_one(x, y)
    return model


def test_fit_teaches_the_steps_each_event_once_and_then_the_learner():
    model, twin = made(), made()
    fit(model, STREAM, epochs=2, shuffle=False)
    prefix = copy.deepcopy(twin[0])
    for x, _ in STREAM:
        for step in prefix.transformers.values():
            step.learn_one(x)
    events = [(dict(prefix.transform_one(x)), y) for x, y in STREAM]
    fit(twin[-1], events, epochs=2, shuffle=False)
    assert model[-1].weights == twin[-1].weights
    assert model.predict_proba_one(STREAM[0][0]) == twin[-1].predict_proba_one(events[0][0])
    model.learn_one(*STREAM[0])  # and goes on as a pipeline
    assert model[0].transformers["Pipeline"][1].counts["a"] == len(STREAM) + 1


def test_fit_that_fails_has_taught_nothing():
    model = made()
    before = pickle.dumps(model[0])
    with pytest.raises((TypeError, ValueError)):
        fit(model, [*STREAM, (STREAM[0][0], "no label of a Perceptron")])
    assert pickle.dumps(model[0]) == before
    assert model[-1].n_seen == 0


def test_compare_and_its_chart_take_pipelines():
    scaled = numbers(preprocessing.StandardScaler()) | AdaptiveClassifier(hash_seed=1)
    found = compare({"union": made(), "scaled": scaled, "texts": made(AdaptiveClassifier)}, STREAM)
    assert {result.name for result in found} == {"union", "scaled", "texts"}
    ax = plot.errors(found.recorders, ax=Figure().subplots())
    assert len(ax.lines) >= 3


def test_progressive_error_is_that_of_the_pipeline():
    model = made()
    ax = plot.progressive_error(model, STREAM, ax=Figure().subplots())
    wrong = 0
    own = made()
    for x, y in STREAM:
        answer = own.predict_one(x)
        wrong += answer is not None and answer != y
        own.learn_one(x, y)
    best = next(line for line in ax.lines if line.get_label() == "best")
    answered = [y for y in best.get_ydata() if y == y]
    assert answered[-1] == pytest.approx(100 * wrong / len(STREAM), rel=0.02)
    assert model[-1].n_seen == 0
    assert not model[0].transformers["Pipeline"][1].counts


PICTURES = {
    "memory": lambda model, ax: plot.memory(model, STREAM, ax=ax),
    "explanation": lambda model, ax: plot.explanation(model, STREAM[0][0], ax=ax),
    "top_weights": lambda model, ax: plot.top_weights(model, ax=ax),
    "projections": lambda model, ax: plot.projections(model, STREAM, ax=ax),
    "update": lambda model, ax: plot.update(model, STREAM[0][0], True, features=("a", "b"), ax=ax),
    "decision_boundary": lambda model, ax: plot.decision_boundary(
        model, STREAM, features=("a", "b"), ax=ax
    ),
    "margin": lambda model, ax: margin(model, STREAM),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_of_a_pipeline_changes_nothing_of_it(name):
    model = trained()
    twin = copy.deepcopy(model)
    PICTURES[name](model, Figure().subplots())
    assert pickle.dumps(model[-1]) == pickle.dumps(twin[-1])
    for x, _ in STREAM[:20]:
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
