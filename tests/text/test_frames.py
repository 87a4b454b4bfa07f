"""Texts of several fields as a frame with these columns."""

import numpy as np
import pytest

from streamptron import AdaptiveClassifier, Tokenizer

ROWS = [{"subject": "win a prize", "body": "free now"}, {"subject": "see you", "body": "at noon"}]
COLUMNS = {name: [row[name] for row in ROWS] for name in ("body", "subject")} | {"n": [1, 2]}
FRAMES = {
    "pandas": lambda module, columns: module.DataFrame(columns, index=[7, 8]),
    "polars": lambda module, columns: module.DataFrame(columns),
    "pyarrow": lambda module, columns: module.table(columns),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_the_fields_is_learned_as_its_rows(library):
    frame = FRAMES[library](pytest.importorskip(library), COLUMNS)
    model, twin = (
        Tokenizer(fields=("subject", "body")) | AdaptiveClassifier(hash_seed=1) for _ in range(2)
    )
    for row, label in zip(ROWS, ["spam", "ham"], strict=True):
        twin.learn_one(row, label)
    model.learn_many(frame, ["spam", "ham"])
    assert model[-1].weights == twin[-1].weights
    answers = model.predict_many(frame)
    assert type(answers).__module__.startswith(library)
    assert np.asarray(answers).tolist() == [twin.predict_one(row) for row in ROWS]


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_that_lacks_a_field_or_a_text_is_refused(library):
    module = pytest.importorskip(library)
    model = Tokenizer(fields=("subject", "body")) | AdaptiveClassifier()
    with pytest.raises(ValueError, match=r"X has no column 'body'; it has \['subject'\]"):
        model.learn_many(FRAMES[library](module, {"subject": ["a", "b"]}), [True, False])
    columns = {"subject": ["a", None], "body": ["a", "b"]}
    with pytest.raises(TypeError, match="in row 1: x\\['subject'\\] is"):
        model.learn_many(FRAMES[library](module, columns), [True, False])
    assert model[-1].n_seen == 0


def test_a_lazy_frame_is_refused_with_what_it_must_be():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="it must be a frame with these columns"):
        Tokenizer(fields="a").transform_many(polars.LazyFrame({"a": ["b"]}))
