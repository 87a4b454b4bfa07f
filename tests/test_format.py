"""Model files: what is saved comes back, what is damaged is refused, a file is there or not."""

import copy
import datetime
import enum
import itertools
import json
import os
import pickle
import random
import socket
import stat
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mutations
import numpy as np
import pytest
from format_reader import ModelFile, value
from river import compose, preprocessing
from streams import KEYS, needs_data, random_events, text_stream
from variants import (
    LEARNERS,
    answers,
    every_learner,
    every_variant,
    labels_for,
    learned,
    loaded,
    make,
)

import streamptron
from streamptron import MIRA, Checkpoint, ModelFileError, Perceptron, Tokenizer, load, read_metadata
from streamptron.command.lines import LineModel
from streamptron.estimator.names import shown
from streamptron.modelfile import read as reading

TESTS = Path(__file__).resolve().parent
GOLDEN = sorted((TESTS / "golden").glob("*.model"))

seeds = pytest.mark.parametrize("seed", range(3), ids="seed={}".format)
on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def stream(learner, seed, n=150):
    rng = random.Random(seed)
    keys = rng.choice([kind for kind in KEYS if kind != "object"])
    return list(
        random_events(rng, n, keys=keys, values="real", labels=labels_for(learner), weighted=True)
    )


def taught(learner, variant="default", seed=0, n=150, **params):
    model = make(learner, variant, **params)
    for x, y, w in stream(learner, seed, n):
        model.learn_one(x, y, w)
    return model


def refused(path):
    """Why a file is refused, in both ways of loading it."""
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert repr(str(path)) in str(error.value)
    with pytest.raises(ModelFileError):
        load(path, mmap=True)
    return str(error.value)


# What is saved comes back


@seeds
@every_variant
def test_model_replaced_by_its_file_now_and_then_learns_on_as_if_nothing_had_happened(
    learner, variant, seed, path
):
    rng = random.Random(seed)
    model, replaced = make(learner, variant), make(learner, variant)
    for x, y, w in stream(learner, seed):
        if rng.random() < 0.1:
            replaced.save(path)
            replaced = load(path)
            assert learned(replaced) == learned(model)
        assert answers(replaced, x) == answers(model, x)
        model.learn_one(x, y, w)
        replaced.learn_one(x, y, w)
    assert learned(replaced) == learned(model)


@seeds
@every_variant
def test_model_opened_in_place_answers_as_the_one_that_was_saved(learner, variant, seed, path):
    model = taught(learner, variant, seed)
    model.save(path)
    mapped = load(path, mmap=True)
    for x, _, _ in stream(learner, seed + 100):
        assert answers(mapped, x) == answers(model, x)
    assert mapped.weights == model.weights
    assert mapped.intercept_ == model.intercept_
    assert mapped.top_features() == model.top_features()
    assert mapped.explain_one(x) == model.explain_one(x)
    for name in ("n_seen", "n_updates", "n_mistakes", "n_features", "serving"):
        assert getattr(mapped, name) == getattr(model, name)
    assert learned(mapped) == learned(model)


@every_learner
@pytest.mark.parametrize("params", [{}, {"hash_bits": 6}], ids=["exact", "hashed"])
def test_model_opened_in_place_predicts_matrices(learner, params, path):
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (60, 40)) * 1.0
    y = [labels_for(learner)[i % 2] for i in range(60)]
    model = make(learner, **params)
    model.learn_many(X, y)
    model.save(path)
    mapped = load(path, mmap=True)
    for names in (None, [f"column {j}" for j in range(20)] + list(range(20))):
        assert (mapped.predict_many(X, names) == model.predict_many(X, names)).all()
        expected = model.decision_function_many(X, names)
        assert (mapped.decision_function_many(X, names) == expected).all()


@every_learner
def test_untrained_model_comes_back(learner, path):
    model = make(learner)
    model.save(path)
    for mmap in (False, True):
        assert learned(load(path, mmap)) == learned(model)
        assert answers(load(path, mmap), {"a": 1}) == answers(model, {"a": 1})


@needs_data
def test_model_of_a_real_stream_comes_back(path):
    model = Perceptron()
    for x, y in text_stream("sms_spam"):
        model.learn_one(x, y == "spam")
    model.save(path)
    assert learned(load(path)) == learned(model) == learned(load(path, mmap=True))


def test_secret_seed_of_the_hash_goes_along(path):
    model = Perceptron.from_weights({f"w{i}": float(i) for i in range(50)}, hash_bits=20)
    model.save(path)
    assert load(path).weights == model.weights == load(path, mmap=True).weights
    assert load(path).hash_seed is None
    for i in range(50):
        assert answers(load(path), {f"w{i}": 1}) == answers(model, {f"w{i}": 1})


class Color(enum.Enum):
    RED = 1


class Count(int):
    pass


def stamp(zone=None):
    return datetime.datetime(2026, 2, 3, 4, 5, 6, 789, zone)


