"""Files: every line becomes one event, one error or one blank, and the error says where."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import random
import sys
import tracemalloc
import warnings

import pytest
from streams import DATA, labelled_texts, needs_data, svmlight

from streamptron import MulticlassPerceptron
from streamptron.files import LineError, Record, blocks, read

zstandard = pytest.importorskip("zstandard")

seeds = pytest.mark.parametrize("seed", range(10), ids="seed={}".format)

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
compressions = pytest.mark.parametrize("suffix", COMPRESS)


class Trickle(io.RawIOBase):
    """A file whose reads bring as few bytes as a generator of numbers likes."""

    def __init__(self, data, rng, most):
        self.data = io.BytesIO(data)
        self.rng = rng
        self.most = most

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[: self.rng.randint(1, self.most)])


def events(data, format, **options):
    """[(x, y)] of bytes."""
    return list(read(io.BytesIO(data), format, **options))


def record(data, format, **options):
    """The one record of bytes."""
    (only,) = read(io.BytesIO(data), format, **options).records()
    return only


def problems(data, format, **options):
    """{line: reason} of bytes."""
    found = {}

    def note(error):
        assert error.line not in found
        found[error.line] = error.reason

    for _ in read(io.BytesIO(data), format, on_error=note, **options):
        pass
    return found


def count_lines(data):
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))


# Blocks


@seeds
@pytest.mark.parametrize("max_line", [16, 40, 1000, 1 << 24])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_blocks_are_the_files_lines_without_those_that_are_too_long(seed, max_line, bom):
    rng = random.Random(seed)
    lines = [
        bytes(rng.choices(b"ab\r\0\xff", k=rng.choice((0, 1, 5, 15, 16, 17, 39, 41, 1001))))
        for _ in range(rng.randint(0, 60))
    ]
    data = b"".join(line + b"\n" for line in lines)
    if rng.random() < 0.5 and data:
        data = data[:-1]
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
    expected = {n: line for n, line in enumerate(lines, 1) if len(line) <= max_line}
    errors, found = [], {}
    file = Trickle(bom + data, rng, rng.choice((1, 7, 100, 5000)))
    for name, first, block in blocks(file, max_line=max_line, on_error=errors.append):
        assert name == "<Trickle>"
        assert block
        pieces = block.split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        for number, line in enumerate(pieces, first):
            assert number not in found
            found[number] = line
    assert found == expected
    assert list(found) == sorted(found)
    assert [error.line for error in errors] == sorted(set(range(1, len(lines) + 1)) - set(expected))


def test_blocks_of_a_large_file_are_about_128_kibibytes_and_end_at_line_ends(tmp_path):
    data = b"".join(b"ham\tmessage number %d\n" % i for i in range(200_000))
    path = tmp_path / "large.tsv"
    path.write_bytes(data)
    found = list(blocks(path))
    assert b"".join(block.data for block in found) == data
    assert all(block.data.endswith(b"\n") for block in found)
    assert all(len(block.data) > 120_000 for block in found[:-1])
    line = 1
    for block in found:
        assert block.line == line
        line += block.data.count(b"\n")


@compressions
def test_compressed_files_are_read_as_what_they_hold_member_after_member(suffix, tmp_path):
    compress = COMPRESS[suffix]
    data = os.urandom(300_000).hex().encode() + b"\n" + b"ham\thello\n" * 400_000
    path = tmp_path / f"two.txt{suffix}"
    padding = b"" if suffix in (".bz2", ".zst") else bytes(8)
    path.write_bytes(compress(data) + compress(b"spam\twin") + padding + compress(b"\n") + padding)
    assert b"".join(block.data for block in blocks(path)) == data + b"spam\twin\n"
    with open(path, "rb") as file:
        assert sum(block.data.count(b"\n") for block in blocks(file)) == 400_002


@compressions
@seeds
def test_compressed_bytes_that_trickle_in_are_the_same(suffix, seed):
    rng = random.Random(seed)
    data = b"\xef\xbb\xbf" + b"ham\thello\n" * rng.randint(0, 300)
    packed = b"".join(COMPRESS[suffix](data[i : i + 500]) for i in range(0, len(data), 500))
    file = Trickle(packed, rng, rng.choice((1, 3, 50)))
    assert b"".join(block.data for block in blocks(file)) == data[3:]


@compressions
def test_a_compressed_file_cut_anywhere_gives_its_lines_before_that_once_and_one_error(
    suffix, tmp_path
):
    rng = random.Random(1)
    lines = [b"ham\t%x\n" % rng.getrandbits(100) for _ in range(9)]
    members = [COMPRESS[suffix](b"".join(lines[i : i + 3])) for i in (0, 3, 6)]
    packed = b"".join(members)
    ends = [len(members[0]), len(members[0] + members[1]), len(packed)]
    path = tmp_path / f"cut.tsv{suffix}"
    for cut in range(len(packed) + 1):
        path.write_bytes(packed[:cut])
        errors = []
        found = list(blocks(path, on_error=errors.append))
        data = b"".join(block.data for block in found)
        n = data.count(b"\n")
        assert data == b"".join(lines[:n])
        if cut in ends:  # between two members
            assert not errors
        else:
            (error,) = errors
            if cut == len(packed) - 1:
                assert data == b"".join(lines)
            assert (error.file, error.line) == (str(path), n + 1)
            assert "fetch it again" in str(error) or "fetch the file again" in str(error)
            with pytest.raises(LineError, match=r"cut\.tsv"):
                list(blocks(path))


@compressions
@seeds
def test_damaged_compressed_bytes_raise_nothing_but_line_errors(suffix, seed):
    rng = random.Random(seed)
    data = b"".join(b"ham\t%x\n" % rng.getrandbits(200) for _ in range(200))
    packed = bytearray(COMPRESS[suffix](data))
    packed[rng.randrange(10, len(packed))] ^= 1 << rng.randrange(8)
    errors = []
    found = b"".join(block.data for block in blocks(io.BytesIO(packed), on_error=errors.append))
    assert errors or found == data


@compressions
def test_what_follows_compressed_data_and_is_none_is_an_error_after_all_lines(suffix):
    errors = []
    file = io.BytesIO(COMPRESS[suffix](b"ham\thello\n") + b"rubbish, a good deal of it")
    assert [b.data for b in blocks(file, on_error=errors.append)] == [b"ham\thello\n"]
    assert [error.line for error in errors] == [2]


@compressions
def test_a_name_that_promises_compression_must_keep_it(suffix, tmp_path):
    path = tmp_path / f"a.tsv{suffix}"
    for data in (b"ham\thello\n", b""):
        path.write_bytes(data)
        with pytest.raises(LineError, match=r"its name says .*; rename the file"):
            list(blocks(path))


@compressions
def test_a_compressed_file_needs_no_suffix(suffix, tmp_path):
    path = tmp_path / "plainly"
    path.write_bytes(COMPRESS[suffix](b"ham\thello\n"))
    assert list(read(path, "plain")) == [("hello", "ham")]


def test_a_file_that_the_caller_decompresses_is_taken_as_it_is(tmp_path):
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"ham\thello\n"))
    with gzip.open(path, "rb") as file:
        assert list(read(file)) == [("hello", "ham")]


def test_zstd_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(ImportError, match=r'pip install "streamptron\[files\]"'):
        list(blocks(io.BytesIO(zstandard.compress(b"a"))))


def test_a_text_that_begins_like_a_compression_is_a_text():
    for data in (b"BZh", b"BZh9 is a name\n", b"\x1f\x8b\n", b"(\xb5\n", b"\xef\xbb", b"\xfe"):
        assert b"".join(block.data for block in blocks(io.BytesIO(data))) == data


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_other_encodings_say_convert(encoding, compress):
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    data = compress(f"{mark}ham\thello\n".encode(encoding))
    with pytest.raises(LineError, match=r"^<BytesIO>:1: the file is UTF-.*; give its encoding, or"):
        list(blocks(io.BytesIO(data)))


ENCODED = {
    "plain": ("caf\xe9\tna\xefve \xe9t\xe9\r\nth\xe9\tdo\xf1a\n", {}),
    "fasttext": ("__label__caf\xe9 na\xefve\n\n__label__th\xe9 do\xf1a\n", {}),
    "vw": ("caf\xe9 |\xe0 na\xefve:2\nth\xe9 | do\xf1a\n", {"label_type": "text"}),
    "svmlight": ("1 3:2 # caf\xe9\n-1 4:1\n", {}),
    "jsonl": (
        '{"y": "caf\xe9", "x": "na\xefve"}\n{"y": "th\xe9", "x": "do\xf1a"}\n',
        {"label": "y", "text": "x"},
    ),
    "csv": ('y,\xe0\ncaf\xe9,na\xefve\nth\xe9,"do\n\xf1a"\n', {"label": "y"}),
}


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32-be", "UTF8"]
)
@pytest.mark.parametrize("format", ENCODED)
def test_every_format_is_read_in_the_encoding_that_is_given(format, encoding, suffix, tmp_path):
    text, options = ENCODED[format]
    expected = list(read(io.BytesIO(text.encode()), format, **options).records())
    path = tmp_path / f"events{suffix}"
    path.write_bytes(COMPRESS.get(suffix, bytes)(text.encode(encoding)))
    reader = read(path, format, encoding=encoding, **options)
    assert [r[:5] for r in reader.records()] == [r[:5] for r in expected]
    assert reader.n_replaced == reader.n_bad == 0


@seeds
def test_encoded_bytes_that_trickle_in_are_the_same(seed):
    rng = random.Random(seed)
    lines = ["".join(rng.choices("aéж漢😀\r ", k=rng.randrange(40))) for _ in range(300)]
    text = "\n".join(lines)
    encoding = rng.choice(["utf-16", "utf-16-be", "utf-32", "gb18030", "utf-7"])
    found = blocks(Trickle(text.encode(encoding), rng, 7), encoding=encoding)
    assert b"".join(block.data for block in found).decode() == text


def test_what_the_encoding_has_not_is_no_utf_8_either():
    data = b"ham\tcaf\x81\nham\tcaf\xe9\n"
    with pytest.warns(UserWarning, match="1 of 2 texts have bytes that are not CP1252"):
        found = events(data, "plain", encoding="cp1252")
    assert found == [("caf\ufffd", "ham"), ("café", "ham")]
    (block,) = blocks(io.BytesIO(b"h\0i\0\xd8"), encoding="utf-16-le")
    assert block.data == b"hi\xff"


@pytest.mark.parametrize("encoding", ["utf-9", "base64", "a\0b", "", 7])
def test_an_encoding_that_python_does_not_know_raises_at_once(encoding):
    for reader in (blocks, lambda *a, **k: read(*a, "plain", **k)):
        with pytest.raises(ValueError, match=r"^encoding=.*; give an encoding that Python knows"):
            reader(io.BytesIO(b""), encoding=encoding)


@pytest.mark.parametrize("end", [b"", b"\r", b"\r\r"])
@pytest.mark.parametrize("format", ["plain", "csv"])
def test_a_file_of_lines_that_end_in_cr_is_one_bad_line_that_says_the_cure(format, end):
    data = b"ham\thello\rspam\twin" + end
    options = {"label": "y"} if format == "csv" else {}
    for source in (io.BytesIO(data), Trickle(data, random.Random(1), 3)):
        with pytest.raises(LineError, match=r":1: the file's line ends are CR alone.* tr '"):
            list(read(source, format, **options))
    reader = read(io.BytesIO(data), "plain", on_error=lambda bad: None)
    assert list(reader) == []
    assert (reader.n_lines, reader.n_events, reader.n_bad, reader.n_blank) == (1, 0, 1, 0)


def test_a_cr_within_a_line_is_the_lines():
    assert events(b"ham\ta\rb\nham\tc\rd", "plain") == [("a\rb", "ham"), ("c\rd", "ham")]
    assert events(b"ham\ta\r", "plain") == [("a\r", "ham")]


def test_texts_that_are_no_utf_8_are_counted_and_warned_of_once_at_the_end():
    data = b"a\tcaf\xe9\na\tcaf\xc3\xa9 \xef\xbf\xbd\na\t\xf0\x9f\n"
    reader = read(io.BytesIO(data), "plain")
    with pytest.warns(
        UserWarning,
        match="^2 of 3 texts have bytes that are not UTF-8, read as U.FFFD; the first: "
        "<BytesIO>:1; give the file's encoding",
    ):
        assert len(list(reader)) == 3
    assert reader.n_replaced == 2
    reader = read(io.BytesIO(data), "plain", raw=True)
    assert len(list(reader)) == 3
    assert reader.n_replaced == 0


def test_a_pipe_gives_each_line_as_soon_as_it_is_written():
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as pipe:
        reader = iter(read(file, "plain"))
        for text in ("B", "BZh", "hello", ""):
            pipe.write(f"{text}\t{text}\n".encode() if text else b"end\t\nend\thalf")
            assert next(reader) == (text, text or "end")
        pipe.close()
        assert list(reader) == [("half", "end")]


def test_the_standard_input_is_a_source(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ham\thello\nspam\twin\n")))
    (first, second) = read("-", "plain").records()
    assert first == Record("hello", "ham", 1.0, None, None, "<stdin>", 1)
    assert second.line == 2


def test_a_standard_input_that_is_not_there_says_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="the standard input is closed"):
        blocks("-")


def test_a_non_blocking_file_that_has_nothing_says_so():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with (
        open(reading, "rb", buffering=0) as file,
        open(writing, "wb"),
        pytest.raises(BlockingIOError, match="make it blocking"),
    ):
        list(blocks(file))


def test_a_file_that_can_only_read_is_enough():
    class Plain:
        def __init__(self, data):
            self.data = data

        def read(self, n):
            data, self.data = self.data[:n], self.data[n:]
            return data

    assert [block.data for block in blocks(Plain(b"a\nb"))] == [b"a\n", b"b"]
    with pytest.raises(TypeError, match='does not return bytes; open it with "rb"'):
        list(blocks(Plain("a\n")))


def test_paths_patterns_and_directories_are_read_in_order(tmp_path):
    for name in (
        "b.tsv",
        "a.tsv",
        "sub/c.tsv",
        "sub/.hidden.tsv",
        ".git/d.tsv",
        "z.tsv",
        "[a].tsv",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name}\tx\n")
    (tmp_path / "empty").mkdir()

    def labels(sources):
        return [y for _, y in read(sources)]

    every = ["[a].tsv", "a.tsv", "b.tsv", "sub/c.tsv", "z.tsv"]
    assert labels(tmp_path) == labels(str(tmp_path)) == every
    assert labels(f"{tmp_path}/*.tsv") == ["[a].tsv", "a.tsv", "b.tsv", "z.tsv"]
    assert sorted(labels(f"{tmp_path}/**/*.tsv")) == sorted(every)
    assert labels(f"{tmp_path}/[a].tsv") == ["[a].tsv"]  # it exists, so it is no pattern
    assert labels([tmp_path / "z.tsv", f"{tmp_path}/[ab].tsv"]) == ["z.tsv", "a.tsv", "b.tsv"]
    assert labels([f"{tmp_path}/[bz].tsv", tmp_path / "sub"]) == ["b.tsv", "z.tsv", "sub/c.tsv"]
    with pytest.raises(FileNotFoundError, match=r"no file matches .*q"):
        read(f"{tmp_path}/q*.tsv")
    with pytest.raises(FileNotFoundError, match=r"No such file.*nothing\.tsv"):
        read(tmp_path / "nothing.tsv")
    with pytest.raises(FileNotFoundError, match="empty has no files"):
        read(tmp_path / "empty")


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([], ValueError, "sources is empty"),
        (3, TypeError, "sources is a int; give a path"),
        (b"a.tsv", TypeError, "sources is a bytes"),
        ([3], TypeError, "sources has a int"),
        (io.StringIO("a"), TypeError, 'is open as text; open it with "rb"'),
    ],
)
def test_sources_that_are_none_raise_at_once(sources, error, message):
    with pytest.raises(error, match=message):
        blocks(sources)
    with pytest.raises(error, match=message):
        read(sources, "plain")


def test_blocks_cannot_skip_in_silence():
    with pytest.raises(ValueError, match="on_error='skip'; give \"raise\" or a function"):
        blocks(io.BytesIO(b""), on_error="skip")


def test_files_are_closed_when_the_reading_ends_early(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"ham\thello\n" * 10)
    reader = read(path)
    assert next(reader) == ("hello", "ham")
    del reader  # a file left open would warn, and warnings are errors
    path.write_bytes(b"no label")
    with pytest.raises(LineError):
        list(read(path))


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
def test_a_line_of_100_megabytes_is_never_held(suffix, tmp_path):
    path = tmp_path / f"long.tsv{suffix}"
    zeros, rest = bytes(100_000_000), b"\nham\thello\n"
    path.write_bytes(COMPRESS.get(suffix, bytes)(zeros + rest))
    del zeros
    errors = []
    tracemalloc.start()
    try:
        reader = read(path, on_error=errors.append)
        assert list(reader) == [("hello", "ham")]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000
    assert [error.line for error in errors] == [1]
    assert "longer than 16777216 bytes" in errors[0].reason
    assert (reader.n_lines, reader.n_events, reader.n_bad) == (2, 1, 1)


# The reader


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
        ("xml", {}, ValueError, "format='xml'; give one of plain, fasttext, vw"),
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
        ("jsonl", {"label": "a"}, ValueError, "give text= or features=, one of them"),
        ("jsonl", {"label": 3, "text": "a"}, TypeError, "label has 3; give a field's name"),
        ("jsonl", {"label": "a", "features": "b"}, TypeError, "features is a str; give a list"),
        ("csv", {"label": "a", "text": "b", "features": ["c"]}, ValueError, "not both"),
        ("csv", {"label": "a", "delimiter": ";;"}, TypeError, '"?delimiter"? must be'),
        ("csv", {"label": "a", "types": {"b": "int"}}, ValueError, r"types\['b'\]='int'; give"),
        ("csv", {"label": "a", "columns": ["b"]}, ValueError, "no column 'a'; there are"),
    ],
)
def test_options_that_cannot_be_used_raise_at_once(format, options, error, message):
    with pytest.raises(error, match=message):
        read(io.BytesIO(b""), format, **options)


# The formats


def test_plain_is_a_label_a_tab_and_a_text():
    data = b"ham\thello\tyou \r\nnot spam\t\nham\t\xff\0\xc3\xa9\nham\ta\rb\n"
    with pytest.warns(UserWarning, match="1 of 4 texts have bytes that are not UTF-8"):
        found = events(data, "plain")
    assert found == [
        ("hello\tyou ", "ham"),
        ("", "not spam"),
        ("\ufffd\0é", "ham"),
        ("a\rb", "ham"),
    ]
    assert events(b"ham\t\xff\r\n", "plain", raw=True) == [(b"\xff", "ham")]
    assert problems(b"\tx\n \n\xff\tx\n\n\r\n", "plain") == {
        1: "the label is empty; give each line one",
        2: "no TAB; write label<TAB>text",
        3: "not UTF-8 ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte); "
        "give the file's encoding, or convert it",
    }


def test_fasttext_has_one_label_anywhere():
    data = (
        b"__label__a hello you\r\nhello __label__b you\n__label__c\nx__label__d __label__e y\n \n"
    )
    assert events(data + b" \n", "fasttext") == [
        ("hello you", "a"),
        ("hello you", "b"),
        ("", "c"),
        ("x__label__d y", "e"),
    ]
    assert events(b"__label__a \xff", "fasttext", raw=True) == [(b"\xff", "a")]
    assert events(b"#a #lang=b c", "fasttext", prefix="#lang=") == [("#a c", "b")]
    found = problems(b"hello\n__label__a __label__b x\n__label__ x\n__label__\xff x\n", "fasttext")
    assert found[1].startswith("no labels; a line must have one word that begins with __label__")
    assert found[2].startswith("2 labels")
    assert found[3] == "the label is empty; give each line one"
    assert found[4].startswith("not UTF-8")
    assert list(found) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "x", "y", "w", "tag"),
    [
        (b"1 | a b:2", {"a": 1.0, "b": 2.0}, 1, 1.0, None),
        (b"-1.5 0.5 'id |ns a:-1e-3", {"ns^a": -0.001}, -1.5, 0.5, "id"),
        (
            b"1 2 zebra|m:3 h:1.5 l |o n:4",
            {"m^h": 4.5, "m^l": 3.0, "o^n": 4.0},
            1,
            2.0,
            "zebra",
        ),
        (b"| a a:2 |n a |n a:0", {"a": 3.0, "n^a": 1.0}, None, 1.0, None),
        (b"'t| a", {"a": 1.0}, None, 1.0, "t"),
        (b"1.0\t|a\tb\tc:0\r", {"a^b": 1.0, "a^c": 0.0}, 1, 1.0, None),
        (b"1 |", {}, 1, 1.0, None),
        (b"2 |ns", {}, 2, 1.0, None),
        ("1 |é ж:2\u00a0".encode()[:-2], {"é^ж": 2.0}, 1, 1.0, None),
        ("1 | a\u00a0b".encode(), {"a\u00a0b": 1.0}, 1, 1.0, None),
    ],
)
def test_vw_is_read_as_vowpal_wabbit_reads_it(line, x, y, w, tag):
    found = record(line, "vw")
    assert found.x == x
    assert list(found.x) == list(x)
    assert found[1:5] == (y, w, None, tag)


def test_vw_labels_may_be_text():
    assert events(b"dog | a\n1 | a\n", "vw", label_type="text") == [
        ({"a": 1.0}, "dog"),
        ({"a": 1.0}, "1"),
    ]


def test_vw_lines_that_are_bad_say_why():
    data = b"""1 a:2
