"""The command line does what the library does, line by line, and ends as its help says."""

import ast
import bz2
import copy
import gzip
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from streams import labelled_texts, needs_data
from variants import learned, loaded

import streamptron
from streamptron import MIRA, Checkpoint, MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.cli import main
from streamptron.command.commands import LEARNER_OPTIONS, TOKENIZER_OPTIONS, commands
from streamptron.command.lines import LineModel
from streamptron.files import read

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
COMMANDS = ("train", "predict", "eval", "top", "explain", "info")
LEARNERS = {"perceptron": Perceptron, "multiclass": MulticlassPerceptron, "mira": MIRA}
SEEDED = ("--hash-seed", "1")

MAIL = b"spam\twin a prize\nham\tsee you\nspam\ta prize\nham\tyou see a man\n"


def process(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "streamptron", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        bufsize=0,
        **options,
    )


def run(*words, data=b"", code=0):
    """The output of a process that ends with this code, and what it says."""
    with process(*words) as running:
        out, said = running.communicate(data, timeout=60)
    assert running.returncode == code, said.decode()
    assert b"Traceback" not in said
    return out, said.decode()


def predict(data, model, *words, code=0):
    """The lines that answer some lines."""
    out, said = run("predict", "--model", model, *words, data=data, code=code)
    assert out.endswith(b"\n") or not out
    return out.decode().split("\n")[:-1], said


def answered(process, line):
    process.stdin.write(line)
    return process.stdout.readline()


def random_mail(seed, n=200, labels=("ham", "spam", "a list")):
    """Lines of a label and words that have to do with it."""
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.choice(labels)
        words = [f"{rng.choice((label, 'any'))}{rng.randrange(9)}" for _ in range(rng.randrange(8))]
        yield label, " ".join(words)


def written(events):
    return "".join(f"{label}\t{text}\n" for label, text in events).encode()


@pytest.fixture
def mail(tmp_path):
    """A file of mail, and a model that has learned it."""
    (tmp_path / "mail.tsv").write_bytes(MAIL)
    model = tmp_path / "mail.model"
    assert main(["train", str(tmp_path / "mail.tsv"), "--model", str(model), "-q", *SEEDED]) == 0
    return tmp_path / "mail.tsv", model


@pytest.fixture
def told(capsys):
    """What main says: (code, out, err)."""

    def told(*words):
        code = main(list(map(str, words)))
        return code, *capsys.readouterr()

    return told


# --- The words


def examples():
    """Every example in the help of every command, in their order."""
    for command in ("", *COMMANDS):
        out, _ = run(*filter(None, [command, "--help"]))
        text = re.sub(r"\n {4,}", "\n  ", out.decode())
        found = re.findall(
            r"^ +((?:printf|echo|cat|streamptron) .*)$", text.partition("Examples:")[2], re.M
        )
        assert found
        yield from found


def test_every_example_of_the_help_runs(tmp_path):
    tool = tmp_path / "bin" / "streamptron"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m streamptron "$@"\n')
    tool.chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    n = 0
    for example in examples():
        done = subprocess.run(
            ["sh", "-c", example],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (example, done.stderr.decode())
        assert example.startswith("printf") or "train" in example or done.stdout, example
        n += 1
    assert n > 15


def test_the_version_is_the_packages(told):
    assert told("--version") == (0, f"streamptron {streamptron.__version__}\n", "")


def test_no_words_are_a_question_for_help(told):
    assert told() == told("--help")
    assert told()[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train", "Missing argument 'FILES...'; see streamptron train --help"),
        ("train mail.tsv", "Missing option '--model'"),
        ("train mail.tsv -m m --C 2", "MulticlassPerceptron has no --C"),
        ("train mail.tsv -m m --learner perceptron --update mistake", "Perceptron has no --update"),
        ("train mail.tsv -m m --average exponential --half-life 0", "half_life=0.0"),
        ("train mail.tsv -m m --half-life 9", "--half-life is for --average exponential"),
        ("train mail.tsv -m m --half-life 9 --average uniform", "give that too"),
        ("train mail.tsv -m m --encoding utf-9", "--encoding 'utf-9'; give an encoding that"),
        ("eval mail.tsv -m mail.model --encoding base64", "--encoding 'base64'; give an encoding"),
        ("predict -m mail.model --encoding x", "--encoding 'x'; give an encoding that"),
        ("train mail.tsv -m m --label y", "the format plain has no --label"),
        ("train - -m m --label y", "no suffix that tells its format; give --format (plain"),
        ("train mail.tsv -m m --ngrams 2,1", "ngram_range"),
        ("train mail.tsv -m m --ngrams two", "'two': give two numbers, as 1,2"),
        ("train mail.tsv -m m --max-length all", "'all': give a number, or none"),
        ("train mail.tsv -m m --class-weight spam", "'spam': give LABEL=WEIGHT"),
        ("train mail.tsv -m m --learner perceptron --class-weight spam=2", "--positive"),
        ("train mail.tsv -m m --class-weight a=2 --class-weight a=1", "given twice for a label"),
        ("train mail.tsv -m m --positive spam", "--positive is for --learner perceptron"),
        ("train mail.tsv -m m --format jsonl", "needs --label FIELD"),
        ("train mail.tsv -m m --format jsonl --label y", "needs --text FIELD or --features A,B"),
        ("train mail.tsv -m m --format vw --l2", "these events are features"),
        ("train mail.tsv -m m --holdout 0.6", "0.6 is not in the range 0<x<=0.5"),
        ("train - -m m --format plain --epochs 2", "give files, not a pipe"),
        ("train bare -m m", "no suffix that tells its format; give --format (plain"),
        ("train mail.tsv -m mail.model --resume --margin 1", "without --margin"),
        ("predict -m mail.model --json --template {label}", "two ways to write"),
        ("predict -m mail.model --template {word}", "{word} is not one of its placeholders"),
        ("predict -m mail.model --template {label:>9}", "is not one of its placeholders"),
        ("predict -m mail.model --template {", "cannot be used"),
        ("predict -m mail.model --template {label}\n", "it is more than a line"),
        ("predict -m mail.model --learn --input text", "--learn needs labels"),
        ("predict -m mail.model --save-every 5", "nothing to save"),
        ("predict -m mail.model --input text --format vw", "two ways"),
        ("learn", "No such command 'learn'"),
    ],
)
def test_words_that_make_no_command_end_with_2_and_say_why(words, message, mail, monkeypatch, told):
    monkeypatch.chdir(mail[0].parent)
    Path("bare").write_bytes(MAIL)
    before = mail[1].read_bytes()
    code, out, err = told(*words.split(" "))
    assert code == 2
    assert out == ""
    assert err.startswith("streamptron: error: ")
    assert message in err
    assert mail[1].read_bytes() == before
    assert not Path("m").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train none.tsv -m m", "none.tsv: No such file or directory"),
        ("train *.none -m m --format plain", "no file matches *.none"),
        ("train mail.tsv -m none/m", "none/m: the model cannot be written there"),
        ("train mail.tsv -m .", ".: the model cannot be written there"),
        ("train mail.tsv -m /dev/null", "/dev/null: the model cannot be written there"),
        (
            "train mail.tsv -m m --learner perceptron",
            "mail.tsv:1: the label 'spam' is not one of 0, 1",
        ),
        ("train bad.tsv -m m", "bad.tsv:2: it has no TAB between label and text"),
        ("train label.tsv -m m", "label.tsv:2: the label b'sp\\xe4m' is not UTF-8"),
        ("train bad.jsonl -m m --label y --text x", "bad.jsonl:2: not JSON"),
        ("train short.tsv.gz -m m", "short.tsv.gz:"),
        ("eval mail.tsv -m none", "none: No such file or directory"),
        ("eval mail.tsv -m mail.tsv", "mail.tsv"),
        ("eval bad.tsv -m mail.model", "bad.tsv:2:"),
        ("info -m library.model", "it holds a learner alone"),
        ("info -m odd.model", "the model's metadata cannot be used"),
        ("top -m mail.model --label eggs", "label='eggs' has not been seen"),
        ("predict mail.tsv -m vw.model --input text", "the model learns from features"),
        ("predict mail.tsv -m vw.model --template {text}", "there is no {text}"),
    ],
)
def test_failures_end_with_1_and_a_line_that_says_what_and_where(
    words, message, mail, monkeypatch, told
):
    monkeypatch.chdir(mail[0].parent)
    Path("bad.tsv").write_bytes(b"spam\ta prize\nno label\n")
    Path("label.tsv").write_bytes(b"spam\ta prize\nsp\xe4m\ta prize\n")
    Path("bad.jsonl").write_bytes(b'{"x": "a", "y": "b"}\n{"x": \n')
    Path("short.tsv.gz").write_bytes(gzip.compress(written(random_mail(1)))[:-500])
    Path("mail.vw").write_bytes(b"1 | a\n")
    MulticlassPerceptron().save("library.model")
    MulticlassPerceptron().save("odd.model", metadata={"tokenizer": {"colour": "blue"}})
    assert main(["train", "mail.vw", "-m", "vw.model", "-q"]) == 0
    code, out, err = told(*words.split(" "))
    assert code == 1
    assert out == ""
    assert message in err
    assert "streamptron: error: " in err
    assert "Traceback" not in err
    assert not Path("m").exists()
    assert not [path for path in os.listdir() if path.endswith(".tmp")]


