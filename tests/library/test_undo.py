"""The C library takes back steps as Python does, to the last bit."""

import json

import pytest

from streamptron import MultiLabelClassifier, Tokenizer
from tests.library.test_conformance import (
    LABELS,
    answer,
    events,
    measured,
    parts_of,
    printed_alike,
)  # fmt: skip
from tests.library.test_sets import tagged
from tests.support import mutations
from tests.support.library import SANITIZED, event_line, needs_compiler, program
from tests.support.marks import seeds
from tests.support.variants import VARIANTS, make

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

CAN = ("Perceptron", "MulticlassPerceptron", "MIRA", "AdaptiveClassifier")
UNDONE = [(learner, variant) for learner, variant in VARIANTS if learner in CAN]


def saved_parts(path):
    """A file but for what only Python keeps of steps, and the checksum of the header."""
    header, arrays = mutations.parts(path.read_bytes())
    header = json.loads(header)
    metadata = header.pop("__metadata__")
    return header, {k: v for k, v in metadata.items() if k not in ("past", "header_crc32")}, arrays


def compared(model, stream, folder, *flags):
    before, after, mine, lines = (folder / name for name in ("before", "after", "mine", "lines"))
    stream = list(stream)
    model.save(before)
    learner, event = parts_of(model)
    expected, kept = [], None
    for i, (x, label, weight) in enumerate(stream):
        expected.append(answer(model, x))
        step = learner.learn_one(event(x), label, weight, undo=True)
        if i % 3 == 2:
            learner.undo(kept[1])
            learner.learn_one(event(kept[0]), label, weight)
        if i % 3 == 0:
            kept = x, step
    lines.write_text("".join(event_line(*each) for each in stream))
    model.save(mine)
    for how in ("undo", "stored"):  # from memory, and from bytes
        command = [program("conformance", *flags), before, lines, after, how]
        printed_alike(command, stream, expected, learner)
        assert saved_parts(after) == saved_parts(mine)


@pytest.mark.parametrize(("learner", "variant"), UNDONE)
@seeds(1)
def test_steps_are_taken_back_alike(learner, variant, seed, tmp_path):
    model = make(learner, variant)
    labels = [True, False] if learner == "Perceptron" else LABELS
    for x, label, w in events(seed, 30, labels[:2]):
        model.learn_one(x, label, w)
    compared(model, events(seed + 1, 90, labels), tmp_path)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}, {"max_features": 12}], ids=str)
def test_sets_are_taken_back_alike(options, tmp_path):
    model = MultiLabelClassifier(hash_seed=3, threshold="f1", **options)
    for x, y, w in tagged(1, 40):
        model.learn_one(x, y, w)
    compared(model, tagged(2, 120), tmp_path)


@pytest.mark.parametrize("labels", [["ham", "spam"], list("abcdefghi")], ids=len)
def test_columns_of_numbers_are_taken_back_alike(labels, tmp_path):
    model = make("AdaptiveClassifier", "default")
    for x, label, w in measured(1, 100, labels):
        model.learn_one(x, label, w)
    compared(model, measured(2, 90, labels), tmp_path)


@pytest.mark.parametrize("learner", CAN)
def test_texts_are_taken_back_alike(learner, tmp_path):
    model = Tokenizer(ngram_range=(1, 2), normalize="l2") | make(learner, "default")
    labels = [True, False] if learner == "Perceptron" else LABELS[:3]
    stream = [
        (
            f"word{i % 7} and a word of more than fifteen bytes{i % 5} {i % 11}",
            labels[i * i % len(labels)],
            1.0,
        )
        for i in range(90)
    ]
    compared(model, stream, tmp_path, *SANITIZED)
