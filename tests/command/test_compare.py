"""streamptron compare: the learners of the library on one file."""

import json

import pytest

from streamptron import Tokenizer
from streamptron.files import read
from streamptron.learners.registry import LEARNERS
from streamptron.study import compare
from tests.support.commands import random_mail, written

pytestmark = pytest.mark.once  # another Python would say the same


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mail.tsv"
    path.write_bytes(written(random_mail(3, 700)))
    return path


def test_the_table_is_what_the_library_finds(file, told):
    code, out, err = told("compare", file, "--json", "--ngrams", "1,2")
    assert (code, err) == (0, "")
    found = json.loads(out)
    names = [name for name in LEARNERS if name not in ("perceptron", "voted")]
    assert sorted(row["name"] for row in found) == sorted(names)
    expected = compare(
        {name: Tokenizer(ngram_range=(1, 2)) | LEARNERS[name]() for name in names}, read(file)
    )
    for row, result in zip(found, expected, strict=True):
        for name in ("name", "error", "difference", "half_width", "n_answered", "memory_is"):
            assert row[name] == getattr(result, name)
        assert row["microseconds"] > 0
        assert row["memory"] > 0


def test_the_table_has_a_line_for_each_learner_the_best_one_first(file, told):
    code, out, _ = told("compare", file, "--learners", "mira,adaptive")
    assert code == 0
    head, *lines, last = out.splitlines()
    assert head.split()[:2] == ["model", "error"]
    assert {line.split()[0] for line in lines} == {"mira", "adaptive"}
    errors = [float(line.split()[1]) for line in lines]
    assert errors == sorted(errors)
    assert last == "700 events"


def test_with_positive_all_answer_whether_an_event_has_the_label(file, told):
    code, out, _ = told("compare", file, "--positive", "ham", "--json")
    assert code == 0
    found = json.loads(out)
    assert {row["name"] for row in found} == set(LEARNERS) - {"voted"}
    events = [(x, y == "ham") for x, y in read(file)]
    models = {row["name"]: Tokenizer() | LEARNERS[row["name"]]() for row in found}
    expected = compare(models, events)
    assert [row["error"] for row in found] == [result.error for result in expected]


def test_files_of_features_are_compared_too(tmp_path, told):
    path = tmp_path / "points.svm"
    path.write_bytes(b"+1 1:1\n-1 2:1\n+1 1:2 3:1\n-1 2:2\n")
    code, out, _ = told("compare", path, "--learners", "perceptron,arow", "--json")
    assert code == 0
    assert [row["n_answered"] for row in json.loads(out)] != []
    assert told("compare", path, "--ngrams", "2")[0] == 2


def test_a_single_event_has_no_error_and_null_is_written(tmp_path, told):
    path = tmp_path / "one.tsv"
    path.write_bytes(b"ham\tsee you\n")
    code, out, _ = told("compare", path, "--learners", "mira", "--json")
    assert code == 0
    assert json.loads(out)[0]["error"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learners", "adaptive,winnow"], "'winnow' is not one of 'adaptive'"),
        (["--learners", "mira,mira"], "--learners has mira twice"),
        (["--learners", ""], "'' is not one of"),
        (["--learners", "mira", "--positive", "spam"], "--positive is for perceptron"),
        (["--format", "csv"], "needs --label"),
        (["--encoding", "klingon"], "--encoding"),
    ],
)
def test_wrong_words_are_named_and_nothing_is_written(file, told, words, message):
    code, out, err = told("compare", file, *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_bad_line_is_named(file, told):
    file.write_bytes(b"ham\tsee you\nno label\n")
    code, out, err = told("compare", file)
    assert (code, out) == (1, "")
    assert "mail.tsv:2" in err
    file.write_bytes(b"ham\tsee you\n")
    code, _, err = told("compare", file, "--learners", "perceptron")
    assert code == 1
    assert "mail.tsv:1: the label 'ham'" in err
    file.write_bytes(b"")
    code, _, err = told("compare", file)
    assert code == 1
    assert "mail.tsv: no labelled event; give files that have some" in err
    code, _, err = told("compare", file.parent / "missing.tsv")
    assert code != 0
    assert "missing.tsv" in err
