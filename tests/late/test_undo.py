"""A step that is taken back leaves the plain-Python twin without that step."""

import copy
import math
import pickle
import random
import struct
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import pytest

import streamptron
from streamptron import (
    AROW,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Step,
    VotedPerceptron,
)
from tests.support.late import sealed
from tests.support.marks import seeds
from tests.support.project import TESTS
from tests.support.shards import pair_of
from tests.support.streams import KEYS, needs_data, random_events, text_stream
from tests.support.twins import check_answers, check_counts, check_weights, labels_for, twins
from tests.twin import undo as twin_undo

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

AVERAGES = {
    "uniform": {},
    "no average": {"average": "none"},
    "exponential": {"average": "exponential", "half_life": 20, "serve": "current"},
    "folding": {"average": "exponential", "half_life": 1, "serve": "current"},
    "pocket": {"pocket": True},
    "pocket, no average": {"pocket": True, "average": "none"},
    "no intercept": {"intercept": False},
    "ceiling": {"max_features": 12},
    "pairs": {"degree": 2},
}
# the kinds of names that a file can hold
FILED = [kind for kind in KEYS if kind != "object"]
RULES = (
    "Perceptron",
    "Perceptron margin=0.5",
    "MulticlassPerceptron",
    "MulticlassPerceptron proportional",
    "MIRA",
)


def reopened(model, rng, path):
    """The model by one of the ways in which it travels."""
    way = rng.choice(["as it is", "pickle", "copy", "file"])
    if way == "pickle":
        return pickle.loads(pickle.dumps(model))
    if way == "copy":
        return copy.deepcopy(model)
    if way == "file":
        model.save(path)
        return streamptron.load(path)
    return model


def learn_and_undo(rng, model, twin, events, path, check, keep=8):
    """Learn events, and take some of the steps back, now or later, in any order."""
    steps = []
    for t, (x, y, w) in enumerate(events):
        step = model.learn_one(x, y, w, undo=True)
        steps.append((Step.from_bytes(bytes(step)), twin_undo.learn(twin, x, y, w)))
        while steps and rng.random() < 0.4:
            mine, its = steps.pop(rng.randrange(len(steps)) if rng.random() < 0.7 else -1)
            model.undo(mine if rng.random() < 0.5 else bytes(mine))
            twin_undo.undo(twin, its)
            check(model, twin, x)
        del steps[:-keep]
        if t % 40 == 39:
            model = reopened(model, rng, path)
    return model


def n_undone(model, events, first=50):
    """Learn events, after the first ones each twice and taken back once: how many answers are as
    before to the last bit."""
    same = 0
    for i, (x, y) in enumerate(events):
        if i > first:
            before = model.predict_proba_one(x)
            model.undo(bytes(model.learn_one(x, y, undo=True)))
            same += model.predict_proba_one(x) == before
            model._check()
        model.learn_one(x, y)
    return same


@seeds(2, n_slow=4)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("rule", RULES)
def test_weights_averages_and_answers_are_the_twins_without_the_step(rule, average, seed, path):
    rng = random.Random(f"{rule} {average} {seed}")
    if average == "pairs" and "Multiclass" in rule:
        rule = "MIRA"
    model, twin = twins(rule, **AVERAGES[average])

    def check(model, twin, x):
        check_counts(model, twin)
        check_answers(model, twin, x)

    everyday = average in ("ceiling", "pairs")
    events = random_events(
        *(rng, 80),
        keys="str" if everyday else rng.choice(FILED),
        labels=labels_for(rule),
        n_features=25,
        weighted=True,
    )
    model = learn_and_undo(rng, model, twin, events, path, check)
    check_weights(model, twin)
    model._check()


@pytest.mark.parametrize("learner", [Perceptron, AdaptiveClassifier])
def test_names_that_share_a_slot_come_back_together(learner):
    rng = random.Random(3)
    model = learner(hash_bits=2, hash_seed=5)
    for x, y, w in random_events(rng, 60):
        model.learn_one(x, y, w)
    for x, y, w in random_events(rng, 20):
        before = inside(model)
        model.undo(model.learn_one(x, y, w, undo=True))
        assert inside(model) == before
        model.learn_one(x, y, w)


