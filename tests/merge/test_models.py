"""What merge promises of every learner, whatever it keeps and wherever it lies."""

import copy
import random
import warnings
from decimal import Decimal

import pytest

import streamptron
from streamptron import AROW, MulticlassPerceptron, Perceptron, merge
from tests.support.marks import seeds
from tests.support.shards import applied, learn, merged_twin, pair_of, shards_of, state
from tests.support.streams import random_events
from tests.support.twins import check_counts, check_weights
from tests.support.variants import LEARNERS, VARIANTS, answers, labels_for, make, restored

pytestmark = pytest.mark.once  # another Python would say the same

MERGED = [pair for pair in VARIANTS if pair[0] != "VotedPerceptron"]
every_variant = pytest.mark.parametrize(("learner", "variant"), MERGED)


def events_of(learner, seed, n=60, n_features=30, labels=None):
    rng = random.Random(seed)
    labels = labels or labels_for(learner)
    return list(random_events(rng, n, labels=labels, n_features=n_features, values="real"))


def base_and_shards(learner, variant, n=3):
    base = learn(make(learner, variant), events_of(learner, "base"))
    return base, shards_of(base, [events_of(learner, k, n_features=30 + 9 * k) for k in range(n)])


@every_variant
def test_merging_one_model_gives_that_model(learner, variant):
    base, (model, *_) = base_and_shards(learner, variant)
    for merged in (merge([model]), merge([model], since=base), merge([base, model], since=base)):
        assert state(merged) == state(model)
    assert state(merge([copy.deepcopy(base), base], since=base)) == state(base)


@every_variant
def test_deltas_in_any_order_give_what_the_models_give(learner, variant):
    base, models = base_and_shards(learner, variant)
    merged = merge(models, since=base)
    merged._check()
    assert state(applied(base, models, [2, 0, 1])) == state(merged)
    alone = applied(base, models[:1])
    alone._check()
    if base._get_params().get("average") != "exponential":  # the same, but of another fold
        assert state(alone) == state(models[0])
    events = events_of(learner, "later")
    assert [answers(alone, x) for x, _, _ in events] == [
        answers(models[0], x) for x, _, _ in events
    ]


@every_variant
def test_a_merged_model_learns_on_as_its_pickle_and_its_file_do(learner, variant, tmp_path):
    base, models = base_and_shards(learner, variant)
    merged = merge(models, since=base)
    merged.save(tmp_path / "model")
    others = [restored(merged), copy.deepcopy(merged), streamptron.load(tmp_path / "model")]
    for model in [merged, *others]:
        learn(model, events_of(learner, "later"))
        assert state(model) == state(merged)


@every_variant
def test_models_that_lie_in_files_are_merged_where_they_lie(learner, variant, tmp_path):
    base, models = base_and_shards(learner, variant)
    in_files = []
    for k, model in enumerate([base, *models]):
        model.save(tmp_path / str(k))
        in_files.append(streamptron.load(tmp_path / str(k), mmap=True))
    expected = state(merge(models, since=base))
    assert state(merge(in_files[1:], since=in_files[0])) == expected
    deltas = [model.delta(in_files[0], shard=k) for k, model in enumerate(in_files[1:])]
    base.apply(streamptron.Delta.combine(deltas))
    assert state(base) == expected
    with pytest.raises(RuntimeError, match="read-only"):
        in_files[0].apply(deltas[0])


@seeds(3)
@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron", "MIRA", "AROW"])
def test_under_a_ceiling_the_same_features_stay_as_with_the_twins(learner, seed):
    rng = random.Random(seed)
    base, base_twin = pair_of(learner, max_features=rng.choice([5, 12, 40]))
    labels = labels_for(learner, rng.choice([2, 4]))

    def events(n, features):
        return list(random_events(rng, n, labels=labels, n_features=features, values="real"))

    past = events(80, rng.choice([10, 90]))
    learn(base, past), learn(base_twin, past)
    streams = [events(60, 60 + 30 * k) for k in range(3)]
    models, twins = shards_of(base, streams), shards_of(base_twin, streams)
    model, twin = merge(models, since=base), merged_twin(twins, base_twin, base_twin)
    model._check()
    check_counts(model, twin)
    check_weights(model, twin)
    for x, y, w in events(150, 120):
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_counts(model, twin)
    check_weights(model, twin)


