"""Models merged in C, and deltas made and learned there: Python's bytes, and Python's words."""

import copy
import random
import subprocess
from decimal import Decimal

import pytest

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    Delta,
    MulticlassPerceptron,
    MultiLabelClassifier,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
    load,
    merge,
    save,
)
from tests.merge.test_models import MERGED, base_and_shards
from tests.merge.test_refused import mutated, opened, sealed
from tests.support.library import SANITIZED, event_line, needs_compiler, program
from tests.support.marks import seeds
from tests.support.shards import LABELS, learn, shards_of
from tests.support.streams import random_events
from tests.support.variants import labels_for

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

every_variant = pytest.mark.parametrize(("learner", "variant"), MERGED)


def in_c(*arguments, flags=()):
    """The code of a call, and its words."""
    command = [program("merge", *flags), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.returncode} {done.stdout}{done.stderr[-3000:]}"
    code, _, words = done.stdout.rstrip("\n").partition(" ")
    return int(code), words


def saved(folder, name, model):
    path = folder / name
    save(model, path)
    return path


def check(folder, base, models, flags=()):
    """Merged with and without a base, in memory and where they lie; deltas; and these applied."""
    since = saved(folder, "since", base)
    paths = [saved(folder, f"model-{k}", model) for k, model in enumerate(models)]
    out, theirs = folder / "out", folder / "python"
    for start in (since, None):
        save(merge(models, since=start and base), theirs)
        for mark in ("", "+"):
            given = [f"{mark}{path}" for path in (start or "-", *paths)]
            given[0] = given[0] if start else "-"
            assert in_c("m", out, *given, flags=flags) == (0, "")
            assert out.read_bytes() == theirs.read_bytes()
    sent = []
    for k, (model, path) in enumerate(zip(models, paths, strict=True)):
        sent.append(folder / f"delta-{k}")
        expected = model.delta(base, shard=k).to_bytes()
        for mark in ("", "+"):
            call = ("d", sent[k], f"{mark}{since}", f"{mark}{path}", k)
            assert in_c(*call, flags=flags) == (0, "")
            assert sent[k].read_bytes() == expected
    after = copy.deepcopy(base)
    after.apply(Delta.combine([Delta.from_bytes(path.read_bytes()) for path in sent]))
    save(after, theirs)
    both = folder / "both"
    both.write_bytes(sent[-1].read_bytes() + sent[0].read_bytes())
    for order in (sent[::-1], [both, *sent[1:-1]]):
        assert in_c("a", out, since, *order, flags=flags) == (0, "")
        assert out.read_bytes() == theirs.read_bytes()
    assert in_c("a", out, out, sent[0], flags=flags)[0] == 5  # not a second time
    after = copy.deepcopy(base)
    after.apply(models[0].delta(base))
    save(after, theirs)
    assert in_c("a", out, since, sent[0], flags=flags) == (0, "")
    assert out.read_bytes() == theirs.read_bytes()


@every_variant
def test_merged_models_and_deltas_have_pythons_bytes(learner, variant, tmp_path):
    check(tmp_path, *base_and_shards(learner, variant))


@pytest.mark.slow
@every_variant
def test_the_same_under_sanitizers(learner, variant, tmp_path):
    check(tmp_path, *base_and_shards(learner, variant), flags=SANITIZED)


@pytest.mark.parametrize("learner", [MIRA, MulticlassPerceptron, AdaptiveClassifier])
@pytest.mark.parametrize("params", [{}, {"max_features": 40}, {"hash_bits": 6}], ids=str)
def test_labels_and_odd_names_of_any_kind_are_united_as_in_python(learner, params, tmp_path):
    rng = random.Random(1)
    base = learner(**params, hash_seed=0)
    odd = ["é", 7, ("a", ("b", 7)), b"\xff", 2**70, None]
    if not params:
        odd = [Decimal("0.5"), 1 + 2j, ("a", Decimal("0.25")), *odd]
    for turn, labels in enumerate(LABELS):
        streams = [
            [
                ({**x, rng.choice(odd[: 2 + 2 * k]): 1.0}, y, w)
                for x, y, w in random_events(rng, 40, labels=labels[: 2 + k])
            ]
            for k in range(3)
        ]
        folder = tmp_path / str(turn)
        folder.mkdir()
        models = shards_of(base, streams)
        check(folder, base, models)
        base = merge(models, since=base)


