"""The virtual table learns what is inserted, as a model in Python does, to the last bit."""

import itertools
import json
import random

import pytest

import streamptron
from streamptron import AdaptiveClassifier, Journal, Mail, MulticlassPerceptron, Tokenizer
from tests.library.test_undo import saved_parts
from tests.support.extension import needs_sqlite, opened
from tests.support.library import needs_compiler
from tests.support.marks import seeds
from tests.support.sqlite import CONSTRAINT, Error, sqlite

pytestmark = [needs_sqlite, needs_compiler, pytest.mark.once]  # the extension knows no Python

SEEDED = """parameters='{"hash_seed": 1}'"""
STREAM = [("win a prize", "spam"), ("see you", "ham"), ("a prize for you", "spam")]
WORDS = ["a", "prize", "win", "see", "you", "at", "the", "meeting", "lunch", "free", "nine"]


@pytest.fixture
def db():
    with opened() as db:
        yield db


def created(db, *arguments):
    db(f"CREATE VIRTUAL TABLE spam USING streamptron({', '.join([*arguments, SEEDED])})")


def learned(db, stream=STREAM):
    db.many("INSERT INTO spam(text, label) VALUES (?, ?)", stream)


def twin(stream=STREAM, learner=AdaptiveClassifier):
    model = Tokenizer() | learner(hash_seed=1)
    for text, label in stream:
        model.learn_one(text, label)
    return model


def model_of(db):
    return db.one("SELECT model FROM spam WHERE text MATCH ''")


def is_the_same(db, model, folder):
    """Whether the table's model is that one, but for what only Python keeps of steps.

    Python writes all parameters, and the library those that were given.
    """
    (folder / "given").write_bytes(model_of(db))
    streamptron.load(folder / "given").save(folder / "theirs")
    model.save(folder / "mine")
    return saved_parts(folder / "theirs") == saved_parts(folder / "mine")


def a_stream(seed, n):
    draw = random.Random(seed)
    for _ in range(n):
        label = draw.choice(["spam", "ham", "list"])
        yield " ".join(draw.choices(WORDS, k=draw.randrange(12))), label


def test_what_is_inserted_is_learned_and_what_matches_is_answered(db, tmp_path):
    created(db)
    learned(db)
    model = twin()
    label, probability = db("SELECT label, probability FROM spam WHERE text MATCH 'a prize'")[0]
    assert label == model.predict_one("a prize") == "spam"
    assert probability == model.predict_proba_one("a prize")["spam"]
    assert is_the_same(db, model, tmp_path)


def test_an_untrained_model_answers_null(db):
    created(db)
    assert db("SELECT label, probability FROM spam WHERE text MATCH 'a'") == [(None, None)]
    assert db("SELECT label FROM spam WHERE text MATCH NULL") == []


def test_the_rows_are_the_lessons(db):
    created(db)
    learned(db)
    db("INSERT INTO spam(id, text, label, weight) VALUES (17, 'lunch', 'ham', 2)")
    rows = [(1, "spam", 1.0), (2, "ham", 1.0), (3, "spam", 1.0), (17, "ham", 2.0)]
    assert db("SELECT id, label, weight FROM spam") == rows
    assert db("SELECT id, label, weight FROM spam WHERE id = 17") == rows[3:]
    assert db("SELECT rowid FROM spam WHERE label = 'ham'") == [(2,), (17,)]


def test_each_text_of_another_table_is_answered(db):
    created(db)
    learned(db)
    db("CREATE TABLE mails(text)")
    db.many("INSERT INTO mails VALUES (?)", [(text,) for text, _ in STREAM])
    model = twin()
    answers = db("SELECT m.text, s.label FROM spam s, mails m WHERE s.text MATCH m.text")
    assert answers == [(text, model.predict_one(text)) for text, _ in STREAM]


def test_an_explanation_has_the_parts_of_the_answer(db):
    created(db)
    learned(db)
    ((given,),) = db("SELECT explanation FROM spam WHERE text MATCH 'a prize'")
    parts = [(each["feature"], each["contribution"]) for each in json.loads(given)]
    assert [part for _, part in parts] == sorted((part for _, part in parts), key=abs, reverse=True)
    # of what is always there Python and the library sum the parts in another order
    assert dict(parts) == pytest.approx(dict(twin().explain_one("a prize", label="spam")))