def test_without_click_a_line_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; from streamptron.cli import main; exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        done.stderr
        == 'streamptron: error: the command line needs click: pip install "streamptron[cli]"\n'
    )


def test_plain_lines_are_learned_and_answered_without_what_they_do_not_need(mail):
    code = (
        "import sys; from streamptron.cli import main; n = main(sys.argv[1:]); "
        "unwanted = {'numpy', 'csv', 'lzma', 'zstandard', 'streamptron.files.reader'}; "
        "print(n, sorted(unwanted & set(sys.modules)))"
    )
    tsv, model = mail
    for words in (["train", tsv, "--model", model], ["predict", tsv, "--model", model]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "0 []"


def test_a_reader_that_goes_away_is_no_error(mail):
    tsv, model = mail
    large = tsv.with_name("large.tsv")
    large.write_bytes(written(random_mail(2, 20_000)))
    for words in (["predict", large], ["top", "-n", "5"]):
        with process(*words, "--model", model) as running:
            running.stdin.close()
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait(60) == 0


# --- train


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LEARNERS)
def test_training_is_learn_one_in_order(name, seed, tmp_path, told):
    labels = ("0", "1") if name == "perceptron" else ("ham", "spam", "a list", "ж")
    events = list(random_mail(seed, 3000, labels))
    (tmp_path / "m.tsv").write_bytes(written(events).replace(b"\n", b"\r\n" if seed else b"\n"))
    options = ("--ngrams", "1,2", "--value", "log", "--l2", "--average", "exponential")
    code, out, _ = told(
        "train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", name, *SEEDED, *options
    )
    assert (code, out) == (0, "")
    model = LEARNERS[name](average="exponential", hash_seed=1)
    tokenizer = Tokenizer(ngram_range=(1, 2), value="log", normalize="l2")
    for label, text in events:
        model.learn_one(tokenizer.transform_one(text), label == "1" if "1" in labels else label)
    assert learned(loaded(tmp_path / "m")) == learned(model)
    assert streamptron.load(tmp_path / "m")[0]._get_params() == tokenizer._get_params()
    assert streamptron.read_metadata(tmp_path / "m") == {}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_several_files_compressed_or_not_are_one_stream(compress, tmp_path, told):
    events = list(random_mail(3, 500))
    (tmp_path / "a.tsv").write_bytes(written(events[:200]))
    (tmp_path / "b.tsv.z").write_bytes(compress(written(events[200:])))
    (tmp_path / "all.tsv").write_bytes(written(events))
    files = [tmp_path / "a.tsv", tmp_path / "b.tsv.z"]
    assert told("train", *files, "--format", "plain", "-m", tmp_path / "m", *SEEDED)[0] == 0
    assert told("train", tmp_path / "all.tsv", "-m", tmp_path / "n", *SEEDED)[0] == 0
    m, n = (loaded(tmp_path / name) for name in "mn")
    assert learned(m) == learned(n)


def test_the_standard_input_is_learned_from(tmp_path):
    run("train", "-", "--format", "plain", "-m", tmp_path / "m", data=MAIL)
    assert loaded(tmp_path / "m").n_seen == 4


