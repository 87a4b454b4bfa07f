"""A ticket, learned later, is the event learned at that moment, bit for bit."""

import copy
import pickle
import random
from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import streamptron
from streamptron import AdaptiveClassifier, MulticlassPerceptron, Perceptron, Ticket, Tokenizer
from tests.support.late import sealed
from tests.support.marks import seeds
from tests.support.streams import KEYS, labelled_texts, needs_data, random_events
from tests.support.variants import LEARNERS

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

EVERY_NAME = {
    "free": 1,
    "": 2,
    "fifteen letters": 3,
    "sixteen  letters": 1.0,
    "é🙂\ud800": 253,
    "n" * 200: 254,
    7: -1,
    -(2**60): 0.5,
    2**80: 0.1,
    0.25: 1e-50,
    b"\0raw": 1e50,
    b"b" * 70: Decimal("2.5"),
    None: Fraction(1, 3),
    ("a", (1, None)): np.float32(0.3),
    date(2024, 2, 29): True,
    Fraction(22, 7): 4,
    "zero": 0,
}
VARIANTS = {
    "default": {},
    "hashed": {"hash_bits": 12},
    "ceiling": {"max_features": 15},
    "pairs": {"degree": 2},
    "pairs under a ceiling": {"degree": 2, "max_features": 30},
    "class weights": {"class_weight": {True: 2.0}},
}
FILED = [kind for kind in KEYS if kind != "object"]


def make(learner, variant):
    given = VARIANTS[variant]
    if learner == "VotedPerceptron":
        given = {name: value for name, value in given.items() if name != "max_features"}
    return LEARNERS[learner](**given, hash_seed=0)


@seeds(2, n_slow=4)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_late_labels_teach_what_learn_one_would_at_that_moment(learner, variant, seed, path):
    """Through files, pickles and evictions in between."""
    rng = random.Random(f"{learner} {variant} {seed}")
    late, at_once = make(learner, variant), make(learner, variant)
    keys = rng.choice(FILED)
    waiting = []
    for t, (x, y, w) in enumerate(random_events(rng, 120, keys=keys, weighted=True)):
        ticket = late.predict_ticket(x)
        assert ticket.prediction == late.predict_one(x)
        waiting.append((x, bytes(ticket), y, w))
        while waiting and rng.random() < 0.5:
            x, data, y, w = waiting.pop(rng.randrange(len(waiting)))
            late.learn_ticket(data, y, w)
            at_once.learn_one(x, y, w)
        if t % 30 == 29:
            late.save(path)
            late = rng.choice([streamptron.load(path), pickle.loads(pickle.dumps(late))])
    assert late.n_seen > 50
    assert pickle.dumps(late) == pickle.dumps(at_once)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", [dict, Counter])
def test_a_ticket_holds_names_and_values_of_every_kind(learner, kind):
    model, other = LEARNERS[learner](hash_seed=0), LEARNERS[learner](hash_seed=0)
    x = kind(EVERY_NAME)
    for y in (True, False, True):
        model.learn_one(x, y)
        other.learn_ticket(pickle.loads(pickle.dumps(other.predict_ticket(x))), y)
    assert pickle.dumps(model) == pickle.dumps(other)


def test_a_ticket_survives_merging_and_steps_of_others():
    model = MulticlassPerceptron()
    ticket = model.predict_ticket({"a": 1, "b": 2})
    parts = [copy.deepcopy(model) for _ in range(2)]
    for k, part in enumerate(parts):
        part.learn_one({"c": 1}, k)
    merged = streamptron.merge(parts)
    expected = copy.deepcopy(merged)
    merged.learn_ticket(ticket, "new")
    expected.learn_one({"a": 1, "b": 2}, "new")
    assert merged.weights == expected.weights


def test_a_ticket_of_a_text_needs_no_tokenizer(path):
    pipeline = Tokenizer() | AdaptiveClassifier()
    pipeline.learn_one("win a free prize", "spam")
    pipeline.learn_one("see you there", "ham")
    ticket = pipeline.predict_ticket("a free prize for you")
    assert ticket.prediction == pipeline.predict_one("a free prize for you")
    alone = copy.deepcopy(pipeline[-1])
    other = copy.deepcopy(pipeline)
    alone.learn_ticket(ticket, "spam")
    pipeline.learn_one("a free prize for you", "spam")
    other.learn_ticket(bytes(ticket), "spam")
    assert pickle.dumps(alone) == pickle.dumps(pipeline[-1]) == pickle.dumps(other[-1])


def test_a_pipeline_takes_back_what_it_learned():
    pipeline = Tokenizer() | Perceptron()
    step = pipeline.learn_one("free prize", True, undo=True)
    pipeline.learn_one("meeting", False)
    pipeline.undo(step)
    assert pipeline[-1].weights == {"meeting": -1.0}


def test_other_pipelines_are_told_to_use_their_learner():
    from river import compose, preprocessing

    pipeline = Tokenizer() | Perceptron()
    pipeline = compose.Pipeline(*pipeline.steps.values())
    assert not hasattr(pipeline, "predict_ticket")
    longer = Tokenizer() | preprocessing.StandardScaler() | Perceptron()
    if hasattr(longer, "predict_ticket"):
        with pytest.raises(TypeError, match=r"use its last step, model\[-1\].predict_ticket"):
            longer.predict_ticket("a")


