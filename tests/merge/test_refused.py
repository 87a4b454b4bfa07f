"""What merge, delta and apply refuse, and that nothing changes then."""

import copy
import json
import pickle
import random
import re
import zlib

import pytest

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    Delta,
    ModelFileError,
    MulticlassPerceptron,
    Perceptron,
    Tokenizer,
    VotedPerceptron,
    load,
    merge,
)
from streamptron.common.names import short_repr, type_shown
from tests.support.shards import learn, shards_of, state
from tests.support.streams import random_events
from tests.support.variants import LEARNERS, labels_for


def started(learner="Perceptron", n=2, **params):
    """A base and models that went on from it."""
    labels = labels_for(learner)
    base = LEARNERS[learner](hash_seed=1, **params)
    learn(base, random_events(random.Random(0), 40, labels=labels))
    streams = [random_events(random.Random(k), 30, labels=labels, n_features=60) for k in range(n)]
    return base, shards_of(base, streams)


def refused(error, text, call, *args, **named):
    with pytest.raises(error, match=re.escape(text)):
        call(*args, **named)


def test_no_models_and_things_that_are_none():
    refused(ValueError, "there are no models to merge", merge, [])
    refused(TypeError, "models[0] is 3, an int", merge, [3])
    refused(TypeError, "models[1] is None, a NoneType; it must be one", merge, [Perceptron(), None])
    for models in (None, 3, "ab", Perceptron(), {"a": Perceptron()}):
        said = (
            f"models is {short_repr(models)}, {type_shown(models)}; give a list of models: merge(["
        )
        refused(TypeError, said, merge, models)
    refused(TypeError, "since is 3, an int; it must be one", merge, [Perceptron()], since=3)
    pipeline = Tokenizer() | Perceptron()
    refused(TypeError, "give a list of models", merge, pipeline)
    refused(TypeError, "its last step: model[-1]", merge, [pipeline])


@pytest.mark.parametrize(
    ("name", "learner", "params"),
    [
        ("margin", Perceptron, {"margin": 0.5}),
        ("average", Perceptron, {"average": "none"}),
        ("half_life", Perceptron, {"half_life": 7}),
        ("intercept", Perceptron, {"intercept": False}),
        ("hash_bits", Perceptron, {"hash_bits": 4}),
        ("hash_seed", Perceptron, {"hash_seed": 4}),
        ("max_features", Perceptron, {"max_features": 4}),
        ("degree", Perceptron, {"degree": 2}),
        ("C", MIRA, {"C": 0.5}),
        ("update", MIRA, {"update": "mistake"}),
        ("r", AROW, {"r": 0.5}),
        ("eta", AdaptiveClassifier, {"eta": 0.5}),
    ],
)
def test_models_of_other_parameters_by_the_parameters_name(name, learner, params):
    refused(ValueError, f"models[1] has {name}=", merge, [learner(), learner(**params)])
    refused(ValueError, f"models[0] has {name}=", merge, [learner(**params)], since=learner())
    delta = learner(**params)
    other = copy.deepcopy(delta)
    other.learn_one({"a": 1}, True)
    refused(ValueError, f"{name}=", learner().apply, other.delta(delta))


def test_models_of_other_classes_or_secret_seeds():
    refused(
        TypeError, "models[1] is a MIRA and models[0] a Perceptron", merge, [Perceptron(), MIRA()]
    )
    refused(TypeError, "a VotedPerceptron, which cannot be merged", merge, [VotedPerceptron()])
    hashed = [Perceptron(hash_bits=4), Perceptron(hash_bits=4)]
    refused(ValueError, "models[1] has a different secret hash seed", merge, hashed)


def test_models_that_did_not_go_on_from_since():
    base, models = started()
    later, same = models[1], copy.deepcopy(models[1])
    words = "models[1] is not a continuation of since"
    refused(ValueError, words, merge, [same, base], since=later)
    stranger = learn(Perceptron(hash_seed=1), random_events(random.Random(9), 99, keys="int"))
    refused(ValueError, words, merge, [models[0], stranger], since=base)
    refused(ValueError, "the model is not a continuation", stranger.delta, base)
    refused(ValueError, "the model is not a continuation", base.delta, models[0])
    many, shards = started("MIRA")
    labelled = learn(MIRA(hash_seed=1), random_events(random.Random(9), 99, labels=("u", "v")))
    refused(ValueError, "its first labels are not", merge, [shards[0], labelled], since=many)


def of_another_history():
    base, models = started()
    return models, [learn(Perceptron(hash_seed=1), random_events(random.Random(9), 70)), base]


