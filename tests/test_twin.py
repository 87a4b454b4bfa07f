"""The compiled learners equal their plain-Python twin (twin/learners.py), event by event.

Equal means bit for bit, but for the exponential average and what follows from it: the core keeps it
as w - s v, the twin as its definition.
"""

import copy
import pickle
import random
from functools import partial
from itertools import islice

import pytest

import streamptron
from tests.support.marks import in_turn, seeds
from tests.support.streams import (
    KEYS,
    VALUES,
    make_key,
    needs_data,
    random_events,
    rank,
    svmlight,
    tagging_stream,
    text_stream,
)
from tests.support.twins import (
    KEPT,
    LABELS,
    RULES,
    check_answers,
    check_counts,
    check_explanation,
    check_stream,
    check_weights,
    labels_for,
    twins,
)
from tests.twin import learners

SERVE_BEST = [kept for kept in KEPT if kept.endswith("best")]

rules = pytest.mark.parametrize("rule", RULES)
some_rules = pytest.mark.parametrize("rule", ["Perceptron", "MulticlassPerceptron", "MIRA"])


@seeds(2)
@pytest.mark.parametrize("kept", KEPT)
@rules
def test_learner_equals_its_twin_at_every_event(rule, kept, seed):
    intercept = seed % 2 == 0
    rng = random.Random(f"{rule}, {kept}, {intercept}, {seed}")
    labels = labels_for(rule)
    class_weight = rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}, {labels[-1]: 0.0}])
    model, twin = twins(
        rule,
        intercept=intercept,
        class_weight=class_weight,
        half_life=rng.choice([1, 20, 1000.5]),
        **KEPT[kept],
    )
    # Of small whole numbers a true average may be exactly a tie, whose side is then a matter of
    # rounding: for the exponential average there is noise.
    values = "real" if twin.average == "exponential" else rng.choice(list(VALUES))
    events = random_events(
        rng,
        n=120,
        labels=labels,
        keys=rng.choice([*KEYS, "mixed"]),
        values=values,
        weighted=rng.random() < 0.5,
    )
    check_stream(model, twin, events)
    assert twin.n_updates > 0


@pytest.mark.slow
@seeds(1, n_slow=1)
@pytest.mark.parametrize("kept", SERVE_BEST)
@some_rules
def test_learner_equals_its_twin_on_a_long_stream_that_drifts(rule, kept, seed):
    """More than the 1024 events after which the scales fade, and each vector has its good times.

    With so short a half-life the core's v outgrows its scale, 2^256, more than once.
    """
    rng = random.Random(f"{rule}, {kept}, {seed}")
    labels = labels_for(rule)[:3]
    model, twin = twins(rule, half_life=2, **KEPT[kept])
    answered = set()

    def events():
        for _ in range(3):
            for x, y, w in random_events(rng, n=500, labels=labels, values="real", size=5):
                answered.add(twin.served_for(x))
                yield x, y, w

    check_stream(model, twin, events())
    assert answered == set(twin.contestants)


@pytest.mark.once
@pytest.mark.parametrize(
    ("rule", "kept", "max_features"), in_turn(RULES, SERVE_BEST, [1, 5, 12, 40, 70])
)
def test_learner_lets_the_same_features_leave_as_its_twin(rule, kept, max_features):
    """Events of up to 8 features, of 160; the hand looks at 16, and goes round more than once."""
    rng = random.Random(f"{rule}, {kept}, {max_features}")
    model, twin = twins(rule, max_features=max_features, half_life=20, **KEPT[kept])
    keys = rng.choice([kind for kind in KEYS if kind != "object"])
    events = random_events(
        rng,
        n=250,
        labels=labels_for(rule),
        keys=keys,
        values="real" if twin.average == "exponential" else rng.choice(list(VALUES)),
        weighted=rng.random() < 0.5,
        n_features=160,
    )
    check_stream(model, twin, events)
    model._check()
    assert twin.n_evicted > 20


@some_rules
@seeds(3)
def test_learner_that_starts_from_weights_equals_its_twin(rule, seed):
    rng = random.Random(f"{rule}, {seed}")
    learner, _ = RULES[rule]
    weights = {make_key("mixed", i): rng.choice([0.0, rng.gauss(0, 1)]) for i in range(30)}
    intercept = 0.5
    if learner != "Perceptron":
        weights = {label: {f: rng.gauss(0, 1) for f in weights} for label in LABELS[:3]}
        intercept = {LABELS[1]: 0.5}
    model, twin = (
        getattr(lib, learner).from_weights(weights, intercept, pocket=True)
        for lib in (streamptron, learners)
    )
    check_weights(model, twin)
    check_stream(model, twin, random_events(rng, n=100, keys="mixed", labels=labels_for(rule)))