@needs_data
def test_texts_of_a_real_stream_learned_late():
    late, at_once = (Tokenizer() | AdaptiveClassifier(hash_seed=0) for _ in range(2))
    texts = list(labelled_texts("sms_spam", 300))
    sizes = []
    for (text, _), (before, label) in zip(texts[10:], texts, strict=False):
        sizes.append(len(bytes(late.predict_ticket(text))))
        late.learn_ticket(late.predict_ticket(before), label)
        at_once.learn_one(before, label)
    assert pickle.dumps(late[-1]) == pickle.dumps(at_once[-1])
    assert max(sizes) < 2 * max(len(text) for text, _ in texts) + 40


def test_the_label_predicted_comes_back_as_it_was():
    model = MulticlassPerceptron()
    for label in ("ham", 7, ("baked", None), b"raw", True):
        model = MulticlassPerceptron()
        model.learn_one({"a": 1}, label)
        found = Ticket.from_bytes(bytes(model.predict_ticket({"a": 1}))).prediction
        assert (found, type(found)) == (label, type(label))
    assert Perceptron().predict_ticket({}).prediction is False
    assert AdaptiveClassifier().predict_ticket({}).prediction is None


# --- What is refused, and teaches nothing


def refused(model, ticket, error, why, y=True):
    before = pickle.dumps(model)
    with pytest.raises(error, match=why):
        model.learn_ticket(ticket, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "other",
    [Perceptron(margin=1.0), Perceptron(hash_bits=9), AdaptiveClassifier(), MulticlassPerceptron()],
    ids=["parameter", "hashed", "class", "other class"],
)
def test_a_ticket_of_another_kind_of_model_is_refused(other):
    ticket = other.predict_ticket({"a": 1})
    refused(Perceptron(), ticket, ValueError, "ticket is for another kind of model")


def test_what_is_no_ticket_is_refused():
    model = Perceptron()
    refused(model, "ticket", TypeError, "ticket is 'ticket', a str; it must be a Ticket")
    refused(model, b"", ValueError, "ticket is not a ticket, or was cut off")
    step = model.learn_one({"a": 1}, True, undo=True)
    refused(model, bytes(step), ValueError, "ticket is not a ticket, but a step")
    newer = bytearray(bytes(model.predict_ticket({"a": 1})))
    newer[2] = 3
    refused(model, bytes(newer), ValueError, "ticket is of version 3")
    with pytest.raises(ValueError, match="data is not a ticket"):
        Ticket.from_bytes(b"no")
    with pytest.raises(TypeError, match="data is 'x', a str; it must be the bytes of a Ticket"):
        Ticket.from_bytes("x")
    with pytest.raises(TypeError, match="a Ticket is made by"):
        Ticket()


def test_a_wrong_label_is_refused_as_learn_one_does():
    model = Perceptron()
    ticket = model.predict_ticket({"a": 1})
    refused(model, ticket, ValueError, "y='spam'", y="spam")
    with pytest.raises(ValueError, match="w=-1"):
        model.learn_ticket(ticket, True, -1)
    assert model.n_seen == 0


def test_names_that_no_file_can_hold_get_no_ticket():
    model = Perceptron()
    with pytest.raises(TypeError, match="x has a feature name that no ticket can hold"):
        model.predict_ticket({frozenset("a"): 1})
    deep = ()
    for _ in range(150):
        deep = (deep,)
    with pytest.raises(TypeError, match="nested too deeply"):
        model.predict_ticket({deep: 1})
    model.learn_one({"a": 1}, True)


@seeds(2, n_slow=4)
def test_damaged_bytes_teach_nothing(seed):
    rng = random.Random(seed)
    model = Perceptron.from_weights({"a": 1.0})
    data = bytes(model.predict_ticket(EVERY_NAME))
    for n in rng.sample(range(len(data)), 60):
        refused(model, data[:n], ValueError, "ticket is")
    for _ in range(200):
        i, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        refused(model, data[:i] + bytes([data[i] ^ bit]) + data[i + 1 :], ValueError, "ticket is")
    refused(model, data + b"\0", ValueError, "ticket is")


@seeds(3, n_slow=10)
@pytest.mark.parametrize("learner", ["Perceptron", "AdaptiveClassifier", "VotedPerceptron"])
def test_forged_bytes_are_an_event_or_refused(learner, seed, path):
    """Bytes that are changed, with a checksum that fits."""
    rng = random.Random(seed)
    model = LEARNERS[learner]()
    data = bytes(model.predict_ticket(EVERY_NAME))
    n_refused = n_learned = 0
    for _ in range(400):
        forged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            i = rng.randrange(16, len(forged))
            forged[i] = rng.choice([0, 1, 127, 128, 254, 255, forged[i] ^ 1 << rng.randrange(8)])
        if rng.random() < 0.1:
            del forged[rng.randrange(16, len(forged)) :]
        before = model.n_seen
        why = None
        try:
            model.learn_ticket(sealed(bytes(forged)), rng.random() < 0.5)
            n_learned += 1
        except ValueError as error:
            why = str(error)
            n_refused += 1
        assert why is None or why.startswith("ticket ")
        assert model.n_seen == before + (why is None)
    assert n_refused > 50
    assert n_learned > 50
    model._check()
    model.save(path)
    assert streamptron.load(path).n_seen == n_learned


def test_ticket_fits_parameters_that_are_equal_however_they_are_written():
    ticket = Perceptron(margin=1, class_weight={True: 2, False: 1}).predict_ticket({"a": 1})
    model = Perceptron(margin=1.0, class_weight={0: 1.0, 1: 2})
    model.learn_ticket(ticket, True)
    assert model.weights == {"a": 2.0}