KEPT = [
    "", "spam", "é \ud800", "\0", b"", b"\0\xff", 0, -1, 2**53, -(2**64), 10**5000, 0.1, -0.0,
    5e-324, float("inf"), True, (), ("a", (1, (None, b"b")), False), 1j, complex(-0.0, 0.1),
    Decimal("0.10"), Decimal("-1E+20"), Fraction(1, 3), datetime.date(2026, 2, 3), stamp(),
    stamp(datetime.UTC), (Decimal("0.3"), Fraction(-1, 7), datetime.date(1, 1, 1)),
]  # fmt: skip
NOT_KEPT = [
    frozenset(("a",)), Color.RED, Count(5), range(3), ("a", frozenset()),
    stamp(datetime.timezone(datetime.timedelta(0), "Atlantis")), stamp().replace(fold=1),
]  # fmt: skip


@pytest.mark.parametrize("label", KEPT, ids=shown)
def test_label_comes_back_equal_and_of_the_same_type(label, path):
    model = make("MulticlassPerceptron", class_weight={label: 2})
    model.learn_one({"a": 1}, label)
    model.learn_one({"a": 1}, "another")
    model.save(path)
    for mmap in (False, True):
        (kept, _), weights = load(path, mmap).labels, load(path, mmap).class_weight
        assert (type(kept), shown(kept)) == (type(label), shown(label))
        assert kept == label
        assert weights == {label: 2}


@pytest.mark.parametrize("name", [None, *KEPT], ids=shown)
def test_feature_name_comes_back_and_its_weight_is_found(name, path):
    weights = {name: 1.0, "another": 2.0}
    Perceptron.from_weights(weights).save(path)
    for mmap in (False, True):
        model = load(path, mmap)
        assert model.weights == weights
        assert model.decision_function_one({name: 1}) == 1.0
        (found, _), _ = model.explain_one({name: 1})
        (given, _), _ = Perceptron.from_weights(weights).explain_one({name: 1})
        assert (type(found), shown(found)) == (type(given), shown(given))


@pytest.mark.parametrize("name", NOT_KEPT, ids=repr)
@pytest.mark.parametrize("kind", ["label", "feature name"])
def test_mere_object_is_refused_by_name_before_anything_is_written(kind, name, path):
    path.write_bytes(b"old")
    if kind == "label" or type(name) is Count:  # a name that is an int by value is that int
        kind = "label"
        model = make("MIRA")
        model.learn_one({"a": 1}, name)
    else:
        model = Perceptron.from_weights({name: 1.0})
    before = learned(model)
    with pytest.raises(TypeError) as error:
        model.save(path)
    part = name[1] if type(name) is tuple else name
    assert f"the {kind} {shown(part)} is a {type(part).__name__}" in str(error.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]
    assert learned(model) == before


def test_name_nested_too_deeply_to_be_read_back_is_refused(path):
    name = ()
    for _ in range(99):
        name = (name,)
    Perceptron.from_weights({name: 1.0}).save(path)
    assert load(path).weights == {name: 1.0}
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        Perceptron.from_weights({(name,): 1.0}).save(path)


def test_parameters_that_are_numpys_numbers_come_back_as_equal_ones(path):
    model = Perceptron(margin=np.float32(0.5), class_weight={True: np.float64(2)})
    model.save(path)
    assert load(path)._get_params() == model._get_params()


def test_subclass_is_refused(path):
    class Mine(Perceptron):
        pass

    with pytest.raises(TypeError, match="not a Mine"):
        Mine().save(path)


def test_attribute_of_the_users_is_refused_rather_than_lost(path):
    model = Perceptron()
    model.note = "x"
    with pytest.raises(TypeError, match="'note'"):
        model.save(path)


# Metadata


@pytest.mark.parametrize(
    "metadata", [None, {}, {"a": [1, 0.5, None, True, {"é\ud800": "\0"}], '"header_crc32":"': ""}]
)
def test_metadata_comes_back_without_the_model(metadata, path):
    make("MIRA").save(path, metadata=metadata)
    assert read_metadata(path) == (metadata or {})


@pytest.mark.parametrize(
    "metadata", [{"a": (1, 2)}, {1: "a"}, {"a": {2}}, {"a": float("nan")}, ["a"], "a"], ids=repr
)
def test_metadata_that_would_not_come_back_as_it_is_is_refused(metadata, path):
    with pytest.raises(TypeError, match=r"metadata=.* would not come back"):
        make("MIRA").save(path, metadata)
    assert not path.exists()


# A pipeline


TOKENIZERS = {
    "default": {},
    "chars": {"analyzer": "char", "ngram_range": (2, 4), "lowercase": False, "value": "log"},
    "words": {"separators": " ,\u2028\ud800", "max_length": None, "normalize": "l2"},
    "long words": {"min_length": 5, "max_length": 6},
    "folded": {"fold_numbers": True, "value": "count"},
    "one field": {"fields": "subject"},
    "fields": {"fields": ("subject", "body")},
}