def test_many_labels(tmp_path):
    """Weights as rows, on one side and on all."""
    for few in (False, True):
        folder = tmp_path / str(few)
        folder.mkdir()
        rng = random.Random(few)
        base = MIRA(hash_seed=0)
        names = [f"label {k}" for k in range(60)]
        learn(base, random_events(rng, 50, labels=names[:4] if few else names))
        streams = [random_events(rng, 80, labels=names[:n]) for n in (5, 60, 40)]
        check(folder, base, shards_of(base, streams))


def test_sets_of_labels(tmp_path):
    rng = random.Random(2)
    base = MultiLabelClassifier(hash_seed=0)

    def stream(n, labels):
        for x, _, _ in random_events(rng, n):
            yield x, set(rng.sample(labels, 2))

    for x, y in stream(40, ["a", "b", "c"]):
        base.learn_one(x, y)
    models = [copy.deepcopy(base) for _ in range(3)]
    for k, model in enumerate(models):
        for x, y in stream(30, ["a", "b", *(f"new {i}" for i in range(2 * k))]):
            model.learn_one(x, y)
    check(tmp_path, base, models)


def test_candidates(tmp_path):
    rng = random.Random(3)
    base = RankingPerceptron(hash_seed=0)

    def taught(model, n):
        for _ in range(n):
            events = [x for x, _, _ in random_events(rng, 3)]
            model.learn_one(events, rng.randrange(3))
        return model

    taught(base, 20)
    check(tmp_path, base, [taught(copy.deepcopy(base), 20) for _ in range(3)])


def test_those_that_have_learned_nothing_have_no_say(tmp_path):
    base, (model, _, _) = base_and_shards("MIRA", "default")
    since, path = saved(tmp_path, "since", base), saved(tmp_path, "model", model)
    idle, out = saved(tmp_path, "idle", base), tmp_path / "out"
    for mark in ("", "+"):
        assert in_c("m", out, since, mark + str(idle), mark + str(path)) == (0, "")
        assert out.read_bytes() == path.read_bytes()
        assert in_c("m", out, mark + str(since), mark + str(idle)) == (0, "")
        assert out.read_bytes() == since.read_bytes()
        assert in_c("m", out, "-", mark + str(path)) == (0, "")
        assert out.read_bytes() == path.read_bytes()
    assert in_c("d", tmp_path / "delta", since, idle, 0) == (0, "")
    assert (tmp_path / "delta").read_bytes() == copy.deepcopy(base).delta(base).to_bytes()
    assert in_c("a", out, since, tmp_path / "delta") == (0, "")
    assert out.read_bytes() == since.read_bytes()


def test_what_a_model_is_made_with_stays_and_what_a_file_has_besides_does_not(tmp_path):
    tokens = Tokenizer(ngram_range=(1, 2))
    base = tokens | MulticlassPerceptron(hash_seed=0)
    base.learn_one("a goal", "sport")
    models = [copy.deepcopy(base) for _ in range(2)]
    models[0].learn_one("a vote", "politics")
    models[1].learn_one("an atom", "science")
    since = saved(tmp_path, "since", base)
    for k, model in enumerate(models):
        save(model, tmp_path / f"model-{k}", metadata={"by": "me"})
    out, theirs = tmp_path / "out", tmp_path / "python"
    assert in_c("m", out, since, tmp_path / "model-0", tmp_path / "model-1") == (0, "")
    save(tokens | merge([model[-1] for model in models], since=base[-1]), theirs)
    assert out.read_bytes() == theirs.read_bytes()
    assert in_c("m", out, "-", tmp_path / "model-0") == (0, "")
    save(models[0], theirs)
    assert out.read_bytes() == theirs.read_bytes()
    other = saved(tmp_path, "other", Tokenizer() | MulticlassPerceptron(hash_seed=0))
    said = "models[0] has a different tokenizer; only models with the same one can be merged"
    assert in_c("m", out, since, other) == (5, said)