@seeds(3)
@pytest.mark.parametrize("average", ["uniform", "none"])
@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron"])
def test_with_whole_numbers_nothing_is_left_of_a_step(learner, average, seed):
    """Bit for bit what the steps that were kept add up to."""
    rng = random.Random(seed)
    model, twin = pair_of(learner, average=average)
    taken = []
    for x, y, _ in random_events(rng, 300, labels=labels_for(learner), values="small"):
        step = model.learn_one(x, y, undo=True)
        taken.append((step, twin_undo.learn(twin, x, y)))
        if rng.random() < 0.3:
            mine, its = taken.pop(rng.randrange(len(taken)))
            model.undo(mine)
            twin_undo.undo(twin, its)
    for output in twin.w:
        twin.w[output], twin.u[output] = {}, {}
    for _, step in taken:
        twin.c = step.time
        for add in step.adds:
            twin.add(*add)
    twin.c = 301.0
    check_weights(model, twin)


def check_adaptive(model, twin, x):
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (
        *(twin.n_seen, twin.n_updates, twin.n_mistakes),
    )
    assert model.predict_one(x) == twin.predict_one(x)
    assert model.decision_function_one(x) == twin.decision_function_one(x)
    assert model.predict_proba_one(x) == twin.predict_proba_one(x)


ADAPTIVE = {
    "default": {},
    "forgetful": {"forget": 0.1},
    "watching": {"forget": "auto"},
    "no naive Bayes": {"naive_bayes": False},
    "no intercept": {"intercept": False},
    "ceiling": {"max_features": 12},
    "false alarms": {"false_positive_rate": {True: 0.1, "spam": 0.2, "b": 0.1, "d": 0.05}},
}


@seeds(4, n_slow=8)
@pytest.mark.parametrize("variant", ADAPTIVE)
def test_adaptive_classifier_answers_as_its_twin_without_the_step(variant, seed, path):
    rng = random.Random(f"{variant} {seed}")
    model, twin = pair_of("AdaptiveClassifier", **ADAPTIVE[variant])
    labels = rng.choice([(False, True), ("ham", "spam"), tuple("abc"), tuple("abcdefghij")])
    values, size = rng.choice([("one", 8), ("small", 8), ("real", 8), ("measured", 20)])
    events = random_events(
        rng,
        120,
        labels=labels,
        n_features=25,
        weighted=rng.random() < 0.5,
        values=values,
        size=size,
    )
    model = learn_and_undo(rng, model, twin, events, path, check_adaptive)
    model._check()
    streamptron.load(saved(model, path))


def saved(model, path):
    model.save(path)
    return path


@seeds(3)
@pytest.mark.parametrize("labels", [2, 3, 9])
def test_adaptive_classifiers_last_step_leaves_no_bit(labels, seed):
    rng = random.Random(seed)
    model = AdaptiveClassifier()
    for x, y, w in random_events(rng, 150, labels=range(labels), weighted=True):
        model.learn_one(x, y, w)
    for x, y, w in random_events(rng, 20, labels=range(labels)):
        before, features = inside(model), model.n_features
        model.undo(model.learn_one(x, y, w, undo=True))
        if model.n_features == features:
            assert inside(model) == before
        model.learn_one(x, y, w)


def inside(model):
    """What was learned: the numbers of all slots, and those kept once."""
    state = model.__getstate__()
    return state["arrays"]["weights"], state.get("adaptive"), state["labels"]


@seeds(4, n_slow=20)
@pytest.mark.parametrize("values", ["one", "measured"])
def test_steps_taken_with_two_labels_are_taken_back_once_there_are_more(values, seed):
    rng = random.Random(f"{values} {seed}")
    model, twin = pair_of("AdaptiveClassifier", forget=0.1)
    kept = []
    for labels in ["ab"] * 40 + ["abcdefgh"] * 20:
        [(x, y, w)] = random_events(rng, 1, labels=labels, n_features=25, values=values)
        kept.append((model.learn_one(x, y, w, undo=True), twin_undo.learn(twin, x, y, w)))
    rng.shuffle(kept)
    for mine, its in kept:
        model.undo(mine)
        twin_undo.undo(twin, its)
        check_adaptive(model, twin, x)
    model._check()


