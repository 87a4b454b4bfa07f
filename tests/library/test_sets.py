"""The C library gives Python's bits for sets of labels: answers, explanations, and files."""

import random

import pytest

from streamptron import Mail, MultiLabelClassifier, Tokenizer, load
from tests.library.test_conformance import (
    answer,
    check_explanations,
    compared,
    events,
    measured,
    told,
)
from tests.support.library import called, event_line, needs_compiler, program
from tests.support.mails import likely_mail
from tests.support.marks import seeds
from tests.support.streams import labelled_texts, needs_data

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

LABELS = ["crude", "sky", "a label of more than fifteen bytes", "é", 'q"uo\\te', "6", ",", ""]
VARIANTS = {
    "default": {},
    "eta, forget": {"eta": 0.3, "forget": 0.25},
    "threshold": {"threshold": 0.3},
    "thresholds": {"threshold": {"crude": 0.1, "é": 0.9, "unknown": 0.4, 6: 0.2, ("a", 1): 0.3}},
    "f1": {"threshold": "f1"},
    "hashed": {"hash_bits": 12},
    "hashed, colliding": {"hash_bits": 3},
    "ceiling": {"max_features": 12},
    "most labels": {"max_labels": len(LABELS)},
    "pairs": {"degree": 2},
    "interactions": {"interactions": [("word1", "word2")], "max_pairs": 50},
}