FORMATS = {
    "vw": (b"1 2.0 |f a b:2\n-1 'tag|f c\n1 |g a\n", {"label_type": "text"}, []),
    "svmlight": (b"1 1:0.5 7:2\n-1 3:1 # c\n\n+1 1:2\n", {}, []),
    "jsonl": (
        b'{"y": true, "x": {"t": "a b"}}\n{"y": false, "x": {"t": "c"}}\n',
        {"label": "y", "text": "x.t"},
        ["--label", "y", "--text", "x.t"],
    ),
    "csv": (
        b'y;a;b\n1;2;x\n0;3;"y\nz"\n1;;x\n',
        {"label": "y", "features": ["a", "b"], "delimiter": ";", "types": {"a": "category"}},
        ["--label", "y", "--features", "a,b", "--delimiter", ";", "--type", "a=category"],
    ),
    "fasttext": (b"__label__1 a b\n__label__0 c\n__label__1 a\n", {}, []),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_learned_as_its_reader_gives_it(format, learner, tmp_path, told):
    data, options, words = FORMATS[format]
    path = tmp_path / "events.txt"
    path.write_bytes(data)
    words = ["--format", format, *words]
    code, _, err = told("train", path, "-m", tmp_path / "m", "--learner", learner, *SEEDED, *words)
    assert code == 0, err
    model = LEARNERS[learner](hash_seed=1)
    for x, y, w, *_ in read(path, format, **options).records():
        text = str(y).lower() if isinstance(y, bool) else str(y)
        label = text in ("1", "true") if learner == "perceptron" else text
        model.learn_one(Tokenizer().transform_one(x) if isinstance(x, str) else x, label, w)
    assert learned(loaded(tmp_path / "m")) == learned(model)
    code, out, err = told("eval", path, "-m", tmp_path / "m", "--format", format)
    assert code == 0, err
    assert "accuracy" in out


def table(err):
    """The lines of progress, as (average, since, events, label, prediction)."""
    lines = err.split("\n")
    start = next(i for i, line in enumerate(lines) if "prediction" in line) + 1
    for line in lines[start:]:
        if not re.match(r" *\d\.\d{6} ", line):
            return
        yield (*line[:32].split(), line[34:58].strip(), line[60:].strip())


@pytest.mark.parametrize("format", ["plain", "jsonl"])
@pytest.mark.parametrize("every", [0, 10])
def test_progress_is_the_error_before_learning_at_1_2_4_events(every, format, tmp_path, told):
    events = list(random_mail(4, 700))
    if format == "plain":
        (tmp_path / "m").write_bytes(written(events))
    else:
        lines = (json.dumps({"y": label, "x": text}) + "\n" for label, text in events)
        (tmp_path / "m").write_text("".join(lines))
    words = ["--format", format, *SEEDED]
    words += ["--label", "y", "--text", "x"] if format == "jsonl" else []
    words += ["--holdout", 1 / every] if every else []
    code, _, err = told("train", tmp_path / "m", "-m", tmp_path / "model", *words)
    assert code == 0, err
    model, tokenizer, wrong, expected, last = (
        MulticlassPerceptron(hash_seed=1),
        Tokenizer(),
        [],
        [],
        0,
    )
    for n, (label, text) in enumerate(events, 1):
        held = every and n % every == 0
        answer = model.predict_one(tokenizer.transform_one(text))
        if not held:
            model.learn_one(tokenizer.transform_one(text), label)
            wrong += [answer != label] * (answer is not None)
        if n & (n - 1) == 0:
            average = f"{sum(wrong) / max(1, len(wrong)):.6f}"
            since = f"{sum(wrong[last:]) / max(1, len(wrong[last:])):.6f}"
            expected.append((average, since, str(n), label, answer or ""))
            last = len(wrong)
    assert list(table(err)) == expected
    assert learned(loaded(tmp_path / "model")) == learned(model)
    summary = dict(re.findall(r"^(\S.*?\S) {2,}(\S+)$", err, re.M))
    assert summary["events"] == "700"
    assert summary["features"] == str(model.n_features)
    assert summary["updates"] == str(model.n_updates)
    assert summary["progressive error"] == f"{sum(wrong) / len(wrong):.6f}"
    if every:
        held = events[every - 1 :: every]
        missed = sum(model.predict_one(tokenizer.transform_one(t)) != y for y, t in held)
        assert summary["held-out events"] == str(len(held))
        assert summary["held-out error"] == f"{missed / len(held):.6f}"


def test_epochs_read_the_files_again_and_resuming_goes_on(tmp_path, told):
    events = list(random_mail(5, 400))
    (tmp_path / "m.tsv").write_bytes(written(events))
    train = ("train", tmp_path / "m.tsv", "-m")
    assert told(*train, tmp_path / "twice", "--epochs", 2, "--fold-numbers", *SEEDED)[0] == 0
    assert told(*train, tmp_path / "m", "--fold-numbers", *SEEDED)[0] == 0
    assert told(*train, tmp_path / "m", "--resume")[0] == 0
    twice, resumed = (loaded(tmp_path / name) for name in ("twice", "m"))
    assert twice.n_seen == 800
    assert learned(twice) == learned(resumed)
    assert streamptron.load(tmp_path / "m")[0].fold_numbers is True


def test_bad_lines_are_counted_and_left_out_where_asked(tmp_path, told):
    lines = [b"1\ta", b"no label", b"", b"\tb", b"what\tc", b"0\td", b"sp\xe4m\te"]
    (tmp_path / "m.tsv").write_bytes(b"\n".join(lines))
    words = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", "perceptron")
    code, _, err = told(*words, "--on-error", "skip", *SEEDED)
    assert code == 0
    assert "bad lines          4\n" in err
    assert f"the first bad line: {tmp_path / 'm.tsv'}:2: it has no TAB" in err
    model = Perceptron(hash_seed=1)
    model.learn_one({"a": 1}, True)
    model.learn_one({"d": 1}, False)
    assert learned(loaded(tmp_path / "m")) == learned(model)


@pytest.mark.parametrize(
    ("labels", "words", "answers"),
    [
        ("0 1", [], {"0", "1"}),
        ("-1 +1", [], {"-1", "+1"}),
        ("false true", [], {"false", "true"}),
        ("False True", [], {"False", "True"}),
        ("ham spam", ["--positive", "spam"], {"not spam", "spam"}),
    ],
)
def test_a_perceptron_answers_in_the_words_of_its_labels(labels, words, answers, tmp_path, told):
    no, yes = labels.split()
    (tmp_path / "m.tsv").write_text(f"{yes}\ta\n{no}\tb\n{yes}\ta c\n{no}\tb c\n")
    model = tmp_path / "m"
    train = ("train", tmp_path / "m.tsv", "-m", model, "--learner", "perceptron", "-q")
    assert told(*train, *words) == (0, "", "")
    found, _ = predict(b"a\nb\n", model)
    assert {line.split("\t")[0] for line in found} == answers
    assert told("top", "-m", model)[1].startswith(f"towards {yes}\n")


def test_every_parameter_of_the_library_has_its_option():
    parameters = {name for learner in LEARNERS.values() for name in learner()._get_params()}
    assert parameters == set(LEARNER_OPTIONS.names)
    assert set(Tokenizer()._get_params()) - {"fields"} == set(TOKENIZER_OPTIONS.names)


def test_class_weights_are_for_labels_as_they_are_written(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(MAIL)
    words = ("--class-weight", "spam=2", "--class-weight", "ham=0.5", "-q", *SEEDED)
    assert told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", *words)[0] == 0
    assert dict(loaded(tmp_path / "m").class_weight) == {"spam": 2.0, "ham": 0.5}
    words = ("--learner", "perceptron", "--positive", "spam", *words)
    assert told("train", tmp_path / "m.tsv", "-m", tmp_path / "p", *words)[0] == 0
    assert dict(loaded(tmp_path / "p").class_weight) == {True: 2.0, False: 0.5}


def test_a_feature_that_no_line_has_is_warned_of(tmp_path):
    (tmp_path / "m.jsonl").write_bytes(b'{"y": "a", "x": 1}\n')
    words = ("--label", "y", "--features", "x,z", "-q")
    _, said = run("train", tmp_path / "m.jsonl", "-m", tmp_path / "m", *words)
    assert said == "streamptron: warning: no event has 'z'; check features=\n"


@pytest.mark.parametrize(
    "words",
    [
        "--positive spma --learner perceptron",
        "--class-weight spma=2",
        "--class-weight spma=2 --positive spam --learner perceptron",
        "--class-weight ham=2 --positive spma --learner perceptron",
    ],
)
def test_a_label_that_is_named_and_never_comes_is_said(words, mail):
    tsv, _ = mail
    model = tsv.with_name("m")
    option = "--positive" if "--positive spma" in words else "--class-weight"
    code = int(option == "--positive")  # whose model knows one label only
    _, said = run("train", tsv, "-m", model, "-q", *words.split(), *SEEDED, code=code)
    assert f"no event has the label 'spma' of {option}; there are 'spam', 'ham'" in said
    assert said.startswith(f"streamptron: {'error' if code else 'warning'}: ")
    assert loaded(model).n_seen == 4  # it is saved all the same
    tsv.write_bytes(b"")
    assert run("train", tsv, "-m", model, "-q", *words.split())[1] == ""
    tsv.write_bytes(MAIL)
    words = words.replace("spma", "spam")
    assert run("train", tsv, "-m", model, "-q", *words.split())[1] == ""


LATIN = MAIL + b"ham\tcaf\xe9\nham\tna\xefve\n"


@pytest.mark.parametrize("command", ["train", "eval", "predict", "predict -", "learn"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_bytes_of_another_encoding_are_said_at_the_end_and_decoded_where_asked(
    encoding, command, mail
):
    tsv, model = mail
    tsv.write_bytes(LATIN)
    words = {
        "train": ["train", tsv, "-q"],
        "eval": ["eval", tsv],
        "predict": ["predict", tsv, "--input", "labelled", "--template", "{text}"],
        "predict -": ["predict", "--input", "labelled", "--template", "{text}"],
        "learn": ["predict", "--learn", "--template", "{text}"],
    }[command]
    data = LATIN if command in ("predict -", "learn") else b""
    out, said = run(*words, "--model", model, "--encoding", encoding, data=data)
    where = "line " if data else f"{tsv}:"
    warning = (
        "streamptron: warning: 2 of 6 texts have bytes that are not UTF-8, read as U+FFFD; the "
        f"first: {where}5; give the file's encoding, as latin-1 or cp1252, or convert it\n"
    )
    assert said == (warning if encoding == "utf-8" else "")
    if encoding == "latin-1":
        if "predict" in command:
            assert "café" in out.decode()
        if command in ("train", "learn"):
            features = {name for label in ("ham", "spam") for name in weights(model, label)}
            assert "café" in features
            assert "caf" not in features


def weights(model, label):
    return loaded(model).weights[label]


@pytest.mark.parametrize("format", ["jsonl", "plain"])
def test_utf_16_is_trained_on_and_answered_where_it_is_asked_for(format, tmp_path):
    texts = ["a é prize", "see ж you"]
    if format == "plain":
        lines, words = [f"{len(text)}\t{text}" for text in texts], ["--input", "labelled"]
        options = []
    else:
        lines, words = [json.dumps({"y": len(t), "x": t}) for t in texts], []
        options = ["--label", "y", "--text", "x"]
    data = "\n".join(lines).encode("utf-16")
    (tmp_path / "m.txt").write_bytes(data)
    reading = ["--format", format, "--encoding", "utf-16"]
    run("train", tmp_path / "m.txt", "-m", tmp_path / "m", "-q", *reading, *options)
    words += ["--format", "jsonl"] if format == "jsonl" else []
    words += ["--encoding", "utf-16", "--template", "{label} {text}"]
    found, said = predict(data, tmp_path / "m", *words)
    assert [line.partition(" ")[2] for line in found] == texts
    assert said == ""
    assert run(
        "train",
        tmp_path / "m.txt",
        "-m",
        tmp_path / "n",
        "-q",
        "--format",
        format,
        *options,
        code=1,
    )[1].endswith(
        "m.txt:1: the file is UTF-16 or UTF-32; give its encoding, or convert it to UTF-8 first\n"
    )


def test_lines_that_end_in_cr_alone_are_refused_with_the_cure(mail):
    tsv, model = mail
    before = model.read_bytes()
    tsv.write_bytes(MAIL.replace(b"\n", b"\r"))
    cure = "the file's line ends are CR alone, as on old Macs"
    for words in (["train", tsv, "-m", model], ["eval", tsv, "-m", model]):
        assert f"{tsv}:1: {cure}" in run(*words, code=1)[1]
    found, said = predict(tsv.read_bytes(), model, "--learn")
    assert found == ["\t"]
    assert f"1 of 1 lines are bad, the first: line 1: {cure}" in said
    assert model.read_bytes() == before


def test_lines_of_the_standard_input_are_taken_as_plain_and_that_is_said(mail):
    tsv, model = mail
    _, said = run("train", "-", "-m", model, *SEEDED, data=MAIL)
    assumed = "streamptron: <stdin> is read as lines label<TAB>text; else give --format\n"
    assert said.startswith(assumed)
    assert run("train", "-", "-m", model, "-q", *SEEDED, data=MAIL)[1] == ""
    assert run("eval", "-", "-m", model, data=MAIL)[1] == assumed
    same = model.with_name("same")
    run("train", tsv, "-m", same, *SEEDED)
    assert learned(loaded(model)) == learned(loaded(same))


def test_a_model_and_its_tokenizer_are_of_one_file(mail, monkeypatch):
    """Though another takes its place between two openings."""
    _, model = mail
    other = model.with_name("other")
    model.rename(other)
    opened = 0
    real = open

    def opening(file, *rest, **options):
        nonlocal opened
        if os.fspath(file) == str(model):
            opened += 1
        return real(file, *rest, **options)

    other.replace(model)
    monkeypatch.setattr("builtins.open", opening)
    LineModel.load(str(model))
    assert opened == 1


@pytest.mark.parametrize(
    "name", [*LEARNER_OPTIONS.names, *TOKENIZER_OPTIONS.names, "learner", "positive"]
)
def test_an_option_in_a_message_is_written_as_it_is_given(name, mail, told):
    tsv, model = mail
    (option,) = [each for each in commands.commands["train"].params if each.name == name]
    values = {"class_weight": "a=1", "average": "none", "serve": "best", "update": "margin"}
    values |= {"analyzer": "char", "value": "log", "learner": "mira"}
    value = [] if option.is_flag else [values.get(name, "1")]
    code, _, err = told("train", tsv, "-m", model, "--resume", option.opts[0], *value)
    assert code == 2
    assert f"--resume goes on with the model as it is, without {option.opts[0]};" in err


def test_every_option_that_a_message_names_is_one():
    known = {"--help", "--version"}
    for command in commands.commands.values():
        known |= {word for option in command.params for word in option.opts}
    named = set()
    for path in (ROOT / "streamptron").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= set(re.findall(r"(?<![-\w])--[a-z][-\w]*", node.value))
    assert len(named) > 30
    assert named <= known


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [("README.md", "## A first look", 3), ("docs/command-line.md", "# The command line", 8)],
)
def test_the_commands_of_the_docs_write_what_they_say(page, heading, least, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    section = text.partition(heading)[2].partition("\n## ")[0]
    lines = re.findall(r"^    (\S.*)$", section, re.M)
    tool = tmp_path / "bin" / "streamptron"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m streamptron "$@"\n')
    tool.chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    shown = 0
    for line in lines:
        command, _, comment = line.partition("  # ")
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr.decode())
        if "<TAB>" in comment:
            assert done.stdout.decode() == comment.strip().replace("<TAB>", "\t") + "\n"
            shown += 1
    assert shown
    assert len(lines) >= least


@pytest.mark.parametrize("format", ["plain", "jsonl"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_training_that_saves_with_all_that_it_has_learned(number, format, mail):
    _, model = mail
    data, words = MAIL, ["--format", "plain"]
    if format == "jsonl":
        lines = (line.split(b"\t") for line in MAIL.splitlines())
        data = b"".join(
            json.dumps({"y": y.decode(), "x": x.decode()}).encode() + b"\n" for y, x in lines
        )
        words = ["--format", "jsonl", "--label", "y", "--text", "x"]
    new = model.with_name("new")
    with process("train", "-", "-m", new, "--save-every", "1000", *words, *SEEDED) as running:
        running.stdin.write(data)
        while b"        4  ham" not in running.stderr.readline():
            pass
        running.stdin.write(b"ham\tbegun and not ended")
        time.sleep(0.2)
        running.send_signal(number)
        assert running.wait(60) == 128 + number
        said = running.stderr.read().decode()
    assert said.endswith(
        f"streamptron: stopped by {number.name} after 4 events, at <stdin>:4; the model is saved\n"
    )
    assert learned(loaded(new)) == learned(loaded(model))
    assert not [name for name in os.listdir(model.parent) if name.startswith(".")]


@pytest.mark.parametrize("seed", range(4))
def test_a_signal_at_any_moment_costs_no_event_before_it_and_none_twice(seed, tmp_path):
    """Resumed after the place that is said, the model is the one of an undisturbed training."""
    events = list(random_mail(seed, 30_000))
    (tmp_path / "m.tsv").write_bytes(written(events))
    train = ("-m", tmp_path / "m", "--save-every", "500")
    with process("train", tmp_path / "m.tsv", *train, *SEEDED) as running:
        for _ in range(4 * seed + 3):  # past the head of the table
            running.stderr.readline()
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=60)[1].decode()
    done = 30_000
    if running.returncode:
        assert running.returncode == 143
        done, line = map(int, re.search(r"after (\d+) events, at .*:(\d+); the", said).groups())
        assert done == line
    assert loaded(tmp_path / "m").n_seen == done
    (tmp_path / "rest.tsv").write_bytes(written(events[done:]))
    run("train", tmp_path / "rest.tsv", "-m", tmp_path / "m", "--resume")
    (tmp_path / "m.tsv").rename(tmp_path / "all.tsv")
    run("train", tmp_path / "all.tsv", "-m", tmp_path / "whole", *SEEDED)
    whole, parts = (loaded(tmp_path / name) for name in ("whole", "m"))
    assert learned(whole) == learned(parts)


def test_a_signal_in_a_later_epoch_says_in_which(tmp_path):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(12, 20_000)))
    words = ("-m", tmp_path / "m", "--save-every", 10**9, "--epochs", 10**6)
    with process("train", tmp_path / "m.tsv", *words) as running:
        while b"       16384  " not in running.stderr.readline():
            pass
        time.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 143
    found = re.search(r"after (\d+) events of epoch (\d+), at .*; the model is saved\n", said)
    done, epoch = map(int, found.groups())
    assert loaded(tmp_path / "m").n_seen == (epoch - 1) * 20_000 + done


@pytest.mark.parametrize("words", [["--format", "plain"], ["--format", "fasttext"]])
def test_a_training_that_is_killed_leaves_its_last_save(words, tmp_path):
    model = tmp_path / "m"
    line = b"__label__eggs bacon\n" if "fasttext" in words else b"eggs\tbacon\n"
    with process("train", "-", "-m", model, "--save-every", "3", *words) as running:
        for n in (1, 2, 3):
            running.stdin.write(line)
            while n != 3 and b"eggs" not in running.stderr.readline():
                pass
        for _ in range(600):
            if model.exists():
                break
            time.sleep(0.05)
        running.kill()
    assert loaded(model).n_seen == 3
    run("train", "-", "-m", model, "--resume", *words, data=line)  # the lock went with it
    assert loaded(model).n_seen == 4


def test_saving_on_the_way_changes_nothing_that_is_learned(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(11, 20_000)))
    words = ("train", tmp_path / "m.tsv", "--epochs", 2, "--holdout", 0.1, *SEEDED)
    code, _, said = told(*words, "-m", tmp_path / "m", "--save-every", 1000)
    assert code == 0
    again = told(*words, "-m", tmp_path / "n")[2]
    assert said.partition("seconds")[0] == again.partition("seconds")[0]
    m, n = (loaded(tmp_path / name) for name in "mn")
    assert learned(m) == learned(n)


def test_a_save_on_the_way_that_fails_is_said_and_the_training_goes_on(tmp_path):
    model = tmp_path / "m"
    words = ("--format", "plain", "--save-every", "1")
    with process("train", "-", "-m", model, *words) as running:
        running.stdin.write(MAIL)
        while not model.exists():
            time.sleep(0.05)
        model.rename(tmp_path / "aside")
        model.mkdir()
        running.stdin.write(MAIL)
        while b"streamptron: not saved, will try again: " not in running.stderr.readline():
            pass
        model.rmdir()
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert loaded(model).n_seen == 8


def test_an_interrupted_training_saves_nothing(tmp_path):
    words = ("train", "-", "--format", "plain", "-m", tmp_path / "m")
    with process(*words) as running:
        running.stdin.write(MAIL)
        assert running.stderr.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert b"streamptron: error: interrupted; nothing was saved\n" in running.stderr.read()
    assert not (tmp_path / "m").exists()


def test_a_terminal_sees_a_bar_of_the_bytes(tmp_path):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(6, 20_000)))
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "streamptron", "train", tmp_path / "m.tsv", "-m", tmp_path / "m"]
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=theirs) as running:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 1 << 16):
                shown += data
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        assert running.wait(60) == 0
    assert b"100%" in shown
    assert b"progressive error" in shown


