"""Curves and surfaces of AdaptiveClassifiers that learned apart: one model, as the twin has it."""

import copy
import random

import pytest

from streamptron import AdaptiveClassifier, Delta, ModelFileError, merge
from streamptron.keeping.mergeable import digest
from tests.merge.test_refused import opened, sealed
from tests.support.marks import seeds
from tests.support.shards import applied, learn, merged_twin, pair_of, shards_of

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

# what the base has learned, and each shard
LABELS = {
    "two labels": ("ab", ("ab", "ab", "ab")),
    "two labels, the other way round": ("", ("ab", "ba")),
    "one label, then two": ("a", ("ab", "a", "ba")),
    "three labels": ("abc", ("abc", "cba")),
    "two beside three": ("", ("ab", "bca", "cb")),
    "more labels than the base": ("ab", ("abcde", "ab", "fba")),
}
every_past = pytest.mark.parametrize("labels", LABELS)
every_shape = pytest.mark.parametrize("shape", ["curve", "auto"])


def events_of(rng, labels, n, columns):
    """Numbers whose shape is not a line, in an order of their own, and a word.

    Some are missing now and then; a few columns only come late, or end.
    """
    order = rng.sample(range(columns), columns)
    events = []
    for i in range(n):
        x = {f"column {k}": 100.0 * (k == 0) + rng.gauss(0.0, 1.0 + k) for k in order}
        if rng.random() < 0.2:
            del x[f"column {rng.randrange(columns)}"]
        x[rng.choice(["word", "another"])] = 1
        said = x.get("column 1", 0.0) * x.get("column 2", 0.0) > 0
        y = labels[(said + (rng.random() < 0.3) * rng.randrange(5)) % len(labels)]
        events.append((x, y if i >= len(labels) else labels[i], rng.choice([1.0, 0.5, 3.0])))
    return events


def sides(labels, shape, seed, columns=3, n=50, **params):
    """A base and shards, the same of twins, and the shards' events."""
    rng = random.Random(f"{labels}, {shape}, {seed}")
    known, theirs = LABELS[labels]
    base, twin = pair_of("AdaptiveClassifier", shape=shape, **params)
    before = events_of(rng, known, n, columns) if known else []
    learn(base, before), learn(twin, before)
    streams = [events_of(rng, its, n, columns + k % 2) for k, its in enumerate(theirs)]
    return base, shards_of(base, streams), twin, shards_of(twin, streams), streams


def check_same(model, twin, events):
    model._check()
    assert model.labels == twin.labels
    for x, _, _ in events:
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        assert model.decision_function_one(x) == twin.decision_function_one(x)


@seeds(2)
@every_shape
@every_past
def test_merged_curves_and_surfaces_equal_the_twins_and_learn_on_like_them(labels, shape, seed):
    base, models, base_twin, twins, streams = sides(labels, shape, seed)
    since, twins_since = (base, base_twin) if base.labels else (None, None)
    model = merge(models, since=since)
    twin = merged_twin(twins, twins_since, pair_of("AdaptiveClassifier", shape=shape)[1])
    events = streams[0][-20:] + streams[-1][-20:]
    for _ in range(2):
        check_same(model, twin, events)
        learn(model, events), learn(twin, events)


@every_shape
def test_shards_that_watch_for_drift_merge_the_watch_of_each_family(shape):
    _, models, base_twin, twins, streams = sides(
        "two labels, the other way round", shape, 1, columns=2, n=270, forget="auto"
    )
    model, twin = merge(models), merged_twin(twins, None, base_twin)
    assert any(m.shapes.curves.watch.numbers[0] > 0 for m in twins)
    for _ in range(2):
        check_same(model, twin, streams[0][:10])
        learn(model, streams[1][:30]), learn(twin, streams[1][:30])


@every_shape
@pytest.mark.parametrize("labels", ["two labels", "three labels"])
def test_under_a_ceiling_columns_that_do_not_stay_lose_theirs(labels, shape):
    base, models, base_twin, twins, streams = sides(labels, shape, 1, n=25, max_features=4)
    model, twin = merge(models, since=base), merged_twin(twins, base_twin, None)
    for _ in range(2):
        check_same(model, twin, streams[0][:10])
        learn(model, streams[1][:5]), learn(twin, streams[1][:5])


@pytest.mark.parametrize("labels", ["two labels, the other way round", "two beside three"])
def test_of_more_than_sixteen_columns_those_with_surfaces_are_chosen_anew(labels):
    _, models, base_twin, twins, streams = sides(labels, "auto", 1, columns=17, n=9)
    model, twin = merge(models), merged_twin(twins, None, base_twin)
    events = streams[0][-2:] + streams[-1][-2:]
    assert len(twin.shapes.surfaces.chosen) == 16
    for _ in range(2):
        check_same(model, twin, events)
        learn(model, events), learn(twin, events)


def test_a_pair_whose_columns_came_in_another_order_is_the_same_pair():
    rng = random.Random(1)
    one, other = (pair_of("AdaptiveClassifier")[0] for _ in range(2))
    for _ in range(600):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        one.learn_one({"a": a, "b": b}, a > b * b)
        other.learn_one({"b": b, "a": a}, a > b * b)
    model = merge([one, other])
    for a, b in [(1.5, 0.5), (0.5, 1.5), (-0.5, 0.1), (2.0, -2.0)]:
        apart = one.predict_proba_one({"a": a, "b": b})[True]
        assert model.predict_proba_one({"a": a, "b": b})[True] == pytest.approx(apart, abs=0.1)


