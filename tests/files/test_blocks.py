"""Blocks: sources, compressions, encodings, and lines that are too long."""

import gzip
import io
import os
import random
import re
import sys
import tracemalloc
from encodings.aliases import aliases

import pytest

from streamptron.files import LineError, Record, blocks, read
from tests.support.event_files import COMPRESS, Trickle, compressions, events, zstd
from tests.support.marks import seeds, slow


@seeds(10)
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
@seeds(10)
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
@seeds(10)
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
    data = zstd(b"a")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(ImportError, match=r'pip install "streamptron\[files\]"'):
        list(blocks(io.BytesIO(data)))


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


@seeds(10)
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


@pytest.mark.parametrize(
    "encoding",
    ["utf-9", "base64", "a\0b", "", 7, "idna", "punycode", "undefined", "unicode_escape"],
)
def test_an_encoding_that_python_does_not_know_raises_at_once(encoding):
    for reader in (blocks, lambda *a, **k: read(*a, "plain", **k)):
        with pytest.raises(
            ValueError, match=r"^encoding=.* is unknown to Python, or not of texts; give"
        ):
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
    assert labels(f"{tmp_path}/[a].tsv") == ["[a].tsv"]  # it exists, so it is not a pattern
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
        (3, TypeError, "sources is an int; give a path"),
        (b"a.tsv", TypeError, "sources has the bytes b'a.tsv'; give a path as a str, os.fsdecode"),
        ([b"a.tsv"], TypeError, "sources has the bytes b'a.tsv'; give a path as a str"),
        ([3], TypeError, "sources has an int"),
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


@pytest.mark.parametrize("suffix", slow(COMPRESS, among=["", *COMPRESS]))
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


def test_no_encoding_of_pythons_raises_anything_but_what_to_do():
    rng = random.Random(3)
    print("seed 3")
    contents = [b"spam\twin\\d\n", b"\xff\xfe0\n", rng.randbytes(3000)]
    for encoding in sorted({*aliases.values(), "palmos", "undefined", "idna", "unicode_escape"}):
        for data in contents:
            try:
                found = list(blocks(io.BytesIO(data), encoding=encoding))
            except ValueError as error:
                found = re.findall("; (give .*encoding)", str(error))
            assert found


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_without_a_mark_the_error_says_which_encodings_there_are(encoding):
    data = "ham\thello\n".encode(f"{encoding}-le")
    message = f"<BytesIO>:1: a file in {encoding} begins with a byte order mark, and this one does "
    with pytest.raises(LineError, match=f"^{message}not; give {encoding}-le or {encoding}-be as"):
        list(blocks(io.BytesIO(data), encoding=encoding))
    assert list(blocks(io.BytesIO(data), encoding=f"{encoding}-le"))