def of_weights():
    given = [Perceptron.from_weights({name: 1.0}) for name in "ab"]
    return given, [Perceptron()]


def undone():
    base = Perceptron(hash_seed=1)
    step = base.learn_one({"a": 1}, True, undo=True)
    model, other = copy.deepcopy(base), copy.deepcopy(base)
    model.undo(step)
    other.learn_one({"b": 1}, False)
    return [model, other], [base]


@pytest.mark.parametrize("made", [of_another_history, of_weights, undone])
def test_a_model_that_is_not_since_and_has_seen_as_many_events(made):
    """Nothing it has learned may be left out in silence."""
    models, bases = made()
    since = next(base for base in bases if base.n_seen == models[0].n_seen)
    said = f"has seen as many events as since, {since.n_seen}, and is another model"
    refused(ValueError, f"models[0] {said}", merge, models, since=since)
    refused(ValueError, f"the model {said}", models[0].delta, since)


def test_a_model_that_has_learned_nothing_since_has_no_say(tmp_path):
    base, (model, _) = started("MIRA")
    base.save(tmp_path / "base")
    mapped = load(tmp_path / "base", mmap=True)
    for since in (base, mapped):
        for idle in (base, copy.deepcopy(base), pickle.loads(pickle.dumps(base)), mapped):
            assert state(merge([idle, model], since=since)) == state(model)
            assert state(merge([idle], since=since)) == state(base)
            again = copy.deepcopy(base)
            again.apply(Delta.from_bytes(idle.delta(since).to_bytes()))
            assert state(again) == state(base)


def test_a_model_given_twice():
    base, models = started()
    for since in (None, base):
        said = "models[2] is models[0] again; give each model once, or it counts twice"
        refused(ValueError, said, merge, [*models, models[0]], since=since)


def test_a_delta_of_no_events_with_weights():
    base = Perceptron(hash_seed=1)
    model = copy.deepcopy(base)
    model.learn_one({"a": 1}, True)
    header, body = opened(model.delta(base).to_bytes())
    header["__metadata__"]["counters"] = "[0,0,0]"
    forged = Delta.from_bytes(sealed(header, bytes(body)))
    refused(ModelFileError, "has seen no events", base.apply, forged)
    assert base.weights == {}


def test_more_labels_together_than_max_labels():
    base = MulticlassPerceptron(max_labels=2)
    models = shards_of(base, [[({"a": 1}, y, 1.0) for y in two] for two in ("ab", "bc")])
    refused(ValueError, "have 3 labels, more than max_labels=2", merge, models, since=base)


def test_a_delta_given_twice_or_of_another_base():
    base, models = started()
    deltas = [model.delta(base, shard=k) for k, model in enumerate(models)]
    refused(ValueError, "shard 0 occurs twice", Delta.combine, [deltas[0], deltas[1], deltas[0]])
    refused(ValueError, "there are no deltas", Delta.combine, [])
    refused(TypeError, "deltas[1] is 3, an int; it must be a Delta", Delta.combine, [deltas[0], 3])
    refused(TypeError, "deltas is None, a NoneType; give a list", Delta.combine, None)
    refused(TypeError, "give a list of deltas: Delta.combine([", Delta.combine, deltas[0])
    refused(TypeError, "delta is b'', a bytes; it must be a Delta", base.apply, b"")
    for data in ("x", None, 3, [1]):
        said = f"data is {short_repr(data)}, {type_shown(data)}; it must be"
        refused(TypeError, said, Delta.from_bytes, data)
    refused(TypeError, "model.delta(since)", Delta)
    later = copy.deepcopy(models[0])
    later.learn_one({"a": 1}, True)
    another = later.delta(models[0], shard=5)
    refused(ValueError, "another model than shard 0", Delta.combine, [deltas[0], another])
    refused(ValueError, "continues the model", base.apply, another)
    base.apply(deltas[0])
    after = state(base)
    for delta in (deltas[0], deltas[1], Delta.combine(deltas)):
        refused(ValueError, "nothing has changed", base.apply, delta)
        assert state(base) == after
    for shard in (-1, True, 0.5, "a"):
        with pytest.raises((TypeError, ValueError), match="shard="):
            models[0].delta(base, shard=shard)


def test_a_delta_is_pickled_and_says_what_it_is():
    base, models = started()
    delta = Delta.combine([model.delta(base, shard=k) for k, model in enumerate(models)])
    again = pickle.loads(pickle.dumps(delta))
    assert again.to_bytes() == delta.to_bytes()
    assert (again.shards, again.base, again.nbytes) == ([0, 1], delta.base, delta.nbytes)
    assert "Perceptron" in repr(again)


