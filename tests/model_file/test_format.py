"""The format is the one that docs/format.md describes, and files of earlier releases open."""

import json
import pickle
import random

import pytest

import streamptron
from streamptron import (
    MIRA,
    AdaptiveClassifier,
    MultiLabelClassifier,
    Pair,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    load,
)
from streamptron.keeping import read as reading
from tests.support import mutations
from tests.support.marks import seeds
from tests.support.model_files import BLOCKS, GOLDEN, taught
from tests.support.project import TESTS
from tests.support.streams import KEYS
from tests.support.variants import (
    LEARNERS,
    ONE_OUTPUT,
    PLACED,
    every_learner,
    every_linear_variant,
    every_starter,
    every_variant,
    has,
    labels_for,
    loaded,
    make,
)
from tests.twin.model_file import ModelFile, value

# The format


@every_variant
def test_others_who_read_safetensors_read_the_file(learner, variant, path):
    safetensors = pytest.importorskip("safetensors")
    model = taught(learner, variant)
    model.save(path, {"a": 1})
    with safetensors.safe_open(path, "numpy") as file:
        said = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert (said["format"], said["version"]) == ("streamptron", "1")
    assert json.loads(said["class"]) == learner
    assert json.loads(said["counters"]) == [model.n_seen, model.n_updates, model.n_mistakes]
    assert json.loads(said["metadata"]) == {"a": 1}
    assert arrays["chunks"].shape[1] == 3
    if model.hash_bits is None:
        assert arrays["keys"].shape == (model.n_features + 2, 2)
    else:
        assert arrays["rows"][:2].tolist() == [0, 1]


def as_read(weights):
    """{name: weight} with the pairs as ModelFile reads them."""
    return {
        frozenset((name.first, name.second)) if isinstance(name, Pair) else name: weight
        for name, weight in weights.items()
    }


@seeds(1, n_slow=1)
@every_linear_variant
def test_reader_written_from_the_description_of_the_format_reads_all_weights(
    learner, variant, seed, path
):
    model = taught(learner, variant, seed)
    model.save(path)
    file = ModelFile(path)
    kinds = {0: "weights", 1: "averaged_weights", 2: "pocket_weights"}
    if not has(learner, "average") or model.average == "none":
        del kinds[1]
    if not has(learner, "pocket") or not model.pocket:
        del kinds[2]
    one = len(file.weights()) == 1
    for kind, attribute in kinds.items():
        weights = getattr(model, attribute)
        expected = as_read(weights) if one else {y: as_read(its) for y, its in weights.items()}
        labels = [True] if one else [value(label) for label in file.part("labels")]
        found = {
            label: {
                slot - 2 if file.hashed else file.name(slot): fields[kind]
                for slot, fields in slots.items()
                if slot > 1 and fields[kind]
            }
            for label, slots in zip(labels, file.weights(), strict=True)
        }
        assert found == ({True: expected} if one else expected)


LABELS = {
    "none": [],
    "one": ["a"],
    "two": ["a", "b"],
    "truth values, the true one first": [True, False],
    "three": ["a", "b", "c"],
    "eleven": list(range(11)),
}


def odd_events(rng, n, labels):
    """Words, and numbers of all sizes and signs, and gaps; labels that come one after the other."""
    for i in range(n):
        x = {f"word {rng.randrange(60)} of them": 1 for _ in range(rng.randint(0, 9))}
        x |= {f"n{k}": rng.choice((-1, 1, 1, 1)) * 10 ** rng.uniform(-9, 9) for k in range(2)}
        x |= {"always": 1, "usual": 20 + rng.gauss(0, 3), "signed": rng.gauss(0, 1)}
        x |= {f"rare {i // 2}": rng.choice((1, 1, 50))}
        if i % 7 == 3:  # far from 0 where it is not missing
            del x["usual"]
        yield x, rng.choice(labels[: 1 + i // 20])


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "params",
    [{}, {"naive_bayes": False}, {"intercept": False}, {"hash_bits": 6}],
    ids=lambda params: "".join(params) or "defaults",
)
def test_reader_written_from_the_description_of_the_format_answers_as_the_adaptive_learner(
    labels, params, path
):
    rng = random.Random(5)
    model = AdaptiveClassifier(**params, hash_seed=5)
    if LABELS[labels]:
        for i, (x, y) in enumerate(odd_events(rng, 300, LABELS[labels])):
            model.learn_one(x, y, 1.0 if i < 280 else 2e5)  # beyond which counts are halved
    model.save(path)
    file = ModelFile(path)
    for x, _ in odd_events(rng, 40, ["any"]):
        x |= {"never seen": 1, "zero": 0}
        decision, probabilities, answer = file.adaptive_answer(x)
        assert decision == pytest.approx(model.decision_function_one(x), rel=1e-9, abs=1e-12)
        assert probabilities == pytest.approx(model.predict_proba_one(x), rel=1e-9)
        assert answer == model.predict_one(x)
    decision = file.adaptive_answer({})[0]
    assert decision == pytest.approx(model.decision_function_one({}), rel=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in KEYS if kind != "object"])