def texts(tokenizer, n=60):
    """Texts, or mappings of texts, as a tokenizer takes them."""
    rng = random.Random(n)
    for _ in range(n):
        subject, body = (" ".join(f"word{rng.randrange(50)}" for _ in range(9)) for _ in range(2))
        whole = {"subject": f"{subject} 10.0.0.1", "body": body}
        yield whole["subject"] if tokenizer.fields is None else whole


@pytest.mark.parametrize("name", TOKENIZERS)
@every_learner
def test_pipeline_of_a_tokenizer_and_a_learner_comes_back_whole(learner, name, path):
    model = Tokenizer(**TOKENIZERS[name]) | make(learner)
    labels = labels_for(learner)
    for i, text in enumerate(texts(model[0])):
        model.learn_one(text, labels[i % len(labels)])
    model.save(path, metadata={"a": 1})
    assert read_metadata(path) == {"a": 1}
    loaded, mapped = load(path), load(path, mmap=True)
    for other in (loaded, mapped):
        assert type(other) is type(model)
        assert list(other.steps) == list(model.steps)
        assert other[0]._get_params() == model[0]._get_params()
        assert learned(other[-1]) == learned(model[-1])
    for i, text in enumerate(texts(model[0], 30)):
        for other in (loaded, mapped):
            assert other.predict_one(text) == model.predict_one(text)
            assert other.predict_proba_one(text) == model.predict_proba_one(text)
        model.learn_one(text, labels[i % 2])
        loaded.learn_one(text, labels[i % 2])
        mapped = copy.deepcopy(model)
    assert learned(loaded[-1]) == learned(model[-1])
    loaded.save(path.with_name("again"))
    assert learned(load(path.with_name("again"))[-1]) == learned(model[-1])


def test_pipeline_made_in_python_has_no_names_of_the_command_lines_for_its_labels(path):
    for learner in LEARNERS:
        (Tokenizer() | make(learner)).save(path)
        assert load(path).label_names is None


@pytest.mark.parametrize("name", TOKENIZERS)
def test_reader_written_from_the_description_of_the_format_reads_the_tokenizer(name, path):
    model = Tokenizer(**TOKENIZERS[name]) | Perceptron()
    model.save(path)
    found = {name: value(said) for name, said in ModelFile(path).part("tokenizer").items()}
    assert found == model[0]._get_params()


def test_pipeline_opened_in_place_learns_nothing_and_says_why(path):
    (Tokenizer() | Perceptron()).save(path)
    with pytest.raises(RuntimeError, match=r"read-only.*load it without mmap to learn"):
        load(path, mmap=True).learn_one("a prize", True)


def test_pipeline_with_other_steps_says_what_to_do(path):
    class Mine(Tokenizer):
        pass

    class Own(Perceptron):
        pass

    longer = Tokenizer() | Perceptron()
    longer |= preprocessing.StandardScaler()
    for model in (longer, Mine() | Perceptron(), Tokenizer() | Own()):
        with pytest.raises(TypeError, match=r"not a pipeline of .*Pickle the pipeline instead"):
            model.save(path)
    with pytest.raises(TypeError, match=r"save its learner alone, pipeline\['Perceptron'\]"):
        longer.save(path)
    assert not path.exists()


def test_rivers_own_pipeline_of_a_tokenizer_and_a_learner_says_how_to_make_ours_of_it(path):
    model = compose.Pipeline(Tokenizer(ngram_range=(1, 2)), Perceptron())
    model.learn_one("a prize", True)
    with pytest.raises(TypeError, match=r"make it pipeline\[0\] \| pipeline\[1\]"):
        Checkpoint(model, path)
    (model[0] | model[1]).save(path)
    assert load(path).predict_one("prize") is True


def test_pipeline_with_names_or_attributes_of_the_users_is_refused_rather_than_lost(path):
    named = type(Tokenizer() | Perceptron())(("a", Tokenizer()), ("b", Perceptron()))
    with pytest.raises(TypeError, match=r"the pipeline's steps are named \['a', 'b'\]"):
        named.save(path)
    noted = Tokenizer() | Perceptron()
    noted.note = "x"
    with pytest.raises(TypeError, match="the pipeline has the attribute 'note'"):
        noted.save(path)
    noted = Tokenizer() | Perceptron()
    noted[0].note = "x"
    with pytest.raises(TypeError, match="the tokenizer has the attribute 'note'"):
        noted.save(path)
    assert not path.exists()


