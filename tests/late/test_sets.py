"""A step of MultiLabelClassifier that is taken back leaves its plain-Python twin without it."""

import copy
import pickle
import random

import pytest

import streamptron
from streamptron import Journal, MultiLabelClassifier, Step, Tokenizer
from tests.late.test_undo import forged, learn_and_undo, refused, reopened, state
from tests.support.marks import seeds
from tests.support.streams import needs_data
from tests.test_multilabel import check, check_state, reuters, sets, twins
from tests.twin import undo as twin_undo

PARAMS = {
    "default": {},
    "forgetful": {"forget": 0.5, "eta": 0.3},
    "ceiling": {"max_features": 12},
}


def check_all(model, twin, x):
    check(model, twin, x)
    check_state(model, twin)


@pytest.mark.once
@seeds(4, n_slow=30)
@pytest.mark.parametrize("variant", PARAMS)
def test_it_answers_as_its_twin_without_the_step(variant, seed, path):
    rng = random.Random(f"{variant} {seed}")
    model, twin = twins(**PARAMS[variant])
    events = sets(
        rng,
        120,
        protocol=rng.choice(["list", "dict", "open", "mixed"]),
        values=rng.choice(["one", "small", "real", "measured"]),
        n_features=25,
        weighted=rng.random() < 0.5,
    )
    model = learn_and_undo(rng, model, twin, events, path, check_all)
    check_state(model, twin)
    model.save(path)
    check_state(streamptron.load(path), twin)


@pytest.mark.once
@seeds(2)
def test_halved_counts_and_heavy_events_come_back_as_the_twins_do(seed, path):
    rng = random.Random(seed)
    model, twin = twins()
    events = []
    for _ in range(150):
        x = {"always": rng.choice([1.0, 1.0, -2.0]), f"w{rng.randrange(4)}": 1.0}
        there = [y for y in "abcd" if rng.random() < 0.5]
        events.append((x, there, rng.choice([1.0, 300_000.0, 5e-324, 1e30, 1e-9])))
    model = learn_and_undo(rng, model, twin, events, path, check_all)
    check_state(model, twin)


@pytest.mark.slow
@pytest.mark.once
@needs_data
def test_a_real_stream_with_wrong_labels_taken_back(path):
    rng = random.Random(7)
    model, twin = twins()
    events = [(x, [*y, "wrong"] if rng.random() < 0.1 else y, 1.0) for x, y in reuters(60)]
    model = learn_and_undo(rng, model, twin, events, path, check, keep=40)
    check_state(model, twin)


def inside(model):
    """What was learned, but not which features are known."""
    found = model.__getstate__()
    return {name: part for name, part in found.items() if name in ("arrays", "sets", "labels")}


@seeds(3)
@pytest.mark.parametrize("params", [{}, {"hash_bits": 3}, {"degree": 2}])
def test_the_last_step_leaves_no_bit(params, seed):
    rng = random.Random(seed)
    model = MultiLabelClassifier(hash_seed=0, **params)
    events = list(sets(rng, 200, values="real", n_features=15))
    for x, y, w in events:
        model.learn_one(x, y, w)
    for x, y, w in sets(rng, 40, protocol="list", values="real", n_features=15, weighted=True):
        before, features = pickle.dumps(inside(model)), model.n_features
        model.undo(model.learn_one(x, y, w, undo=True))
        if model.n_features == features:
            assert pickle.dumps(inside(model)) == before
        model._check()
        model.learn_one(x, y, w)


def marks(model):
    """How many entries there are, and one more."""
    return model.__getstate__()["arrays"]["marks"][0][0]


def test_an_entry_that_the_step_made_is_taken_away_again():
    model = MultiLabelClassifier(hash_seed=0)
    model.learn_one({"oil": 1}, {"crude"})
    size = marks(model)
    step = model.learn_one({"oil": 1}, {"ship"}, undo=True)
    assert marks(model) == size + 1
    model.undo(step)
    assert marks(model) == size
    assert model.labels == ["crude", "ship"]  # which stays known


def test_a_step_knows_its_labels_and_what_was_answered():
    model = MultiLabelClassifier(hash_seed=0)
    for _ in range(5):
        model.learn_one({"oil": 1}, {"crude"})
    step = model.learn_one({"oil": 1}, ["ship", "crude"], 2, undo=True)
    assert (step.label, step.w, step.ticket.prediction) == (("ship", "crude"), 2.0, ("crude",))
    model.undo(step)
    model.learn_ticket(step.ticket, step.label)
    step = model.learn_one({"oil": 1}, {"ship": True, "gas": False}, undo=True)
    again = Step.from_bytes(bytes(step))
    assert again.label == {"ship": True, "gas": False}
    model.undo(again)
    model.learn_ticket(again.ticket, again.label)