def test_the_event_of_a_third_label_is_taken_back():
    model = AdaptiveClassifier()
    for t in range(20):
        model.learn_one({"a": 1, f"b{t % 3}": 1}, "xy"[t % 2])
    step = model.learn_one({"a": 1, "c": 1}, "z", undo=True)
    learned = model.decision_function_one({"a": 1, "c": 1})
    assert model.weights["z"]["c"] > 0.0
    model.undo(step)
    assert model.weights["z"] == dict.fromkeys(model.weights["z"], 0.0)
    assert model.decision_function_one({"a": 1, "c": 1})["z"] < learned["z"]
    assert model.labels == ["x", "y", "z"]


def test_a_step_of_an_earlier_release_is_taken_back():
    golden = TESTS / "golden" / "undone-0.1.0.model"
    model = streamptron.load(golden)
    assert "late" in model.weights["new one"]
    assert model.n_updates == 121
    model.undo(Step.from_bytes(golden.with_suffix(".step").read_bytes()))
    assert not any("new one" in weights for weights in model.weights.values())
    assert model.n_updates == 120


def test_a_model_with_many_steps_taken_back_is_saved_without_an_object_for_each(tmp_path):
    n, file = 50_000, tmp_path / "undone.model"
    model = Perceptron()
    for _ in range(n):
        model.undo(model.learn_one({"a": 1}, True, undo=True))
    kept = model.learn_one({"a": 1}, True, undo=True)
    model.save(file)
    tracemalloc.start()
    model.save(file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * file.stat().st_size < 28 * n
    loaded = streamptron.load(file)
    assert loaded.__getstate__()["past"][1] == tuple(range(n))
    loaded.undo(kept)
    with pytest.raises(ValueError, match="taken back already"):
        loaded.undo(kept)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("learner", ["Perceptron", "AdaptiveClassifier"])
def test_a_real_stream_with_wrong_labels_taken_back(learner, path):
    rng = random.Random(7)
    model, twin = pair_of(learner)
    events = [(x, label == "spam", 1.0) for x, label in text_stream("sms_spam", 400)]
    events = [(x, y != (rng.random() < 0.1), w) for x, y, w in events]
    check = check_adaptive if learner == "AdaptiveClassifier" else check_answers
    model = learn_and_undo(rng, model, twin, events[:250], path, check, keep=60)
    for x, _, _ in events[250:]:
        check(model, twin, x)


# --- What is refused, and changes nothing


def state(model):
    found = model.__getstate__()
    found.pop("past", None)
    return pickle.dumps(found)


def many():
    """AdaptiveClassifier that has met more than two labels."""
    model = AdaptiveClassifier()
    for y in range(2, 7):
        model.learn_one({"a": 1, f"b{y % 3}": y}, y)
    return model


@pytest.fixture(params=[Perceptron, MulticlassPerceptron, AdaptiveClassifier, many])
def taken(request):
    """A model and a step of its own."""
    model = request.param()
    for t in range(20):
        step = model.learn_one({"a": 1, f"b{t % 3}": t % 4}, t % 5 < 2, undo=True)
    return model, step


def refused(model, step, error, why):
    before = state(model)
    with pytest.raises(error, match=why):
        model.undo(step)
    assert state(model) == before


def test_a_step_is_taken_back_once(taken, path):
    model, step = taken
    model.undo(step)
    refused(model, step, ValueError, "step has been taken back already")
    refused(copy.deepcopy(model), step, ValueError, "taken back already")
    model.save(path)
    refused(streamptron.load(path), step, ValueError, "taken back already")


def test_a_step_of_another_model_is_refused(taken):
    model, _ = taken
    other = type(model)()
    step = other.learn_one({"a": 1}, True, undo=True)
    refused(model, step, ValueError, "step is not of this model: another model learned the event")


def test_a_copy_takes_back_what_the_model_learned_before_and_not_after(taken, path):
    model, step = taken
    model.save(path)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), streamptron.load(path)):
        later = model.learn_one({"a": 1, "later": 1}, True, undo=True)
        refused(other, later, ValueError, "or a copy of this one did by itself")
        for _ in range(30):
            other.learn_one({"other": 1}, False)
        refused(other, later, ValueError, "or a copy of this one did by itself")
        its = other.learn_one({"other": 1}, True, undo=True)
        refused(model, its, ValueError, "or a copy of this one did by itself")
        other.undo(step)
        other.undo(its)