@pytest.mark.parametrize("replace", ["ngram_range", "class", "lines", "position"])
def test_pipeline_whose_other_parts_cannot_be_is_refused(replace, path):
    (Tokenizer() | Perceptron()).save(path)
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)
    tokenizer = json.loads(said["__metadata__"]["tokenizer"])
    said["__metadata__"] |= {
        "ngram_range": {"tokenizer": json.dumps({**tokenizer, "ngram_range": [2, 1]})},
        "class": {"tokenizer": json.dumps({**tokenizer, "colour": "blue"})},
        "lines": {"lines": json.dumps({"reading": {}, "positive": None, "names": None})},
        "position": {"position": json.dumps(["dict", [["list"], 1]])},
    }[replace]
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(mutations.sealed(mutations.joined(text, arrays)))
    assert "is damaged" in refused(path)


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


@seeds
@every_variant
def test_reader_written_from_the_description_of_the_format_reads_all_weights(
    learner, variant, seed, path
):
    model = taught(learner, variant, seed)
    model.save(path)
    file = ModelFile(path)
    one = learner == "Perceptron"
    kinds = {0: "weights", 1: "averaged_weights", 2: "pocket_weights"}
    if model.average == "none":
        del kinds[1]
    if not model.pocket:
        del kinds[2]
    for kind, attribute in kinds.items():
        expected = getattr(model, attribute)
        labels = [True] if one else [value(label) for label in file.part("labels")]
        found = {
            label: {
                row - 2 if file.hashed else file.name(row): fields[kind]
                for row, fields in rows.items()
                if row > 1 and fields[kind]
            }
            for label, rows in zip(labels, file.weights(), strict=True)
        }
        assert found == ({True: expected} if one else expected)


@pytest.mark.parametrize("kind", [kind for kind in KEYS if kind != "object"])
def test_reader_written_from_the_description_of_the_format_finds_names(kind, tmp_path):
    names = [KEYS[kind](i) for i in range(300)]
    weights = {name: float(i + 1) for i, name in enumerate(names)}
    Perceptron.from_weights(weights, hash_seed=5).save(tmp_path / "exact")
    Perceptron.from_weights({}, hash_bits=12, hash_seed=5).save(tmp_path / "hashed")
    exact, hashed = ModelFile(tmp_path / "exact"), ModelFile(tmp_path / "hashed")
    for row, name in enumerate(names, start=2):
        assert exact.name(row) == name
        assert exact.find(*exact.key(row)) == row
        alone = Perceptron.from_weights({name: 1.0}, hash_bits=12, hash_seed=5)
        assert alone.weights == {hashed.find(*exact.key(row)) - 2: 1.0}


def test_the_same_model_gives_the_same_file(tmp_path):
    model = taught("MIRA", "pocket")
    files = [tmp_path / name for name in "abc"]
    model.save(files[0])
    load(files[0]).save(files[1])
    load(files[0], mmap=True).save(files[2])
    assert len({file.read_bytes() for file in files}) == 1


def test_lookup_is_filled_in_the_order_of_the_rows(path):
    """So that it is the same table whoever fills it: who comes later goes on to the next word."""
    model = make("Perceptron")
    for i in range(5):
        names = [f"w{j}" for j in range(400 * i, 400 * i + 400)]
        names += [f"a name of more than fifteen bytes {name}" for name in names]
        model.learn_one(dict.fromkeys(names, 1.0), i % 2 == 0, 2.0)
    model.save(path)
    file = ModelFile(path)
    n_rows, lookup = len(file.arrays["keys"]), file.arrays["lookup"].tolist()
    assert n_rows > 3000
    low = (n_rows - 1).bit_length()
    expected = [0] * len(lookup)
    for row in range(2, n_rows):
        h = file.hash(*file.key(row))
        at = (h >> 32) * len(expected) >> 32
        while expected[at]:
            at = (at + 1) % len(expected)
        expected[at] = (h << low & 0xFFFFFFFF) | row
    assert lookup == expected


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_file_is_saved_with_the_same_arrays(file, path):
    load(file).save(path)
    arrays = [
        {name: array.tobytes() for name, array in ModelFile(each).arrays.items()}
        for each in (file, path)
    ]
    assert arrays[0] == arrays[1]


def test_arrays_start_on_a_cache_line(path):
    for n in range(64):
        make("MIRA").save(path, {"a": "x" * n})
        assert len(mutations.parts(path.read_bytes())[0]) % 64 == 56


@pytest.mark.parametrize("average", ["none", "uniform"])
@pytest.mark.parametrize("length", [8, 40])
@every_learner
def test_file_of_an_exact_model_is_at_most_a_fifth_larger_than_its_bare_arrays(
    learner, length, average, path
):
    n = 50_000
    weights = {f"w{i:0{length - 1}}": 1.0 for i in range(n)}
    cls = LEARNERS[learner]
    one = learner == "Perceptron"
    model = cls.from_weights(weights if one else {"a": weights}, average=average)
    model.save(path)
    row = (1 if one else 4) * (1 + (average != "none")) * 8
    assert path.stat().st_size < 1.2 * n * (16 + row + (length if length > 15 else 0))