@seeds(2)
@some_rules
def test_hashed_features_that_do_not_collide_equal_the_twin(rule, seed):
    rng = random.Random(f"{rule}, {seed}")
    model, twin = twins(rule, hash_bits=22, pocket=True)
    for keys in KEYS:
        if keys == "object":
            continue
        for x, y, w in random_events(rng, n=60, n_features=20, keys=keys, labels=labels_for(rule)):
            check_answers(model, twin, x)
            model.learn_one(x, y, w)
            twin.learn_one(x, y, w)
    assert (model.n_updates, model.n_mistakes) == (twin.n_updates, twin.n_mistakes)
    assert model.intercept_ == twin.intercept_


def check_controlled_stream(model, twin, rng, n, names, truth):
    """Events whose scores are their values, and which teach the probabilities only, by w = 0.

    In the end come scores of all sizes, and labels at random.
    """
    sizes = [0.0, 1.0, -1.0, 1e40, -1e40, 1e-300, -1e-300]
    events = []
    for _ in range(n):
        x = {name: rng.gauss(0, 1) for name in names}
        events.append((x, truth(x), 0.0))
    check_stream(model, twin, events)
    bounded = copy.deepcopy(twin.calibrators["current"])
    for _ in range(300):
        x = {name: rng.choice([*sizes, rng.gauss(0, 1)]) for name in names}
        events.append((x, rng.choice(twin.labels), 0.0))
    check_stream(model, twin, events[n:])
    return bounded


@pytest.mark.parametrize(
    ("truth", "A"),
    [(lambda x: x["d"] > 0, 16), (lambda x: x["d"] < 0, 0)],
    ids=["right", "wrong"],
)
def test_probabilities_equal_the_twin_if_all_answers_are(truth, A):
    model, twin = (
        lib.Perceptron.from_weights({"d": 1.0}, serve="current") for lib in (streamptron, learners)
    )
    calibrator = check_controlled_stream(model, twin, random.Random(A), 5000, "d", truth)
    assert calibrator.A == A


@pytest.mark.parametrize("n_labels", [2, 3, 5])
@pytest.mark.parametrize(
    ("truth", "beta"),
    [(lambda x: max(x, key=x.get), 64), (lambda x: min(x, key=x.get), 1 / 64)],
    ids=["right", "wrong"],
)
def test_probabilities_of_labels_equal_the_twin_if_all_answers_are(truth, beta, n_labels):
    labels = "abcde"[:n_labels]
    model, twin = (
        lib.MIRA.from_weights({label: {label: 1.0} for label in labels}, serve="current")
        for lib in (streamptron, learners)
    )
    rng = random.Random(n_labels)
    calibrator = check_controlled_stream(model, twin, rng, 2500, labels, truth)
    assert calibrator.beta == beta


# Real streams


def binary(stream, positive):
    return ((x, y == positive) for x, y in stream)


BINARY_STREAMS = {
    "trec07p": lambda: binary(text_stream("trec07p_first12000", limit=300), "spam"),
    "a9a": lambda: binary(svmlight("a9a", limit=1500), 1),
    "svmguide3": lambda: binary(svmlight("svmguide3"), 1),
}
LABEL_STREAMS = {
    "20news": lambda: text_stream("20news_train", limit=60),
    "loghub": lambda: text_stream("loghub_system", limit=600),
    "rank": lambda: islice((candidate for query in rank() for candidate in query), 300),
    "tagging": lambda: islice(tagging_stream("train"), 500),
}
ON_REAL_STREAMS = [
    "none pocket serve=best",
    "uniform pocket serve=best",
    "exponential serve=best",
]


@pytest.mark.once
@needs_data
@pytest.mark.parametrize("kept", ON_REAL_STREAMS)
@pytest.mark.parametrize("stream", BINARY_STREAMS)
@pytest.mark.parametrize("rule", ["Perceptron", "Perceptron margin=0.5"])
def test_binary_learner_equals_its_twin_on_a_real_stream(rule, stream, kept):
    model, twin = twins(rule, intercept=stream != "svmguide3", **KEPT[kept])
    check_stream(model, twin, ((x, y, 1.0) for x, y in BINARY_STREAMS[stream]()))
    assert twin.n_mistakes > 0


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("rule", "stream", "kept"),
    in_turn(["MulticlassPerceptron", "MIRA", "MIRA on mistakes"], LABEL_STREAMS, ON_REAL_STREAMS),
)
def test_multiclass_learner_equals_its_twin_on_a_real_stream(rule, stream, kept):
    model, twin = twins(rule, **KEPT[kept])
    check_stream(model, twin, ((x, y, 1.0) for x, y in LABEL_STREAMS[stream]()))
    assert twin.n_mistakes > 0


