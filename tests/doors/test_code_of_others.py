"""Code of others that runs while an event is read: errors, changes, calls on the same model."""

import copy
from collections import OrderedDict, UserDict
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from streamptron import Perceptron
from tests.support.doors import (
    CALLS,
    NAN,
    Fault,
    Once,
    Pairs,
    assert_learns_on_alike,
    every_call,
    refused,
    trained,
)
from tests.support.marks import in_turn
from tests.support.variants import LEARNERS, answers, every_learner, labels_for, make


def broken_after(pairs):
    yield from pairs
    raise Fault


class BrokenItems(Pairs):
    def items(self):
        return broken_after(self.pairs)


class BrokenNumber(Fraction):
    def __float__(self):
        raise Fault


class BrokenHash:
    broken = False

    def __hash__(self):
        if self.broken:
            raise Fault
        return 1


def broken_events():
    name = BrokenHash()
    yield "items", BrokenItems(("a", 1), (frozenset("b"), 2))
    yield "float", {"a": 1, "b": BrokenNumber(1)}
    yield "hash", {"a": 1, name: 1}
    name.broken = True


BROKEN_EVENTS = dict(broken_events())


@every_call
@pytest.mark.parametrize("where", BROKEN_EVENTS)
@every_learner
def test_error_of_the_users_own_code_passes_through_and_leaves_no_trace(learner, where, call):
    model = trained(learner)
    twin = copy.deepcopy(model)
    with pytest.raises(Fault):
        CALLS[call](model, BROKEN_EVENTS[where], labels_for(learner)[0])
    assert_learns_on_alike(model, twin, learner)


NO_PAIRS = {
    "numbers": ([1, 2], "gave 1, an int"),
    "one of one": ([("a", 1), ("a",)], "gave ('a',), a tuple"),
    "three": ([("a", 1, 2)], "gave ('a', 1, 2), a tuple"),
    "nothing in a list": ([None], "gave None, a NoneType"),
    "a text": (["abc"], "gave 'abc', a str"),
    "no list": (5, "gave 5, an int"),
    "nothing": (None, "gave None, a NoneType"),
}


class BrokenKind:
    """What it is cannot be asked, and isinstance asks."""

    n_asked = 0

    @property
    def __class__(self):
        self.n_asked += 1
        raise Fault


@every_learner
def test_error_while_a_label_is_asked_what_it_is_passes_through(learner):
    model, fresh = make(learner), make(learner)
    for call in (
        lambda label: model.learn_one({"a": 1}, label),
        lambda label: model.learn_many(np.ones((2, 1)), [label, True]),
    ):
        label = BrokenKind()
        with pytest.raises(Fault):
            call(label)
        assert (label.n_asked, model.n_seen) == (1, 0)
    assert_learns_on_alike(model, fresh, learner)


@pytest.mark.parametrize(("kind", "call", "learner"), in_turn(NO_PAIRS, CALLS, LEARNERS))
def test_items_that_are_no_pairs_are_refused(kind, call, learner):
    items, culprit = NO_PAIRS[kind]
    x = Pairs()
    x.items = lambda: items
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        "x is a Pairs",
        "items()",
        culprit,
        error=TypeError,
    )
    assert "pairs of a name and a number" in message


def test_error_of_a_mappings_own_code_says_that_x_was_being_read():
    with pytest.raises(Fault) as caught:
        Perceptron().learn_one(BrokenItems(("a", 1)), True)
    assert caught.value.__notes__ == ["streamptron was reading the items() of x, a BrokenItems"]
    x = Pairs()
    x.items = None
    with pytest.raises(TypeError) as caught:
        Perceptron().learn_one(x, True)
    assert caught.value.__notes__ == ["streamptron was reading the items() of x, a Pairs"]


class Growing(UserDict):
    """Every time that an item is read there is one more."""

    def __getitem__(self, name):
        self.data[len(self.data)] = 1
        return self.data[name]


class GrowingOrdered(OrderedDict):
    def items(self):
        for pair in super().items():
            yield pair
            self[len(self)] = 1


@pytest.mark.parametrize("kind", [Growing, GrowingOrdered], ids=lambda kind: kind.__name__)
@every_call
@every_learner
def test_mapping_that_changes_while_it_is_read_is_refused(learner, call, kind):
    model = trained(learner)
    twin = copy.deepcopy(model)
    x = kind({"a": 1, "b": 2})
    with pytest.raises(RuntimeError, match=rf"x is a {kind.__name__} that cannot be read: .*"):
        CALLS[call](model, x, labels_for(learner)[0])
    assert_learns_on_alike(model, twin, learner)


class LyingLength(Pairs):
    def __len__(self):
        return self.length


@pytest.mark.parametrize("length", [0, 1, 10**9, -1], ids="length={}".format)
def test_length_that_a_mapping_says_is_not_believed(length):
    x = LyingLength(("a", 1), ("b", 2), (frozenset(), 3))
    x.length = length
    model = Perceptron.from_weights({"a": 1, "b": 10, frozenset(): 100})
    assert model.decision_function_one(x) == 321


def test_items_may_be_anything_in_twos():
    x = Pairs()
    x.items = lambda: iter([["a", 1], ("b", 2), {"c": 0, 3: 0}, iter(("d", 4))])
    model = Perceptron.from_weights({"a": 1, "b": 10, "c": 100, "d": 1000})
    assert model.decision_function_one(x) == 4321


def test_weights_that_cannot_be_read_are_refused_by_their_own_name():
    x = Pairs()
    x.items = lambda: [("a", 1), 2]
    with pytest.raises(TypeError, match=r"weights is a Pairs whose items\(\) gave 2"):
        Perceptron.from_weights(x)