@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron", "MIRA"])
def test_a_hashed_model_is_mixed_slot_by_slot_as_an_exact_one_is_by_name(learner):
    exact, hashed = LEARNERS[learner](), LEARNERS[learner](hash_bits=20, hash_seed=3)
    events = [events_of(learner, k) for k in range(4)]
    merged = []
    for model in (exact, hashed):
        learn(model, events[0])
        merged.append(merge(shards_of(model, events[1:]), since=model))
    later = [x for x, _, _ in events[1]]
    assert [answers(merged[0], x) for x in later] == [answers(merged[1], x) for x in later]


def test_rows_of_a_multiclass_perceptron_still_sum_to_0():
    base, models = base_and_shards("MulticlassPerceptron", "default", n=5)
    weights = merge(models, since=base).weights
    names = {name for vector in weights.values() for name in vector}
    assert len(names) > 50
    for name in names:
        assert sum(vector.get(name, 0.0) for vector in weights.values()) == pytest.approx(
            0, abs=1e-9
        )


def test_who_has_not_touched_a_feature_abstains():
    base = learn(Perceptron(intercept=False), [({"a": 1, "b": 1}, True, 1.0)])
    models = shards_of(base, [[({"a": 1}, False, 4.0)], [({"c": 1}, True, 1.0)], []])
    assert merge(models, since=base).weights == {"a": -3.0, "b": 1.0, "c": 1.0}


def test_labels_are_those_of_the_base_then_each_models_new_ones():
    base = learn(MulticlassPerceptron(), [({"a": 1}, "x", 1.0)])
    streams = [["y", "z"], ["u", "z"], ["x", "v"]]
    models = shards_of(base, [[({"a": 1}, y, 1.0) for y in labels] for labels in streams])
    assert merge(models, since=base).labels == ["x", "y", "z", "u", "v"]
    assert merge(models[::-1], since=base).labels == ["x", "v", "u", "z", "y"]


def test_two_labels_met_in_another_order_mean_the_same():
    one = learn(AROW(), [({"a": 1}, "ham", 1.0), ({"b": 1}, "spam", 1.0)])
    other = learn(AROW(), [({"b": 1}, "spam", 1.0), ({"a": 1}, "ham", 1.0)])
    merged = merge([one, other])
    assert merged.labels == ["ham", "spam"]
    assert merged.predict_one({"a": 1}) == "ham"
    assert merged.predict_one({"b": 1}) == "spam"


def test_names_that_are_any_objects_are_united():
    base = learn(Perceptron(), [({Decimal("0.1"): 1}, True, 1.0)])
    streams = [[({Decimal(f"{k}.{i}7"): 1}, False, 1.0) for i in (0, k)] for k in (1, 2, 1)]
    models = shards_of(base, streams)
    merged = merge(models, since=base)
    assert set(merged.weights) == {
        Decimal(text) for text in ("0.1", "1.07", "1.17", "2.07", "2.27")
    }
    assert state(applied(base, models)) == state(merged)
    assert set(merge(models).weights) == set(merged.weights)


def test_models_with_nothing_in_common_share_their_names_and_labels():
    streams = [
        [({"a": 1}, "x"), ({"b": 1}, "y"), ({"a": 1}, "y")],
        [({"c": 1}, "y"), ({"c": 1}, "x")],
    ]
    models = [learn(MulticlassPerceptron(), [(*event, 1.0) for event in some]) for some in streams]
    merged = merge(models)
    assert (merged.labels, merged.n_seen) == (["x", "y"], 5)
    names = {name for model in models for vector in model.weights.values() for name in vector}
    assert names == {name for vector in merged.weights.values() for name in vector} > {"c"}


def test_the_pocket_is_that_of_the_longest_record():
    base = Perceptron(pocket=True, serve="pocket")
    streams = [[({"a": 1}, True, 1.0)] * 9, [({"b": 1}, True, 1.0)] * 20]
    models = shards_of(base, streams)
    merged = merge(models, since=base)
    assert merged.pocket_weights == models[1].pocket_weights != {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert merged.predict_one({"b": 1}) is True


@pytest.mark.parametrize("learner", sorted(LEARNERS.keys() - {"VotedPerceptron"}))
def test_models_that_have_met_no_label_make_one_that_has_met_none(learner):
    model = merge([LEARNERS[learner](hash_seed=1) for _ in range(3)])
    model._check()
    assert (model.n_seen, model.n_features) == (0, 0)
    for copied in (model, copy.deepcopy(model)):
        if learner == "RankingPerceptron":
            copied.learn_one([{"a": 1}, {"b": 1}], 1)
        else:
            copied.learn_one({"a": 1}, True)
        copied._check()
        assert copied.n_seen == 1