def tagged(seed, n, labels=LABELS, xs=events, protocol="mixed"):
    """Events of which labels are there, or are said to be there or not."""
    rng = random.Random(seed)
    for i, (x, _, w) in enumerate(xs(seed, n, labels)):
        known = labels[: 2 + i * len(labels) // n]
        there = rng.sample(known, rng.randint(0, min(3, len(known))))
        if protocol == "list" or (protocol == "mixed" and rng.random() < 0.5):
            yield x, there, w
        else:
            yield x, {y: y in there for y in rng.sample(known, rng.randint(0, len(known)))}, w


@pytest.mark.parametrize("variant", VARIANTS)
@seeds(2)
def test_sets_are_answered_and_learned_alike(variant, seed, tmp_path):
    model = MultiLabelClassifier(hash_seed=3, **VARIANTS[variant])
    for x, y, w in tagged(seed, 80, LABELS[:3]):
        model.learn_one(x, y, w)
    saved = compared(model, tagged(seed + 10, 120), tmp_path)
    assert load(saved).n_updates > 20
    check_explanations(model, [x for x, _, _ in tagged(seed + 20, 20)], tmp_path, False)


@pytest.mark.parametrize("protocol", ["list", "dict"])
def test_an_untrained_model_and_its_first_labels(protocol, tmp_path):
    model = MultiLabelClassifier(hash_seed=3, threshold="f1")
    compared(model, tagged(5, 100, protocol=protocol), tmp_path)


def test_events_without_weight_make_no_labels(tmp_path):
    model = MultiLabelClassifier(hash_seed=3)
    stream = [({"a": 1.0}, ["x", "y"], 0.0), ({"a": 1.0}, {"z": False, "x": True}, 0.0)]
    stream += [({"a": 1.0}, ["y"], 1.0), ({"a": 1.0}, [], 1.0), ({}, {}, 1.0), ({"b": 2.0}, [], 9)]
    stream += [({"b": 1.0}, ["x", "z"], 1e30)]
    assert load(compared(model, stream, tmp_path)).labels == ["y", "x", "z"]


@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
@pytest.mark.parametrize("variant", ["default", "hashed", "hashed, colliding", "f1", "pairs"])
def test_a_file_answers_where_it_lies(variant, mapped, tmp_path):
    model = MultiLabelClassifier(hash_seed=3, **VARIANTS[variant])
    for x, y, w in tagged(1, 150):
        model.learn_one(x, y, w)
    xs = [x for x, _, _ in tagged(2, 40)]
    if not variant.startswith("hashed"):
        check_explanations(model, xs, tmp_path, mapped)
    model.save(tmp_path / "model")
    (tmp_path / "lines").write_text("".join(map(event_line, xs)))
    command = [program("conformance"), tmp_path / "model", tmp_path / "lines"]
    printed = called(*command, *["mapped"] * mapped).splitlines()[:-1]
    assert [told(line) for line in printed] == [answer(model, x) for x in xs]


def test_columns_of_numbers(tmp_path):
    model = MultiLabelClassifier(hash_seed=1)
    for x, y, w in tagged(1, 100, xs=measured):
        model.learn_one(x, y, w)
    compared(model, tagged(2, 120, xs=measured), tmp_path)


def test_texts(tmp_path):
    rng = random.Random(3)
    tokens = Tokenizer(ngram_range=(1, 2), value="log", normalize="l2", fold_numbers=True)
    words = ["oil", "Écris", "10.0.0.1", "wheat", "日本語", "a-b", "long" * 9]
    stream = []
    for _ in range(80):
        said = rng.choices(words, k=rng.randint(0, 9))
        stream.append((" ".join(said), [y for y in LABELS[:6] if y[0] in " ".join(said)], 1.0))
    compared(tokens | MultiLabelClassifier(hash_seed=1), stream, tmp_path)


def test_mails(tmp_path):
    rng = random.Random(4)
    stream = [(likely_mail(rng), rng.sample(LABELS, rng.randint(0, 3)), 1.0) for _ in range(40)]
    compared(Mail() | MultiLabelClassifier(hash_seed=1), stream, tmp_path)


def test_labels_that_are_no_texts_are_known_and_kept(tmp_path):
    labels = [True, 7, 1.5, b"x", ("a", 1)]
    shown = {str(label): label for label in labels}
    model = MultiLabelClassifier(hash_seed=3, threshold={7: 0.2, ("a", 1): 0.1})
    for x, y, w in tagged(1, 60, labels):
        model.learn_one(x, y, w)
    before, after, lines = (tmp_path / name for name in ("before", "after", "lines"))
    model.save(before)
    stream = list(tagged(2, 60, list(shown)))
    lines.write_text("".join(event_line(*each) for each in stream))
    printed = called(program("conformance"), before, lines, after).splitlines()
    for line, (x, y, w) in zip(printed, stream, strict=False):
        assert told(line) == answer(model, x)
        own = {shown[z]: y[z] for z in y} if isinstance(y, dict) else [shown[z] for z in y]
        model.learn_one(x, own, w)
    model.save(before)
    assert after.read_bytes() == before.read_bytes()


@pytest.mark.parametrize(
    ("given", "threshold"),
    [
        ("0.25", 0.25),
        ('"f1"', "f1"),
        ('{"sky": 0.75, "é": 0.125}', {"sky": 0.75, "é": 0.125}),
        ('[["sky", 0.1], [7, 0.125]]', {"sky": 0.1, 7: 0.125}),
    ],
)
def test_a_new_model_is_pythons(given, threshold, tmp_path):
    stream = list(tagged(3, 80))
    (tmp_path / "lines").write_text("".join(event_line(*each) for each in stream))
    spec = f'multilabel:{{"hash_seed": 5, "eta": 0.5, "threshold": {given}, "max_labels": 90}}'
    printed = called(program("conformance"), spec, tmp_path / "lines", tmp_path / "after")
    model = MultiLabelClassifier(hash_seed=5, eta=0.5, threshold=threshold, max_labels=90)
    for line, (x, y, w) in zip(printed.splitlines(), stream, strict=False):
        assert told(line) == answer(model, x)
        model.learn_one(x, y, w)
    loaded = load(tmp_path / "after")
    assert loaded.labels == model.labels
    for name in model._get_params():
        assert getattr(loaded, name) == getattr(model, name), name
    for x, _, _ in stream:
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)


@needs_data
@pytest.mark.parametrize("name", ["reuters_topics", "bibtex_tags"])
def test_real_streams(name, tmp_path):
    model = Tokenizer() | MultiLabelClassifier(hash_seed=1, threshold="f1")
    stream = [
        (text, list(dict.fromkeys(labels.split(","))), 1.0)
        for text, labels in labelled_texts(name, 600)
    ]
    compared(model, stream[:500], tmp_path)
    check_explanations(model, [x for x, _, _ in stream[500:]], tmp_path, True)