class ActingItems(Pairs):
    def items(self):
        for i, pair in enumerate(self.pairs):
            if i == 1:
                self.act()
            yield pair


class ActingNumber(Fraction):
    def __float__(self):
        self.act()
        return 1.0


class ActingName:
    act = None

    def __hash__(self):
        if self.act is not None:
            self.act()
        return 1

    def __eq__(self, other):
        if self.act is not None:
            self.act()
        return self is other


def acting_event(where, act):
    """An event of three features that acts while it is read."""
    if where == "items":
        x = ActingItems(("a", 1), ("b", 1), ("c", 1))
        x.act = act
        return x
    if where == "float":
        number = ActingNumber(1)
        number.act = act
        return {"a": 1, "b": number, "c": 1}
    name = ActingName()
    x = {"a": 1, name: 1, "c": 1}
    name.act = act
    return x


def assert_nan_is_refused(model, y):
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one({"c": 1, "n": NAN}, y)


ACTIONS = {
    "learns": lambda model, known, new: model.learn_one({"a": 2, "q": 1, "r": 3}, known),
    "learns a new label": lambda model, known, new: model.learn_one({"a": 2, "q": 1}, new),
    "learns a frame": lambda model, known, new: model.learn_many(
        pd.DataFrame({"a": [2.0], "q": [1.0]}), [new]
    ),
    "learns a matrix": lambda model, known, new: model.learn_many(np.ones((2, 3)), [known, new]),
    "learns columns": lambda model, known, new: model.learn_many(
        np.ones((2, 2)), [new, known], feature_names=["a", frozenset("q")]
    ),
    "predicts": lambda model, known, new: model.predict_one({"q": 1, "c": 1}),
    "predicts a matrix": lambda model, known, new: model.predict_many(np.ones((2, 30))),
    "explains": lambda model, known, new: model.explain_one({"q": 1, "c": 1}),
    "is copied": lambda model, known, new: copy.deepcopy(model).learn_one({"c": 1}, new),
    "is refused": lambda model, known, new: assert_nan_is_refused(model, new),
}


@pytest.mark.parametrize(
    ("where", "action", "call", "learner"),
    in_turn(["items", "float", "hash"], ACTIONS, CALLS, LEARNERS),
)
def test_event_that_uses_the_model_while_it_is_read_comes_after_what_it_did(
    learner, where, action, call
):
    """For both doors: what the event's own code learned is learned before the event."""
    known, _, *others = labels_for(learner)
    new = "new inside" if others else known
    y = "new outside" if others else labels_for(learner)[1]

    model, twin = trained(learner), trained(learner)
    x = acting_event(where, Once(lambda: ACTIONS[action](model, known, new)))
    found = CALLS[call](model, x, y)

    ACTIONS[action](twin, known, new)
    plain = dict(x.items()) if where == "items" else x  # its action is over
    assert found == CALLS[call](twin, plain, y)
    if others:
        assert model.labels == twin.labels
    assert (model.weights, model.intercept_) == (twin.weights, twin.intercept_)
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (
        twin.n_seen,
        twin.n_updates,
        twin.n_mistakes,
    )
    for event in (x, {"a": 1}, {"q": 1}):
        assert answers(model, event) == answers(twin, event)


class ActingLabel:
    """A label whose hash acts the `at`-th time that it is asked for."""

    def __init__(self, at, act):
        self.at, self.act = at, act

    def __hash__(self):
        self.at -= 1
        if self.at == 0:
            self.act()
        return 2

    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("class_weight", [None, {"x": 2.0}], ids="class_weight={}".format)
@pytest.mark.parametrize("at", range(1, 8), ids="at={}".format)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_as_it_is_hashed_keeps_labels_and_outputs_together(
    learner, at, class_weight, call
):
    """Whether the inner event comes first or last, every label has weights of its own."""

    def run(label, inner_first):
        model = make(learner, class_weight=class_weight)
        model.learn_one({"a": 1}, "x")
        steps = [("outer", {"q": 1}, label), ("inner", {"z": 1}, "inner")]
        for _, x, y in steps[::-1] if inner_first else steps:
            model.learn_one(x, y)
        return model

    def state(model):
        order = [str(label) if isinstance(label, str) else "outer" for label in model.labels]
        weights = list(model.weights.values())
        return order, weights, model.n_seen, list(model.decision_function_one({"q": 1}).values())

    model = make(learner, class_weight=class_weight)
    model.learn_one({"a": 1}, "x")
    inner = Once(lambda: model.learn_one({"z": 1}, "inner"))
    label = ActingLabel(at, inner)
    CALLS[call](model, {"q": 1}, label)
    label.at = 0
    if inner.action is not None:  # the hash was not asked for so often
        inner()
    quiet = [run(ActingLabel(0, None), first) for first in (False, True)]
    assert state(model) in [state(other) for other in quiet]


@pytest.mark.parametrize("place", [0, 1, 2], ids="place={}".format)
@pytest.mark.parametrize("call", ["decision_function_one", "predict_proba_one"])
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_while_an_answer_is_written_does_not_spoil_the_answer(
    learner, call, place
):
    model = make(learner, serve="current")
    labels = [ActingLabel(0, None) for _ in range(3)]
    for i in range(9):
        model.learn_one({i % 3: 1, "a": i}, labels[i % 3])
    x = {0: 1, "a": 0.5}
    expected = CALLS[call](model, x, None)

    def act():  # with so many new labels the scratch for scores must move
        for i in range(200):
            model.learn_one({"b": 1, i: 1}, f"label {i}")

    labels[place].act, labels[place].at = Once(act), 1
    found = CALLS[call](model, x, None)
    assert [found[label] for label in labels] == [expected[label] for label in labels]
