"""A column of Arrow's is learned as a list of the same texts, where it lies, and released once."""

import copy
import gc
import pickle
import random
import re
import struct
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from streamptron import MulticlassPerceptron, RankingPerceptron, Tokenizer
from tests.support.arrow import Made, MadeStream
from tests.support.marks import seeds
from tests.support.texts import random_text


def chunked(values, kind, rng):
    """The values as a pyarrow column of some chunks, each a slice of something longer."""
    chunks, first = [], 0
    while first < len(values) or not chunks:
        last = first + rng.randrange(1 + len(values))
        before, after = ([values[0]] * rng.randrange(12) if values else [] for _ in "ab")
        whole = pa.array([*before, *values[first:last], *after], kind)
        chunks.append(whole.slice(len(before), len(values[first:last])))
        first = last
    return pa.chunked_array(chunks, kind)


def polars_series(values, rng):
    """The same of polars: a series of some chunks, sliced."""
    cut = rng.randrange(1 + len(values))
    whole = pl.concat(
        [pl.Series(["cut off", *part], dtype=pl.String) for part in (values[:cut], values[cut:])],
        rechunk=False,
    )
    return pl.concat([whole[1 : cut + 1], whole[cut + 2 :]], rechunk=False)


def encoded(values):
    return [None if value is None else value.encode() for value in values]


# Each makes a column of texts, some of which may be None.
COLUMNS = {
    "string": lambda values, rng: chunked(values, pa.string(), rng),
    "large_string": lambda values, rng: chunked(values, pa.large_string(), rng),
    "string_view": lambda values, rng: chunked(values, pa.string_view(), rng),
    "binary": lambda values, rng: chunked(encoded(values), pa.binary(), rng),
    "large_binary": lambda values, rng: chunked(encoded(values), pa.large_binary(), rng),
    "binary_view": lambda values, rng: chunked(encoded(values), pa.binary_view(), rng),
    "array": lambda values, rng: pa.array(["", *values, "x"], pa.string())[1:-1],
    "dictionary": lambda values, rng: chunked(values, pa.string(), rng).dictionary_encode(),
    "dictionary int8": lambda values, rng: (
        pa.array(values, pa.string())
        .dictionary_encode()
        .cast(pa.dictionary(pa.uint8(), pa.large_string()))
    ),
    "record batch": lambda values, rng: pa.record_batch(
        {"text": pa.array(values, pa.string())}
    ).column("text"),
    "polars": polars_series,
    "polars binary": lambda values, rng: pl.Series(encoded(values), dtype=pl.Binary),
    "polars categorical": lambda values, rng: polars_series(values, rng).cast(pl.Categorical),
    "pandas": lambda values, rng: pd.Series(["", *values], dtype="str")[1:],
    "pandas pyarrow": lambda values, rng: pd.Series(values, dtype=pd.ArrowDtype(pa.string())),
}


def texts_of(rng, n):
    """Texts that UTF-8 can have, of all lengths around that of a view's inline texts."""
    texts = [random_text(rng, rng.choice((0, 3, 40))) for _ in range(n)]
    return [text.encode("utf-8", "replace").decode() for text in texts] + ["", "é" * 6, "a" * 13]


def learned(X, labels):
    model = Tokenizer(value="count") | MulticlassPerceptron(hash_seed=1)
    model.learn_many(X, labels)
    return pickle.dumps(model[-1])


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
@seeds(2, n_slow=20)
def test_a_column_is_learned_as_a_list_of_its_texts(make, seed):
    rng = random.Random(seed)
    texts = texts_of(rng, rng.randrange(60))
    X = make(texts, rng)
    labels = [rng.choice("abc") for _ in texts]
    rows = Tokenizer().transform_many(X)
    assert [list(row.items()) for row in rows] == [
        list(row.items()) for row in Tokenizer().transform_many(texts)
    ]
    assert learned(X, labels) == learned(texts, labels)


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_a_column_without_rows_is_no_texts(make):
    assert list(Tokenizer().transform_many(make([], random.Random(1)))) == []


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
@seeds(2)
def test_a_row_without_a_text_is_named(make, seed):
    rng = random.Random(seed)
    texts = texts_of(rng, 20)
    row = rng.randrange(len(texts))
    texts[row] = None
    model = Tokenizer() | MulticlassPerceptron()
    with pytest.raises(ValueError, match=rf"row {row} \(null\)"):
        model.learn_many(make(texts, rng), ["a"] * len(texts))
    assert model[-1].n_seen == 0


def test_bytes_that_are_not_utf8_are_read_as_those_of_a_list():
    rng = random.Random(1)
    raw = [rng.randbytes(rng.randrange(30)) for _ in range(200)]
    want = [dict(row) for row in Tokenizer().transform_many(raw)]
    for X in (pa.array(raw), pa.array(raw, pa.binary_view()), pl.Series(raw)):
        assert [dict(row) for row in Tokenizer().transform_many(X)] == want