dog | a
1 2 3 | a
1 -1 | a
1 x | a
1 | a:b
1 | a:1:2
1 | :2
1 |ns:x a
1 | a:nan
1 | a:1e400
1 | a:1_0
1 | a:
1 | \xff
1 | a:\xd9\xa1
1 |n:1e200 a:1e200
"""
    assert problems(data, "vw") == {
        1: "no bar; write label | name:value ...",
        2: "the label 'dog' is not a finite number; "
        'for labels that are text give label_type="text"',
        3: "'3' after label and importance; only a 'tag may follow",
        4: "the importance -1 is negative; write 0 or more",
        5: "the importance 'x' is not a finite number; write one",
        6: "'a:b'; write name:value, and a finite number for it",
        7: "'a:1:2'; write name:value, and a finite number for it",
        8: "':2'; write name:value, and a finite number for it",
        9: "ns: the scale 'x' is not a finite number; write one",
        10: "'a:nan'; write name:value, and a finite number for it",
        11: "'a:1e400'; write name:value, and a finite number for it",
        12: "'a:1_0'; write name:value, and a finite number for it",
        13: "'a:'; write name:value, and a finite number for it",
        14: "not UTF-8 ('utf-8' codec can't decode byte 0xff in position 4: invalid start byte); "
        "give the file's encoding, or convert it",
        15: "'a:\u0661'; write name:value, and a finite number for it",
        16: "n^a comes to inf; scale it down",
    }


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**30 + 1])
@pytest.mark.parametrize("form", ["svmlight", "vw"])
def test_an_int_that_no_float64_holds_is_a_bad_line_where_a_format_makes_floats(form, value):
    line = {"svmlight": "1 2:1 7:%s\n", "vw": "1 | a 7:%s\n"}[form]
    with pytest.raises(LineError, match=rf"1: 7: the value {value} is an int .* exactly; scale it"):
        events((line % value).encode(), form)
    for good in (value - 1, f"{value}.0", float(value)):
        if good != 10**30:
            [(x, _)] = events((line % good).encode(), form)
            assert x[7 if form == "svmlight" else "7"] == float(good)


def test_svmlight_is_label_qid_features_and_comment():
    data = b"+1 3:1 1:0.5 # a b\n-0.5 qid:7 2:0\n# nothing\n2.0\t0:1e3\r\n 9007199254740993 1:1\n\n"
    found = list(read(io.BytesIO(data), "svmlight").records())
    assert [r[:5] for r in found] == [
        ({3: 1.0, 1: 0.5}, 1, 1.0, None, "a b"),
        ({2: 0.0}, -0.5, 1.0, 7, None),
        ({0: 1000.0}, 2, 1.0, None, None),
        ({1: 1.0}, 9007199254740993, 1.0, None, None),
    ]
    assert [type(r.y) for r in found] == [int, float, int, int]
    assert [r.line for r in found] == [1, 2, 4, 5]
    assert events(b"1 1:1e308 2:1e308", "svmlight") == [({1: 1e308, 2: 1e308}, 1)]
    assert events(b"1 +1:1e308 %d:1e308" % 10**20, "svmlight") == [({1: 1e308, 10**20: 1e308}, 1)]


def test_svmlight_lines_that_are_bad_say_why():
    data = b"""3:1