def test_a_merged_model_knows_no_steps(taken):
    model, step = taken
    other = copy.deepcopy(model)
    other.learn_one({"c": 1}, False)
    model.learn_one({"d": 1}, True)
    refused(streamptron.merge([model, other]), step, ValueError, "step is not of this model")


def test_a_step_of_another_kind_of_model_is_refused():
    step = Perceptron(margin=1.0).learn_one({"a": 1}, True, undo=True)
    refused(Perceptron(), step, ValueError, "step is of another kind of model than this Perceptron")


def test_what_is_no_step_is_refused(taken):
    model, _ = taken
    refused(model, None, TypeError, "step is None")
    refused(model, b"", ValueError, "step is not a step")
    refused(model, bytes(model.predict_ticket({"a": 1})), ValueError, "but a ticket")


@pytest.mark.parametrize("learner", [AROW, VotedPerceptron])
def test_learners_whose_steps_are_no_sums_say_so(learner):
    model = learner()
    with pytest.raises(TypeError, match=r"undo=True: .* cannot take a step back; Perceptron, Mu"):
        model.learn_one({"a": 1}, True, undo=True)
    with pytest.raises(TypeError, match=r"undo: .* cannot take a step back"):
        model.undo(b"")
    assert model.n_seen == 0


def test_ranking_takes_neither_tickets_nor_steps():
    model = RankingPerceptron()
    with pytest.raises(TypeError, match="cannot take a step back"):
        model.learn_one([{"a": 1}, {"b": 1}], 1, undo=True)
    for call in (lambda: model.predict_ticket({"a": 1}), lambda: model.learn_ticket(b"", 1)):
        with pytest.raises(TypeError, match="a ticket holds one event"):
            call()
    assert model.n_seen == 0


def test_undo_must_be_true_or_false():
    model = Perceptron()
    with pytest.raises(TypeError, match="undo=1; it must be True or False"):
        model.learn_one({"a": 1}, True, undo=1)
    assert model.learn_one({"a": 1}, True, undo=False) is None


def test_a_model_opened_in_place_takes_nothing_back(taken, path):
    model, step = taken
    model.save(path)
    with pytest.raises(RuntimeError, match="opened read-only"):
        streamptron.load(path, mmap=True).undo(step)


def test_an_event_that_moved_nothing_is_taken_back_too():
    model = Perceptron.from_weights({"a": 9.0})
    step = model.learn_one({"a": 1}, True, undo=True)
    model.undo(step)
    assert (model.weights, model.n_seen, model.n_updates) == ({"a": 9.0}, 1, 0)
    refused(model, step, ValueError, "taken back already")


# --- Bytes


def test_no_damaged_step_changes_anything(taken):
    model, step = taken
    data = bytes(step)
    rng = random.Random(5)
    for n in range(len(data)):
        refused(model, data[:n], ValueError, "step is")
    for _ in range(300):
        i, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        refused(model, data[:i] + bytes([data[i] ^ bit]) + data[i + 1 :], ValueError, "step is")


def test_steps_of_the_heaviest_events_are_taken_back():
    model, other = (streamptron.AdaptiveClassifier(forget=0, hash_seed=1) for _ in range(2))
    for i in range(4):
        event = {"a": 1.0}, "xy"[i % 2], 1e30
        model.undo(model.learn_one(*event, undo=True))
        for learner in (model, other):
            learner.learn_one(*event)
        assert model.weights == other.weights
        assert math.isfinite(model.weights["a"])


def test_a_step_of_a_newer_version_is_refused():
    model = AdaptiveClassifier()
    data = bytearray(bytes(model.learn_one({"a": 1}, "x", undo=True)))
    data[2] = 2
    message = "step is of version 2; this version of streamptron reads version 1"
    refused(model, sealed(bytes(data)), ValueError, message)


HEAVY = (1e-30, 0.5, 1.0, 1e9, 1e30)