def test_no_object_is_made_for_a_text():
    column = pa.array([f"text number {n}" for n in range(20_000)])
    gc.collect()
    before = sys.getallocatedblocks()
    texts = Tokenizer().transform_many(column)
    model = MulticlassPerceptron()
    y = ["a"] * len(texts)
    model.learn_many(texts, y)
    assert sys.getallocatedblocks() - before < 1000


def test_answers_are_of_the_columns_kind():
    y = ["a", "b", "a"]
    model = Tokenizer() | MulticlassPerceptron()
    texts = ["one two", "three", "two"]
    model.learn_many(pa.array(texts), y)
    assert model.predict_many(pa.array(texts)).tolist() == y
    found = model.predict_many(pa.chunked_array([texts]))
    assert isinstance(found, pa.ChunkedArray)
    assert found.to_pylist() == y
    found = model.predict_many(pl.Series(texts))
    assert isinstance(found, pl.Series)
    assert found.to_list() == y
    found = model.predict_many(pd.Series(texts, index=[7, 5, 6]))
    assert found.to_dict() == {7: "a", 5: "b", 6: "a"}


def test_candidates_may_be_a_column():
    texts, grades, qid = ["see the manual", "do not know", "see"], [2, 0, 1], [1, 1, 1]
    scores = []
    for X in (texts, pa.array(texts), pl.Series(texts)):
        model = Tokenizer() | RankingPerceptron(hash_seed=1)
        model.learn_many(X, grades, qid)
        scores.append(model.decision_function_many(X, qid).tolist())
    assert scores[0] == scores[1] == scores[2]


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_texts_of_a_column_go_along_in_a_pickle_and_a_copy(how):
    texts = Tokenizer().transform_many(pl.Series(["win a prize", "b é", ""]))
    other = how(texts)
    assert list(other) == list(texts)
    assert list(other[::-1]) == list(texts)[::-1]
    assert isinstance(other.source, pl.Series)


def test_texts_last_when_the_column_has_gone():
    texts = Tokenizer().transform_many(pa.array([f"text{n}" for n in range(999)]))
    events = list(texts[990:])
    gc.collect()
    assert [dict(event) for event in events] == [{f"text{n}": 1.0} for n in range(990, 999)]
    assert dict(texts[17]) == {"text17": 1.0}


NO_TEXTS = {
    "int64": pa.array([1, 2]),
    "Int64": pl.Series([1]),
    "list": pa.array([["a"]]),
    "List": pl.Series([["a"]]),
    "dictionary<values=int64": pa.array([1, 1]).dictionary_encode(),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays([2], ["a"]),
    "RecordBatchReader": pa.RecordBatchReader.from_batches(pa.schema([("a", pa.string())]), []),
}


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_a_column_of_something_else_is_refused_by_its_type(kind):
    with pytest.raises(TypeError, match=f"X is an Arrow column of {kind}.*cast"):
        Tokenizer().transform_many(NO_TEXTS[kind])


def test_with_fields_a_column_of_texts_is_refused():
    with pytest.raises(TypeError, match="must be a mapping"):
        Tokenizer(fields="a").transform_many(pl.Series(["a"]))


def test_objects_of_pandas_and_polars_are_read_one_by_one():
    raw = ["a b", b"c"]
    want = list(Tokenizer().transform_many(raw))
    for X in (pd.Series(raw, dtype=object), pl.Series(raw, dtype=pl.Object)):
        assert list(Tokenizer().transform_many(X)) == want
    words = pd.Series(["a b", "c"])
    for kind in ("category", pd.StringDtype("python")):
        assert list(Tokenizer().transform_many(words.astype(kind))) == want


# --- By hand


def offsets(*numbers):
    return struct.pack(f"{len(numbers)}i", *numbers)


def view(length, *place):
    """A view; its text is "abc", or lies elsewhere."""
    return struct.pack("i12s", length, b"abc" if not place else struct.pack("4sii", b"", *place))