def test_reader_written_from_the_description_of_the_format_finds_names(kind, tmp_path):
    names = [KEYS[kind](i) for i in range(300)]
    weights = {name: float(i + 1) for i, name in enumerate(names)}
    Perceptron.from_weights(weights, hash_seed=5).save(tmp_path / "exact")
    Perceptron.from_weights({}, hash_bits=12, hash_seed=5).save(tmp_path / "hashed")
    exact, hashed = ModelFile(tmp_path / "exact"), ModelFile(tmp_path / "hashed")
    for slot, name in enumerate(names, start=2):
        assert exact.name(slot) == name
        assert exact.find(*exact.key(slot)) == slot
        alone = Perceptron.from_weights({name: 1.0}, hash_bits=12, hash_seed=5)
        assert alone.weights == {hashed.find(*exact.key(slot)) - 2: 1.0}


def test_the_same_model_gives_the_same_file(tmp_path):
    model = taught("MIRA", "pocket")
    files = [tmp_path / name for name in "abc"]
    model.save(files[0])
    load(files[0]).save(files[1])
    load(files[0], mmap=True).save(files[2])
    assert len({file.read_bytes() for file in files}) == 1


def test_lookup_is_filled_in_the_order_of_the_slots(path):
    """So that it is the same table whoever fills it: who comes later goes on to the next word."""
    model = make("Perceptron")
    for i in range(5):
        names = [f"w{j}" for j in range(400 * i, 400 * i + 400)]
        names += [f"a name of more than fifteen bytes {name}" for name in names]
        model.learn_one(dict.fromkeys(names, 1.0), i % 2 == 0, 2.0)
    model.save(path)
    file = ModelFile(path)
    n_slots, lookup = len(file.arrays["keys"]), file.arrays["lookup"].tolist()
    assert n_slots > 3000
    low = (n_slots - 1).bit_length()
    expected = [0] * len(lookup)
    for slot in range(2, n_slots):
        h = file.hash(*file.key(slot))
        at = (h >> 32) * len(expected) >> 32
        while expected[at]:
            at = (at + 1) % len(expected)
        expected[at] = (h << low & 0xFFFFFFFF) | slot
    assert lookup == expected


@pytest.mark.parametrize(
    "file",
    [file for file in GOLDEN if file not in BLOCKS],
    ids=lambda file: file.stem,
)
def test_golden_file_is_saved_with_the_same_arrays(file, path):
    load(file).save(path)
    arrays = [
        {name: array.tobytes() for name, array in ModelFile(each).arrays.items()}
        for each in (file, path)
    ]
    assert arrays[0] == arrays[1]


@pytest.mark.parametrize("file", BLOCKS, ids=lambda file: file.stem)
def test_file_of_many_labels_in_blocks_is_saved_as_the_same_weights_in_rows(file, path):
    load(file).save(path)
    old, new = ModelFile(file), ModelFile(path)
    assert "entries" not in old.arrays
    assert "entries" in new.arrays
    assert [nonzero(output) for output in old.weights()] == [
        nonzero(output) for output in new.weights()
    ]
    assert golden_answers(load(path, mmap=True)) == golden_answers(load(file, mmap=True))
    load(file, mmap=True).save(path)
    assert path.read_bytes() == file.read_bytes()


def nonzero(output):
    return {slot: kept for slot, kept in output.items() if any(kept)}


def test_arrays_start_on_a_cache_line(path):
    for n in range(64):
        make("MIRA").save(path, {"a": "x" * n})
        assert len(mutations.parts(path.read_bytes())[0]) % 64 == 56