def test_a_model_made_in_c_and_its_deltas_are_one_with_pythons(tmp_path):
    """It has fewer parameters in its file: what is left out has its default."""
    (tmp_path / "none").write_text("")
    events = tmp_path / "events"
    events.write_text(event_line({"a": 1.0}, "x") + event_line({"b": 1.0}, "y"))
    since = tmp_path / "since"
    made = [program("conformance"), 'mira:{"C": 0.5}', tmp_path / "none", since]
    subprocess.run(made, check=True, capture_output=True)
    taught = [program("conformance"), since, events, tmp_path / "model"]
    subprocess.run(taught, check=True, capture_output=True)
    assert in_c("d", tmp_path / "delta", since, tmp_path / "model", 0) == (0, "")
    base, model = load(since), load(since)
    learn(model, [({"c": 1.0}, "z", 1.0)])
    ours = Delta.from_bytes((tmp_path / "delta").read_bytes())
    base.apply(Delta.combine([ours, model.delta(base, shard=1)]))
    (tmp_path / "other").write_bytes(model.delta(load(since), shard=1).to_bytes())
    out = tmp_path / "out"
    assert in_c("a", out, since, tmp_path / "delta", tmp_path / "other") == (0, "")
    assert load(out).weights == base.weights
    assert base.labels == ["x", "y", "z"]


# --- What is refused


def words_of(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value)


def started(n=2, learner="Perceptron", params=None):
    labels = labels_for(learner)
    base = {"Perceptron": Perceptron, "MIRA": MIRA}[learner](hash_seed=1, **(params or {}))
    learn(base, random_events(random.Random(0), 40, labels=labels))
    streams = [random_events(random.Random(k), 30, labels=labels, n_features=60) for k in range(n)]
    return base, shards_of(base, streams)


OTHERS = [
    (Perceptron(margin=0.5), Perceptron()),
    (Perceptron(), Perceptron(average="exponential", half_life=7)),
    (MIRA(C=0.5), MIRA()),
    (MIRA(max_features=4), MIRA()),
    (MIRA(class_weight={"a": 2.0}), MIRA(class_weight={"a": 3.0})),
    (Perceptron(intercept=False), Perceptron()),
    (Perceptron(hash_bits=4, hash_seed=1), Perceptron(hash_bits=4, hash_seed=2)),
    (Perceptron(), MIRA()),
    (VotedPerceptron(), VotedPerceptron()),
]


@pytest.mark.parametrize(("one", "other"), OTHERS, ids=repr)
def test_models_that_are_not_alike_are_refused_in_pythons_words(one, other, tmp_path):
    paths = [saved(tmp_path, str(k), model) for k, model in enumerate((one, other))]
    expected = words_of(lambda: merge([one, other]))
    code, words = in_c("m", tmp_path / "out", "-", *paths)
    assert code == 5
    assert words == expected or "a different secret hash seed" in words


def test_models_that_did_not_go_on_from_since_are_refused_in_pythons_words(tmp_path):
    base, models = started()
    stranger = learn(Perceptron(hash_seed=1), random_events(random.Random(9), 99, keys="int"))
    other = learn(Perceptron(hash_seed=1), random_events(random.Random(9), 70))
    out = tmp_path / "out"
    many, shards = started(learner="MIRA")
    labelled = learn(MIRA(hash_seed=1), random_events(random.Random(9), 99, labels=("u", "v")))
    for n, (since, given) in enumerate(
        [
            (models[0], [models[1], base]),
            (base, [models[0], stranger]),
            (models[0], [other]),
            (many, [shards[0], labelled]),
        ]
    ):
        expected = words_of(lambda: merge(given, since=since))  # noqa: B023
        paths = [saved(tmp_path, f"{n}-{k}", m) for k, m in enumerate([since, *given])]
        code, words = in_c("m", out, *paths)
        assert code == 5
        assert words.partition(", or ")[0] == expected.partition(", was ")[0]
        expected = words_of(lambda: given[-1].delta(since))  # noqa: B023
        code, words = in_c("d", out, paths[0], paths[-1], 0)
        assert code == 5
        assert words.partition(", or ")[0] == expected.partition(", was ")[0]