@pytest.mark.parametrize("learner", [AdaptiveClassifier, MulticlassPerceptron])
@pytest.mark.parametrize("reopened", [False, True])
@seeds(1)
def test_lessons_are_corrected_and_taken_back_as_a_journal_does(learner, reopened, seed, tmp_path):
    name = {AdaptiveClassifier: "adaptive", MulticlassPerceptron: "multiclass"}[learner]
    draw = random.Random(seed)
    journal = Journal(Tokenizer() | learner(hash_seed=1))
    db = opened(tmp_path / "db")
    created(db, f"learner='{name}'")
    for id, (text, label) in enumerate(a_stream(seed, 60)):
        db("INSERT INTO spam(id, text, label) VALUES (?, ?, ?)", id, text, label)
        journal.learn_one(id, text, label)
        chosen = draw.choice(list(journal))
        if id % 3 == 1 and label != journal.label_of(chosen):
            db("UPDATE spam SET label = ? WHERE id = ?", label, chosen)
            journal.correct(chosen, label)
        if id % 5 == 4:
            db("DELETE FROM spam WHERE id = ?", chosen)
            journal.undo(chosen)
        if reopened and id % 7 == 6:
            db.close()
            db = opened(tmp_path / "db")
    assert is_the_same(db, journal.model, tmp_path)
    assert sorted(db("SELECT id, label FROM spam")) == sorted(
        (id, journal.label_of(id)) for id in journal
    )
    db.close()


def test_a_model_that_was_written_anew_goes_on_and_takes_back(tmp_path):
    """The log has become longer than the model, so that its bytes are written, and the steps."""
    draw = random.Random(1)
    journal = Journal(Tokenizer() | AdaptiveClassifier(hash_seed=1), most=50)
    with opened(tmp_path / "db") as db:
        created(db, "keep=50")
        for part in range(4):
            db("BEGIN")
            for id in range(part * 600, part * 600 + 600):
                text, label = " ".join(draw.choices(WORDS, k=40)), draw.choice(["spam", "ham"])
                db("INSERT INTO spam(id, text, label) VALUES (?, ?, ?)", id, text, label)
                journal.learn_one(id, text, label)
            db("COMMIT")
            assert db.one("SELECT count(*) FROM spam_log") == 0
            assert db.one("SELECT count(*) FROM spam_steps") == 50
            with opened(tmp_path / "db") as other:
                other("DELETE FROM spam WHERE id = ?", id - 10)
                journal.undo(id - 10)
            db("UPDATE spam SET label = 'list' WHERE id = ?", id - 20)
            journal.correct(id - 20, "list")
        assert is_the_same(db, journal.model, tmp_path)


def test_a_lesson_that_is_too_old_says_so(db):
    created(db, "keep=2")
    learned(db)
    assert db("SELECT id, kept FROM spam") == [(1, 0), (2, 1), (3, 1)]
    before = model_of(db)
    for sql in ("DELETE FROM spam WHERE id = 1", "UPDATE spam SET label = 'ham' WHERE id = 1"):
        with pytest.raises(Error, match=r"lesson 1 cannot be taken back any more: 2 others have"):
            db(sql)
    db("UPDATE spam SET label = 'ham' WHERE id = 1 AND kept")
    assert model_of(db) == before


def test_what_is_as_it_was_is_not_learned_again(db):
    created(db)
    learned(db)
    before = model_of(db)
    db("UPDATE spam SET label = 'spam', weight = 1 WHERE id = 1")
    db("UPDATE spam SET id = 40 WHERE id = 2")
    assert model_of(db) == before
    assert db("SELECT id, label FROM spam") == [(1, "spam"), (3, "spam"), (40, "ham")]
    with pytest.raises(Error, match="lesson 40 has been learned already"):
        db("UPDATE spam SET id = 40, label = 'ham' WHERE id = 1")
    assert model_of(db) == before


@pytest.mark.parametrize("extended", [False, True])
def test_an_id_is_learned_once(db, extended):
    sqlite().sqlite3_extended_result_codes(db.db, extended)
    created(db)
    learned(db)
    before = model_of(db)
    with pytest.raises(Error, match="lesson 2 has been learned already; UPDATE corrects") as found:
        db("INSERT INTO spam(id, text, label) VALUES (2, 'x', 'y')")
    assert found.value.code & 255 == CONSTRAINT
    db("INSERT OR IGNORE INTO spam(id, text, label) VALUES (2, 'x', 'y')")
    assert model_of(db) == before
    db("INSERT OR REPLACE INTO spam(id, text, label) VALUES (2, 'see you', 'spam')")
    assert db("SELECT id, label FROM spam WHERE id = 2") == [(2, "spam")]


def test_mails_are_learned_as_bytes(db, tmp_path):
    raw = b"Subject: win\n\na prize\xff\n"
    db("CREATE VIRTUAL TABLE spam USING streamptron(mail='{}', " + SEEDED + ")")
    db("INSERT INTO spam(text, label) VALUES (?, 'spam')", raw)
    model = Mail() | AdaptiveClassifier(hash_seed=1)
    model.learn_one(raw, "spam")
    assert is_the_same(db, model, tmp_path)


def test_a_model_file_becomes_a_table(db, tmp_path):
    model = twin()
    model.save(tmp_path / "old.model")
    db(f"CREATE VIRTUAL TABLE spam USING streamptron(model='{tmp_path}/old.model')")
    learned(db, [("lunch", "ham")])
    model.learn_one("lunch", "ham")
    assert is_the_same(db, model, tmp_path)


