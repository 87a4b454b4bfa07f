"""Files and deltas whose checksums fit, with numbers that no learning can have made."""

import copy
import random
import struct

import pytest

import streamptron
from streamptron import Delta, ModelFileError, MultiLabelClassifier, load, merge
from tests.merge.test_refused import opened, sealed
from tests.support.marks import seeds
from tests.support.streams import random_events
from tests.support.variants import LEARNERS, labels_for
from tests.test_multilabel import sets

KINDS = {
    "MulticlassPerceptron": {},
    "MIRA": {},
    "AROW": {},
    "AROW of many": {},
    "MulticlassPerceptron, hashed": {"hash_bits": 6},
    "Perceptron": {"average": "exponential", "half_life": 5},
    "AdaptiveClassifier": {},
    "AdaptiveClassifier of many": {},
    "MultiLabelClassifier": {},
}
DOUBLES = (1e308, -1e308, 1.7e308, -1.7e308, 1e250, 5e-324, -1.0, -0.0, float("nan"))
FLOATS = (3e38, -3e38, 1e-43, -1.0, 1e30, float("inf"), float("nan"), 0.0, 1e6)


def taught(kind, seed, n=60):
    name, params = kind.split(" ")[0].strip(","), KINDS[kind]
    rng = random.Random(seed)
    if name == "MultiLabelClassifier":
        model = MultiLabelClassifier(hash_seed=1, **params)
        events = list(sets(rng, n, n_features=15, values="measured"))
    else:
        model = LEARNERS[name](hash_seed=1, **params)
        labels = range(40) if "many" in kind else labels_for(name)
        kinds = {"n_features": 15, "values": "measured", "size": 20}
        events = list(random_events(rng, n, labels=labels, **kinds))
    for event in events:
        model.learn_one(*event)
    return model, events


def forged(data, rng):
    """With some numbers of the arrays changed, and checksums that fit."""
    header, body = opened(data)
    arrays = [name for name in ("weights", "rows", "marks", "marked", "entries") if name in header]
    for _ in range(rng.choice([1, 1, 3])):
        start, end = header[rng.choice(arrays)]["data_offsets"]
        if start == end:
            continue
        double = rng.random() < 0.5
        size = 8 if double else 4
        at = start + size * rng.randrange((end - start) // size)
        number = rng.choice(DOUBLES if double else FLOATS)
        body[at : at + size] = struct.pack("<d" if double else "<f", number)
    return sealed(header, bytes(body))


def check_works(model, events, path):
    """It answers with numbers, learns on, is saved and loaded."""
    model._check()
    for x, *_ in events[:5]:
        for p in model.predict_proba_one(x).values():
            for number in p.values() if isinstance(p, dict) else [p]:
                assert 0.0 <= number <= 1.0
    model.save(path)
    loaded = load(path)
    for event in events[:5]:
        loaded.learn_one(*event)
    loaded._check()


@seeds(2, n_slow=20)
@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_file_is_refused_or_loads_as_a_model_that_works(kind, seed, tmp_path):
    rng, path = random.Random(f"{kind}, {seed}"), tmp_path / "forged"
    model, events = taught(kind, seed)
    shard = copy.deepcopy(model)
    shard.learn_one(*events[0])
    model.save(path)
    data = path.read_bytes()
    refused = 0
    for _ in range(40):
        path.write_bytes(forged(data, rng))
        try:
            other = load(path)
        except ModelFileError:
            refused += 1
            continue
        check_works(other, events, path)
        try:
            merged = merge([other, shard])
        except ValueError:
            continue
        check_works(merged, events, path)
    assert refused > 3


@seeds(2, n_slow=20)
@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_delta_is_refused_or_gives_a_model_that_works(kind, seed, tmp_path):
    rng, path = random.Random(f"{kind}, {seed}"), tmp_path / "forged"
    model, events = taught(kind, seed)
    shards = [copy.deepcopy(model) for _ in range(2)]
    for shard in shards:
        for _ in range(10):
            shard.learn_one(rng.choice(events)[0], rng.choice(events)[1])  # so that weights move
    here, there = (shard.delta(model, shard=k) for k, shard in enumerate(shards))
    before = model.__getstate__()
    refused = 0
    for _ in range(40):
        other = copy.deepcopy(model)
        try:
            other.apply(Delta.combine([Delta.from_bytes(forged(here.to_bytes(), rng)), there]))
        except ModelFileError:
            refused += 1
            assert other.__getstate__() == before
            continue
        check_works(other, events, path)
    assert refused > 3


@pytest.mark.parametrize("cnt", [1e-43, 0.0, 0.5])
@pytest.mark.parametrize("kind", ["AdaptiveClassifier", "MultiLabelClassifier"])
def test_a_count_that_is_less_than_those_of_its_labels_is_refused(kind, cnt, tmp_path):
    """A value counts 8 at most."""
    model, _ = taught(kind, 0)
    path = tmp_path / "forged"
    model.save(path)
    header, body = opened(path.read_bytes())
    start, end = header["weights"]["data_offsets"]
    for slot in range(start + 2 * 32, min(end, start + 5 * 32), 32):
        body[slot + 8 : slot + 12] = struct.pack("<f", cnt)
    path.write_bytes(sealed(header, bytes(body)))
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)


def test_merged_weights_that_are_too_large_say_so():
    models = [streamptron.Perceptron.from_weights({"a": 1e50, f"b{k}": 1.0}) for k in range(2)]
    merged = merge(models)
    assert merged.weights["a"] == 1e50
