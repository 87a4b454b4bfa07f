"""Every option by every format, *learned* with and without.

An option that is stored and never read ends in the answers of a model without it, or in another
model than the library's. Each way to learn is tried: train, with --resume, with --jobs, and
predict --learn.
"""

import contextlib
import gzip
import json
import random

import pytest

from streamptron import Tokenizer
from streamptron.command.cli import main
from streamptron.command.commands import commands
from streamptron.command.options import LEARNER_OPTIONS, READING_OPTIONS, TOKENIZER_OPTIONS
from streamptron.files import read
from streamptron.learners.registry import LEARNERS
from tests.support.commands import SEEDED
from tests.support.event_files import zstd
from tests.support.variants import learned, loaded

pytestmark = pytest.mark.once  # another Python would say the same

N = 120


def mail(seed=1):
    """[(label, words, size, color)]: words and numbers that tell the labels apart at times."""
    rng = random.Random(seed)
    for _ in range(N):
        label = rng.choice(["ham", "spam", "news"])
        words = [f"{rng.choice((label, 'any', 'Any'))}{rng.randrange(9)}" for _ in range(6)]
        words += rng.choice([[], ["10.0.0.7", "a"], [words[0]], ["it's,odd", "l" * 200]])
        size = round(rng.gauss(len(label) - 3.0, 1.0), 2)
        yield label, words, rng.choice([size, size, ""]), rng.choice(["red", "blue", label])


def line_of(format, label, words, size, color):
    """An event as a line of a format."""
    text = " ".join(words)
    number = {"ham": -1, "spam": 1, "news": 2}[label]
    indices = sorted({int(word[-1]) + 10 * (word[:3] in ("any", "Any")) for word in words[:6]})
    return {
        "plain": f"{label}\t{text}",
        "fasttext": f"__label__{label} {text}",
        "csv": f'{label},"{text}"',
        "csv features": f"{label},{words[0]},{size},{color}",
        "jsonl": json.dumps({"kind": label, "body": text}),
        "jsonl features": json.dumps(
            {"kind": label, "body": words[0], "size": size or None, "color": color}
        ),
        "svmlight": f"{number} {' '.join(f'{index}:{size or 1}' for index in indices)}",
        "vw": f"{label} |w {text} |n size:{(size or 1) / 10} {color}",
    }[format]


# How a file is called, what `read` and the command line need for it, fields to pair, and a number
# of pairs that some events have and some have not.
SIZES = ("size", "color")
FORMATS = {
    "plain": ("mail.tsv", {}, None, 16),
    "gz": ("mail.tsv.gz", {}, None, 16),
    "zst": ("mail.tsv.zst", {}, None, 16),
    "fasttext": ("mail.ft", {}, None, 16),
    "csv": ("mail.csv", {"label": "kind", "text": "body"}, None, 16),
    "jsonl": ("mail.jsonl", {"label": "kind", "text": "body"}, None, 16),
    "csv features": ("numbers.csv", {"label": "kind"}, SIZES, 2),
    "jsonl features": (
        "numbers.jsonl",
        {"label": "kind", "features": ["body", *SIZES]},
        SIZES,
        2,
    ),
    "svmlight": ("numbers.svm", {}, None, 10),
    "vw": ("mail.vw", {}, ("w", "n"), 36),
}
FEATURES = ("csv features", "jsonl features", "svmlight", "vw")