# --- predict


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A file of mail with many lines, and a model that has learned it."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "mail.tsv").write_bytes(written(random_mail(7, 2000)))
    words = ["train", str(folder / "mail.tsv"), "-m", str(folder / "mail.model"), "-q", *SEEDED]
    assert main(words) == 0
    return folder / "mail.tsv", folder / "mail.model"


def library(model, texts):
    """The lines that answer texts."""
    model, tokenizer = loaded(model), Tokenizer()
    for text in texts:
        event = tokenizer.transform_one(text)
        label = model.predict_one(event)
        if label is None:
            yield "\t"
        else:
            yield f"{label}\t{model.predict_proba_one(event)[label]:.4f}"


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_librarys_however_the_lines_come(seed, many):
    rng = random.Random(seed)
    texts = [text for _, text in random_mail(seed, 3000) if text]
    data = "\n".join(texts).encode() + b"\n" * rng.randrange(2)

    def write(pipe):
        at = 0
        while at < len(data):
            n = rng.choice((1, 7, 100, 5000, 100_000))
            pipe.write(data[at : at + n])
            at += n
        pipe.close()

    with process("predict", "--model", many[1]) as running:
        writer = Thread(target=write, args=[running.stdin])
        writer.start()
        out = running.stdout.read().decode().split("\n")[:-1]
        writer.join()
        assert running.wait(60) == 0
    assert out == list(library(many[1], texts))