def test_a_table_is_renamed_and_dropped(db):
    created(db)
    learned(db)
    db('ALTER TABLE spam RENAME TO [other "one"]')
    assert db.one("SELECT label FROM [other \"one\"] WHERE text MATCH 'a prize'") == "spam"
    db("INSERT INTO [other \"one\"](text, label) VALUES ('x', 'ham')")
    db('DROP TABLE [other "one"]')
    assert db("SELECT name FROM sqlite_master") == []


BAD = {
    "learner='nothing'": "learner",
    "lerner='adaptive'": "'lerner='adaptive'' is not an argument; give learner=",
    "learner='adaptive', learner='mira'": "learner is given twice",
    "learner='adaptive": "unrecognized token|single quotes",
    "parameters='{\"max_features\": 0}'": "max_features",
    "tokenizer='{\"x\": 1}'": "x",
    "keep=-1": "keep='-1' must be an integer from 0 to",
    "keep=3, learner='arow'": "keep must be 0: a AROW|keep must be 0: an AROW",
    "model='/nowhere.model'": "'/nowhere.model' cannot be opened",
    "model='x', learner='mira'": "model is a file that has learner",
    "mail='{}', tokenizer='{}'": "give one of them",
    "learner='multilabel'": "several labels an event",
    "learner='ranking'": "candidates",
}


@pytest.mark.parametrize("arguments", BAD)
def test_a_bad_argument_says_what_to_do_and_makes_nothing(db, arguments):
    with pytest.raises(Error, match=BAD[arguments]):
        db(f"CREATE VIRTUAL TABLE spam USING streamptron({arguments})")
    assert db("SELECT name FROM sqlite_master") == []


WRONG = {
    "INSERT INTO spam(text) VALUES ('a')": "label is NULL; give the label",
    "INSERT INTO spam(label) VALUES ('a')": "text is NULL; give the text",
    "INSERT INTO spam(id, text, label) VALUES ('x', 'a', 'b')": "id must be an integer",
    "INSERT INTO spam(text, label, weight) VALUES ('a', 'b', 'c')": "weight must be a number",
    "INSERT INTO spam(text, label, weight) VALUES ('a', 'spam', -1)": "weight",
    "INSERT INTO spam(text, label, probability) VALUES ('a', 'b', 1)": "cannot be given",
    "INSERT INTO spam(text, label) VALUES ('a', 'fourth')": "max_labels",
    "UPDATE spam SET label = 'fourth'": "max_labels",
    "UPDATE spam SET label = NULL": "label is NULL",
    "UPDATE spam SET id = 'x'": "id must be an integer",
}


@pytest.mark.parametrize("sql", WRONG)
def test_a_bad_row_says_what_to_do_and_changes_nothing(db, sql):
    parameters = '{"hash_seed": 1, "max_labels": 2}'
    db(f"CREATE VIRTUAL TABLE spam USING streamptron(parameters='{parameters}')")
    learned(db)
    before = model_of(db), db("SELECT * FROM spam_lessons"), db("SELECT * FROM spam_log")
    with pytest.raises(Error, match=WRONG[sql]):
        db(sql)
    assert before == (model_of(db), db("SELECT * FROM spam_lessons"), db("SELECT * FROM spam_log"))


def test_what_the_tables_hold_is_doubted(db, tmp_path):
    created(db)
    learned(db)
    model = model_of(db)
    for sql, words in [
        ("UPDATE spam_model SET bytes = substr(bytes, 1, 900)", "damaged|model file"),
        ("DELETE FROM spam_log WHERE seq = 2", "its log has gaps"),
        ("DELETE FROM spam_model", "its model is missing"),
        ("UPDATE spam_model SET keep = -4", "keep is out of range"),
        ("UPDATE spam_model SET version = 2", "newer version"),
    ]:
        path = tmp_path / "db"
        path.unlink(missing_ok=True)
        db("VACUUM INTO ?", str(path))
        with opened(path) as other:
            assert model_of(other) == model
        with opened(path) as other:
            other(sql)
            with pytest.raises(Error, match=words):
                other("SELECT label FROM spam WHERE text MATCH 'a'")


def test_a_damaged_step_is_not_taken_back(tmp_path):
    with opened(tmp_path / "db") as db:
        created(db, "keep=50")
        db("BEGIN")
        learned(db, itertools.islice(itertools.cycle(STREAM), 1200))
        db("COMMIT")
        assert db.one("SELECT count(*) FROM spam_steps") == 50
    for sql, words in [
        ("UPDATE spam_steps SET step = substr(step, 1, length(step) - 1)", "step is damaged"),
        ("UPDATE spam_steps SET step = x'00'", "step is damaged: it was cut off"),
        ("DELETE FROM spam_steps", "a step is missing that was kept"),
    ]:
        with opened(tmp_path / "db") as db:
            db("BEGIN")
            before = model_of(db)
            db(sql)
            with pytest.raises(Error, match=words):
                db("DELETE FROM spam WHERE id = 1190")
            assert model_of(db) == before
            db("ROLLBACK")
