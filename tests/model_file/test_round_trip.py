"""What is saved comes back: models, labels, names, metadata, pipelines."""

import copy
import datetime
import enum
import json
import os
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from streamptron import Perceptron, Tokenizer, load, read_metadata
from streamptron.common.names import short_repr, type_shown
from streamptron.engine.api import UNICODE
from tests.support import mutations
from tests.support.marks import seeds
from tests.support.model_files import refused, taught
from tests.support.river import scaler
from tests.support.streams import needs_data, text_stream
from tests.support.variants import (
    LEARNERS,
    PLACED,
    answers,
    every_learner,
    every_placed_learner,
    every_placed_variant,
    every_variant,
    labels_for,
    learned,
    make,
    named_events,
)
from tests.twin.model_file import ModelFile, value

# What is saved comes back


@seeds(1, n_slow=1)
@every_variant
def test_model_replaced_by_its_file_now_and_then_learns_on_as_if_nothing_had_happened(
    learner, variant, seed, path
):
    rng = random.Random(seed)
    model, replaced = make(learner, variant), make(learner, variant)
    for x, y, w in named_events(learner, seed):
        if rng.random() < 0.1:
            replaced.save(path)
            replaced = load(path)
            assert learned(replaced) == learned(model)
        assert answers(replaced, x) == answers(model, x)
        model.learn_one(x, y, w)
        replaced.learn_one(x, y, w)
    assert learned(replaced) == learned(model)


@seeds(1, n_slow=1)
@every_placed_variant
def test_model_opened_in_place_answers_as_the_one_that_was_saved(learner, variant, seed, path):
    model = taught(learner, variant, seed)
    model.save(path)
    mapped = load(path, mmap=True)
    for x, _, _ in named_events(learner, seed + 100):
        assert answers(mapped, x) == answers(model, x)
    assert mapped.weights == model.weights
    assert mapped.intercept_ == model.intercept_
    assert mapped.top_features() == model.top_features()
    assert mapped.explain_one(x) == model.explain_one(x)
    for name in ("n_seen", "n_updates", "n_mistakes", "n_features", "serving"):
        assert getattr(mapped, name) == getattr(model, name)
    assert learned(mapped) == learned(model)


@every_placed_learner
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
    for mmap in (False, True) if learner in PLACED else (False,):
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


def stamp(zone=None):
    return datetime.datetime(2026, 2, 3, 4, 5, 6, 789, zone)


KEPT = [
    "", "spam", "é \ud800", "\0", b"", b"\0\xff", 0, -1, 2**53, -(2**64), 10**5000, 0.1, -0.0,
    5e-324, float("inf"), True, (), ("a", (1, (None, b"b")), False), 1j, complex(-0.0, 0.1),
    Decimal("0.10"), Decimal("-1E+20"), Fraction(1, 3), datetime.date(2026, 2, 3), stamp(),
    stamp(datetime.UTC), (Decimal("0.3"), Fraction(-1, 7), datetime.date(1, 1, 1)),
]  # fmt: skip
NOT_KEPT = [
    frozenset(("a",)), Color.RED, range(3), ("a", frozenset()),
    stamp(datetime.timezone(datetime.timedelta(0), "Atlantis")), stamp().replace(fold=1),
]  # fmt: skip


@pytest.mark.parametrize("label", KEPT, ids=short_repr)
def test_label_comes_back_equal_and_of_the_same_type(label, path):
    model = make("MulticlassPerceptron", class_weight={label: 2})
    model.learn_one({"a": 1}, label)
    model.learn_one({"a": 1}, "another")
    model.save(path)
    for mmap in (False, True):
        (kept, _), weights = load(path, mmap).labels, load(path, mmap).class_weight
        assert (type(kept), short_repr(kept)) == (type(label), short_repr(label))
        assert kept == label
        assert weights == {label: 2}


@pytest.mark.parametrize("name", [None, *KEPT], ids=short_repr)
def test_feature_name_comes_back_and_its_weight_is_found(name, path):
    weights = {name: 1.0, "another": 2.0}
    Perceptron.from_weights(weights).save(path)
    for mmap in (False, True):
        model = load(path, mmap)
        assert model.weights == weights
        assert model.decision_function_one({name: 1}) == 1.0
        (found, _), _ = model.explain_one({name: 1})
        (given, _), _ = Perceptron.from_weights(weights).explain_one({name: 1})
        assert (type(found), short_repr(found)) == (type(given), short_repr(given))


@pytest.mark.parametrize("name", NOT_KEPT, ids=repr)
@pytest.mark.parametrize("kind", ["label", "feature name"])
def test_mere_object_is_refused_by_name_before_anything_is_written(kind, name, path):
    path.write_bytes(b"old")
    if kind == "label":
        model = make("MIRA")
        model.learn_one({"a": 1}, name)
    else:
        model = Perceptron.from_weights({name: 1.0})
    before = learned(model)
    with pytest.raises(TypeError) as error:
        model.save(path)
    part = name[1] if type(name) is tuple else name
    assert f"the {kind} {short_repr(part)} is {type_shown(part)}" in str(error.value)
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
    loaded, mapped = load(path), load(path, mmap=learner in PLACED)
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


def with_metadata(path, **changed):
    """Write other entries into the file's header, or with None leave one out."""
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)
    kept = {**said["__metadata__"], **changed}
    said["__metadata__"] = {name: entry for name, entry in kept.items() if entry is not None}
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(mutations.sealed(mutations.joined(text, arrays)))


def test_file_says_of_which_unicode_version_the_tokenizers_letters_are(path):
    (Tokenizer() | Perceptron()).save(path)
    assert ModelFile(path).part("unicode") == UNICODE
    Perceptron().save(path)
    assert "unicode" not in ModelFile(path).said


@pytest.mark.parametrize("version", ["9.0.0", "15.0.0", "99.1.20", None])
def test_file_of_other_letters_is_loaded_and_saved_with_those_of_today(version, path):
    model = Tokenizer() | Perceptron()
    model.learn_one("Élan vital", True)
    model.save(path)
    with_metadata(path, unicode=version and json.dumps(version))
    for again in (load(path), load(path, mmap=True)):
        assert again.predict_one("élan") is True
    load(path).save(path)
    assert ModelFile(path).part("unicode") == UNICODE


@pytest.mark.parametrize("version", [15, None, "", "15.1", "fifteen", "15.1.0 ", ["15.1.0"]])
def test_file_whose_letters_are_of_no_version_is_damaged(version, path):
    (Tokenizer() | Perceptron()).save(path)
    with_metadata(path, unicode=json.dumps(version))
    assert "is damaged: its letters are of the Unicode version" in refused(path)


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
    longer |= scaler()
    for model in (longer, Mine() | Perceptron(), Tokenizer() | Own()):
        with pytest.raises(TypeError, match=r"not a pipeline of .*Pickle the pipeline instead"):
            model.save(path)
    with pytest.raises(TypeError, match=r"save its learner alone, pipeline\['Perceptron'\]"):
        longer.save(path)
    assert not path.exists()


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
    tokenizer = ModelFile(path).part("tokenizer")
    changed = {
        "ngram_range": {"tokenizer": {**tokenizer, "ngram_range": [2, 1]}},
        "class": {"tokenizer": {**tokenizer, "colour": "blue"}},
        "lines": {"lines": {"reading": {}, "positive": None, "names": None}},
        "position": {"position": ["dict", [["list"], 1]]},
    }[replace]
    with_metadata(path, **{name: json.dumps(part) for name, part in changed.items()})
    assert "is damaged" in refused(path)