@every_shape
@every_past
def test_a_shard_that_others_say_nothing_beside_is_merged_as_it_is(labels, shape):
    base, models, _, _, streams = sides(labels, shape, seed=1)
    same = copy.deepcopy(base)
    model = merge([models[0], same], since=base) if base.labels else merge([models[0]])
    for x, _, _ in streams[0][-20:]:
        assert model.predict_proba_one(x) == models[0].predict_proba_one(x)


# --- Deltas

PARAMS = [{}, {"hash_bits": 6}, {"hash_bits": 12}, {"max_features": 5}, {"max_features": 400}]


def learners(labels, seed, n=60, columns=4, **params):
    """A base, and what went on from it."""
    rng = random.Random(f"{labels}, {seed}")
    known, theirs = LABELS[labels]
    base = AdaptiveClassifier(**params, hash_seed=1)
    learn(base, events_of(rng, known, n, columns) if known else [])
    return base, shards_of(base, [events_of(rng, its, n, columns + 1) for its in theirs])


@seeds(2)
@pytest.mark.parametrize("params", PARAMS, ids=str)
@every_shape
@every_past
def test_deltas_of_curves_and_surfaces_give_what_merge_gives(labels, shape, params, seed):
    base, models = learners(labels, seed, shape=shape, **params)
    model = merge(models, since=base)
    model._check()
    assert digest(applied(base, models, range(len(models))[::-1])) == digest(model)
    for each in models:  # one alone is the model itself
        alone = applied(base, [each])
        alone._check()
        assert digest(alone) == digest(each)
    events = events_of(random.Random(seed), "ab", 20, 4)
    assert digest(learn(alone, events)) == digest(learn(models[-1], events))


def test_of_more_than_sixteen_columns_a_delta_carries_what_is_known_of_the_others():
    base, models = learners("three labels", 1, n=40, columns=18)
    alone = applied(base, models[:1])
    for x, y, w in events_of(random.Random(2), "abc", 40, 20):
        alone.learn_one(x, y, w), models[0].learn_one(x, y, w)
    assert digest(alone) == digest(models[0])
    assert alone._check() is None


def test_a_digest_is_that_of_curves_and_surfaces_too():
    events = events_of(random.Random(1), "ab", 40, 3)
    digests = [digest(learn(AdaptiveClassifier(hash_seed=1), events[:n])) for n in (39, 40, 40)]
    assert digests[0] != digests[1] == digests[2]


def test_a_delta_holds_only_the_cells_that_changed():
    base = learners("two labels", 1, n=200)[0]
    model = copy.deepcopy(base)
    learn(model, events_of(random.Random(2), "ab", 1, 4))
    assert "shapes" in opened(model.delta(base).to_bytes())[0]
    assert model.delta(base).nbytes < 3000


@pytest.mark.parametrize("params", [{"shape": "line"}, {}], ids=["a line", "no columns"])
def test_without_curves_and_surfaces_a_delta_has_no_array_for_them(params):
    base = AdaptiveClassifier(**params, hash_seed=1)
    model = copy.deepcopy(base)
    for word in "abcabc":
        model.learn_one({word: 1.0} if not params else {word: 1.0, "n": random.random()}, word)
    assert "shapes" not in opened(model.delta(base).to_bytes())[0]


def forged(delta, damage):
    """A delta whose words of curves and surfaces are others."""
    header, body = opened(delta.to_bytes())
    start, end = header["shapes"]["data_offsets"]
    body = bytearray(body)
    damage(memoryview(body)[start:end].cast("I"))
    return sealed(header, bytes(body))


@pytest.mark.parametrize("labels", ["two labels", "more labels than the base"])
@pytest.mark.parametrize("params", [*PARAMS, {"shape": "curve"}], ids=str)
def test_forged_curves_and_surfaces_are_refused_or_make_a_model_that_learns_on(params, labels):
    rng = random.Random(f"{params}, {labels}")
    base, models = learners(labels, 1, n=20, columns=2, **params)
    delta, before = models[0].delta(base), digest(base)
    numbers = [0, 1, 2**31, 2**32 - 1, 0x7FC00000, 0x7F800000]

    def damage(words):
        at = rng.choice([rng.randrange(len(words)), rng.randrange(min(len(words), 60))])
        words[at] = rng.choice([*numbers, (words[at] + 1) & 0xFFFFFFFF])

    refusals = []
    for _ in range(60):
        model = copy.deepcopy(base)
        try:
            model.apply(Delta.from_bytes(forged(delta, damage)))
        except ModelFileError as error:
            refusals.append(("damaged" in str(error), digest(model) == before))
            continue
        model._check()
        learn(model, events_of(rng, "ab", 2, 3))
    assert len(refusals) > 10
    assert set(refusals) == {(True, True)}


@pytest.mark.parametrize(
    ("word", "number", "what"),
    [
        (0, 9, "columns there are none of"),
        (1, 17, "surfaces of more columns than there may be"),
        (8, 7, "a place of no column"),
        (11, 0x7FF80000, "a gate of a family that is NaN"),
    ],
    ids=lambda value: str(value),
)
def test_what_no_learning_makes_of_curves_is_refused(word, number, what):
    base, models = learners("two labels", 1, n=30, columns=2)

    def damage(words):
        words[word] = number

    before = digest(base)
    with pytest.raises(ModelFileError, match="contradict"):
        base.apply(Delta.from_bytes(forged(models[0].delta(base), damage)))
    assert digest(base) == before, what