@pytest.mark.parametrize("average", ["none", "uniform"])
@pytest.mark.parametrize("length", [8, 40])
@every_starter
def test_file_of_an_exact_model_is_at_most_a_fifth_larger_than_its_bare_arrays(
    learner, length, average, path
):
    n = 50_000
    weights = {f"w{i:0{length - 1}}": 1.0 for i in range(n)}
    cls = LEARNERS[learner]
    one = learner in ONE_OUTPUT
    averaged = {"average": average} if has(learner, "average") else {}
    model = cls.from_weights(weights if one else {"a": weights}, **averaged)
    model.save(path)
    row = (1 if one else 4) * (1 + (average != "none" or learner == "AROW")) * 8
    assert path.stat().st_size < 1.2 * n * (16 + row + (length if length > 15 else 0))


@every_learner
def test_file_of_a_large_and_nearly_empty_hashed_model_is_small(learner, path):
    model = LEARNERS[learner](hash_bits=22)
    for i in range(20):
        model.learn_one({f"w{i}": 1}, labels_for(learner)[i % 2])
    model.save(path)
    assert path.stat().st_size < 10_000
    assert load(path).weights == model.weights == load(path, mmap=learner in PLACED).weights


# Files of earlier releases


def golden_event(model):
    x = {"free": 1, "a name of more than fifteen bytes": 2, 7: 1, ("new", "york"): 1, "é": 0.5}
    return {"x": x, "y": {0.5: 2, b"raw": 1}} if type(model) is RankingPerceptron else x


def golden_answers(model):
    """What is written beside a golden file."""
    x = golden_event(model)
    return {
        "decision": repr(model.decision_function_one(x)),
        "probabilities": repr(model.predict_proba_one(x)),
        "counters": [model.n_seen, model.n_updates, model.n_mistakes, model.n_features],
        "labels": repr(getattr(model, "_known_labels", None)),
        "weights": repr(model.weights),
    }


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_file_of_an_earlier_release_answers_as_it_did(file):
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    assert golden_answers(loaded(file)) == expected
    if not file.stem.startswith("VotedPerceptron"):  # which is not opened in place
        assert golden_answers(loaded(file, mmap=True)) == expected
    model = loaded(file)
    if type(model) is RankingPerceptron:
        model.learn_one(golden_event(model), "y")
    else:
        label = model._known_labels[0]
        model.learn_one({"free": 1}, [label] if model._can("set") else label)
    assert model.n_seen == expected["counters"][0] + 1


def test_there_is_a_file_of_each_learner_and_of_a_hashed_one():
    names = (*LEARNERS, "RankingPerceptron", "hashed", "pipeline", "mail", "columns")
    names += ("rows", "rows-hashed", "rows-ceiling", "gaps", "gaps-rows", "newcomers", "shapes")
    assert {file.stem for file in GOLDEN} >= {f"{name}-0.1.0" for name in names}
    others = {RankingPerceptron, MultiLabelClassifier}
    assert {type(loaded(file)) for file in GOLDEN} == {*LEARNERS.values(), *others}


def test_pipeline_of_an_earlier_release_is_there_with_all_beside_it():
    found = reading.read(TESTS / "golden" / "pipeline-0.1.0.model")
    assert found.tokenizer._get_params() == Tokenizer(ngram_range=(1, 2))._get_params()
    assert found.metadata == {"a": 1}
    assert found.position == {("mail", 0): 7}
    assert reading.model_of(found).label_names == {False: "ham", True: "spam"}
    assert reading.model_of(found).predict_one("Free prize") is True
    assert streamptron.__version__


def test_pickles_of_an_earlier_release_are_loaded_and_pickled_again():
    data = (TESTS / "golden" / "models-0.1.0.pickle").read_bytes()
    binary, several, mira, tokenizer = pickle.loads(pickle.dumps(pickle.loads(data)))
    assert binary.predict_one("prize") is True
    assert binary[-1].weights["prize"] == 1.0
    assert binary[-1].weights["<num>"] == -1.0
    assert several.predict_one("law") == "politics"
    assert several[-1].max_features == 8
    assert (type(mira), mira.C, mira.predict_one({"law": 1})) == (MIRA, 0.5, "politics")
    assert tokenizer._get_params() == Tokenizer(ngram_range=(1, 2))._get_params()