@every_learner
def test_file_of_a_large_and_nearly_empty_hashed_model_is_small(learner, path):
    model = LEARNERS[learner](hash_bits=22)
    for i in range(20):
        model.learn_one({f"w{i}": 1}, labels_for(learner)[i % 2])
    model.save(path)
    assert path.stat().st_size < 10_000
    assert load(path).weights == model.weights == load(path, mmap=True).weights


# In place


def test_model_opened_in_place_learns_nothing_and_says_why(path):
    model = taught("MIRA")
    model.save(path)
    data = path.read_bytes()
    mapped = load(path, mmap=True)
    before = learned(mapped)
    odd = {Decimal("0.1"): 1, "a": 1}
    for learn in (
        lambda: mapped.learn_one({"a": 1}, "label 1"),
        lambda: mapped.learn_one(odd, "label 1"),
        lambda: mapped.learn_one({}, "a new label"),
        lambda: mapped.test_then_train_one({"a": 1}, "label 1"),
        lambda: mapped.learn_many(np.ones((3, 3)), ["label 1"] * 3),
        lambda: mapped.test_then_train_many(np.ones((3, 3)), ["label 1"] * 3),
        lambda: mapped._add_label("a new label"),
    ):
        with pytest.raises(RuntimeError, match=r"read-only.*load it without mmap to learn"):
            learn()
    assert learned(mapped) == before == learned(model)
    assert path.read_bytes() == data


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "clone": lambda model: model.clone(include_attributes=True),
}


@pytest.mark.parametrize("how", COPIES)
@every_variant
def test_copy_of_a_model_opened_in_place_lies_in_memory_and_learns(learner, variant, how, path):
    model = taught(learner, variant)
    model.save(path)
    mapped = load(path, mmap=True)
    mapped.note = ["x"]
    other = COPIES[how](mapped)
    assert other.note == ["x"]
    del mapped
    path.unlink()
    del other.note
    for x, y, w in stream(learner, seed=9):
        model.learn_one(x, y, w)
        other.learn_one(x, y, w)
    assert learned(other) == learned(model)


def test_saving_over_a_file_leaves_the_models_opened_in_it_alone(path):
    model = taught("Perceptron")
    model.save(path)
    mapped = load(path, mmap=True)
    before = learned(mapped)
    taught("Perceptron", seed=5).save(path)
    assert learned(mapped) == before
    mapped.save(path)
    assert learned(load(path)) == before


def test_model_opened_in_place_holds_little_memory_of_its_own(path):
    model = Perceptron.from_weights({f"w{i}": 1.0 for i in range(100_000)})
    model.save(path)
    assert load(path, mmap=True).memory_usage < model.memory_usage / 100


def test_constructor_called_again_lets_go_of_the_file(path):
    taught("Perceptron").save(path)
    mapped = load(path, mmap=True)
    mapped.__init__(hash_seed=1)
    mapped.learn_one({"a": 1}, True)
    assert mapped.weights == {"a": 1.0}


# While others use the model


@pytest.mark.parametrize("in_batches", [False, True], ids=["events", "batches"])
def test_file_saved_while_another_thread_learns_is_the_model_of_one_moment(in_batches, path):
    n, size = 4000, 20
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, (n, 60)) * 1.0
    y = rng.random(n) < 0.5
    model, again = make("Perceptron"), make("Perceptron")
    enough = threading.Event()

    def learn():
        for first in itertools.count(0, size):
            if enough.is_set():
                break
            rows = np.arange(first, first + size) % n
            if in_batches:
                model.learn_many(X[rows], y[rows])
            else:
                for row in rows:
                    model.learn_one({j: v for j, v in enumerate(X[row].tolist()) if v}, y[row])

    thread = threading.Thread(target=learn)
    thread.start()
    files = [path.with_name(str(i)) for i in range(10)]
    for file in files:
        model.save(file)
    enough.set()
    thread.join()
    for file in files:
        saved = load(file)
        rows = np.arange(again.n_seen, saved.n_seen) % n
        again.learn_many(X[rows], y[rows])
        assert saved.weights == again.weights
        assert saved.n_updates == again.n_updates


# What is wrong with a file


@pytest.fixture(scope="module")
def bases():
    return {name: mutations.base(name) for name in mutations.BASES}


@pytest.mark.parametrize("name", mutations.BASES)
def test_file_cut_off_anywhere_is_refused(name, bases, path):
    data = bases[name]
    for n in [*range(0, 200), *range(200, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:n])
        why = refused(path)
        assert "not a model file" in why or "cut off" in why


@pytest.mark.parametrize("name", mutations.BASES)
def test_any_flipped_bit_is_found(name, bases, path):
    rng = random.Random(name)
    data = bases[name]
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(path)


def test_damaged_file_is_refused_with_its_name_the_reason_and_what_to_do(bases, path):
    data = bytearray(bases["names"])
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert str(error.value) == (
        f"{str(path)!r} is damaged: the arrays do not fit their checksum; take another copy of the "
        "file, or an older checkpoint"
    )


