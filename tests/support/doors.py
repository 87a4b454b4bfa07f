"""What a door refuses leaves no trace.

A refused call raises a TypeError or ValueError that names what is wrong. The model's pickled bytes
are the same, and it learns on as if the call had not been made.
"""

import copy
import pickle
from collections.abc import Mapping

import pytest

from streamptron.common.errors import ParameterError, ParameterTypeError
from tests.support.streams import same_events
from tests.support.variants import answers, labels_for, make

NAN, INF = float("nan"), float("inf")


def trained(learner, **params):
    """A model that has learned some events of every label."""
    model = make(learner, **params)
    for x, y, _ in same_events(7, n=40, labels=labels_for(learner)):
        model.learn_one(x, y)
    return model


def assert_learns_on_alike(model, twin, learner):
    """Each does, to the last bit, what the other one does on events to come."""
    for x, y, _ in same_events(8, n=10, labels=labels_for(learner)):
        assert answers(model, x) == answers(twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert pickle.dumps(model) == pickle.dumps(twin)


def refused(model, call, *names, error=(TypeError, ValueError)):
    """The message of the error that a call must raise; it has all the names, the model no trace."""
    learner = type(model).__name__
    before = pickle.dumps(model)
    twin = copy.deepcopy(model)
    with pytest.raises(error) as caught:
        call(model)
    assert pickle.dumps(model) == before
    message = str(caught.value)
    assert type(caught.value) in (TypeError, ValueError, ParameterError, ParameterTypeError)
    for name in names:
        assert name in message
    assert_learns_on_alike(model, twin, learner)
    return message


# Every way in for an event. The label is one that the learner knows.
CALLS = {
    "learn_one": lambda model, x, y: model.learn_one(x, y),
    "predict_one": lambda model, x, y: model.predict_one(x),
    "predict_proba_one": lambda model, x, y: model.predict_proba_one(x),
    "decision_function_one": lambda model, x, y: model.decision_function_one(x),
    "test_then_train_one": lambda model, x, y: model.test_then_train_one(x, y),
    "explain_one": lambda model, x, y: model.explain_one(x),
    "debug_one": lambda model, x, y: model.debug_one(x),
}
every_call = pytest.mark.parametrize("call", CALLS)


class Pairs(Mapping):
    """A mapping that gives out whatever it was made of, twice the same name too."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def __repr__(self):
        return f"Pairs{self.pairs}"

    def __len__(self):
        return len(self.pairs)

    def __iter__(self):
        return (name for name, _ in self.pairs)

    def __getitem__(self, name):
        return next(value for key, value in self.pairs if key == name)

    def items(self):
        yield from self.pairs


MANY_CALLS = {
    "learn_many": lambda model, X, y: model.learn_many(X, y),
    "test_then_train_many": lambda model, X, y: model.test_then_train_many(X, y),
    "predict_many": lambda model, X, y: model.predict_many(X),
    "predict_proba_many": lambda model, X, y: model.predict_proba_many(X),
    "decision_function_many": lambda model, X, y: model.decision_function_many(X),
}


class Fault(Exception):
    """What a user's code raised."""


class Once:
    """Runs an action the first time that it is called: an event acts once, however it is read."""

    def __init__(self, action):
        self.action = action

    def __call__(self):
        action, self.action = self.action, None
        if action is not None:
            action()