@needs_data
@pytest.mark.parametrize("learner", ["multiclass", "perceptron"])
def test_answers_are_the_librarys_on_real_mail(learner, tmp_path, told):
    events = [(label, text) for text, label in labelled_texts("sms_spam")]
    (tmp_path / "sms.tsv").write_bytes(written(events))
    words = ["--positive", "spam"] if learner == "perceptron" else []
    model = tmp_path / "m"
    train = ("train", tmp_path / "sms.tsv", "-m", model, "--learner", learner, *words, "-q")
    assert told(*train) == (0, "", "")
    texts = [text.rstrip("\r") for _, text in events]
    expected = list(library(model, texts))
    if learner == "perceptron":
        names = {"True": "spam", "False": "not spam"}
        expected = [re.sub(r"^\w+", lambda m: names[m[0]], line) for line in expected]
    assert predict("".join(f"{text}\n" for text in texts).encode(), model)[0] == expected
    with_labels, _ = predict(written(events), model, "--input", "labelled")
    assert with_labels == expected
    assert predict(b"", model, tmp_path / "sms.tsv", "--input", "labelled")[0] == expected


def test_an_answer_is_written_before_the_next_line_is_waited_for(many):
    with process("predict", "--model", many[1]) as running:
        for _, text in random_mail(8, 20):
            line = f"{text or 'any'}\n".encode()
            running.stdin.write(line[:2])
            running.stdin.write(line[2:])
            assert re.fullmatch(rb"[a-z ]+\t[01]\.\d{4}\n", running.stdout.readline())
        assert running.communicate(b"spam1", timeout=60)[0].startswith(b"spam\t")


def test_answers_come_in_every_form_that_can_be_asked_for(mail):
    _, model = mail
    data = b"a prize\n\n100%\tyou\n"
    label, probability = predict(data, model)[0][0].split("\t")
    assert label == "spam"
    same = {"label": "spam", "probability": float(probability)}
    nothing = {"label": None, "probability": None}
    lines = [json.loads(line) for line in predict(data, model, "--json")[0]]
    assert lines[:2] == [same, nothing]
    lines = [json.loads(line) for line in predict(data, model, "--rsyslog")[0]]
    assert lines[:2] == [{"$!": same}, {"$!": nothing}]
    template = "{{{label}}} 100% {probability} <{text}> {label}"
    lines, _ = predict(data, model, "--template", template)
    assert lines[0] == f"{{spam}} 100% {probability} <a prize> spam"
    assert lines[1] == "{} 100%  <> "
    assert "<100%\tyou>" in lines[2]
    assert predict(data, model, "--template", "OK")[0] == ["OK"] * 3
    lines, _ = predict(data, model, "--template", "{text}", "--input", "labelled")
    assert lines == ["a prize", "", "you"]