1,2 3:1
dog 3:1
1 3
1 a:1
1 -3:1
1 3:x
1 3:inf
1 3:1 3:2
1 1_0:1
1 3:1_0
1 3:
1 qid:x 3:1
1 3:1:2
1 3:\xff
1\x003:1
nan 3:1
"""
    assert problems(data, "svmlight") == {
        1: "'3:1' in the label's place; write label index:value ...",
        2: "several labels, '1,2'; write one",
        3: "the label 'dog' is not a finite number; write one",
        4: "'3' has no colon; write index:value",
        5: "the index 'a'; write an int from 0",
        6: "the index '-3'; write an int from 0",
        7: "3: the value 'x' is not a finite number; write one",
        8: "3: the value 'inf' is not a finite number; write one",
        9: "the index 3 occurs twice; write it once",
        10: "the index '1_0'; write an int from 0",
        11: "3: the value '1_0' is not a finite number; write one",
        12: "3: the value '' is not a finite number; write one",
        13: "the qid 'x'; write an int from 0",
        14: "3: the value '1:2' is not a finite number; write one",
        15: "3: the value '\ufffd' is not a finite number; write one",
        16: "'1\\x003:1' in the label's place; write label index:value ...",
        17: "the label 'nan' is not a finite number; write one",
    }


def test_json_fields_are_named_with_dots():
    line = (
        b'{"a": {"b": "spam"}, "n": 2, "t": true, "z": null, "s": "x=y", "a.b": 1, "d": {"e": 0}}\n'
    )
    features = ["n", "t", "z", "s", ("a.b",), "d.e", "n.o", "missing"]
    with pytest.warns(UserWarning, match=r"no event has 'missing', 'n\.o', 'z'; check features="):
        found = events(line, "jsonl", label="a.b", features=features)
    assert found == [({"n": 2, "t": 1, "s=x=y": 1, "a.b": 1, "d.e": 0}, "spam")]
    assert list(map(type, found[0][0].values())) == [int] * 5
    assert events(line, "jsonl", label=None, text="s") == [("x=y", None)]
    assert events(line, "jsonl", label="t", text="a.b") == [("spam", True)]
    assert events(b'{"y": %d}' % 10**400, "jsonl", label="y", features=[]) == [({}, 10**400)]
    assert events(b' {"y": 1, "x": "\\ud800\\u00e9"} \r\n\n', "jsonl", label="y", text="x") == [
        ("\ufffdé", 1)
    ]


def test_json_fields_that_are_seen_later_do_not_warn():
    data = b'{"y": 1}\n{"y": 1, "a": 2}\n{"y": 1, "b": "c"}\n'
    found = events(data, "jsonl", label="y", features=["a", "b"])
    assert found == [({}, 1), ({"a": 2}, 1), ({"b=c": 1}, 1)]


def test_json_lines_that_are_bad_say_why():
    data = (
        b'[1]\n{"x": "a"}\n{"y": null, "x": "a"}\n{"y": [1], "x": "a"}\n{"y": "", "x": "a"}\n'
        b'{"y": 1}\n{"y": 1, "x": 2}\n{"y": 1, "y": 2}\n{"y": NaN}\n{"y": 1e400}\n{"y": 1\n'
        b'{"y": "\xff"}\n' + b"[" * 200_000 + b'\n{"y": "\\udc00", "x": "a"}\n'
        b'{"y": ' + b"1" * 5000 + b"}\n" + b'{"y": 1, "x": "a\0"}\n'
    )
    found = problems(data, "jsonl", label="y", text="x")
    assert list(found) == list(range(1, 17))
    label = "it must be a text, a number or true or false, and not missing"
    for line, reason in {
        1: "JSON, but not an object: [1]; write one object a line",
        2: f"the label None; {label}",
        3: f"the label None; {label}",
        4: f"the label [1]; {label}",
        5: "the label is empty",
        6: "the text None; it must be a text, and not missing",
        7: "the text 2; it must be a text",
        8: "the key 'y' occurs twice; write it once",
        9: "NaN is not JSON; write a finite number, or null",
        10: f"the label inf; {label}",
        11: "not JSON (Expecting ',' delimiter: line 1 column 8",
        12: "not UTF-8",
        13: "JSON that is nested too deeply",
        14: "the label '\\udc00' is not UTF-8",
        15: "not JSON (Exceeds the limit",
        16: "not JSON (Invalid control character",
    }.items():
        assert found[line].startswith(reason)
    data = b'{"a": [1]}\n{"a": {}}\n{"a": 1e999}\n{"a": "\\ud800"}\n{"a": 1}\n'
    found = problems(data, "jsonl", label=None, features=["a"])
    assert found[1] == "a: [1]; a feature must be a finite number, a text, true or false"
    assert list(found) == [1, 2, 3, 4]


def test_csv_cells_have_types():
    data = b'city,n,y,"a ""b""",z\r\nParis,3,yes,1.5,\r\n\r\n"New\nYork",007,no,nan,0\r\n'
    found = list(read(io.BytesIO(data), "csv", label="y").records())
    assert [(r.x, r.y, r.line) for r in found] == [
        ({"city=Paris": 1, "n": 3, 'a "b"': 1.5}, "yes", 2),
        ({"city=New\nYork": 1, "n": 7, 'a "b"=nan': 1, "z": 0}, "no", 4),
    ]
    types = {"n": "category", "city": "ignore"}
    assert events(data, "csv", label="y", types=types, features=["n", "city", "z"]) == [
        ({"n=3": 1}, "yes"),
        ({"n=007": 1, "z": 0}, "no"),
    ]
    assert events(data, "csv", label="n", types={"n": "number"}, text="city") == [
        ("Paris", 3),
        ("New\nYork", 7),
    ]
    assert events(data, "csv", label=None, features=["n"]) == [({"n": 3}, None), ({"n": 7}, None)]
    data = b"1;a\n2;b\xff\n"
    with pytest.warns(UserWarning, match="1 of 2 texts have .*; the first: <BytesIO>:2"):
        found = events(data, "csv", label="y", text="x", columns=["y", "x"], delimiter=";")
    assert found == [("a", "1"), ("b\ufffd", "2")]


