"""Pipelines are saved whole: every step with what it has kept, as data, to the last bit."""

import contextlib
import json
import random

import numpy as np
import pandas as pd
import pytest
from river import compose, feature_extraction, linear_model, preprocessing

import streamptron
from streamptron import (
    AdaptiveClassifier,
    Checkpoint,
    Journal,
    ModelFileError,
    MulticlassPerceptron,
    Perceptron,
    Tokenizer,
    load,
    save,
)
from streamptron.keeping import steps as steps_room
from streamptron.keeping.steps import KINDS, steps_read
from tests.support import pipelines
from tests.support.pipelines import STEPS, event, learned, union
from tests.support.processes import in_another_process


def pipeline(kind, learner=AdaptiveClassifier):
    return STEPS[kind]() | learner(hash_seed=1, missing="skip_nan")


@pytest.mark.parametrize("kind", STEPS)
def test_pipeline_learns_on_from_a_file_with_the_same_bits(path, kind):
    model = pipeline(kind)
    learned(model, 0, 60)
    save(model, path, metadata={"kind": kind})
    loaded = load(path)
    assert list(loaded.steps) == list(model.steps)
    assert type(loaded) is type(model)
    assert learned(loaded, 60, 120) == learned(model, 60, 120)
    assert loaded[-1].weights == model[-1].weights
    assert streamptron.read_metadata(path) == {"kind": kind}
    save(loaded, path)
    again = load(path)
    assert learned(again, 120, 150) == learned(model, 120, 150)


@pytest.mark.parametrize("kind", STEPS)
def test_untrained_pipeline_comes_back(path, kind):
    model = pipeline(kind)
    save(model, path)
    assert learned(load(path), 0, 30) == learned(model, 0, 30)


def test_the_table_is_tried_whole(path):
    tried = set()
    for kind in STEPS:
        model = pipeline(kind)
        learned(model, 0, 5)
        save(model, path)
        tried |= set(json.dumps(json.loads(load_steps(path))).split('"'))
    assert set(KINDS) - tried <= {"Var", "Count", "Sum", "TransformerUnion"} - tried


def load_steps(path):
    from streamptron.keeping.read import read

    return read(path).steps.data


@pytest.mark.slow
@pytest.mark.once  # another Python would say the same
def test_select_gives_its_features_in_the_same_order_in_every_process(path):
    model = compose.Select("a", "b", "d") | Perceptron()
    save(model, path)
    order = list(load(path)[0].transform_one(event(1)[0]))
    assert order == list(model[0].transform_one(event(1)[0]))
    code = (
        "import streamptron\n"
        "from tests.support.pipelines import event\n"
        f"print(list(streamptron.load({str(path)!r})[0].transform_one(event(1)[0])))"
    )
    for seed in "123":
        assert in_another_process(code, seed) == f"{order}\n"


@pytest.mark.parametrize("n", [0, 40])
def test_frames_are_learned_on_from_a_file(path, n):
    frame = pd.DataFrame([event(t)[0] for t in range(80)])
    y = pd.Series([event(t)[1] for t in range(80)])
    model = (
        (compose.Select("a", "b") | preprocessing.StandardScaler())
        + (compose.Select("city") | preprocessing.OneHotEncoder())
    ) | Perceptron(hash_seed=1)
    model.learn_many(frame[:n], y[:n]) if n else None
    save(model, path)
    loaded = load(path)
    for each in (model, loaded):
        each.learn_many(frame[n:], y[n:])
    assert loaded[-1].weights == model[-1].weights
    assert (loaded.predict_many(frame) == model.predict_many(frame)).all()


def test_numbers_names_and_categories_of_every_kind(path):
    model = preprocessing.StandardScaler() | Perceptron(hash_seed=1)
    for t in range(20):
        x = {("a", 1): t / 3, 7: np.float32(t) / 3, "ü": np.float64(t), None: t, 0.5: True}
        model.learn_one(x, t % 2 == 0)
    save(model, path)
    loaded = load(path)
    assert loaded[0].means == model[0].means
    assert list(map(type, loaded[0].means.values())) == list(map(type, model[0].means.values()))
    encoder = preprocessing.OneHotEncoder() | Perceptron(hash_seed=1)
    for value in ("x", 1, 1.5, None, ("t", 2), True, b"b", np.int64(4)):
        encoder.learn_one({"c": value}, True)
    save(encoder, path)
    assert load(path)[0].values == encoder[0].values


# --- Checkpoints, journals, kills


def test_checkpoint_of_a_pipeline_brings_back_steps_and_position(path):
    model = union() | MulticlassPerceptron(hash_seed=1)
    checkpoint = Checkpoint(model, path, every_events=10)
    for t in range(25):
        x, y = event(t)
        model.learn_one(x, y)
        checkpoint.step(position=t)
    saved = Checkpoint.newest_saved(path)
    assert saved.position == 19
    learned(saved.model, 20, 25)
    assert learned(saved.model, 25, 60) == learned(model, 25, 60)