def test_file_of_a_newer_format_is_refused_with_the_version_that_wrote_it(bases, path):
    data = bases["names"].replace(b'"version":"1"', b'"version":"2"')
    path.write_bytes(
        mutations.sealed(data.replace(b'"streamptron":"0.1.0"', b'"streamptron":"9.9.9"'))
    )
    why = refused(path)
    assert "has the format '2', written by streamptron '9.9.9'" in why
    assert "a newer one" in why


def test_foreign_files_are_refused(path):
    for data in (
        b"",
        b"x",
        b"free\ttrue\n" * 100,
        pickle.dumps({"a": 1}),
        b"\0" * 1000,
        b"\xff" * 64,
    ):
        path.write_bytes(data)
        assert "is not a model file" in refused(path)
    safetensors = pytest.importorskip("safetensors.numpy")
    for metadata in (None, {"format": "pt"}):
        safetensors.save_file({"weights": np.zeros((3, 2))}, path, metadata)
        assert "is not a model file of streamptron" in refused(path)


@on_posix
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_regular_file_is_an_error_at_once(kind, tmp_path):
    where = tmp_path / "model"
    if kind == "pipe":
        os.mkfifo(where)
    elif kind == "device":
        where.symlink_to("/dev/zero")
    else:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(where))
        server.close()
    for read in (load, read_metadata, lambda path: load(path, mmap=True)):
        with pytest.raises(OSError, match="not a regular file to read") as raised:
            read(where)
        assert raised.value.filename == os.fspath(where)


def test_file_replaced_while_it_is_loaded_gives_one_of_the_two_never_half_of_each(path):
    """One writer, two readers; n-grams, name of a label and metadata tell which file it was."""
    models = [Tokenizer(ngram_range=(n, n)) | MIRA() for n in (1, 2)]
    for n, model in enumerate(models, 1):
        model.learn_one("a b c", f"label {n}")
    models[0].save(path, {"n": 1})
    enough = threading.Event()

    def write():
        for n in itertools.cycle((2, 1)):
            if enough.is_set():
                break
            models[n - 1].save(path, {"n": n})

    thread = threading.Thread(target=write)
    thread.start()
    met = set()
    try:
        for turn in range(3000):
            found = reading.read(path, mmap=turn % 2 == 0)
            n = found.metadata["n"]
            met.add(n)
            assert (found.tokenizer.ngram_range, found.learner.labels) == ((n, n), [f"label {n}"])
            lines = LineModel.load(path)
            n = lines.kept[0]["n"]
            assert (lines.tokenizer.ngram_range, lines.learner.labels) == ((n, n), [f"label {n}"])
            if turn >= 200 and met == {1, 2}:
                break
    finally:
        enough.set()
        thread.join()
    assert met == {1, 2}


def test_file_that_is_not_there_or_no_file_is_an_error_of_the_systems(tmp_path):
    for where, error in ((tmp_path / "none", FileNotFoundError), (tmp_path, IsADirectoryError)):
        for read in (load, read_metadata, lambda path: load(path, mmap=True)):
            with pytest.raises(error) as raised:
                read(where)
            assert raised.value.filename == os.fspath(where)