def test_csv_rows_that_are_bad_say_why_and_the_line_where_they_begin():
    data = (
        b'x,y\n1\n1,2,3\n"a\nb",\n"a"b,1\n\xff,1\n1,\xff\n"1\n\n",2\n,3\na\rb,1\n'
        b'2,c\nabc,d\n"never closed,e\nf\n'
    )
    errors = {}
    reader = read(
        io.BytesIO(data), "csv", label="y", on_error=lambda e: errors.update({e.line: e.reason})
    )
    found = [(r.x, r.y, r.line) for r in reader.records()]
    assert found == [
        ({"x": 1}, "2", 9),
        ({}, "3", 12),
        ({"x": 2}, "c", 14),
        ({"x=abc": 1}, "d", 15),
    ]
    assert list(errors) == [2, 3, 4, 6, 7, 8, 13, 16]
    assert errors[2] == "1 cells, and 2 columns; quote a cell that holds the delimiter"
    assert errors[3].startswith("3 cells, and 2 columns")
    assert errors[4] == "the label is empty; give each row one"
    assert errors[6].startswith("not CSV (',' expected after '\"')")
    assert errors[7] == "x '\\udcff' is not UTF-8; give the file's encoding, or convert it"
    assert errors[8] == "the label '\\udcff' is not UTF-8; give the file's encoding, or convert it"
    assert errors[13].startswith("not CSV (new-line character seen in unquoted field")
    assert errors[16].startswith("not CSV (unexpected end of data); close quotes")
    assert reader.n_lines == 4 + 8
    found = problems(b"a,y\n1,1\nx,1\n", "csv", label="y", types={"a": "number"})
    assert found == {3: "a: the value 'x' is not a finite number; write one"}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"a,b", "in the header, no column 'y'; there are ['a', 'b']"),
        (b"a,y,a", "in the header, two columns 'a'; rename one"),
        (
            b"\xff,y",
            "in the header, the column '\\udcff' is not UTF-8; give the file's encoding, or "
            "convert it",
        ),
        (b'"a"a,y', "in the header, not CSV (',' expected after '\"'); close quotes"),
    ],
)
def test_a_csv_header_that_cannot_be_used_raises_whatever_on_error_says(header, message):
    with pytest.raises(LineError) as caught:
        events(b"\n" + header + b"\n1,2\n", "csv", label="y", on_error="skip")
    assert str(caught.value).startswith(f"<BytesIO>:2: {message}")