def test_labels_that_json_must_escape_are_escaped(tmp_path, told):
    (tmp_path / "m.tsv").write_text('a "b" \\\ta\nж\tb\n')
    assert told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "-q")[0] == 0
    found = [json.loads(line)["label"] for line in predict(b"a\nb\n", tmp_path / "m", "--json")[0]]
    assert set(found) <= {'a "b" \\', "ж"}
    assert predict(b"a\n", tmp_path / "m")[0][0].partition("\t")[0] in ('a "b" \\', "ж")


def test_every_line_gets_one_line_whatever_is_in_it(mail):
    lines = [
        b"a prize",
        b"",
        b"\0\0 a \0prize\0",
        b"\xff\xfe\x00 \xc3\x28 prize",
        b"\x1f\x8b\x08",
        b"a prize\r",
        b"\r",
        "\u2028 \x85 a \x0b prize".encode(),
        b"   ",
        b"a prize",
    ]
    _, model = mail
    for data in (b"\n".join(lines), b"\n".join(reversed(lines)) + b"\n"):
        found, said = predict(data, model)
        assert len(found) == len(lines)
        assert "2 of 8 texts have bytes that are not UTF-8" in said
        assert "the first: line 4; " in said or "the first: line 6; " in said
        assert [bool(re.fullmatch(r"(spam|ham)\t0\.\d{4}", line)) for line in found].count(
            False
        ) == 2
    assert predict(b"", model) == ([], "")
    assert len(predict(b"a\n\n", model)[0]) == 2


@pytest.mark.parametrize("limit", [100, 100_000])
def test_a_line_that_is_too_long_is_answered_and_the_next_ones_too(limit, mail):
    _, model = mail
    long = b"a prize " * 500_000
    data = b"a prize\n" + long + b"\na prize\n\n" + long + b"\n" + long
    found, said = predict(data, model, "--max-line", limit)
    good = found[0]
    assert good.startswith("spam\t")
    assert found == [good, "\t", good, "\t", "\t", "\t"]
    assert f"3 of 6 lines are bad, the first: line 2: longer than {limit} bytes" in said


def test_a_line_that_is_too_long_is_not_held_in_memory(mail):
    _, model = mail
    code = (
        "import sys; from streamptron.cli import main; n = main(sys.argv[1:]); "
        "print(n, *(s.split()[1] for s in open('/proc/self/status') if s.startswith('VmHWM')))"
    )
    words = [sys.executable, "-c", code, "predict", "-m", model, "--max-line", "1000000"]
    peaks = []
    for size in (1, 100_000_000):
        done = subprocess.run(
            words, input=b"a" * size, env=ENVIRONMENT, capture_output=True, check=True
        )
        code, peak = done.stdout.splitlines()[-1].split()
        assert code == b"0"
        peaks.append(int(peak))
    assert peaks[1] - peaks[0] < 10_000  # KiB


def test_a_compressed_file_that_breaks_off_is_answered_up_to_there(mail):
    _, model = mail
    lines = [text for _, text in random_mail(9, 2000) if text]
    path = model.with_name("short.txt.gz")
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-100])
    found, said = predict(b"", model, path)
    whole = predict("\n".join(lines).encode(), model)[0]
    assert 1000 < len(found) < 2000
    assert found == [*whole[: len(found) - 1], "\t"]
    assert f"1 of {len(found)} lines are bad, the first: {path}:{len(found)}: " in said


def test_before_the_first_label_an_answer_is_empty(tmp_path):
    (tmp_path / "m.tsv").write_bytes(b"")
    run("train", tmp_path / "m.tsv", "-m", tmp_path / "m")
    found, _ = predict(b"a prize\nspam\ta prize\na prize\n", tmp_path / "m", "--learn", "--json")
    labels = [json.loads(line)["label"] for line in found]
    assert labels == [None, None, "spam"]
    found, _ = predict(b"a prize\n", tmp_path / "m")
    assert found[0].startswith("spam\t")


@pytest.mark.parametrize("format", ["vw", "svmlight", "jsonl", "csv", "fasttext"])
def test_other_formats_are_answered_line_by_line_as_the_library_does(format, tmp_path, told):
    data, options, words = FORMATS[format]
    path = tmp_path / "events.txt"
    path.write_bytes(data)
    words = ["--format", format, *words]
    assert told("train", path, "-m", tmp_path / "m", "-q", *words) == (0, "", "")
    model = loaded(tmp_path / "m")
    expected = []
    for x, _ in read(path, format, **options):
        event = Tokenizer().transform_one(x) if isinstance(x, str) else x
        label = model.predict_one(event)
        expected.append(f"{label}\t{model.predict_proba_one(event)[label]:.4f}")
    if format == "svmlight":
        expected.insert(2, "\t")  # the blank line
    assert predict(data, tmp_path / "m", "--format", format)[0] == expected
    assert predict(b"", tmp_path / "m", path, "--format", format)[0] == expected


def test_a_model_of_features_answers_the_lines_it_was_trained_on(tmp_path, told):
    lines = [b'{"y": "up", "x": 1, "k": "a"}', b'{"y": "down", "x": -1, "k": "b"}']
    (tmp_path / "m.jsonl").write_bytes(b"\n".join(lines))
    words = ("--label", "y", "--features", "x,k", "-q")
    assert told("train", tmp_path / "m.jsonl", "-m", tmp_path / "m", *words) == (0, "", "")
    data = b'{"x": 1, "k": "a"}\n\n{"x": \n[1]\n{"x": [1]}\n{"x": -1}\n'
    with process("predict", "--model", tmp_path / "m") as running:
        first = answered(running, b'{"x": 1, "k": "a"}\n')  # before there is more
        rest, said = running.communicate(data, timeout=60)
    assert running.returncode == 0
    found = [first, *rest.splitlines(keepends=True)]
    assert [line != b"\t\n" for line in found] == [True, True, False, False, False, False, True]
    assert b"3 of 7 lines are bad, the first: <stdin>:4: not JSON" in said
    assert told("explain", lines[0].decode(), "-m", tmp_path / "m")[0] == 0


# --- predict --learn


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(2))
def test_learning_while_answering_is_predict_one_and_then_learn_one(learner, seed, tmp_path, told):
    labels = ("0", "1") if learner == "perceptron" else ("ham", "spam", "a list")
    (tmp_path / "m.tsv").write_bytes(b"")
    path = tmp_path / "m"
    train = ("train", tmp_path / "m.tsv", "-m", path, "--learner", learner, *SEEDED, "-q")
    assert told(*train) == (0, "", "")
    model, tokenizer = loaded(path), Tokenizer()
    rng = random.Random(seed)
    lines, expected = [], []
    for label, text in random_mail(seed, 3000, labels):
        event = tokenizer.transform_one(text)
        answer = model.predict_one(event)
        probability = model.predict_proba_one(event).get(answer)
        if rng.random() < 0.2 and text:
            lines.append(text)
        else:
            lines.append(f"{label}\t{text}")
            model.learn_one(event, label == "1" if learner == "perceptron" else label)
        name = int(answer) if learner == "perceptron" else answer
        expected.append("\t" if answer is None else f"{name}\t{probability:.4f}")
    assert predict("\n".join(lines).encode(), path, "--learn")[0] == expected
    assert learned(loaded(path)) == learned(model)