@seeds(6, n_slow=60)
@pytest.mark.parametrize("labels", [2, 9])
def test_columns_that_share_a_place_with_other_names_come_back_once(labels, seed):
    """Of a hashed event several names may be the same column."""
    rng = random.Random(f"{labels}, {seed}")
    shape = rng.choice(("line", "auto"))
    model = AdaptiveClassifier(hash_seed=seed, hash_bits=rng.choice([2, 3, 4]), shape=shape)
    for _ in range(25):
        steps = []
        for _ in range(rng.randrange(1, 8)):
            x = {f"w{rng.randrange(9)}": 1 for _ in range(rng.randrange(3))}
            x |= {name: round(rng.gauss(0, 1), 2) for name in "de" if rng.random() < 0.8}
            steps.append(model.learn_one(x, rng.randrange(labels), rng.choice(HEAVY), undo=True))
        for step in rng.sample(steps, rng.randrange(len(steps) + 1)):
            model.undo(step)
            model._check()
        assert all(p == p for p in model.predict_proba_one({"w1": 1, "d": 0.5}).values())
    pickle.loads(pickle.dumps(model))._check()


@seeds(4)
@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_a_column_that_names_of_one_event_have_begun_together_loses_their_step_once(labels, seed):
    model = AdaptiveClassifier(hash_bits=1, hash_seed=seed)
    for y in labels:
        model.learn_one(dict.fromkeys("def", 1), y)
    step = model.learn_one({"d": 2, "e": 3, "f": 4}, "a", undo=True)
    model.learn_one(dict.fromkeys("def", 1.5), "b")
    model.undo(step)
    (n, width), numbers = model.__getstate__()["arrays"]["weights"]
    rows = [struct.unpack_from(f"{width}d", numbers, 8 * width * i) for i in range(n)]
    n_columns = [row[2:] for row in rows].count((1.0, 1.0))  # the last event's n and since
    assert n_columns == model.n_features


@seeds(2, n_slow=20)
def test_a_forged_step_is_refused_or_leaves_a_model_that_works(taken, seed, path):
    """Bytes that are changed, with a checksum that fits."""
    model, step = taken
    rng = random.Random(seed)
    n_refused = 0
    for _ in range(300):
        other = copy.deepcopy(model)
        before = state(other)
        why = None
        try:
            other.undo(forged(bytes(step), rng))
        except ValueError as error:
            why = str(error)
        if why is not None:
            n_refused += 1
            assert why.startswith("step ")
            assert state(other) == before
        other._check()
        other.learn_one({"a": 1, "b0": 1}, True)
        assert all(p == p for p in other.predict_proba_one({"a": 1, "b1": 2}).values())
    assert n_refused > 100
    other.save(path)
    streamptron.load(path)


def forged(data, rng):
    from tests.support.late import sealed

    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(16, len(data))
        data[i] = rng.choice([0, 1, 127, 128, 255, data[i] ^ 1 << rng.randrange(8)])
    if rng.random() < 0.2:
        del data[rng.randrange(16, len(data)) :]
    return sealed(bytes(data))


@pytest.mark.parametrize("learner", [Perceptron, AdaptiveClassifier])
def test_step_of_names_that_are_objects_is_taken_back(learner):
    model = learner(hash_seed=1)
    model.learn_one({"a": 1}, False)
    before = model.weights
    x = {Decimal("0.1"): 1, ("a", Fraction(1, 3)): 2}
    model.undo(model.learn_one(x, True, undo=True))
    assert {name: w for name, w in model.weights.items() if w} == before
    step = model.learn_ticket(model.predict_ticket(x), True, undo=True)
    assert bytes(Step.from_bytes(bytes(step))) == bytes(step)
    model.undo(step)


def test_steps_that_are_taken_within_the_reading_of_an_event_are_known():
    model = Perceptron()
    inner = []

    class Nested(dict):
        def __iter__(self):
            inner.append(model.learn_one({"b": 1}, True, undo=True))
            return super().__iter__()

        def items(self):
            inner.append(model.learn_one({"b": 1}, True, undo=True))
            return super().items()

    outer = model.learn_one(Nested(a=1), True, undo=True)
    assert inner
    for step in (outer, *inner):
        model.undo(step)


def test_forged_number_of_an_event_that_has_not_come_is_refused():
    model = Perceptron()
    step = model.learn_one({"a": 1}, True, undo=True)
    n = 1 << 40
    data = bytes(step)
    place = data.index(b"\0\0\0\0\0\0\xf0?") - 8
    forged = sealed(data[:place] + n.to_bytes(8, "little") + data[place + 8 :])
    with pytest.raises(ValueError, match="step is not of this model"):
        model.undo(forged)
    model.undo(step)