@pytest.mark.parametrize(
    ("place", "mmap"),
    [((0, 0), False), ((0, 0), True), ((-1, -1), False)],
    ids=["null row", "null row, in place", "label to come"],
)
def test_file_with_a_weight_where_none_can_be_is_refused(place, mmap, path):
    """It would count for features that nobody has met, or for a label that is yet to join."""
    model = make("MIRA")
    for i, label in enumerate(labels_for("MIRA", 5)):
        model.learn_one({f"word{i}": 1}, label)
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)["weights"]
    first, last = said["data_offsets"]
    arrays = bytearray(arrays)
    weights = np.frombuffer(arrays, "<f8", (last - first) // 8, first).reshape(said["shape"])
    assert weights[place] == 0.0
    weights[place] = 1.0
    path.write_bytes(mutations.sealed(mutations.joined(header, bytes(arrays))))
    with pytest.raises(ModelFileError, match="weights of no feature or no label"):
        load(path, mmap=mmap)


def in_place(model, path, change):
    """The model opened in place, its file damaged by `change`, which gets the arrays by name."""
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    body = bytearray(arrays)
    views = {}
    for name, said in json.loads(header).items():
        if name != "__metadata__":
            first, last = said["data_offsets"]
            dtype = {"F64": "<f8", "U64": "<u8", "U32": "<u4", "U8": "u1"}[said["dtype"]]
            views[name] = np.frombuffer(memoryview(body)[first:last], dtype).reshape(said["shape"])
    change(views)
    path.write_bytes(mutations.joined(header, bytes(body)))
    with pytest.raises(ModelFileError):
        load(path)
    return load(path, mmap=True)


def bad_text(arrays):
    arrays["texts"][:] = 0xFF


def bad_word(arrays):
    arrays["keys"][2:, 0] = 2**64 - 1


def long_length(arrays):
    arrays["keys"][2:, 1] |= np.uint64(2**63)


def far_away(arrays):
    arrays["keys"][2:, 0] = 2**63


def no_object(arrays):
    arrays["keys"][2:] = (99, 6 * 16 + 8)


def no_kind(arrays):
    arrays["keys"][2:, 1] &= np.uint64(2**64 - 256)


def bad_tuple(arrays):
    arrays["texts"][::3] = 0x80


def no_number(arrays):
    arrays["weights"][2:, 0] = np.nan


def too_large(arrays):
    arrays["weights"][2:, 0] = 1.7e308


SHORT = {"one": 1.0, "two": 2.0, "three": -4.0}
LONG = {f"a name of more than fifteen bytes {i}": i + 1.0 for i in range(3)}
TUPLES = {("new", "york", i, 2**70): i + 1.0 for i in range(3)}


@pytest.mark.parametrize(
    ("weights", "change"),
    [
        (LONG, bad_text),
        (SHORT, bad_word),
        (LONG, long_length),
        (LONG, far_away),
        (SHORT, no_object),
        (SHORT, no_kind),
        (TUPLES, bad_tuple),
        (TUPLES, long_length),
        (SHORT, no_number),
    ],
    ids=lambda value: getattr(value, "__name__", None) or next(iter(value)),
)
def test_damage_that_is_met_in_a_model_opened_in_place_is_a_model_file_error(weights, change, path):
    model = Perceptron.from_weights(weights)
    mapped = in_place(model, path, change)
    for use in (
        lambda: mapped.weights,
        lambda: mapped.averaged_weights,
        lambda: mapped.top_features(),
        lambda: copy.deepcopy(mapped),
        lambda: pickle.dumps(mapped),
        lambda: mapped.clone(include_attributes=True),
        lambda: mapped.save(path.with_name("copy")),
    ):
        with pytest.raises(ModelFileError, match=r"damaged: .*take another copy of the file"):
            use()
    assert not path.with_name("copy").exists()


def test_weights_that_cannot_be_are_found_by_all_that_answers(path):
    mapped = in_place(Perceptron.from_weights(SHORT), path, no_number)
    x, X, names = {"one": 1, "two": 1}, np.ones((3, 2)), ["one", "two"]
    for use in (
        mapped.predict_one,
        mapped.predict_proba_one,
        mapped.decision_function_one,
        mapped.explain_one,
        mapped.debug_one,
    ):
        with pytest.raises(ModelFileError, match="a weight is not finite"):
            use(x)
        use({"unknown": 1})
    with pytest.raises(ModelFileError, match="a weight is not finite"):
        mapped.decision_function_many(X, names)
    assert mapped.predict_many(X, names).dtype == bool  # wrong, but an answer
    assert mapped.predict_proba_many(X, names).sum(axis=1).tolist() == [1.0] * 3


def test_weights_too_large_to_be_explained_are_a_model_file_error(path):
    mapped = in_place(Perceptron.from_weights(SHORT), path, too_large)
    for x in ({"one": 1, "two": 1}, {"one": 1, "two": 1, "three": -1}):
        with pytest.raises(ModelFileError):
            mapped.explain_one(x)


@pytest.mark.parametrize(
    "label", ['["list","a"]', '["date","2026"]', '["tuple",["dict"]]', '{"a":1}']
)
def test_label_that_cannot_be_is_refused(label, path):
    model = make("MIRA")
    model.learn_one({"a": 1}, "first")
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)
    said["__metadata__"]["labels"] = f"[{label}]"
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(mutations.sealed(mutations.joined(text, arrays)))
    assert "is damaged" in refused(path)


@pytest.mark.parametrize("seed", range(0, 6000, 1000), ids="seed={}".format)
def test_damaged_file_loads_as_a_model_that_works_or_is_refused(seed, bases, path):
    loaded = sum(mutations.try_one(seed + i, list(bases.values()), path) for i in range(500))
    assert 50 < loaded < 450


# What may go wrong in writing