def test_each_csv_file_has_its_own_header():
    files = [io.BytesIO(b"y,a\n1,2\n"), io.BytesIO(b"b,y\n3,4\n")]
    assert list(read(files, "csv", label="y")) == [({"a": 2}, "1"), ({"b": 3}, "4")]


@pytest.mark.parametrize("open_row", [b"", b'"1\n'])
def test_a_csv_file_ends_at_a_line_that_is_too_long_since_a_quote_may_be_open_there(open_row):
    data = b"a,y\n5,6\n" + open_row + b"z" * 100 + b'\n3",4\n5,6\n'
    errors = []
    reader = read(io.BytesIO(data), "csv", label="y", max_line=60, on_error=errors.append)
    assert list(reader) == [({"a": 5}, "6")]
    assert "longer than 60 bytes" in errors[0].reason
    assert "the rest of the file is left out" in errors[1].reason
    assert len(errors) == 2


def test_a_csv_row_that_is_too_long_is_left_out_up_to_its_last_quote():
    data = b'a,y\n"' + b"1,23456\n" * 20 + b'"",1",1\n5,6\n'
    reader = read(io.BytesIO(data), "csv", label="y", max_line=60, on_error=lambda error: None)
    assert list(reader) == [({"a": 5}, "6")]
    assert [error.line for error in reader.errors] == [2]
    assert "a row of more than 60 bytes" in reader.errors[0].reason