def test_an_event_of_weight_0_is_taken_back_too():
    model = MultiLabelClassifier(hash_seed=0)
    step = model.learn_one({"oil": 1}, {"crude"}, 0, undo=True)
    model.undo(step)
    assert (model.n_seen, model.labels) == (1, [])
    refused(model, step, ValueError, "taken back already")


def taken():
    model = MultiLabelClassifier(hash_seed=0)
    for x, y, w in sets(random.Random(1), 60, n_features=8):
        step = model.learn_one(x, y, w, undo=True)
    return model, step


def test_a_step_is_taken_back_once_and_by_its_own_model(path):
    model, step = taken()
    _, its = taken()
    refused(model, its, ValueError, "step is not of this model")
    refused(MultiLabelClassifier(eta=0.5), step, ValueError, "step is of another kind of model")
    model.save(path)
    streamptron.load(path).undo(step)
    copy.deepcopy(model).undo(bytes(step))
    model.undo(step)
    refused(model, step, ValueError, "taken back already")


@seeds(2, n_slow=20)
def test_a_forged_step_is_refused_or_leaves_a_model_that_works(seed, path):
    model, step = taken()
    rng = random.Random(seed)
    n_refused = 0
    for _ in range(300):
        other = copy.deepcopy(model)
        before, why = state(other), None
        try:
            other.undo(forged(bytes(step), rng))
        except ValueError as error:
            why = str(error)
        if why is not None:
            n_refused += 1
            assert why.startswith("step ")
            assert state(other) == before
        other._check()
        other.learn_one({"a": 1, "f1": 1}, ["crude", "new"])
        assert all(p[True] == p[True] for p in other.predict_proba_one({"a": 1, "f1": 2}).values())
        other.save(path)
        streamptron.load(path)
    assert n_refused > 100


def test_labels_that_cannot_be_are_refused_before_anything_is_learned():
    model = MultiLabelClassifier(max_labels=2)
    for y, error, says in [
        (["a", "a"], ValueError, "has the label 'a' twice"),
        ("a", TypeError, "y is 'a'"),
        ([object()], TypeError, "which a model file cannot hold"),
        (["a", "b", "c"], ValueError, "max_labels=2"),
    ]:
        with pytest.raises(error, match=says):
            model.learn_one({"oil": 1}, y, undo=True)
    assert (model.n_seen, model.labels) == (0, [])


@seeds(2)
@pytest.mark.parametrize("params", [{}, {"max_features": 20}, {"threshold": "f1"}])
def test_a_journal_corrects_sets_of_labels(params, seed, path):
    rng = random.Random(seed)
    journal = Journal(MultiLabelClassifier(hash_seed=0, **params))
    twin, steps = MultiLabelClassifier(hash_seed=0, **params), {}
    for t, (x, y, w) in enumerate(sets(rng, 100, n_features=30)):
        journal.learn_one(t, x, y, w)
        steps[t] = w, twin.learn_one(x, y, w, undo=True)
        assert journal.label_of(t) == steps[t][1].label
        if rng.random() < 0.3:
            t = rng.choice(list(steps))
            w, step = steps.pop(t)
            twin.undo(step)
            if rng.random() < 0.5:
                journal.undo(t)
            else:
                journal.correct(t, {"ship"})
                steps[t] = w, twin.learn_ticket(step.ticket, {"ship"}, w, undo=True)
        if t % 25 == 24:
            journal.save(path)
            journal = rng.choice([Journal.load(path), pickle.loads(pickle.dumps(journal))])
        assert list(journal) == list(steps)
    assert state(journal.model) == state(twin)


def test_a_correction_with_a_label_too_many_changes_nothing():
    journal = Journal(Tokenizer() | MultiLabelClassifier(max_labels=2))
    journal.learn_one("one", "oil tankers", ["crude", "ship"])
    before = state(journal.model[-1])
    for y in (["grain"], ["crude", "crude"], {"crude": 2}):
        with pytest.raises(ValueError, match=r"'grain' is a new label|twice|must be True"):
            journal.correct("one", y)
    assert state(journal.model[-1]) == before
    journal.correct("one", {"crude": False})
    assert journal.label_of("one") == {"crude": False}


@seeds(2)
def test_it_travels_between_learning_and_undoing(seed, path):
    rng = random.Random(seed)
    model, twin = twins()
    waiting = []
    for x, y, w in sets(rng, 90, n_features=20):
        waiting.append((model.learn_one(x, y, w, undo=True), twin_undo.learn(twin, x, y, w)))
        if len(waiting) > 10:
            step, its = waiting.pop(0)
            model = reopened(model, rng, path)
            model.undo(step)
            twin_undo.undo(twin, its)
            check(model, twin, x)
    check_state(model, twin)