def test_together_too_many_labels(tmp_path):
    base = MulticlassPerceptron(max_labels=2)
    models = shards_of(base, [[({"a": 1}, y, 1.0) for y in two] for two in ("ab", "bc")])
    paths = [saved(tmp_path, str(k), model) for k, model in enumerate([base, *models])]
    said = "together the models have 3 labels, more than max_labels=2"
    assert in_c("m", tmp_path / "out", *paths) == (5, said)
    for k, model in enumerate(models):
        (tmp_path / f"delta-{k}").write_bytes(model.delta(base, shard=k).to_bytes())
    sent = [tmp_path / "delta-0", tmp_path / "delta-1"]
    assert in_c("a", tmp_path / "out", paths[0], *sent) == (5, said)


def test_deltas_that_do_not_fit_are_refused_in_pythons_words(tmp_path):
    base, models = started()
    since = saved(tmp_path, "since", base)
    later = copy.deepcopy(models[0])
    later.learn_one({"a": 1}, True)
    sent = {
        "0": models[0].delta(base),
        "again": models[1].delta(base),
        "1": models[1].delta(base, shard=1),
        "later": later.delta(models[0], shard=5),
        "mira": started(learner="MIRA")[1][0].delta(started(learner="MIRA")[0]),
    }
    for name, delta in sent.items():
        (tmp_path / name).write_bytes(delta.to_bytes())

    def applied(*names):
        return in_c("a", tmp_path / "out", since, *(tmp_path / name for name in names))

    assert applied() == (5, "there are no deltas; give at least one")
    assert applied("0", "1", "again")[1] == "shard 0 occurs twice; give each shard its own number"
    assert "shard 5 continues another model" in applied("0", "later")[1]
    assert applied("later") == (5, words_of(lambda: copy.deepcopy(base).apply(sent["later"])))
    expected = words_of(lambda: copy.deepcopy(base).apply(sent["mira"]))
    assert applied("mira") == (5, expected.replace("the delta", "the delta of shard 0"))
    assert applied("0", "1") == (0, "")


def learned(base, data):
    """What Python makes of a delta's bytes; None: it refuses them."""
    model = copy.deepcopy(base)
    try:
        model.apply(Delta.from_bytes(data))
    except ValueError:
        return None
    return model


FORGED = {
    "names": ("Perceptron", {}),
    "ceiling": ("Perceptron", {"max_features": 30}),
    "hashed": ("MIRA", {"hash_bits": 6}),
    "a split": ("MIRA", {}),
}


@seeds(2)
@pytest.mark.parametrize("kind", FORGED)
@pytest.mark.slow
def test_a_damaged_delta_is_refused_by_both_or_learned_with_the_same_bytes(kind, seed, tmp_path):
    learner, params = FORGED[kind]
    base, models = started(learner=learner, params=params)
    since = saved(tmp_path, "since", base)
    data = models[0].delta(base).to_bytes()
    assert sealed(*opened(data)) == data
    rng = random.Random(f"{kind}, {seed}")
    refusals = 0
    for _ in range(60):
        forged = mutated(rng, data)
        (tmp_path / "delta").write_bytes(forged)
        code, words = in_c("a", tmp_path / "out", since, tmp_path / "delta", flags=SANITIZED)
        model = learned(base, forged)
        if model is None:
            refusals += 1
            assert code in (3, 4, 5), words
            continue
        assert code == 0, words
        save(model, tmp_path / "python")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "python").read_bytes()
        assert load(tmp_path / "out").n_seen == model.n_seen
    assert refusals > 10


@pytest.mark.slow
@pytest.mark.parametrize("learner", [MulticlassPerceptron, MIRA, AROW, AdaptiveClassifier])
def test_deltas_of_many_labels_are_read_wherever_their_numbers_lie(learner, tmp_path):
    base = learner(hash_seed=1)
    for i in range(200):
        base.learn_one({f"w{i % 7}": 1, f"v{i % 11}": 1}, f"label {i % 50}")
    models = []
    for k in range(1, 4):
        models.append(copy.deepcopy(base))
        for i in range(60):
            models[-1].learn_one({f"w{i % k}": 1, f"new {k}": 1}, f"label {i % (40 + k)}")
    check(tmp_path, base, models, flags=SANITIZED)