def test_a_csv_cell_beyond_the_limit_of_the_csv_module_says_how_to_raise_it():
    data = b'x,y\n"' + b"a,1\n" * 50_000 + b'",1\nb,2\n'
    assert events(data, "csv", label="y", text="x", on_error=lambda error: None) == [("b", "2")]
    found = problems(data, "csv", label="y", text="x")
    assert found == {
        2: "field larger than field limit (131072); close quotes, or raise it by "
        "csv.field_size_limit()"
    }


# What is written is read


LETTERS = "ab é語🙂.,;:|#\"'\\=\0\u00a0\u2028\x1c"


def random_text(rng, letters=LETTERS, least=0):
    return "".join(rng.choices(letters, k=rng.randint(least, 12)))


def random_number(rng):
    return rng.choice((0, 1, -3, 2**60 + 1, rng.gauss(0, 1), rng.gauss(0, 1) * 1e-30, 0.5))


def random_name(rng):
    return random_text(rng, "abé語🙂.#'\\=", 1)


@seeds
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_texts_survive_plain_fasttext_json_and_csv(seed, end):
    rng = random.Random(seed)
    expected = [(random_text(rng), random_name(rng)) for _ in range(200)]

    def written(line):
        return "".join(line(x, y) + end for x, y in expected).encode()

    assert events(written(lambda x, y: f"{y}\t{x}"), "plain") == expected
    assert events(written(lambda x, y: f"__label__{y} {x}"), "fasttext") == expected
    for ascii in (False, True):
        data = written(lambda x, y, ascii=ascii: json.dumps({"x": x, "y": y}, ensure_ascii=ascii))
        assert events(data, "jsonl", label="y", text="x") == expected
    expected = [(random_text(rng, LETTERS + "\n\r\t"), y) for _, y in expected]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("x", "y"), *expected])
    data = file.getvalue().encode()
    assert events(data, "csv", label="y", text="x") == expected