@pytest.mark.slow
@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_process_killed_again_and_again_learns_with_the_same_bits(tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "model"
    for turn in range(3):
        pipelines.killed(path, 1 if turn == 0 else rng.randrange(2, 1000), rng.random() * 0.05)
    saved = Checkpoint.newest_saved(path)
    last = saved.position + 1
    assert last > 7
    # never interrupted, where the sets have the order that they had at the very start
    with pipelines.started(tmp_path / "whole", 1, last) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0
    whole = Checkpoint.newest_saved(tmp_path / "whole")
    assert whole.position == saved.position
    assert whole.model[-1].weights == saved.model[-1].weights
    assert learned(whole.model, last, last + 50) == learned(saved.model, last, last + 50)


def test_journal_of_a_pipeline_corrects_from_a_file(path):
    journal = Journal(union() | AdaptiveClassifier(hash_seed=1))
    twin = union() | AdaptiveClassifier(hash_seed=1)
    for t in range(30):
        x, y = event(t)
        journal.learn_one(t, x, y)
        twin.learn_one(x, y)
    assert journal.model[-1].weights == twin[-1].weights
    journal.save(path)
    loaded = Journal.load(path)
    for each in (journal, loaded):
        each.correct(7, not event(7)[1])
    assert loaded.model[-1].weights == journal.model[-1].weights
    assert learned(loaded.model, 30, 60) == learned(journal.model, 30, 60)


def test_journal_that_refuses_an_event_has_taught_no_step_of_it():
    journal = Journal(preprocessing.StandardScaler() | Perceptron())
    journal.learn_one("a", {"n": 1.0}, True)
    for id, y in (("a", True), ("b", "no label of a Perceptron")):
        with pytest.raises((ValueError, TypeError)):
            journal.learn_one(id, {"n": 5.0}, y)
    assert journal.model[0].counts["n"] == 1


def test_ticket_of_a_transformed_event():
    model = union() | AdaptiveClassifier(hash_seed=1)
    learned(model, 0, 20)
    x, y = event(20)
    ticket = model[-1].predict_ticket(model.transform_one(x))
    assert ticket.prediction == model.predict_one(x)
    model[-1].learn_ticket(ticket, y)


def test_pipeline_is_opened_in_place(path):
    model = pipeline("TransformerUnion")
    learned(model, 0, 40)
    save(model, path)
    opened = load(path, mmap=True)
    for t in range(40, 60):
        x, _ = event(t)
        assert opened.predict_proba_one(x) == model.predict_proba_one(x)
    with pytest.raises(RuntimeError, match="read-only"):
        opened.learn_one(*event(60))


def test_tokenizer_with_more_steps_keeps_its_own_kind_of_pipeline(path):
    model = Tokenizer() | compose.FuncTransformer(dict) | preprocessing.StandardScaler()
    model |= Perceptron(hash_seed=1)
    for text, y in (("a prize", True), ("see you", False), ("a b c", True)):
        model.learn_one(text, y)
    save(model, path)
    loaded = load(path)
    assert loaded.predict_proba_one("a you") == model.predict_proba_one("a you")
    alone = Tokenizer() | Perceptron(hash_seed=1)
    save(alone, path)
    assert b'"version":"1"' in path.read_bytes()  # as ever


def test_rivers_own_pipeline_of_a_tokenizer_and_a_learner_is_saved(path):
    model = compose.Pipeline(Tokenizer(ngram_range=(1, 2)), Perceptron(hash_seed=1))
    model.learn_one("a prize", True)
    save(model, path)
    assert type(load(path)) is compose.Pipeline
    assert load(path).predict_one("prize") is True


# --- What is not saved


class Doubled(preprocessing.StandardScaler):
    """A step of somebody's own."""


def changed(step, name, value):
    setattr(step, name, value)
    return step


NO_STEPS = {
    "function": (
        lambda: compose.FuncTransformer(changed),
        "the step 'changed' is the function changed, and a model file holds no code; pickle the",
    ),
    "lambda": (lambda: compose.FuncTransformer(lambda x: x), "is a lambda, and a model file holds"),
    "function in a union": (
        lambda: compose.FuncTransformer(changed) + compose.Select("a"),
        "'TransformerUnion' has the step 'changed', which is the function changed, and a model",
    ),
    "unknown": (lambda: feature_extraction.BagOfWords(), "the step 'BagOfWords' is a BagOfWords"),
    "unknown in a union": (
        lambda: compose.Select("a") + feature_extraction.BagOfWords(),
        "the step 'TransformerUnion' has the step 'BagOfWords', which is a BagOfWords",
    ),
    "of one's own": (Doubled, "the step 'Doubled' is a Doubled"),
    "type of one's own": (lambda: compose.SelectType(Doubled), "the type Doubled"),
    "attribute": (
        lambda: changed(preprocessing.StandardScaler(), "note", 1),
        "the step 'StandardScaler' is a StandardScaler with the attribute 'note'",
    ),
    "state": (
        lambda: changed(preprocessing.StandardScaler(), "means", {"a": "b"}),
        "whose means has a form that",
    ),
    "name": (
        lambda: changed(preprocessing.PreviousImputer(), "_latest", {Doubled: 1, object: 2}),
        "the step 'PreviousImputer' holds the type",
    ),
}


@pytest.mark.parametrize("kind", NO_STEPS)
def test_step_that_no_file_holds_is_named(path, kind):
    make, said = NO_STEPS[kind]
    model = compose.Pipeline(make(), Perceptron())
    for refuse in (lambda: save(model, path), lambda: Checkpoint(model, path)):
        with pytest.raises(TypeError, match=said):
            refuse()
    assert not path.exists()


def test_pipeline_without_a_learner_of_ours_is_refused(path):
    with pytest.raises(TypeError, match="or a pipeline that ends in one, not a pipeline of"):
        save(preprocessing.StandardScaler() | linear_model.LogisticRegression(), path)


def test_command_line_says_that_it_has_no_such_events(path):
    save(pipeline("StandardScaler"), path)
    from streamptron.files.lines import LineModel

    with pytest.raises(
        ValueError, match=r"holds a pipeline of .*AdaptiveClassifier, whose events are not lines"
    ):
        LineModel.load(path)


# --- What a file may say


def written(path, change):
    """Write a file whose steps have been changed, with the right checksums."""
    from streamptron.keeping.read import read
    from streamptron.keeping.write import write

    contents = read(path)
    held = json.loads(contents.steps.data)
    change(held)
    data = json.dumps(held).encode()
    write(path, contents._replace(steps=contents.steps._replace(data=data)))


def first(held):
    return held["steps"][0]


CHANGES = {
    "class that is unknown": (
        lambda held: first(held).__setitem__(1, "Evil"),
        r"has the step 'StandardScaler', which needs the class Evil.*a newer one",
    ),
    "learner among the steps": (
        lambda held: held["steps"].__setitem__(0, 7),
        "step 'StandardScaler' is an int, not a step",
    ),
    "part that is unknown": (
        lambda held: first(held)[3].append(["skew", ["dict"]]),
        "skew of the class StandardScaler, which this version does not know",
    ),
    "parameter that is unknown": (
        lambda held: first(held)[2].append(["decay", 1]),
        "decay of the class StandardScaler, which this version does not know",
    ),
    "parameter that is wrong": (
        lambda held: first(held)[2].__setitem__(1, ["with_std", "yes"]),
        "the step 'StandardScaler' is damaged: StandardScaler has with_std='yes'",
    ),
    "state that is gone": (
        lambda held: first(held)[3].pop(),
        "the step 'StandardScaler' is damaged: StandardScaler has no vars",
    ),
    "state that is wrong": (
        lambda held: first(held)[3].__setitem__(2, ["means", ["dict", ["a", "b"]]]),
        "the step 'StandardScaler' is damaged: StandardScaler has means",
    ),
    "type of a stranger": (
        lambda held: first(held)[2].append(["x", ["type", "Popen"]]),
        "holds the type 'Popen', which this version does not know",
    ),
    "names": (lambda held: held["names"].pop(), "the names of the steps do not fit"),
    "pipeline": (lambda held: held.__setitem__("class", "Popen"), "do not fit"),
    "depth": (
        lambda held: held["steps"].__setitem__(0, json.loads("[" * 900 + "]" * 900)),
        "the step 'StandardScaler' is damaged",
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_steps_that_a_file_cannot_mean_are_refused_by_name(path, kind):
    change, said = CHANGES[kind]
    model = preprocessing.StandardScaler() | Perceptron(hash_seed=1)
    model.learn_one({"a": 1.0}, True)
    save(model, path)
    written(path, change)
    with pytest.raises(ModelFileError, match=said) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", STEPS)
def test_damaged_steps_are_refused_or_read(path, kind):
    """One byte after another is changed; no change is code, crashes or passes unseen as a file."""
    model = pipeline(kind)
    learned(model, 0, 12)
    save(model, path)
    data = bytearray(load_steps(path))
    whole = path.read_bytes()
    at = whole.index(data)
    rng = random.Random(kind)
    for place in rng.sample(range(len(data)), 40):
        damaged = bytearray(whole)
        damaged[at + place] ^= 1 << rng.randrange(7)
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match="checksum"):
            load(path)
        with contextlib.suppress(ValueError):
            steps_read(bytes(damaged[at : at + len(data)]))


def test_no_file_has_a_class_imported_or_a_function_called(path, monkeypatch):
    model = preprocessing.StandardScaler() | Perceptron()
    save(model, path)
    asked = []
    regular = steps_room.importlib.import_module
    monkeypatch.setattr(
        steps_room.importlib, "import_module", lambda name: asked.append(name) or regular(name)
    )
    written(path, lambda held: first(held).__setitem__(1, "os.system"))
    with pytest.raises(ModelFileError, match=r"os\.system"):
        load(path)
    assert not [name for name in asked if not name.startswith("river.")]