@pytest.mark.once
@needs_data
@pytest.mark.parametrize("max_features", [100, 1000])
def test_learner_lets_the_same_features_of_a_real_stream_leave_as_its_twin(max_features):
    model, twin = twins("Perceptron", max_features=max_features)
    check_stream(model, twin, ((x, y, 1.0) for x, y in BINARY_STREAMS["trec07p"]()))
    model._check()
    assert twin.n_evicted > 1000


# One event asked about more than once


@seeds(2)
@pytest.mark.parametrize("kept", ["uniform pocket serve=best", "exponential serve=best"])
@rules
def test_test_then_train_one_predicts_then_learns_the_very_same_model(rule, kept, seed):
    rng = random.Random(f"{rule}, {kept}, {seed}")
    at_once, (learned, _) = twins(rule, **KEPT[kept])[0], twins(rule, **KEPT[kept])
    events = random_events(rng, n=100, keys="mixed", labels=labels_for(rule), weighted=True)
    for x, y, w in events:
        prediction = learned.predict_one(x)
        learned.learn_one(x, y, w)
        assert at_once.test_then_train_one(x, y, w) == prediction
        assert pickle.dumps(at_once) == pickle.dumps(learned)


def change(x, rng, name, value):
    """Change x in place, mostly in ways that a careless memory of the last event overlooks.

    New names are made when old ones are gone, and so may lie at the same addresses.
    """
    names, values = list(x), list(x.values())
    place = rng.randrange(len(x) + 1)
    how = rng.choice(["value", "name", "delete", "insert", "others", "order", "copies"])
    if how == "insert" or place == len(x):
        names.insert(place, name())
        values.insert(place, value())
    elif how == "value":
        x[names[place]] = value()
        return
    elif how == "delete":
        del x[names[place]]
        return
    x.clear()
    if how == "name":
        names[place] = None
        names[place] = name()
    elif how == "others":
        names = len(names)
        names = [name() for _ in range(names)]
    elif how == "order":
        rng.shuffle(names)
    elif how == "copies":
        names = [pickle.loads(pickle.dumps(old)) for old in names]
    x.update(zip(names, values, strict=True))


@seeds(20)
@some_rules
def test_memory_of_the_last_event_is_never_fooled(rule, seed):
    """One dict, changed in place between calls of every kind, some of which fail."""
    rng = random.Random(f"{rule}, {seed}")
    keys = rng.choice([*KEYS, "mixed"])
    labels = labels_for(rule)[:3]
    average = rng.choice(["none", "uniform"])
    model, twin = twins(
        rule,
        average=average,
        pocket=rng.random() < 0.5,
        intercept=rng.random() < 0.7,
        max_features=None if keys in ("object", "mixed") else rng.choice([None, 12]),
    )

    def name():
        return make_key(keys, rng.randrange(40))  # a new object each time

    def value():
        return rng.choice([1, 1, 1.0, True, 2, -1, 0.5, 0, None, *["red"] * (keys == "str")])

    x = {}
    for _ in range(300):
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            change(x, rng, name, value)
        y = rng.choice(labels)
        call = rng.choice(
            ["predict", "decision", "probabilities", "explain", "learn", "learn", "both"]
            + ["fail"] * (rng.random() < 0.5)
            + ["pickle", "copy"] * (rng.random() < 0.2)
        )
        if call == "predict":
            assert model.predict_one(x) == twin.predict_one(x)
        elif call == "decision":
            assert model.decision_function_one(x) == twin.decision_function_one(x)
        elif call == "probabilities":
            assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        elif call == "explain" and twin.labels:
            check_explanation(model, twin, x)
        elif call == "learn":
            model.learn_one(x, y)
            twin.learn_one(x, y)
        elif call == "both":
            assert model.test_then_train_one(x, y) == twin.predict_one(x)
            twin.learn_one(x, y)
        elif call == "fail":
            door = rng.choice([model.predict_one, partial(model.learn_one, y=y)])
            with pytest.raises(TypeError, match="reads as a number"):
                door({name(): 3, **x, "zip": "10115"})
        elif call == "pickle":
            model = pickle.loads(pickle.dumps(model))
        elif call == "copy":
            model = copy.deepcopy(model)
    check_counts(model, twin)
    check_weights(model, twin)
    check_answers(model, twin, x)


@some_rules
def test_model_that_is_given_another_state_has_forgotten_its_last_event(rule):
    rng = random.Random(rule)
    model, _ = twins(rule)
    x = {make_key("str", i): 1 for i in range(10)}
    for _ in range(3):
        other, _ = twins(rule)
        for event, y, w in random_events(rng, n=50, labels=labels_for(rule), n_features=10):
            other.learn_one(event, y, w)
        model.__setstate__(other.__getstate__())
        assert model.decision_function_one(x) == other.decision_function_one(x)