def test_a_row_of_two_labels_costs_at_most_24_bytes():
    base = Perceptron.from_weights(dict.fromkeys(range(5000), 1.0))
    model = learn(copy.deepcopy(base), [(dict.fromkeys(range(5000), 1), False, 1.0)])
    assert model.n_updates == 1
    assert len(model.delta(base).to_bytes()) < 24 * 5000


# --- Forged, cut and changed bytes

FORGED = {
    "names": ("Perceptron", {}),
    "ceiling": ("Perceptron", {"max_features": 30}),
    "hashed": ("MIRA", {"hash_bits": 6}),
    "folds": ("MulticlassPerceptron", {"average": "exponential", "half_life": 1, "pocket": True}),
    "a split": ("AROW", {}),
    "adaptive": ("AdaptiveClassifier", {}),
}


def sealed(header, body):
    """Bytes whose checksums fit whatever is in them."""
    metadata = {
        **header["__metadata__"],
        "arrays_crc32": f"{zlib.crc32(body):08x}",
        "header_crc32": "0" * 8,
    }
    text = json.dumps({**header, "__metadata__": metadata}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    text = len(text).to_bytes(8, "little") + text
    crc = b'"header_crc32":"%08x"' % zlib.crc32(text)
    return text.replace(b'"header_crc32":"00000000"', crc) + body + bytes(-len(body) % 64)


def opened(data):
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + n])
    size = max((e["data_offsets"][1] for k, e in header.items() if k != "__metadata__"), default=0)
    return header, bytearray(data[8 + n : 8 + n + size])


def mutated(rng, data):
    """The bytes with something changed, mostly with checksums that fit."""
    way = rng.randrange(6)
    if way == 0:
        return data[: rng.randrange(len(data))]
    if way == 1:
        at = rng.randrange(len(data))
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    header, body = opened(data)
    if way <= 3:
        for _ in range(rng.choice([1, 1, 4])):
            name = rng.choice([name for name in header if name != "__metadata__"])
            start, end = header[name]["data_offsets"]
            if start < end:
                at = rng.randrange(start, end)
                body[at] = rng.choice([0, 1, 255, body[at] ^ 1, rng.randrange(256)])
    elif way == 4:
        name = rng.choice(list(header["__metadata__"]))
        text = header["__metadata__"][name]
        at = rng.randrange(len(text) + 1)
        new = rng.choice(["", "0", "9" * 9, "-1", "nan", "[]", '"a"', "null", "0x1p+900"])
        header["__metadata__"][name] = text[:at] + new + text[at + rng.choice([0, 1, 3]) :]
    else:
        name = rng.choice([name for name in header if name != "__metadata__"])
        shape = header[name]["shape"]
        shape[0] = max(0, shape[0] + rng.choice([-1, 1, 2**40]))
    return sealed(header, bytes(body))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", FORGED)
def test_a_damaged_delta_is_refused_or_gives_a_model_that_works(kind, seed):
    learner, params = FORGED[kind]
    base, models = started(learner, **params)
    data = [model.delta(base, shard=k).to_bytes() for k, model in enumerate(models)]
    assert sealed(*opened(data[0])) == data[0]
    rng = random.Random(f"{kind}, {seed}")
    before = state(base)
    refusals = 0
    for _ in range(150):
        model = copy.deepcopy(base)
        try:
            delta = Delta.from_bytes(mutated(rng, data[0]))
            if rng.random() < 0.5:
                delta = Delta.combine([delta, Delta.from_bytes(data[1])])
            model.apply(delta)
        except ValueError:
            refusals += 1
            assert state(model) == before
            continue
        model._check()
        model.predict_one({"word1": 1, "word99": 1})
        learn(model, [({"word1": 1}, labels_for(learner)[0], 1.0)])
    assert 20 < refusals < 150
    refused(ModelFileError, "the delta", Delta.from_bytes, b"")
    refused(ModelFileError, "the delta", Delta.from_bytes, data[0] + b"\0")


def test_weights_that_are_for_one_of_two_labels_and_nobody_knows_which():
    base = AROW.from_weights({"free": 1.0})
    parts = shards_of(base, [[({"x": 1.0}, label, 1.0)] for label in "ab"])
    assert merge(parts, since=base).weights  # two labels: the second is the one
    parts = shards_of(base, [[({"x": 1.0}, label, 1.0)] for label in "abc"])
    said = " has weights and has met no label"
    refused(ValueError, "since" + said, merge, parts, base)
    before = state(base)
    deltas = Delta.combine(part.delta(base, shard=k) for k, part in enumerate(parts))
    refused(ValueError, "the model" + said, base.apply, deltas)
    assert state(base) == before
