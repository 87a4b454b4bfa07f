"""A learner and its twin that go on from one base as several shards."""

import copy

import streamptron
from streamptron import Delta
from tests.twin import adaptive, learners
from tests.twin import merge as twins_merge

# what is learned before the shards part, and each shard's labels, of which all know the first two
LABELS = (
    ("ham", "spam"),
    ("ham", "spam", "eggs", 7),
    ("spam", "ham", ("baked", "beans"), "eggs"),
)


def twin_of(learner, params):
    given = dict(params)
    if learner == "AdaptiveClassifier":
        return adaptive.AdaptiveClassifier(**given)
    return getattr(learners, learner)(**given)


def pair_of(learner, **params):
    """A learner and its twin."""
    return getattr(streamptron, learner)(**params, hash_seed=0), twin_of(learner, params)


def learn(model, events):
    for x, y, w in events:
        model.learn_one(x, y, w)
    return model


def shards_of(base, streams):
    """Copies of a model, each of which has learned one of the streams."""
    return [learn(copy.deepcopy(base), events) for events in streams]


def merged_twin(models, since, like):
    """What the twins make of it; `like`: an untrained one."""
    return twins_merge.merge(models, since, copy.deepcopy(like))


def applied(base, shards, order=None, wire=True):
    """The same as ``merge(shards, since=base)``, by deltas; over the wire if that can hold them."""
    deltas = [shard.delta(base, shard=k) for k, shard in enumerate(shards)]
    if wire:
        deltas = [Delta.from_bytes(delta.to_bytes()) for delta in deltas]
    model = copy.deepcopy(base)
    model.apply(Delta.combine([deltas[k] for k in order or range(len(deltas))]))
    return model


def state(model):
    """All that a model has learned, to be compared with another's."""
    found = model.__getstate__()
    del found["y_name"]
    return found