SIZES = struct.pack("q", 20)
WORDS = lambda: Made(b"u", None, offsets(0, 3, 6), b"abcdef", length=2)  # noqa: E731
GOOD = {
    "offsets": lambda: Made(b"u", None, offsets(0, 3), b"abc"),
    "no bytes": lambda: Made(b"u", None, offsets(0, 0), None),
    "no rows": lambda: Made(b"u", None, None, None, length=0),
    "at an offset": lambda: Made(b"z", b"\2", offsets(9, 0, 3), b"abc", offset=1),
    "inline view": lambda: Made(b"vu", None, view(3), b""),
    "view": lambda: Made(b"vz", None, view(20, 0, 0), b"a" * 20, SIZES),
    "dictionary": lambda: Made(b"c", None, b"\1", dictionary=WORDS()),
    "nothing": lambda: Made(b"n", length=0),
}
BAD = {
    "offsets descend": lambda: Made(b"u", None, offsets(3, 0), b"abc"),
    "offset below 0": lambda: Made(b"u", None, offsets(-1, 0), b"abc"),
    "no offsets": lambda: Made(b"u", None, None, b"abc"),
    "too few buffers": lambda: Made(b"u", None, offsets(0, 3)),
    "too many buffers": lambda: Made(b"u", None, offsets(0, 3), b"abc", b"abc"),
    "length below 0": lambda: Made(b"u", None, offsets(0, 3), b"abc", length=-1),
    "begins below 0": lambda: Made(b"u", None, offsets(0, 3), b"abc", offset=-1),
    "text too long": lambda: Made(b"u", None, offsets(0, (1 << 28) + 1), b"abc"),
    "view below 0": lambda: Made(b"vu", None, view(-1), b"a" * 20, SIZES),
    "view of no buffer": lambda: Made(b"vu", None, view(20, 1, 0), b"a" * 20, SIZES),
    "view of a buffer below 0": lambda: Made(b"vu", None, view(20, -1, 0), b"a" * 20, SIZES),
    "view behind the end": lambda: Made(b"vu", None, view(20, 0, 1), b"a" * 20, SIZES),
    "view before the start": lambda: Made(b"vu", None, view(20, 0, -1), b"a" * 20, SIZES),
    "view without sizes": lambda: Made(b"vu", None, view(20, 0, 0), b"a" * 20, None),
    "number too large": lambda: Made(b"c", None, b"\2", dictionary=WORDS()),
    "number below 0": lambda: Made(b"c", None, b"\xff", dictionary=WORDS()),
    "no dictionary": lambda: without_dictionary(Made(b"c", None, b"\0", dictionary=WORDS())),
    "null": lambda: Made(b"u", b"\0", offsets(0, 3), b"abc"),
    "null in the dictionary": lambda: Made(
        b"c", None, b"\0", dictionary=Made(b"u", b"\0", offsets(0, 3), b"abc")
    ),
}
UNFIT = {
    "ints": lambda: Made(b"i", None, offsets(0)),
    "dates": lambda: Made(b"tdm", None, offsets(0, 0)),
    "dictionary of dictionaries": lambda: Made(
        b"c", None, b"\0", dictionary=Made(b"c", None, b"\0", dictionary=WORDS())
    ),
}


def without_dictionary(made):
    made.array.dictionary = None
    return made


def outcome(X):
    """The words of X, or the error; X is released before this returns."""
    try:
        found = [list(row) for row in Tokenizer(max_length=None).transform_many(X)]
    except (TypeError, ValueError) as error:
        found = type(error)(str(error))
    X.capsules.clear()
    gc.collect()
    return found


@pytest.mark.parametrize("make", GOOD.values(), ids=GOOD)
def test_a_good_column_is_read_and_released_once(make):
    column = make()
    found = outcome(column)
    assert isinstance(found, list)
    assert len(found) == column.length
    assert column.released == {"schema": 1, "array": 1, "stream": 0}
    stream = MadeStream(make(), n_chunks=3)
    assert outcome(stream) == 3 * found
    assert stream.released == {"schema": 1, "array": 3, "stream": 1}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_a_broken_column_is_refused_and_released_once(make):
    column = make()
    assert type(outcome(column)) is ValueError
    assert column.released == {"schema": 1, "array": 1, "stream": 0}
    stream = MadeStream(make(), n_chunks=2)
    assert type(outcome(stream)) is ValueError
    assert stream.released["schema"] == stream.released["stream"] == 1
    assert stream.released["array"] == 2 - stream.left


@pytest.mark.parametrize("make", UNFIT.values(), ids=UNFIT)
def test_a_column_of_no_texts_is_refused_and_released_once(make):
    for column in (make(), MadeStream(make())):
        assert "cast it to strings" in str(outcome(column))
        assert column.released["schema"] == 1
        assert column.released["array"] + column.released["stream"] == 1


@pytest.mark.parametrize("n", [-1, 0, 2])
def test_a_stream_that_fails_says_why_and_all_that_came_is_released(n):
    for said, expected in ((b"disk gone", r"error 5 disk gone"), (None, r"error 5$")):
        stream = MadeStream(GOOD["offsets"](), n_chunks=4, fails_at=n, said=said)
        error = outcome(stream)
        assert type(error) is ValueError
        assert re.search(expected, str(error))
        assert stream.released == {"schema": int(n >= 0), "array": max(n, 0), "stream": 1}


def test_what_has_been_released_is_not_read_again():
    for what in ("schema", "array"):
        column = GOOD["offsets"]()
        getattr(column, what).release = None
        assert f"{what} that has been released" in str(outcome(column))
    stream = MadeStream(GOOD["offsets"]())
    stream.stream.release = None
    assert "stream that has been released" in str(outcome(stream))
