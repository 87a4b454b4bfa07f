"""The functions answer from a model's file or bytes, as Python does, to the last bit."""

import json
import os
import struct

import pytest

from streamptron import AdaptiveClassifier, MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.common.version import RELEASE
from tests.sqlite.test_table import STREAM, twin
from tests.support.extension import extension, needs_sqlite, opened
from tests.support.library import needs_compiler
from tests.support.marks import slow
from tests.support.sqlite import Error
from tests.support.streams import labelled_texts, needs_data

pytestmark = [needs_sqlite, needs_compiler, pytest.mark.once]


@pytest.fixture
def db():
    with opened() as db:
        yield db


@pytest.fixture
def path(tmp_path):
    twin().save(tmp_path / "mail.model")
    return str(tmp_path / "mail.model")


def ways(path):
    """A model as the functions take it: a path or a blob."""
    with open(path, "rb") as file:
        return [path, file.read()]


def test_a_file_or_its_bytes_answer_as_python_does(db, path):
    model = twin()
    p = model.predict_proba_one("a prize")
    for given in ways(path):
        assert db.one("SELECT streamptron_label(?, 'a prize')", given) == "spam"
        assert db.one("SELECT streamptron_probability(?, 'a prize')", given) == p["spam"]
        assert db.one("SELECT streamptron_probability(?, 'a prize', 'ham')", given) == p["ham"]
        top = json.loads(db.one("SELECT streamptron_top(?, 'a prize')", given))
        assert {each["label"]: each["probability"] for each in top} == p
        assert [each["label"] for each in top] == ["spam", "ham"]
        parts = json.loads(db.one("SELECT streamptron_explain(?, 'a prize', 'ham')", given))
        assert {each["feature"] for each in parts} == {"a", "prize", None}
    assert db("SELECT streamptron_label(NULL, 'a'), streamptron_label(?, NULL)", path) == [
        (None, None)
    ]
    assert len(json.loads(db.one("SELECT streamptron_top(?, 'a', 1)", path))) == 1


def test_json_has_whatever_a_name_and_a_number_may_be(db, tmp_path):
    model = Tokenizer(separators=" ") | AdaptiveClassifier(hash_seed=1)
    names = ['"', "\\", "a\tb", "\x01", "ü😀"]
    for i, name in enumerate(names):
        model.learn_one(name, f'label "{i}"\n')
    model.save(tmp_path / "odd.model")
    path = str(tmp_path / "odd.model")
    top = json.loads(db.one("SELECT streamptron_top(?, ?, 9)", path, names[0]))
    expected = model.predict_proba_one(names[0])
    assert {each["label"]: each["probability"] for each in top} == expected
    for name in names:
        parts = json.loads(db.one("SELECT streamptron_explain(?, ?)", path, name))
        assert name in {each["feature"] for each in parts}


def test_a_file_that_was_replaced_answers_anew(db, path):
    sql = "SELECT streamptron_label(?, 'a prize')"
    assert db.one(sql, path) == "spam"
    model = twin([("a prize", "other")] * 3)
    model.save(path + ".new")
    os.replace(path + ".new", path)
    assert db.one(sql, path) == "other"
    os.remove(path)
    with pytest.raises(Error, match="cannot be opened"):
        db(sql, path)


def test_more_models_than_are_kept_open_all_answer(db, tmp_path):
    paths = [str(tmp_path / f"{i}.model") for i in range(40)]
    for i, path in enumerate(paths):
        twin([*STREAM, *[("a prize", f"label{i}")] * 5]).save(path)
    db("CREATE TABLE models(path)")
    db.many("INSERT INTO models VALUES (?)", [(path,) for path in paths * 2])
    answers = [label for (label,) in db("SELECT streamptron_label(path, 'a prize') FROM models")]
    assert answers == [f"label{i}" for i in range(40)] * 2


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("streamptron_label('/nowhere', 'a')", "'/nowhere' cannot be opened"),
        ("streamptron_label(x'00', 'a')", "model file"),
        ("streamptron_label($path, 'a', 'b')", "wrong number of arguments"),
        ("streamptron_probability($path, 'a', 'spm')", "label is 'spm', which the model has not"),
        ("streamptron_probability($path, 'a', NULL)", "label is NULL, which the model has not"),
        ("streamptron_explain($path, 'a', 'spm')", "label is 'spm', which the model has not"),
        ("streamptron_top($path, 'a', 0)", "an integer from 1 on"),
        ("streamptron_top($path, 'a', 'x')", "an integer from 1 on"),
    ],
)
def test_a_bad_argument_says_what_is_wrong(db, path, sql, words):
    with pytest.raises(Error, match=words):
        db(f"SELECT {sql.replace('$path', repr(path))}")
    assert db.one("SELECT streamptron_label(?, 'a prize')", path) == "spam"


def test_the_extension_may_be_loaded_twice(db, path):
    assert db.one("SELECT streamptron_label(?, 'a prize')", path) == "spam"
    db.load(extension())
    assert db.one("SELECT streamptron_label(?, 'a prize')", path) == "spam"
    assert db.one("SELECT streamptron_version()") == RELEASE


# --- The same bits

SIX = {
    "sms_spam": AdaptiveClassifier,
    "bgl_alert": Perceptron,
    "spamassassin": AdaptiveClassifier,
    "trec07p_first12000": AdaptiveClassifier,
    "20news_train": MulticlassPerceptron,
    "loghub_system": AdaptiveClassifier,
}


def as_hex(rows):
    return [(label, None if p is None else struct.pack(">d", p).hex()) for label, p in rows]


@needs_data
@pytest.mark.parametrize("name", slow([name for name in SIX if name != "sms_spam"], among=SIX))
def test_a_stream_is_learned_and_answered_to_the_bit(name, tmp_path):
    """Each text is answered before it is learned; then the first ones, by the table and a file."""
    learner = {"AdaptiveClassifier": "adaptive", "Perceptron": "perceptron"}.get(
        SIX[name].__name__, "multiclass"
    )
    model = Tokenizer() | SIX[name](hash_seed=1)
    stream = [(" ".join(text.split()), label) for text, label in labelled_texts(name, 600)]
    if SIX[name] is Perceptron:
        first = stream[0][1]
        stream = [(text, str(label == first)) for text, label in stream]
    with opened() as db:
        parameters = """parameters='{"hash_seed": 1}'"""
        db(f"CREATE VIRTUAL TABLE t USING streamptron(learner='{learner}', {parameters})")
        expected, found = [], []
        for text, label in stream:
            expected.append(answer(model, text))
            found += db("SELECT label, probability FROM t WHERE text MATCH ?", text)
            model.learn_one(text, label == "True" if SIX[name] is Perceptron else label)
            db("INSERT INTO t(text, label) VALUES (?, ?)", text, label)
        assert as_hex(found) == as_hex(expected)
        model.save(tmp_path / "t.model")
        path = str(tmp_path / "t.model")
        sql = "SELECT streamptron_label($1, $2), streamptron_probability($1, $2)"
        for text, _ in stream[:100]:
            assert as_hex(db(sql, path, text)) == as_hex([answer(model, text)])


def answer(model, text):
    """The label as SQL has it, and its probability; NULLs of a model that has learned nothing."""
    if isinstance(model["Perceptron"] if "Perceptron" in model.steps else None, Perceptron):
        label = model.predict_one(text)
        return str(label), model.predict_proba_one(text)[label]
    p = model.predict_proba_one(text)
    label = model.predict_one(text)
    return (None, None) if label is None else (label, p[label])
