"""How answers are written: --merge, --top, --min-probability, and fields in templates."""

import json

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.support.commands import predict, run
from tests.support.programs import both

LINES = [
    ("spam", "a prize", 1),
    ("ham", "see you", 2),
    ("list", "the list of you", 3),
]
READING = ("--format", "jsonl", "--text", "body")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(
        "".join(
            json.dumps({"kind": kind, "body": body, "n": n, "of": {"host": f"h{n}"}}) + "\n"
            for kind, body, n in LINES
        )
    )
    run("train", path, "-m", tmp_path / "m", "-q", "--label", "kind", "--text", "body")
    return tmp_path / "m"


def answers(model, lines, *words):
    each = (line if isinstance(line, bytes) else f"{json.dumps(line)}\n".encode() for line in lines)
    data = b"".join(each)
    return predict(data, model, *READING, *words)


@both
def test_merged_objects_keep_all_that_they_had(model):
    line = {"id": 2**60, "body": "a prize", "more": {"a": [1, None, "é"]}, "empty": ""}
    (found,), said = answers(model, [line], "--merge")
    assert said == ""
    merged = json.loads(found)
    assert list(merged)[-2:] == ["label", "probability"]
    assert merged.pop("label") == "spam"
    assert 0 < merged.pop("probability") < 1
    assert merged == line


@both
def test_a_label_that_was_there_is_replaced(model):
    (found,), _ = answers(model, [{"label": "old", "body": "a prize", "probability": 3}], "--merge")
    assert found.startswith('{"body": "a prize", "label": "spam", "probability": 0.')
    assert json.loads(found)["probability"] < 1


@both
def test_lines_that_have_no_answer_are_merged_with_null(model):
    lines, said = answers(model, [b"{}\n", b"\n", b"no\n", b'  {"body": 1}  \n'], "--merge")
    nothing = {"label": None, "probability": None}
    assert list(map(json.loads, lines)) == [nothing, nothing, nothing, {"body": 1, **nothing}]
    assert "3 of 4 lines are bad" in said


@both
def test_merging_is_for_json_lines(mail):
    _, said = predict(b"a prize\n", mail[1], "--merge", code=1)
    assert "--merge is for JSON lines; give --format jsonl" in said


@both
def test_the_likeliest_labels_come_first(model):
    ((line,), _) = answers(model, [{"body": "a prize"}], "--merge", "--top", 2)
    found = json.loads(line)
    assert found["top"][0]["label"] == found["label"] == "spam"
    assert len(found["top"]) == 2
    ((line,), _) = answers(model, [{"body": "a prize"}], "--top", 9)
    cells = line.split("\t")
    assert sorted(cells[::2]) == ["ham", "list", "spam"]
    assert sum(map(float, cells[1::2])) == pytest.approx(1, abs=0.001)
    assert sorted(cells[1::2], reverse=True) == cells[1::2]


@both
def test_an_answer_that_is_too_unlikely_is_unsure(model):
    words = ("--min-probability", 0.999, "--json")
    ((line,), _) = answers(model, [{"body": "a prize"}], *words)
    assert json.loads(line)["label"] == "unsure"
    assert json.loads(line)["probability"] < 0.999


@both
def test_any_field_can_stand_in_a_template(model):
    template = "{label} {n} {of.host} {kind}"
    line = {"body": "a prize", "n": 7, "of": {"host": "a1"}, "kind": "x\ny"}
    (found,), said = answers(model, [line], "--template", template)
    assert (found, said) == ("spam 7 a1 x y", "")


def test_any_column_can_stand_in_a_template(tmp_path):
    (tmp_path / "m.csv").write_text("kind,body,n\nspam,a prize,1\nham,see you,2\n")
    run(
        "train", tmp_path / "m.csv", "-m", tmp_path / "c", "-q", "--label", "kind", "--text", "body"
    )
    lines, _ = predict(b"", tmp_path / "c", tmp_path / "m.csv", "--template", "{n}: {label}")
    assert lines == ["1: spam", "2: ham"]


@both
def test_a_field_that_is_not_there_is_named(model):
    good, bad = {"body": "a prize", "host": "a1"}, {"body": "a prize"}
    lines, said = answers(
        model,
        [json.dumps(each).encode() + b"\n" for each in (good, bad, bad)],
        "--template",
        "{host}",
    )
    assert lines == ["a1", "", ""]
    assert said == (
        "streamptron: warning: <stdin>:2: the line has no 'host', which --template names; it is "
        "left empty\n"
    )


def test_a_column_that_is_not_there_is_named(tmp_path):
    (tmp_path / "m.csv").write_text("kind,body\nspam,a prize\nham,see you\n")
    run(
        "train", tmp_path / "m.csv", "-m", tmp_path / "c", "-q", "--label", "kind", "--text", "body"
    )
    words = (tmp_path / "m.csv", "--template", "{n}: {label}")
    _, said = predict(b"", tmp_path / "c", *words, code=1)
    assert "{n} of the template is not a column; there are ['kind', 'body']" in said


@both
def test_texts_have_no_fields(mail):
    _, said = predict(b"a prize\n", mail[1], "--template", "{host}", code=1)
    assert "{host} is not one of the template's placeholders" in said


@both
def test_before_the_first_label_there_is_no_answer(tmp_path):
    (Tokenizer() | AdaptiveClassifier()).save(tmp_path / "new")
    for words in ((), ("--learn",), ("--top", 2), ("--learn", "--top", 2)):
        lines, _ = predict(b"a prize\nyou\n", tmp_path / "new", *words)
        assert [line.strip("\t") for line in lines] == ["", ""]


@both
def test_the_likeliest_labels_are_those_before_a_line_is_learned(mail):
    path = mail[1]
    data = b"eggs\ta prize\neggs\tsee you\na prize\n"
    expected, _ = predict(b"a prize\n", path, "--top", 3)
    lines, _ = predict(data, path, "--learn", "--top", 3)
    assert len(lines) == 3
    assert lines[0] == expected[0]
    assert "eggs" in lines[1]