@seeds
def test_features_survive_vw_svmlight_json_and_csv(seed):
    rng = random.Random(seed)
    expected = []
    for _ in range(100):
        names = {random_name(rng) for _ in range(rng.randint(0, 6))}
        expected.append(({name: random_number(rng) for name in names}, random_number(rng)))
    floats = [({name: float(value) for name, value in x.items()}, y) for x, y in expected]
    held = [
        ({name: v if v == float(v) else float(v) for name, v in x.items()}, y) for x, y in expected
    ]
    lines = [f"{y!r} |" + "".join(f" {name}:{v!r}" for name, v in x.items()) for x, y in held]
    assert events("\n".join(lines).encode(), "vw") == floats
    lines = [json.dumps({"y": y, "x": x}) for x, y in expected]
    fields = [("x", name) for name in sorted({name for x, _ in expected for name in x})]
    found = events("\n".join(lines).encode(), "jsonl", label="y", features=fields)
    assert found == [({f"x.{name}": value for name, value in x.items()}, y) for x, y in expected]
    columns = sorted({name for x, _ in expected for name in x})
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([*columns, " y"])
    writer.writerows([*(x.get(name, "") for name in columns), y] for x, y in expected)
    data = file.getvalue().encode()
    assert events(data, "csv", label=" y", types={" y": "number"}) == expected
    numbered = [({rng.randrange(10**6): v for v in x.values()}, y) for x, y in held]
    lines = [f"{y!r}" + "".join(f" {i}:{v!r}" for i, v in x.items()) for x, y in numbered]
    assert events("\n".join(lines).encode(), "svmlight") == numbered