def file_of(folder, format, part="all"):
    """The mail of the seed as a file: all of it, or its first or second half."""
    file = folder / part / FORMATS[format][0]
    if not file.exists():
        shape = "plain" if format in ("gz", "zst") else format
        lines = [line_of(shape, *event) for event in mail()]
        lines = {"all": lines, "a": lines[: N // 2], "b": lines[N // 2 :]}[part]
        if format == "csv":
            lines.insert(0, "kind,body")
        elif format == "csv features":
            lines.insert(0, "kind,body,size,color")
        data = "".join(f"{line}\n" for line in lines).encode()
        if format == "gz":
            data = gzip.compress(data)
        elif format == "zst":
            data = zstd(data)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("options")


def words_of(values):
    """Parameters as options of the command line."""
    options = {option.name: option for option in commands.commands["train"].params}
    words = []
    for name, value in values.items():
        option = options[name].opts[0]
        if options[name].is_flag:
            words.append(option)
        elif isinstance(value, dict):
            words += [word for pair in value.items() for word in (option, "{}={}".format(*pair))]
        elif options[name].multiple and not isinstance(value, str):
            words += [word for pair in value for word in (option, ",".join(pair))]
        elif isinstance(value, tuple | list):
            words += [option, ",".join(map(str, value))]
        else:
            words += [option, str(value).lower()]
    return words


def events_of(file, format, tokens):
    """What a learner gets of a file: (event, label, weight)."""
    tokenizer = Tokenizer(**tokens)
    more = {"label_type": "text"} if format == "vw" else {}
    for x, y, w, *_ in read(file, **FORMATS[format][1], **more).records():
        yield tokenizer.transform_one(x) if isinstance(x, str) else x, str(y), w


def trained(file, path, *words):
    """The model that the command makes of a file."""
    assert main(["train", str(file), "-m", str(path), "-q", *words]) == 0
    return loaded(path)


def scores(model, file, format, tokens):
    """What the weights say; a parameter that is only stored does not show."""
    found = []
    for x, _, _ in events_of(file, format, tokens):
        with contextlib.suppress(ValueError):  # more pairs than it takes
            found.append(model.decision_function_one(x))
    return found


# Of each parameter of a learner: who learns, the value, and what both models have.
PARAMETERS = {
    "margin": ("multiclass", {"margin": 9.0}, {}),
    "violators": ("mira", {"violators": "uniform"}, {}),
    "C": ("mira", {"C": 0.01}, {}),
    "update": ("mira", {"update": "mistake"}, {}),
    "r": ("arow", {"r": 9.0}, {}),
    "eta": ("adaptive", {"eta": 0.1}, {}),
    "forget": ("adaptive", {"forget": 0.5}, {}),
    "naive_bayes": ("adaptive", {"naive_bayes": False}, {}),
    "shape": ("adaptive", {"shape": "line"}, {}),
    "max_features": ("adaptive", {"max_features": 5}, {}),
    "budget": ("voted", {"budget": 3}, {}),
    "average": ("multiclass", {"average": "none"}, {}),
    "half_life": ("mira", {"half_life": 7.0}, {"average": "exponential", "serve": "average"}),
    "pocket": ("multiclass", {"pocket": True, "serve": "pocket"}, {}),
    "serve": ("multiclass", {"serve": "current"}, {}),
    "intercept": ("mira", {"intercept": False}, {}),
    "class_weight": ("adaptive", {"class_weight": None}, {}),  # of the format's spam
    "false_positive_rate": ("adaptive", {"false_positive_rate": None}, {}),  # the same
    "degree": ("adaptive", {"degree": 2}, {}),
    "interactions": ("mira", {"interactions": None}, {}),  # of the format
    "max_pairs": ("adaptive", {"max_pairs": None}, {"degree": 2}),  # of the format
    "max_labels": ("adaptive", {"max_labels": 2}, {}),
    "hash_bits": ("adaptive", {"hash_bits": 3}, {}),
    "hash_seed": ("adaptive", {"hash_seed": 2}, {"hash_bits": 3}),
}
TOKENS = {
    "analyzer": "char",
    "ngram_range": (1, 2),
    "lowercase": False,
    "separators": "a",
    "min_length": 5,
    "max_length": None,
    "fold_numbers": True,
    "value": "count",
    "normalize": "l2",
}


def test_the_tables_have_every_parameter():
    of_sets = {"threshold"}  # tests/command/test_sets.py
    assert set(PARAMETERS) | of_sets == set(LEARNER_OPTIONS.names)
    of_mails = {"headers", "parts", "bytes", "fold"}  # tests/command/test_mail.py
    assert set(TOKENS) | of_mails == set(TOKENIZER_OPTIONS.names)


CASES = [
    pytest.param(format, name, id=f"{format}-{name}")
    for format in FORMATS
    for name in (*PARAMETERS, *TOKENS)
    if not (name in TOKENS and format in FEATURES)
    if not (name == "interactions" and FORMATS[format][2] is None)
]


@pytest.mark.parametrize(("format", "name"), CASES)
def test_an_option_is_learned_with_and_changes_the_answers(format, name, folder, tmp_path):
    file = file_of(folder, format)
    _, reading, interaction, pairs = FORMATS[format]
    learner, given, both = PARAMETERS.get(name, ("adaptive", {}, {}))
    tokens = {name: TOKENS[name]} if name in TOKENS else {}
    if name == "interactions":
        given = {"interactions": [interaction]}
    elif name == "max_pairs":
        given = {"max_pairs": pairs}
    elif name == "class_weight":
        given = {"class_weight": {"1" if format == "svmlight" else "spam": 3.0}}
    elif name == "false_positive_rate":
        given = {name: {"1" if format == "svmlight" else "spam": 0.9}}
    given = {"hash_seed": 1, **both, **given}
    expected = LEARNERS[learner](**given)
    without = LEARNERS[learner](**{"hash_seed": 1, **both})
    for model, rule in ((expected, tokens), (without, {})):
        for x, y, w in events_of(file, format, rule):
            try:
                model.learn_one(x, y, w)
            except ValueError:  # the command leaves such a line out
                assert name in ("max_pairs", "max_labels")
    assert expected.n_seen

    words = [*words_of({"learner": learner, **given, **tokens, **reading})]
    words += ["--on-error", "skip"]
    path = tmp_path / "m"
    found = trained(file, path, *words)
    assert scores(found, file, format, tokens) == scores(expected, file, format, tokens)
    if name == "false_positive_rate":  # which moves no score
        assert scores(found, file, format, tokens) == scores(without, file, format, {})
        assert learned(found) != learned(without)
    elif name == "shape" and not expected._columns():  # words: they are learned as without
        assert scores(found, file, format, tokens) == scores(without, file, format, {})
    else:
        assert scores(found, file, format, tokens) != scores(without, file, format, {})
    assert learned(found) == learned(expected)
    if format in ("plain", "gz", "zst", "fasttext"):
        assert learned(trained(file, path, *words, "--jobs", "2")) == learned(expected)
    first, rest = (file_of(folder, format, part) for part in "ab")
    trained(first, path, *words)
    half = path.read_bytes()
    assert learned(trained(rest, path, "--resume", "--on-error", "skip")) == learned(expected)
    path.write_bytes(half)
    assert main(["predict", str(rest), "--learn", "-m", str(path)]) == 0
    assert learned(loaded(path)) == learned(expected)


WEIGHTS = {"spam": 3.0, "ham": 0.0}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_class_weight_is_a_sample_weight_of_each_of_its_events(format, learner, folder, tmp_path):
    """Of those that are held out and of later epochs too."""
    file = file_of(folder, format)
    names = {"spam": "1", "ham": "-1"} if format == "svmlight" else {}
    weights = {names.get(label, label): w for label, w in WEIGHTS.items()}
    words = words_of({"learner": learner, "hash_seed": 1, **FORMATS[format][1]})
    if learner == "perceptron":
        weights = {label: w for label, w in weights.items() if label == names.get("spam", "spam")}
        words += ["--positive", *weights]
    found = trained(
        file, tmp_path / "m", *words, *words_of({"class_weight": weights}), "--epochs", "2",
        "--holdout", ".25",
    )  # fmt: skip
    model = LEARNERS[learner](hash_seed=1)
    for _ in range(2):
        for number, (x, y, w) in enumerate(events_of(file, format, {}), 1):
            label = y in weights if learner == "perceptron" else y
            if number % 4:
                model.learn_one(x, label, w * weights.get(y, 1.0))
    assert scores(found, file, format, {}) == scores(model, file, format, {})
    assert found.n_seen == model.n_seen


# Of each option of reading: its value, and the formats that have it.
READING = {
    "label": ("color", ["csv features", "jsonl features"]),
    "text": ("kind", ["csv", "jsonl"]),
    "features": (["size"], ["csv features", "jsonl features"]),
    "types": ({"size": "category"}, ["csv features"]),
}
# And of those without which the file that is made so cannot be read.
NEEDED = {
    "format": (None, lambda data: data, list(FORMATS)),
    "delimiter": (";", lambda data: data.replace(b",", b";"), ["csv features"]),
    "columns": (
        ["kind", "body", "size", "color"],
        lambda data: data.split(b"\n", 1)[1],
        ["csv features"],
    ),
    "encoding": (
        "utf-16",
        lambda data: data.decode().encode("utf-16"),
        [format for format in FORMATS if format not in ("gz", "zst")],
    ),
}


def test_the_tables_have_every_option_of_reading():
    elsewhere = {"label_by", "separator"}  # tests/command/test_mail.py, test_sets.py
    assert {*READING, *NEEDED, *elsewhere} == set(READING_OPTIONS.names)


@pytest.mark.parametrize(
    ("name", "format"), [(name, format) for name in READING for format in READING[name][1]]
)
def test_what_is_read_is_what_an_option_says(name, format, folder, tmp_path):
    file, usual = file_of(folder, format), FORMATS[format][1]
    reading = {**usual, name: READING[name][0]}
    models = []
    for each in (reading, usual):
        model = LEARNERS["adaptive"](hash_seed=1)
        for x, y in read(file, **each):
            model.learn_one(Tokenizer().transform_one(x) if isinstance(x, str) else x, y)
        models.append(model)
    found = trained(file, tmp_path / "m", *SEEDED, *words_of(reading))
    assert learned(found) == learned(models[0]) != learned(models[1])


@pytest.mark.parametrize(
    ("name", "format"), [(name, format) for name in NEEDED for format in NEEDED[name][2]]
)
def test_a_file_that_needs_an_option_is_read_with_it_alone(name, format, folder, tmp_path, told):
    value, made, _ = NEEDED[name]
    usual = file_of(folder, format)
    file = tmp_path / (usual.name.replace(".", "_") if name == "format" else usual.name)
    file.write_bytes(made(usual.read_bytes()))
    if name == "format":
        value = {"gz": "plain", "zst": "plain"}.get(format, format.removesuffix(" features"))
    words = [*SEEDED, *words_of(FORMATS[format][1])]
    expected = learned(trained(usual, tmp_path / "m", *words))
    more = words_of({name: value})
    assert learned(trained(file, tmp_path / "m", *words, *more)) == expected
    code, _, said = told("train", file, "-m", tmp_path / "n", *words)
    assert code, said
    assert not (tmp_path / "n").exists()