def test_bad_labels_are_answered_and_not_learned(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(b"1\ta\n0\tb\n")
    path = tmp_path / "m"
    train = ("train", tmp_path / "m.tsv", "-m", path, "--learner", "perceptron", "-q", *SEEDED)
    assert told(*train) == (0, "", "")
    found, said = predict(b"what\ta\n\ta\n1\ta\n", path, "--learn")
    assert [line != "\t" for line in found] == [True, False, True]
    assert "2 of 3 lines are bad, the first: line 1: the label 'what' is not one of 0, 1" in said
    assert loaded(path).n_seen == 3


def saved(path, n):
    """Wait until a model with so many events is there."""
    for _ in range(600):
        if loaded(path).n_seen == n:
            return
        time.sleep(0.05)
    raise AssertionError(f"{loaded(path).n_seen} events, not {n}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_filter_of_other_formats_too(number, tmp_path, told):
    (tmp_path / "m.vw").write_bytes(b"1 | a\n-1 | b\n")
    model = tmp_path / "m"
    assert told("train", tmp_path / "m.vw", "-m", model, "-q") == (0, "", "")
    with process("predict", "--learn", "--model", model) as running:
        assert b"\t0." in answered(running, b"1 | a\n")
        running.stdin.write(b"1 | begun and not ended")
        time.sleep(0.1)
        running.send_signal(number)
        assert running.wait(60) == (130 if number == signal.SIGINT else 0)
        assert running.stderr.read() == b""
        assert running.stdout.read() == b""
    assert loaded(model).n_seen == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_save_what_was_learned_and_end_it(number, mail):
    _, model = mail
    with process("predict", "--learn", "--model", model) as running:
        for i in range(5):
            assert answered(running, b"eggs\tbacon and %d eggs\n" % i)
        running.stdin.write(b"eggs\tbegun and not ended")
        time.sleep(0.1)
        running.send_signal(number)
        assert running.wait(60) == (130 if number == signal.SIGINT else 0)
        assert running.stderr.read() == b""
        assert running.stdout.read() == b""
    assert loaded(model).n_seen == 9
    assert predict(b"bacon and eggs\n", model)[0][0].startswith("eggs\t")


def test_predict_says_that_it_needs_unix(mail, told, monkeypatch):
    _, model = mail
    monkeypatch.delattr(signal, "SIGHUP")  # as on Windows
    code, out, said = told("predict", "--model", model)
    assert (code, out) == (1, "")
    assert said.startswith("streamptron: error: predict waits for lines and signals in a way that ")
    assert "load the model in Python" in said


@pytest.mark.parametrize("learn", [False, True])
def test_hanging_up_loads_the_model_anew(learn, mail, told):
    tsv, model = mail
    words = ["--learn"] if learn else []
    with process("predict", "--model", model, *words) as running:
        assert answered(running, b"eggs\tbacon and eggs\n").partition(b"\t")[0] in (b"spam", b"ham")
        tsv.write_bytes(b"tea\tbacon\n" * 3)
        other = model.with_name("other")
        assert told("train", tsv, "-m", other, "-q") == (0, "", "")
        other.replace(model)
        running.send_signal(signal.SIGHUP)
        said = running.stderr.readline().decode()
        assert said.startswith(f"streamptron: reloaded {model}")
        assert ("1 lines learned and not saved are dropped" in said) == learn
        assert answered(running, b"bacon\n").startswith(b"tea\t")
        content = model.read_bytes()
        aside = model.rename(other)
        model.write_bytes(content[:-20])
        running.send_signal(signal.SIGHUP)
        assert b"not reloaded, the model stays as it was" in running.stderr.readline()
        assert answered(running, b"bacon\n").startswith(b"tea\t")
        aside.replace(model)
        assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 0


def test_what_is_learned_is_saved_every_so_many_lines_and_seconds(mail):
    _, model = mail
    with process("predict", "--learn", "--save-every", "3", "--model", model) as running:
        for _ in range(5):
            assert answered(running, b"eggs\tbacon\n")
        saved(model, 7)
        running.kill()
    assert loaded(model).n_seen == 7
    with process("predict", "--learn", "--save-seconds", "0.2", "--model", model) as running:
        assert answered(running, b"eggs\tbacon\n")
        saved(model, 8)  # while it waits
        running.kill()


def test_a_save_that_fails_is_said_and_tried_again(mail):
    _, model = mail
    aside = model.with_name("aside")
    with process("predict", "--learn", "--save-every", "1", "--model", model) as running:
        assert answered(running, b"a prize\n")
        model.rename(aside)
        model.mkdir()
        for _ in range(2):
            assert answered(running, b"eggs\tbacon\n")
            assert b"lines learned and not saved, will try again" in running.stderr.readline()
        model.rmdir()
        aside.rename(model)
        assert answered(running, b"eggs\tbacon\n")
        saved(model, 7)
        model.unlink()
        model.mkdir()
        _, said = running.communicate(b"eggs\tbacon\n", timeout=60)
    assert b"1 lines learned and not saved" in said
    assert running.returncode == 1


def test_a_reader_that_goes_away_loses_nothing_that_was_learned(mail):
    _, model = mail
    with process("predict", "--learn", "--model", model) as running:
        assert answered(running, b"eggs\tbacon\n")
        running.stdout.close()
        running.stdin.write(b"eggs\tbacon\n")
        assert running.wait(60) == 0
        assert running.stderr.read() == b""
    assert loaded(model).n_seen == 6


def test_without_learning_the_file_stays_as_it_is(mail):
    _, model = mail
    before = model.stat()
    assert len(predict(MAIL, model, "--input", "labelled")[0]) == 4
    after = model.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


# --- What there is to see of a model


def test_evaluation_is_what_scikit_learn_says(many, told):
    from sklearn.metrics import classification_report, confusion_matrix

    tsv, model = many
    code, out, _ = told("eval", tsv, "-m", model, "--json")
    assert code == 0
    found = json.loads(out)
    events = list(read(tsv))
    answers = [line.split("\t")[0] for line in library(model, [text for text, _ in events])]
    labels = [label for _, label in events]
    expected = classification_report(labels, answers, output_dict=True, zero_division=0)
    assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-12)
    for label, values in found["labels"].items():
        for name in ("precision", "recall", "support"):
            assert values[name] == pytest.approx(expected[label][name], abs=1e-12)
        assert values["f1"] == pytest.approx(expected[label]["f1-score"], abs=1e-12)
    for mean in ("macro", "weighted"):
        for name in ("precision", "recall"):
            assert found[mean][name] == pytest.approx(expected[f"{mean} avg"][name], abs=1e-12)
    names = sorted(found["labels"])
    matrix = [[found["confusion"][y].get(p, 0) for p in names] for y in names]
    assert matrix == confusion_matrix(labels, answers).tolist()
    code, out, _ = told("eval", tsv, "-m", model)
    assert code == 0
    columns = out.split("\n\n")[0].splitlines()
    assert len({len(line) for line in columns}) == 1
    assert f"accuracy  {expected['accuracy']:.4f}" in out


def test_labels_that_the_model_does_not_know_are_wrong_answers(mail, told):
    tsv, model = mail
    tsv.write_bytes(b"eggs\tbacon\nham\tsee you\n")
    code, out, _ = told("eval", tsv, "-m", model, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["labels"]["eggs"]["recall"] == 0
    assert found["labels"]["eggs"]["support"] == 1


def test_explanations_are_the_librarys(mail, told):
    _, model = mail
    code, out, _ = told("explain", "a prize", "-m", model)
    assert code == 0
    found = {
        line.split()[0]: float(line.split()[-1]) for line in out.split("\n\n")[0].splitlines()[1:]
    }
    expected = loaded(model).explain_one(Tokenizer().transform_one("a prize"))
    assert found == {n or "(intercept)": pytest.approx(part, abs=1e-5) for n, part in expected}
    assert "answer: spam, probability 0." in out


def test_top_features_are_the_librarys(many, told):
    _, model = many
    found = json.loads(told("top", "-m", model, "-n", 3, "--label", "ham", "--json")[1])
    top = loaded(model).top_features(3, "ham")
    assert found == {
        "ham": {name: list(map(list, getattr(top, name))) for name in ("positive", "negative")}
    }
    shown = told("top", "-m", model, "-n", 3, "--label", "ham")[1].splitlines()
    assert shown[0] == "towards ham"
    weights = [float(line.split()[-1]) for line in shown[2:]]
    assert all(a >= b for a, b in pairwise(weights))
    assert len(weights) == 6


def test_a_hashed_model_has_rows_instead_of_names(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(MAIL)
    train = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--hash-bits", "8", "-q", *SEEDED)
    assert told(*train) == (0, "", "")
    rows = loaded(tmp_path / "m").top_features(2, "ham").positive
    shown = told("top", "-m", tmp_path / "m", "-n", 2, "--label", "ham")[1]
    assert [f"row {row}" in shown for row, _ in rows] == [True, True]
    assert "\nsee " in told("explain", "see", "-m", tmp_path / "m")[1]


def test_info_says_what_a_model_is(mail, told):
    _, model = mail
    found = json.loads(told("info", "-m", model, "--json")[1])
    assert found["learner"] == "MulticlassPerceptron"
    assert found["parameters"]["hash_seed"] == 1
    assert found["n_seen"] == 4
    assert found["labels"] == ["spam", "ham"]
    assert found["tokenizer"]["ngram_range"] == [1, 1]
    shown = told("info", "-m", model)[1]
    assert re.search(r"^labels +2: spam, ham$", shown, re.M)
    assert "memory_usage" in shown


def test_an_older_file_with_the_tokenizer_in_its_metadata_is_used_and_saved_as_a_pipeline(tmp_path):
    model = MulticlassPerceptron()
    for y, text in ((1, "a prize"), (0, "see you"), (1, "a prize")):
        model.learn_one(Tokenizer().transform_one(text), y)
    model.save(tmp_path / "m", metadata={"tokenizer": {"ngram_range": [1, 2]}, "mine": 1})
    assert learned(streamptron.load(tmp_path / "m")) == learned(model)
    assert predict(b"a prize\n0\tsee you\n", tmp_path / "m", "--learn")[0][0].startswith("1\t")
    assert loaded(tmp_path / "m").labels == [1, 0]
    assert streamptron.load(tmp_path / "m")[0].ngram_range == (1, 2)
    assert streamptron.read_metadata(tmp_path / "m") == {"mine": 1}


def test_an_older_file_of_a_perceptron_keeps_the_names_of_its_labels(tmp_path, told):
    older = {
        "tokenizer": {},
        "reading": {"format": "plain"},
        "positive": None,
        "names": ["n", "TRUE"],
    }
    Perceptron.from_weights({"a": 1.0}).save(tmp_path / "m", metadata=older)
    assert predict(b"a\nb\n", tmp_path / "m")[0] == ["TRUE\t0.5000", "n\t0.5000"]
    (tmp_path / "a.tsv").write_bytes(b"TRUE\ta\n")
    assert told("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "--resume", "-q")[0] == 0
    assert streamptron.load(tmp_path / "m").label_names == {False: "n", True: "TRUE"}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pipeline_saved_in_python_is_used_by_every_command(name, tmp_path, told):
    labels = (False, True) if name == "perceptron" else ("ham", "spam")
    tokenizer = Tokenizer(ngram_range=(1, 2), fold_numbers=True)
    model = tokenizer | LEARNERS[name](hash_seed=1)
    events = list(random_mail(11, 300, labels))
    for label, text in events:
        model.learn_one(text, label)
    model.save(tmp_path / "m", metadata={"mine": 1})
    written_as = (
        {False: "0", True: "1"} if name == "perceptron" else {label: label for label in labels}
    )
    texts = [text for _, text in random_mail(12, 50, labels) if text]
    out, _ = predict("\n".join(texts).encode(), tmp_path / "m")
    assert [line.partition("\t")[0] for line in out] == [
        written_as[model.predict_one(text)] for text in texts
    ]
    (tmp_path / "m.tsv").write_bytes(written([(written_as[y], text) for y, text in events]))
    for words in (
        ("eval", tmp_path / "m.tsv"),
        ("info",),
        ("top",),
        ("explain", texts[0]),
        ("train", tmp_path / "m.tsv", "--resume", "-q"),
    ):
        code, _, err = told(*words, "-m", tmp_path / "m")
        assert code == 0, err
    for label, text in events:
        model.learn_one(text, label)
    resumed = streamptron.load(tmp_path / "m")
    assert learned(resumed[-1]) == learned(model[-1])
    assert resumed[0]._get_params() == tokenizer._get_params()
    assert streamptron.read_metadata(tmp_path / "m") == {"mine": 1}


@pytest.mark.parametrize(
    ("words", "labels", "names"),
    [
        (("--positive", "spam"), ("ham", "spam"), {False: "not spam", True: "spam"}),
        ((), ("-1", "+1"), {False: "-1", True: "+1"}),
    ],
)
def test_a_trained_perceptron_opens_as_a_pipeline_and_keeps_its_names_when_python_saves_it(
    words, labels, names, tmp_path, told
):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(13, 300, labels)))
    train = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", "perceptron", *words)
    assert told(*train, *SEEDED)[0] == 0
    texts = [text for _, text in random_mail(14, 40, labels) if text]
    data = "\n".join(texts).encode()
    answers = predict(data, tmp_path / "m")[0]
    model = streamptron.load(tmp_path / "m")
    assert model.label_names == names
    for text, line in zip(texts, answers, strict=True):
        answer = model.predict_one(text)
        assert answer in (False, True)
        label, probability = line.split("\t")
        assert label == names[answer]
        assert probability == f"{model.predict_proba_one(text)[answer]:.4f}"
    for copied in (model, copy.deepcopy(model), model.clone(include_attributes=True)):
        copied.save(tmp_path / "again")
        assert predict(data, tmp_path / "again")[0] == answers


def test_a_trained_model_of_features_opens_as_its_learner(tmp_path, told):
    (tmp_path / "a.vw").write_bytes(b"1 | a\n-1 | b\n")
    assert told("train", tmp_path / "a.vw", "-m", tmp_path / "m", "-q")[0] == 0
    model = streamptron.load(tmp_path / "m")
    assert type(model) is MulticlassPerceptron
    assert model.labels == ["1", "-1"]


def test_a_pipeline_that_takes_fields_is_refused_for_lines(tmp_path, told):
    (Tokenizer(fields="subject") | Perceptron()).save(tmp_path / "m")
    code, _, err = told("info", "-m", tmp_path / "m")
    assert code == 1
    assert "its tokenizer takes mappings with the fields 'subject', and a line is one text" in err


def test_a_position_stays_in_a_checkpoint_that_the_command_line_resumes(tmp_path, told):
    model = Tokenizer() | MulticlassPerceptron()
    Checkpoint(model, tmp_path / "m", metadata={"mine": 1}).save(position=("mail", 7))
    (tmp_path / "a.tsv").write_bytes(b"spam\ta\n")
    assert told("train", tmp_path / "a.tsv", "-m", tmp_path / "m.000001", "--resume", "-q")[0] == 0
    saved = Checkpoint.newest_saved(tmp_path / "m")
    assert (saved.position, saved.metadata) == (("mail", 7), {"mine": 1})
    assert saved.model[-1].labels == ["spam"]