@seeds
def test_svmlight_is_what_scikit_learn_writes_and_reads(seed):
    numpy = pytest.importorskip("numpy")
    sparse = pytest.importorskip("scipy.sparse")
    datasets = pytest.importorskip("sklearn.datasets")
    rng = numpy.random.default_rng(seed)
    X = sparse.random_array((50, 30), density=0.2, rng=rng, format="csr")
    y = rng.choice([-1, 1, 0.5], 50)
    queries = numpy.sort(rng.integers(0, 9, 50))
    file = io.BytesIO()
    datasets.dump_svmlight_file(X, y, file, zero_based=True, query_id=queries, comment="a comment")
    file.seek(0)
    found = list(read(file, "svmlight").records())
    assert [r.y for r in found] == y.tolist()
    assert [r.qid for r in found] == queries.tolist()
    file.seek(0)
    loaded, *_ = datasets.load_svmlight_file(file, n_features=30, zero_based=True, query_id=True)
    for row, r in enumerate(found):
        start, end = loaded.indptr[row : row + 2]
        pairs = zip(
            loaded.indices[start:end].tolist(), loaded.data[start:end].tolist(), strict=True
        )
        assert r.x == dict(pairs)


SAMPLES = {
    "plain": (b"ham\thello\n", {}),
    "fasttext": (b"__label__a hello\n", {}),
    "vw": (b"1 2 'id |ns:2 a:0.5 b |m c:1e3\n", {}),
    "svmlight": (b"-1 qid:3 1:0.5 20:1e3 # a\n", {}),
    "jsonl": (
        b'{"y": "a", "x": {"s": "\\u00e9"}, "z": [1e3]}\n',
        {"label": "y", "text": "x.s"},
    ),
    "csv": (b'"a\n""b",1.5,c,d\n', {"label": "c", "columns": ["a", "b", "c", "d"]}),
}


@seeds
@pytest.mark.parametrize("format", SAMPLES)
def test_any_bytes_become_events_errors_and_blanks_each_line_once(format, seed):
    sample, options = SAMPLES[format]
    rng = random.Random(seed)
    for _ in range(40):
        data = bytearray(sample * rng.randint(1, 20))
        for _ in range(rng.randint(0, 30)):
            at = rng.randrange(len(data))
            some = rng.choice(
                (sample[rng.randrange(len(sample)) :][:3], b"\xff", b"\0", b"\n", b'"')
            )
            data[at : at + rng.randint(0, 3)] = some
        where = []
        reader = read(
            io.BytesIO(data),
            format,
            on_error=lambda error, where=where: where.append(error.line),
            max_line=100,
            **options,
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            records = list(reader.records())
        where += [r.line for r in records]
        assert reader.n_replaced == sum("\ufffd" in r.x for r in records if isinstance(r.x, str))
        assert len(said) == (reader.n_replaced > 0)
        assert len(where) == len(set(where)) == reader.n_events + reader.n_bad
        assert reader.n_lines == reader.n_events + reader.n_bad + reader.n_blank
        if format != "csv":
            assert reader.n_lines == count_lines(data)


# Real streams


@needs_data
@pytest.mark.parametrize("name", ["a9a", "svmguide3", "rank.train"])
def test_real_svmlight_files_are_the_streams_of_the_tests(name):
    found = read(DATA / f"{name}.xz", "svmlight")
    assert list(found) == list(svmlight(name))
    assert found.n_lines == found.n_events


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "sms_spam",
        "loghub_system",
        "bgl_alert",
        "spamassassin",
        "20news_train",
        "trec07p_first12000",
    ],
)
def test_real_texts_are_the_streams_of_the_tests(name):
    found = read(DATA / f"{name}.tsv.xz")
    assert all(a == b for a, b in zip(found, labelled_texts(name), strict=True))
    assert found.n_lines == found.n_events


def test_a_river_model_learns_from_files():
    model = MulticlassPerceptron()
    for x, y in read(
        io.BytesIO(b"a | law vote\nb | goal win\na | vote law\n"), "vw", label_type="text"
    ):
        model.learn_one(x, y)
    assert model.predict_one({"goal": 1}) == "b"
