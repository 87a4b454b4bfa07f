"""Merging MultiLabelClassifiers: equal to the twin, whatever labels and rows shards have."""

import copy
import pickle
import random

import pytest

import streamptron
from streamptron import MultiLabelClassifier
from streamptron.study import fit
from tests.support.marks import seeds
from tests.support.shards import applied, learn, merged_twin, shards_of
from tests.test_multilabel import LABELS, check, check_state, sets, twins

OTHERS = ("grain", "zinc", 8, "crude", ("a", "pair"), "ship", "tin")


def streams(rng, n, size=90, **kinds):
    """Events of each shard, whose labels come in different orders."""
    for k in range(n):
        labels = (LABELS, OTHERS, LABELS[::-1])[k % 3]
        yield list(sets(rng, n=size, labels=labels, **kinds))


def both(rng, params, n=3, base=60, **kinds):
    """A base and its twin, and shards of both."""
    model, twin = twins(**params)
    events = list(sets(rng, n=base, values="real"))
    learn(model, events), learn(twin, events)
    parts = list(streams(rng, n, values="real", **kinds))
    return model, twin, shards_of(model, parts), shards_of(twin, parts)


@pytest.mark.once
@seeds(4)
@pytest.mark.parametrize("params", [{}, {"max_features": 25}, {"eta": 0.5, "forget": 0.5}], ids=str)
def test_merged_is_what_the_twin_says(params, seed):
    rng = random.Random(f"{params}, {seed}")
    base, twin, shards, theirs = both(rng, params, n=rng.choice([2, 3, 4]))
    merged = streamptron.merge(shards, since=base)
    expected = merged_twin(theirs, twin, twins(**params)[1])
    check_state(merged, expected)
    assert merged.labels[: len(base.labels)] == base.labels
    for x, y, w in sets(rng, n=60, values="real"):
        check(merged, expected, x)
        merged.learn_one(x, y, w)
        expected.learn_one(x, y, w)
    check_state(merged, expected)


@pytest.mark.once
@seeds(3)
def test_models_without_a_base_are_merged_as_the_twin_says(seed):
    rng = random.Random(seed)
    models, theirs = zip(*(twins() for _ in range(3)), strict=True)
    for model, twin, events in zip(models, theirs, streams(rng, 3, values="real"), strict=True):
        learn(model, events), learn(twin, events)
    merged = streamptron.merge(models)
    expected = merged_twin(theirs, None, twins()[1])
    check_state(merged, expected)
    for x, _, _ in sets(rng, n=40, values="real"):
        check(merged, expected, x)
    assert pickle.dumps(streamptron.merge(models)) == pickle.dumps(merged)


@pytest.mark.once
def test_counts_halved_since_the_base_are_added_up():
    rng = random.Random(4)
    model, twin = twins()
    parts = [
        [({"always": 1.0, f"w{rng.randrange(5)}": 1.0}, [rng.choice("abc")], 50_000.0)] * 9
        for _ in range(3)
    ]
    learn(model, parts[0]), learn(twin, parts[0])
    shards, theirs = shards_of(model, parts), shards_of(twin, parts)
    merged = streamptron.merge(shards, since=model)
    check_state(merged, merged_twin(theirs, twin, twins()[1]))


@seeds(2)
def test_a_pickled_shard_is_merged_alike(seed):
    """Its rows lie elsewhere."""
    rng = random.Random(seed)
    base, _, shards, _ = both(rng, {})
    merged = streamptron.merge(shards, since=base)
    again = streamptron.merge(
        pickle.loads(pickle.dumps(shards)), since=pickle.loads(pickle.dumps(base))
    )
    assert pickle.dumps(again) == pickle.dumps(merged)
    alone = streamptron.merge([shards[0], copy.deepcopy(base)], since=base)
    assert pickle.dumps(alone) == pickle.dumps(shards[0])


