"""What is written is read, whatever the bytes; real streams too."""

import csv
import io
import json
import random
import warnings

import pytest

from streamptron import MulticlassPerceptron
from streamptron.files import read
from tests.support.event_files import count_lines, events
from tests.support.marks import seeds
from tests.support.streams import DATA, labelled_texts, needs_data, svmlight

pytestmark = pytest.mark.once  # another Python would say the same

# What is written is read


LETTERS = "ab é語🙂.,;:|#\"'\\=\0\u00a0\u2028\x1c"


def random_text(rng, letters=LETTERS, least=0):
    return "".join(rng.choices(letters, k=rng.randint(least, 12)))


def random_number(rng):
    return rng.choice((0, 1, -3, 2**60 + 1, rng.gauss(0, 1), rng.gauss(0, 1) * 1e-30, 0.5))


def random_name(rng):
    return random_text(rng, "abé語🙂.#'\\=", 1)


@seeds(10)
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


@seeds(10)
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
    lines = [json.dumps({"y": y, "x": x}) for x, y in held]
    fields = [("x", name) for name in sorted({name for x, _ in held for name in x})]
    found = events("\n".join(lines).encode(), "jsonl", label="y", features=fields)
    assert found == [({f"x.{name}": value for name, value in x.items()}, y) for x, y in held]
    columns = sorted({name for x, _ in held for name in x})
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([*columns, " y"])
    writer.writerows([*(x.get(name, "") for name in columns), y] for x, y in held)
    data = file.getvalue().encode()
    assert events(data, "csv", label=" y", types={" y": "number"}) == held
    numbered = [({rng.randrange(10**6): v for v in x.values()}, y) for x, y in held]
    lines = [f"{y!r}" + "".join(f" {i}:{v!r}" for i, v in x.items()) for x, y in numbered]
    assert events("\n".join(lines).encode(), "svmlight") == numbered


@seeds(10)
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


@seeds(10)
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


@pytest.mark.slow
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