def test_directory_and_what_cannot_be_written_are_errors_of_the_systems_with_the_path(tmp_path):
    model = taught("MIRA")
    with pytest.raises(IsADirectoryError) as error:
        model.save(tmp_path)
    assert error.value.filename == os.fspath(tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        model.save(tmp_path / "none" / "model")
    assert error.value.filename == os.fspath(tmp_path / "none" / "model")
    assert os.listdir(tmp_path) == []


@on_posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_an_error_of_the_systems(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as error:
        taught("MIRA").save(tmp_path / "model")
    assert error.value.filename == os.fspath(tmp_path / "model")


FULL_DISK = """
import resource, signal, sys
from variants import learned
from streamptron import load
model = load(sys.argv[1])
model.learn_one({"new": 1}, "label 1", 1e6)
before = learned(model)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error.filename, learned(model) == before)
"""


@on_posix
def test_full_disk_leaves_the_old_file_whole_and_nothing_else(path):
    taught("MIRA").save(path)
    data = path.read_bytes()
    for room in (0, 100, len(data) // 2, len(data) - 10):
        run = subprocess.run(
            [sys.executable, "-c", FULL_DISK, path, str(room)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
        )
        assert run.stdout == f"{path} True\n", run.stderr
        assert path.read_bytes() == data
        assert os.listdir(path.parent) == [path.name]


@on_posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_new_file_is_its_owners_alone_and_the_permissions_of_an_old_one_stay(umask, path):
    models = make("MIRA"), Tokenizer() | make("MIRA")
    old = os.umask(umask)
    try:
        for model in models:
            model.save(path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            for mode in (0o604, 0o640, 0o666):
                path.chmod(mode)
                model.save(path)
                assert stat.S_IMODE(path.stat().st_mode) == mode
            path.unlink()
    finally:
        os.umask(old)


@on_posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root gives files away")
def test_owner_and_group_of_the_old_file_stay_where_that_is_allowed(path):
    model = make("MIRA")
    model.save(path)
    path.chmod(0o640)
    os.chown(path, 1234, 2345)
    model.save(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o640)


@on_posix
def test_group_that_cannot_be_kept_hands_its_permissions_to_no_other(path, monkeypatch):
    """What a user who may write, but not give away, would meet; root is never refused."""
    model = make("MIRA")
    model.save(path)
    path.chmod(0o664)
    before = os.fstat

    def elsewhere(number):
        status = list(before(number))
        status[5] += 1  # st_gid: the new file is another group's
        return os.stat_result(status)

    def refused(*call):
        raise PermissionError

    monkeypatch.setattr(os, "fstat", elsewhere)
    monkeypatch.setattr(os, "fchown", refused)
    model.save(path)
    monkeypatch.undo()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@on_posix
def test_file_that_a_link_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "model", tmp_path / "link"
    link.symlink_to(target)
    for model in (taught("MIRA"), taught("MIRA", seed=1)):
        model.save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert learned(load(link)) == learned(load(target)) == learned(model)
    assert os.listdir(target.parent) == ["model"]


@on_posix
def test_what_is_no_regular_file_is_not_replaced(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        make("MIRA").save(path)
    assert stat.S_ISFIFO(path.stat().st_mode)


# Files of earlier versions


def golden_answers(model):
    """What is written beside a golden file."""
    x = {"free": 1, "a name of more than fifteen bytes": 2, 7: 1, ("new", "york"): 1, "é": 0.5}
    return {
        "decision": repr(model.decision_function_one(x)),
        "probabilities": repr(model.predict_proba_one(x)),
        "counters": [model.n_seen, model.n_updates, model.n_mistakes, model.n_features],
        "labels": repr(model._known_labels),
        "weights": repr(model.weights),
    }


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_file_of_an_earlier_version_answers_as_it_did(file):
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    for mmap in (False, True):
        assert golden_answers(loaded(file, mmap)) == expected
    model = loaded(file)
    model.learn_one({"free": 1}, model._known_labels[0])
    assert model.n_seen == expected["counters"][0] + 1


def test_there_is_a_file_of_each_learner_and_of_a_hashed_one():
    names = (*LEARNERS, "hashed", "pipeline")
    assert {file.stem for file in GOLDEN} >= {f"{name}-0.1.0" for name in names}
    assert {type(loaded(file)) for file in GOLDEN} == set(LEARNERS.values())


def test_pipeline_of_an_earlier_version_is_there_with_all_beside_it():
    found = reading.read(TESTS / "golden" / "pipeline-0.1.0.model")
    assert found.tokenizer._get_params() == Tokenizer(ngram_range=(1, 2))._get_params()
    assert found.metadata == {"a": 1}
    assert found.position == {("mail", 0): 7}
    assert reading.model_of(found).label_names == {False: "ham", True: "spam"}
    assert reading.model_of(found).predict_one("Free prize") is True
    assert streamptron.__version__


def test_pickles_of_an_earlier_version_are_loaded_and_pickled_again():
    data = (TESTS / "golden" / "models-0.1.0.pickle").read_bytes()
    binary, several, mira, tokenizer = pickle.loads(pickle.dumps(pickle.loads(data)))
    assert binary.predict_one("prize") is True
    assert binary[-1].weights["prize"] == 1.0
    assert binary[-1].weights["<num>"] == -1.0
    assert several.predict_one("law") == "politics"
    assert several[-1].max_features == 8
    assert (type(mira), mira.C, mira.predict_one({"law": 1})) == (MIRA, 0.5, "politics")
    assert tokenizer._get_params() == Tokenizer(ngram_range=(1, 2))._get_params()