@seeds(3)
@pytest.mark.parametrize("params", [{}, {"max_features": 25}, {"hash_bits": 7}], ids=str)
def test_deltas_say_what_the_shards_have_learned(params, seed):
    rng = random.Random(f"{params}, {seed}")
    base = learn(MultiLabelClassifier(**params, hash_seed=0), sets(rng, n=60, values="real"))
    shards = shards_of(base, streams(rng, 3, values="real"))
    merged = streamptron.merge(shards, since=base)
    for order in ([0, 1, 2], [2, 0, 1]):
        model = applied(base, shards, order)
        model._check()
        assert pickle.dumps(model) == pickle.dumps(merged)
    alone = applied(base, shards[:1])
    assert pickle.dumps(alone) == pickle.dumps(shards[0])
    # a base elsewhere in memory, and one that has gone on since
    elsewhere = pickle.loads(pickle.dumps(base))
    elsewhere.apply(shards[1].delta(base))
    assert pickle.dumps(elsewhere) == pickle.dumps(shards[1])
    with pytest.raises(ValueError, match=r"since|base"):
        elsewhere.apply(shards[1].delta(base))


def test_a_delta_is_small_and_a_damaged_one_changes_nothing():
    rng = random.Random(2)
    base = learn(MultiLabelClassifier(hash_seed=0), sets(rng, n=300, n_features=600))
    shard = learn(copy.deepcopy(base), sets(rng, n=3, n_features=600))
    again = pickle.loads(pickle.dumps(shard))
    data = shard.delta(base).to_bytes()
    assert len(data) < len(pickle.dumps(shard)) / 5
    assert again.delta(base).to_bytes() == data
    before = pickle.dumps(base)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        model = copy.deepcopy(base)
        try:
            model.apply(streamptron.Delta.from_bytes(bytes(damaged)))
        except (ValueError, streamptron.ModelFileError):
            refused += 1
            assert pickle.dumps(model) == before
    assert refused == 300


@pytest.mark.parametrize("array", ["rows", "marks", "marked"])
def test_numbers_of_a_delta_that_contradict_themselves_are_refused(array):
    """As a delta whose checksums were made to fit."""
    rng = random.Random(3)
    base = learn(MultiLabelClassifier(hash_seed=0), sets(rng, n=60))
    shard = learn(copy.deepcopy(base), sets(rng, n=30, labels=OTHERS))
    refused = 0
    for _ in range(200):
        delta = shard.delta(base)
        (part,) = delta._parts
        shape, data = part.arrays[array]
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        arrays = {**part.arrays, array: (shape, bytes(damaged))}
        delta._parts = [part._replace(arrays=arrays)]
        model = copy.deepcopy(base)
        try:
            model.apply(delta)
        except streamptron.ModelFileError:
            refused += 1
            assert pickle.dumps(model) == pickle.dumps(base)
        else:  # another number, which a model may have
            model._check()
            model.learn_one({"about crude": 1}, ["crude"])
            model._check()
    assert refused > 5


def test_too_many_labels_together_are_refused():
    base = MultiLabelClassifier(max_labels=2)
    models = [copy.deepcopy(base) for _ in range(3)]
    for k, model in enumerate(models):
        model.learn_one({"a": 1}, [f"l{k}"])
    with pytest.raises(ValueError, match="3 labels, more than max_labels=2"):
        streamptron.merge(models)


def test_study_fits_no_sets_and_says_so():
    with pytest.raises(TypeError, match="fit is for learners with one label per event"):
        fit(MultiLabelClassifier(), [({"a": 1}, ["x"])])


def test_hashed_models_are_merged():
    rng = random.Random(5)
    base = MultiLabelClassifier(hash_bits=8, hash_seed=3)
    shards = shards_of(base, streams(rng, 2))
    merged = streamptron.merge(shards, since=base)
    merged._check()
    assert merged.n_seen == sum(shard.n_seen for shard in shards)
    x = {"about crude": 1}
    assert merged.predict_one(x)["crude"]
