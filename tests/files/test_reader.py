"""The reader: pairs, errors, options."""

import gzip
import io
import os
import pickle

import pytest

from streamptron.files import LineError, Record, read
from tests.support.event_files import COMPRESS, events, problems


def test_x_and_y_come_in_pairs_and_records_go_on_from_there():
    reader = read(io.BytesIO(b"a\t1\nb\t2\n\nc\t3"), "plain")
    assert next(reader) == ("1", "a")
    assert reader.n_lines == 1
    assert next(reader.records()) == Record("2", "b", 1.0, None, None, "<BytesIO>", 2)
    assert list(reader) == [("3", "c")]
    assert list(reader) == []
    assert (reader.n_lines, reader.n_events, reader.n_bad, reader.n_blank) == (4, 3, 0, 1)


def test_a_bad_line_raises_with_its_file_and_number(tmp_path):
    path = tmp_path / "mail.tsv"
    path.write_bytes(b"ham\thello\nno label\nham\tbye\n")
    reader = read(path)
    assert next(reader) == ("hello", "ham")
    with pytest.raises(LineError, match="no TAB") as caught:
        next(reader)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.reason) == (str(path), 2, "no TAB; write label<TAB>text")
    assert str(error) == f"{path}:2: no TAB; write label<TAB>text"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert reader.errors == [error]
    assert (reader.n_lines, reader.n_bad) == (2, 1)


def test_skipped_lines_are_counted_kept_and_warned_of_at_the_end():
    reader = read(io.BytesIO(b"ham\thello\n" + b"bad\n" * 150), "plain", on_error="skip")
    assert next(reader) == ("hello", "ham")
    with pytest.warns(UserWarning, match=r"150 of 151 lines are bad .* <BytesIO>:2: no TAB"):
        assert list(reader) == []
    assert (reader.n_lines, reader.n_events, reader.n_bad) == (151, 1, 150)
    assert [error.line for error in reader.errors] == list(range(2, 102))


def test_a_function_gets_every_error_and_may_end_the_reading():
    def stop(error):
        raise KeyError(error.line)

    with pytest.raises(KeyError, match="2"):
        events(b"ham\thello\nbad\nham\tbye\n", "plain", on_error=stop)


def test_a_truncated_file_among_others_costs_its_rest_only(tmp_path):
    lines = b"".join(b"ham\t%d\n" % i for i in range(5000))
    (tmp_path / "a.tsv").write_bytes(lines)
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(lines)[:-5000])
    (tmp_path / "c.tsv").write_bytes(lines)
    errors = []
    reader = read(tmp_path, on_error=errors.append)
    found = [(os.path.basename(r.file), r.line) for r in reader.records()]
    (error,) = errors
    assert error.file.endswith("b.tsv.gz")
    assert found == [
        *(("a.tsv", n) for n in range(1, 5001)),
        *(("b.tsv.gz", n) for n in range(1, error.line)),
        *(("c.tsv", n) for n in range(1, 5001)),
    ]
    assert reader.n_lines == reader.n_events + 1


@pytest.mark.parametrize("format", ["plain", "fasttext", "vw", "svmlight", "jsonl", "csv"])
def test_an_empty_file_has_no_events_and_no_errors(format):
    options = {"label": "y", "text": "x"} if format in ("jsonl", "csv") else {}
    for data in (b"", b"\xef\xbb\xbf"):
        reader = read(io.BytesIO(data), format, **options)
        assert list(reader) == []
        assert reader.n_lines == 0


def test_labels_become_what_they_stand_for():
    labels = {"spam": True, "ham": False}
    assert events(b"spam\ta\nham\tb\n", "plain", labels=labels) == [("a", True), ("b", False)]
    assert events(b"-1\n+1\n", "svmlight", labels={-1: False, 1: True}) == [({}, False), ({}, True)]
    assert events(b"| a\n", "vw", labels={1: True}) == [({"a": 1.0}, None)]
    assert problems(b"spam\ta\neggs\tb\n", "plain", labels=labels) == {
        2: "the label 'eggs' is not one of ['spam', 'ham']; add it to labels="
    }


def test_the_suffix_tells_the_format(tmp_path):
    for name in ("a.TXT", "a.tsv.gz"):
        path = tmp_path / name
        path.write_bytes(COMPRESS.get(path.suffix, bytes)(b"ham\thello\n"))
        assert list(read(path)) == [("hello", "ham")]
    (tmp_path / "a.vw").write_bytes(b"1 | a\n")
    (tmp_path / "a").write_bytes(b"")
    assert list(read(tmp_path / "a.vw")) == [({"a": 1.0}, 1)]
    with pytest.raises(ValueError, match=r"no suffix that tells .*\(plain: \.tsv \.txt; fasttext:"):
        read(tmp_path / "a")
    with pytest.raises(ValueError, match="no suffix that tells"):
        read("-")
    with pytest.raises(ValueError, match=r"several formats \(.*a\.vw: vw"):
        read([tmp_path / "a.TXT", tmp_path / "a.vw"])


@pytest.mark.parametrize(
    ("format", "options", "error", "message"),
    [
        ("xml", {}, ValueError, "format='xml'; it must be one of plain, fasttext, vw"),
        ("plain", {"on_error": "ignore"}, ValueError, 'on_error=\'ignore\'; give "raise", "skip"'),
        ("plain", {"max_line": 1}, ValueError, "max_line=1; give a number of bytes, at least 16"),
        ("plain", {"labels": ["a"]}, TypeError, "labels is a list; give {label in the file"),
        (
            "plain",
            {"prefix": "a"},
            TypeError,
            "prefix is not an option .* plain; it has raw",
        ),
        ("svmlight", {"raw": True}, TypeError, "raw is not an option .* it has none"),
        ("fasttext", {"prefix": "a b"}, ValueError, "prefix='a b'; give a text without spaces"),
        ("vw", {"label_type": "int"}, ValueError, 'label_type=\'int\'; give "number" or "text"'),
        ("jsonl", {"text": "a"}, TypeError, "the format jsonl needs label="),
        ("jsonl", {"label": "a"}, ValueError, "give text, features or both"),
        ("jsonl", {"label": 3, "text": "a"}, TypeError, "label has 3; give a field's name"),
        ("jsonl", {"label": "a", "features": "b"}, TypeError, "features is a str; give a list"),
        ("csv", {"label": "a", "text": "b", "features": ["b"]}, ValueError, "both have 'b'"),
        ("jsonl", {"label": "a", "text": ["b"], "features": ["b"]}, ValueError, "both have 'b'"),
        ("csv", {"label": "a", "delimiter": ";;"}, TypeError, "delimiter=';;'; it must be one"),
        ("csv", {"label": "a", "types": {"b": "int"}}, ValueError, r"types\['b'\]='int'; it must"),
        ("csv", {"label": "a", "columns": ["b"]}, ValueError, "no column 'a'; there are"),
    ],
)
def test_options_that_cannot_be_used_raise_at_once(format, options, error, message):
    with pytest.raises(error, match=message):
        read(io.BytesIO(b""), format, **options)
