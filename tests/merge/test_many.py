"""AdaptiveClassifiers that know more than two labels together, or only then."""

import copy
import random

import pytest

from streamptron import AdaptiveClassifier, Delta, ModelFileError, merge
from streamptron.keeping.mergeable import digest
from tests.merge.test_refused import opened, sealed
from tests.support.marks import seeds
from tests.support.shards import applied, learn, merged_twin, pair_of, shards_of
from tests.support.streams import random_events

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

# what a base knows, and what each shard learns
KNOWN = {
    "two labels each, of three": ((), ("ab", "bc")),
    "two labels each, of four, and one": ((), ("ab", "cd", "a")),
    "a base of one label": ("a", ("ab", "ac", "a")),
    "a base of two labels": ("ab", ("ab", "abcd", "be")),
    "a base of three labels": ("abc", ("ab", "abcd", "cba")),
}
every_past = pytest.mark.parametrize("past", KNOWN)


def events_of(rng, labels, n=60, values="measured"):
    labels = labels if len(labels) > 1 else 2 * labels
    return list(
        random_events(rng, n, labels=labels, weighted=True, values=values, size=25, n_features=40)
    )


def shards(past, seed, **params):
    """A base and its shards, and the same of twins; and the shards' events."""
    rng = random.Random(f"{past}, {seed}")
    known, theirs = KNOWN[past]
    values = rng.choice(["measured", "small"])
    model, twin = pair_of("AdaptiveClassifier", **params)
    before = events_of(rng, known, values=values) if known else []
    learn(model, before), learn(twin, before)
    streams = [events_of(rng, labels, values=values) for labels in theirs]
    return model, shards_of(model, streams), twin, shards_of(twin, streams), streams


@seeds(4)
@every_past
def test_models_of_few_labels_make_one_of_many_as_the_twin_does(past, seed):
    base, models, base_twin, twins, streams = shards(past, seed)
    since, twins_since = (base, base_twin) if base.labels else (None, None)
    model = merge(models, since=since)
    twin = merged_twin(twins, twins_since, pair_of("AdaptiveClassifier")[1])
    for _ in range(2):
        model._check()
        assert model.labels == twin.labels
        for x, _, _ in streams[0][:20] + streams[-1][:20]:
            assert model.predict_proba_one(x) == twin.predict_proba_one(x)
            assert model.decision_function_one(x) == twin.decision_function_one(x)
        learn(model, streams[-1][-30:]), learn(twin, streams[-1][-30:])


@seeds(2)
@pytest.mark.parametrize("params", [{}, {"max_features": 20}, {"hash_bits": 7}], ids=str)
@every_past
def test_deltas_of_few_and_many_labels_give_what_merge_gives(past, params, seed):
    rng = random.Random(f"{past}, {seed}")
    known, theirs = KNOWN[past]
    base = AdaptiveClassifier(**params, hash_seed=1)
    learn(base, events_of(rng, known) if known else [])
    models = shards_of(base, [events_of(rng, labels) for labels in theirs])
    model = merge(models, since=base)
    model._check()
    assert digest(applied(base, models)) == digest(model)
    for each in models:  # one alone is the model itself
        alone = applied(base, [each])
        alone._check()
        assert digest(alone) == digest(each)


def test_a_delta_holds_only_rows_that_changed_though_the_third_label_turns_all():
    base = AdaptiveClassifier(hash_seed=1)
    for k in range(2000):
        base.learn_one({f"word{k}": 1, f"word{k + 1}": 1}, "ab"[k % 2])
    model = copy.deepcopy(base)
    model.learn_one({"word7": 1, "word8": 1}, "c")
    delta = model.delta(base)
    assert delta.nbytes < 1000
    base.apply(Delta.from_bytes(delta.to_bytes()))
    assert digest(base) == digest(model)


def test_a_model_says_the_same_of_itself_after_it_has_learned_elsewhere():
    model = learn(AdaptiveClassifier(hash_seed=1), events_of(random.Random(1), "abc"))
    same = learn(AdaptiveClassifier(hash_seed=1), events_of(random.Random(1), "abc"))
    assert digest(model) == digest(same) == digest(copy.deepcopy(model))
    learn(same, events_of(random.Random(2), "a", n=1))
    assert digest(model) != digest(same)


def test_a_delta_of_another_format_is_refused():
    base = AdaptiveClassifier(hash_seed=1)
    model = learn(copy.deepcopy(base), events_of(random.Random(1), "abc"))
    header, body = opened(model.delta(base).to_bytes())
    assert header["__metadata__"]["version"] == "1"
    header["__metadata__"]["version"] = "2"
    with pytest.raises(ModelFileError, match="'2'; this version reads 'streamptron delta' 1: make"):
        Delta.from_bytes(sealed(header, bytes(body)))
