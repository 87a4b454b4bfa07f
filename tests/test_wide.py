"""Perceptron, MIRA and AROW with more than 32 labels, whose weights lie in rows.

Everything that is asked of a learner equals the plain-Python twin, which knows nothing of rows, and
what is held, and saved, goes by the weights that were moved.
"""

import copy
import pickle
import random

import pytest

from streamptron import AROW, MIRA, MulticlassPerceptron, load, merge
from tests.support.marks import seeds
from tests.support.shards import applied, learn, merged_twin, pair_of, shards_of, state
from tests.support.streams import random_events
from tests.support.twins import check_answers, check_counts, check_stream, check_weights, twins
from tests.twin import undo as twin_undo

LABELS = [f"label {k}" for k in range(45)]

WAYS = {
    "default": {},
    "no average": {"average": "none"},
    "exponential": {"average": "exponential", "half_life": 5},
    "pocket": {"pocket": True},
    "pocket, exponential": {"average": "exponential", "half_life": 3, "pocket": True},
    "proportional": {"violators": "proportional"},
}
VARIANTS = [
    *(("MulticlassPerceptron", way) for way in WAYS),
    ("MIRA", "default"),
    ("MIRA", "proportional"),
    ("AROW", "default"),
]
every_variant = pytest.mark.parametrize(("learner", "way"), VARIANTS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def events_of(rng, n=300, labels=LABELS, **given):
    return list(random_events(rng, n, labels=labels, keys="str", n_features=60, **given))


def made(learner, way, hash_bits=None, **kept):
    """A learner and its twin."""
    if learner != "AROW":
        return twins(learner, hash_bits=hash_bits, **WAYS[way], **kept)
    _, twin = pair_of(learner, **kept)
    return AROW(hash_bits=hash_bits, hash_seed=0, **kept), twin


def has_rows(model):
    return "entries" in model.__getstate__()["arrays"]


@seeds(2)
@pytest.mark.parametrize("kept", [{}, {"max_features": 12}], ids=str)
@every_variant
def test_many_labels_answer_as_the_twin_at_every_event(learner, way, kept, seed):
    rng = random.Random(f"{learner}, {way}, {kept}, {seed}")
    model, twin = made(learner, way, **kept)
    values = "real" if "exponential" in way else "small"
    check_stream(model, twin, events_of(rng, values=values, weighted=seed == 1))
    assert has_rows(model)
    model._check()


@every_variant
def test_many_labels_answer_the_same_by_numbers_as_by_names(learner, way):
    events = events_of(random.Random(f"{learner}, {way}"))
    model, hashed = made(learner, way)[0], made(learner, way, hash_bits=26)[0]
    for x, y, w in events:
        assert model.predict_proba_one(x) == hashed.predict_proba_one(x)
        model.learn_one(x, y, w), hashed.learn_one(x, y, w)
    assert has_rows(hashed)
    hashed._check()


@pytest.mark.parametrize("hash_bits", [None, 4])
@every_variant
def test_copies_of_many_labels_are_the_same_model_and_learn_the_same(learner, way, hash_bits, path):
    rng = random.Random(f"{learner}, {way}")
    model, _ = made(learner, way, hash_bits)
    learn(model, events_of(rng))
    model.save(path)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), load(path)]
    copies.append(copy.deepcopy(load(path, mmap=True)))
    more = events_of(rng, 60)
    mapped = load(path, mmap=True)
    for x, _, _ in more:
        assert mapped.predict_proba_one(x) == model.predict_proba_one(x)
        assert mapped.explain_one(x, LABELS[3]) == model.explain_one(x, LABELS[3])
    assert mapped.weights == model.weights
    learn(model, more)
    for each in copies:
        assert pickle.dumps(learn(each, more)) == pickle.dumps(model)
        each._check()


@seeds(3)
@pytest.mark.parametrize("went_on", [True, False], ids=["since", "nothing in common"])
@pytest.mark.parametrize("known", [4, 40])
@every_variant
def test_merged_models_of_many_labels_equal_the_merged_twins(learner, way, known, went_on, seed):
    rng = random.Random(f"{learner}, {way}, {known}, {went_on}, {seed}")
    base, base_twin = pair_of(learner, **WAYS[way])
    untrained = copy.deepcopy(base_twin)
    if went_on:
        past = events_of(rng, 80, LABELS[:known])
        learn(base, past), learn(base_twin, past)
    streams = [events_of(rng, 80, LABELS[:6]), events_of(rng, 120), events_of(rng, 90, LABELS[4:])]
    models, others = shards_of(base, streams), shards_of(base_twin, streams)
    model = merge(models, since=base if went_on else None)
    twin = merged_twin(others, base_twin if went_on else None, untrained)
    assert has_rows(model)
    model._check()
    if went_on:
        assert state(applied(base, models)) == state(model)
    for events in (streams[1][:30], []):
        for x, _, _ in streams[2][:15]:
            check_answers(model, twin, x)
        check_counts(model, twin)
        check_weights(model, twin)
        learn(model, events), learn(twin, events)


@pytest.mark.parametrize("mapped", [False, True])
def test_delta_of_many_labels_fits_a_base_in_memory_and_in_a_file(mapped, path):
    rng = random.Random(1)
    base = learn(MIRA(hash_seed=0), events_of(rng))
    base.save(path)
    since = load(path, mmap=mapped)
    model = learn(copy.deepcopy(base), events_of(rng, 50))
    base.apply(model.delta(since))
    assert state(base) == state(model)


@pytest.mark.parametrize("way", ["default", "no average", "pocket"])
def test_steps_of_many_labels_are_taken_back_as_if_they_had_not_been_learned(way):
    rng = random.Random(way)
    model, twin = made("MulticlassPerceptron", way)
    learn(model, events_of(rng)), learn(twin, events_of(random.Random(way)))
    steps = [
        (model.learn_one(x, y, w, undo=True), twin_undo.learn(twin, x, y, w))
        for x, y, w in [({"new": 2, "newer": 1}, "a new label", 1.0), *events_of(rng, 40)]
    ]
    rng.shuffle(steps)
    for mine, its in steps[:25]:
        model.undo(mine)
        twin_undo.undo(twin, its)
    check_counts(model, twin)
    check_weights(model, twin)
    model._check()


@pytest.mark.parametrize("cls", [MulticlassPerceptron, MIRA, AROW])
def test_many_labels_start_from_weights(cls):
    weights = {label: {"a": k + 1.0, f"only {k}": -1.0} for k, label in enumerate(LABELS)}
    intercept = {label: 0.5 * k for k, label in enumerate(LABELS)}
    model = cls.from_weights(weights, intercept)
    assert has_rows(model)
    assert model.weights == weights
    assert model.predict_one({"a": 1}) == LABELS[-1]


def test_what_is_held_and_saved_goes_by_the_weights_that_were_moved(path):
    """3,000 labels and 9,000 features, of which each came with one label: two weights a step."""
    model = MulticlassPerceptron(hash_seed=0)
    for k in range(3000):
        model.learn_one({f"{k} {j}": 1 for j in range(3)}, k)
    model.save(path)
    assert path.stat().st_size < 1_500_000  # of blocks: 3,000 * 9,000 * 16
    assert model.memory_usage < 4_000_000
