"""train: what is learned, in which order, and what an end in the middle costs."""

import ast
import bz2
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
import warnings

import pytest

import streamptron
from streamptron import AdaptiveClassifier, Mail, Perceptron, Tokenizer
from streamptron.command.cli import main
from streamptron.command.commands import commands
from streamptron.command.options import LEARNER_OPTIONS, OTHERWISE, TOKENIZER_OPTIONS
from streamptron.command.plot import plot
from streamptron.command.train import Training
from streamptron.files import read
from streamptron.files.lines import LineModel
from streamptron.keeping.read import read as contents
from streamptron.learners.registry import BY_NAME, LEARNERS
from tests.support.commands import (
    ENVIRONMENT,
    FORMATS,
    MAIL,
    SEEDED,
    predict,
    process,
    random_mail,
    run,
    written,
)
from tests.support.project import ROOT
from tests.support.variants import has, learned, loaded


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LEARNERS)
def test_training_is_learn_one_in_order(name, seed, tmp_path, told):
    labels = ("0", "1") if name == "perceptron" else ("ham", "spam", "a list", "ж")
    events = list(random_mail(seed, 3000, labels))
    (tmp_path / "m.tsv").write_bytes(written(events).replace(b"\n", b"\r\n" if seed else b"\n"))
    own = {"average": "exponential"} if has(LEARNERS[name].__name__, "average") else {}
    options = ("--ngrams", "1,2", "--value", "log", "--l2", *(f"--{p}={v}" for p, v in own.items()))
    code, out, _ = told(
        "train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", name, *SEEDED, *options
    )
    assert (code, out) == (0, "")
    model = LEARNERS[name](**own, hash_seed=1)
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
        if not re.match(r" *(\d+\.\d{4}|-) ", line):
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
        AdaptiveClassifier(hash_seed=1),
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
            average, since = (
                f"{100 * sum(part) / len(part):.4f}" if part else "-"
                for part in (wrong, wrong[last:])
            )
            expected.append((average, since, str(n), label, answer or ""))
            last = len(wrong)
    assert list(table(err)) == expected
    assert learned(loaded(tmp_path / "model")) == learned(model)
    summary = dict(re.findall(r"^(\S.*?\S) {2,}(\S+)$", err, re.M))
    assert summary["events"] == "700"
    assert summary["features"] == str(model.n_features)
    assert summary["updates"] == str(model.n_updates)
    assert summary["progressive error (%)"] == f"{100 * sum(wrong) / len(wrong):.4f}"
    if every:
        held = events[every - 1 :: every]
        missed = sum(model.predict_one(tokenizer.transform_one(t)) != y for y, t in held)
        assert summary["held-out events"] == str(len(held))
        assert summary["held-out error (%)"] == f"{100 * missed / len(held):.4f}"


@pytest.mark.parametrize("format", ["plain", "vw"])
def test_files_that_are_emptied_between_epochs_are_an_error(format, tmp_path, told, monkeypatch):
    file, model = tmp_path / "m", tmp_path / "model"
    file.write_bytes(b"spam\tfree\n" if format == "plain" else b"spam | free\n")
    one_pass = Training._pass

    def emptied(self, *args, **named):
        one_pass(self, *args, **named)
        file.write_bytes(b"")

    monkeypatch.setattr(Training, "_pass", emptied)
    words = ("train", file, "-m", model, "--format", format)
    assert told(*words)[0] == 0
    file.write_bytes(b"")
    assert told(*words, "--resume", "--epochs", 2)[0] == 1  # there is no event at all
    before = model.read_bytes()
    file.write_bytes(b"spam\tfree\n" if format == "plain" else b"spam | free\n")
    code, _, err = told(*words, "--resume", "--epochs", 3)
    assert code == 1
    assert "epoch 2 found no events where epoch 1 found 1: the files were emptied meanwhile" in err
    assert model.read_bytes() == before


def test_a_summary_has_the_error_of_each_label_if_they_are_few(tmp_path, told):
    rows = [("ham", "hi"), ("spam", "free"), ("ham", "hi"), ("ham", "free"), ("spam", "free")] * 9
    file, tokenizer = tmp_path / "m.tsv", Tokenizer()
    file.write_text("".join(f"{label}\t{text}\n" for label, text in rows))
    model, counts = AdaptiveClassifier(hash_seed=1), {"ham": [0, 0], "spam": [0, 0]}
    for label, text in rows:
        x = tokenizer.transform_one(text)
        if (answer := model.predict_one(x)) is not None:
            counts[label][0] += answer != label
            counts[label][1] += 1
        model.learn_one(x, label)
    _, _, err = told("train", file, "-m", tmp_path / "m")
    for label, (wrong, n) in counts.items():
        (said,) = re.findall(rf"^  of {label} \(%\) +(.*)$", err, re.M)
        assert said == f"{100 * wrong / n:.4f} ({wrong} of {n})"
    assert counts["ham"][0] > 0
    more = "".join(f"{label}\thi\n" for label in "abc")
    file.write_text(file.read_text() + more)
    assert "  of " not in told("train", file, "-m", tmp_path / "n")[2]


def test_an_error_of_no_events_is_none(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(b"spam\tfree\n")
    _, _, err = told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--holdout", 0.5)
    assert list(table(err)) == [("-", "-", "1", "spam", "")]
    assert "progressive error (%)  -\n" in err
    assert "held-out error (%)     -\n" in err


@pytest.mark.parametrize(("share", "held"), [(".5", 30), (".33", 20), ("0.0166", 1)])
def test_the_share_that_is_held_out_is_the_one_asked_for(share, held, tmp_path):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(5, 60)))
    said = run("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--holdout", share)[1]
    assert re.search(rf"^held-out events +{held}$", said, re.M)


def test_epochs_read_the_files_again_and_resuming_goes_on(tmp_path, told):
    events = list(random_mail(5, 400))
    (tmp_path / "m.tsv").write_bytes(written(events))
    train = ("train", tmp_path / "m.tsv", "-m")
    assert told(*train, tmp_path / "twice", "--epochs", 2, "--fold-numbers", *SEEDED)[0] == 0
    assert told(*train, tmp_path / "m", "--fold-numbers", *SEEDED)[0] == 0
    assert told(*train, tmp_path / "m", "--resume", "--epochs", 2)[0] == 0
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
    assert "bad lines              4\n" in err
    assert f"the first bad line: {tmp_path / 'm.tsv'}:2: no TAB" in err
    model = Perceptron(hash_seed=1)
    model.learn_one({"a": 1}, True)
    model.learn_one({"d": 1}, False)
    assert learned(loaded(tmp_path / "m")) == learned(model)


@pytest.mark.parametrize("words", [[], ["--resume"], ["--save-every", 1]])
@pytest.mark.parametrize("data", [b"", b"\n\n", b"h\xffam\tsee\nham\n"])
def test_without_an_event_no_model_is_saved(data, words, mail):
    _, model = mail
    before = model.read_bytes()
    file = model.with_name("none.tsv")
    file.write_bytes(data)
    words = ("train", file, "--on-error", "skip", *words)
    said = run(*words, "-m", model, code=1)[1]
    bad = f" (2 bad lines, the first: {file}:1: the label " if b"ham" in data else "; "
    assert f"streamptron: error: {file}: no labelled event{bad}" in said
    assert "; the model is left as it was; give files that have some\n" in said
    assert "progressive error" not in said
    assert model.read_bytes() == before
    if "--resume" not in words:
        said = run(*words, "-m", model.with_name("new"), code=1)[1]
        assert "; the model is not written; give files" in said
        assert not model.with_name("new").exists()


@pytest.mark.parametrize("format", ["plain", "vw"])
def test_a_file_without_an_event_is_not_evaluated(format, mail):
    _, model = mail
    (file := model.with_name("none")).write_bytes(b"\n")
    words = ("eval", file, "-m", model, "--format", format)
    assert run(*words, code=1) == (
        b"",
        f"streamptron: error: {file}: no labelled event; give files that have some\n",
    )


def test_a_signal_before_the_first_event_saves_nothing(mail):
    _, model = mail
    before = model.read_bytes()
    with process("train", "-", "-m", model, "--save-every", "1") as running:
        while b"prediction" not in running.stderr.readline():
            pass
        time.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 143
        said = running.stderr.read()
    end = b"streamptron: stopped by SIGTERM before the first event; no model is saved\n"
    assert said.endswith(end)
    assert model.read_bytes() == before


@pytest.mark.parametrize("shape", ["{}\t{}\n", "{} | {}\n"])
def test_a_label_too_many_is_a_bad_line(shape, tmp_path):
    """Also if a place becomes free in its block, by a line that makes too many pairs."""
    events = [("x", "a"), ("v", "a b c d"), ("y", "b"), ("z", "c"), ("x", "d"), ("z", "c")]
    file, path = tmp_path / "m.txt", tmp_path / "m"
    file.write_text("".join(shape.format(*event) for event in events))
    words = ("train", file, "-m", path, "--format", "vw" if "|" in shape else "plain", *SEEDED)
    words += ("--max-labels", "2", "--degree", "2", "--max-pairs", "5")
    said = run(*words, "--on-error", "skip", "--epochs", "2")[1]
    assert re.search(r"^events +3$", said, re.M)
    assert re.search(r"^bad lines +3$", said, re.M)
    model = AdaptiveClassifier(max_labels=2, degree=2, max_pairs=5, hash_seed=1)
    for _ in range(2):
        for label, text in (events[0], events[2], events[4]):
            model.learn_one({text: 1}, label)
    assert learned(loaded(path)) == learned(model)
    path.unlink()
    file.write_text("".join(shape.format(*event) for event in [events[0], *events[2:]]))
    said = run(*words, code=1)[1]
    assert f"error: {file}:3: the label 'z' is one more than --max-labels 2 allows; " in said
    assert not path.exists()


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
    parameters = {name for learner in BY_NAME.values() for name in learner()._get_params()}
    # gaps in files are left out as each format says
    assert parameters - {"missing"} == set(LEARNER_OPTIONS.names)
    texts, mails = set(Tokenizer()._get_params()) - {"fields"}, set(Mail()._get_params())
    options = [OTHERWISE.get(name, name) for name in sorted(texts | mails)]
    assert sorted(options) == sorted(TOKENIZER_OPTIONS.names)


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
    assert said == "streamptron: warning: no event has 'z'; check the names of the features\n"


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
    where = "<stdin>:" if data else f"{tsv}:"
    warning = (
        "streamptron: warning: 2 of 6 texts have bytes that are not UTF-8, read as U+FFFD; the "
        f"first: {where}5; give the file's encoding, as latin-1 or cp1252, or convert it\n"
    )
    assert said == (warning if encoding == "utf-8" else "")
    if encoding == "latin-1":
        if "predict" in command:
            assert "café" in out.decode()
        if command in ("train", "learn"):
            features = loaded(model).weights
            assert "café" in features
            assert "caf" not in features


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
    assert f"1 of 1 lines are bad, the first: <stdin>:1: {cure}" in said
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
    values = {
        "class_weight": "a=1",
        "false_positive_rate": "a=.1",
        "average": "none",
        "serve": "best",
        "update": "margin",
    }
    values |= {
        "interactions": "a,b",
        "analyzer": "char",
        "value": "log",
        "learner": "mira",
        "violators": "uniform",
        "shape": "line",
    }
    value = [] if option.is_flag else [values.get(name, "1")]
    code, _, err = told("train", tsv, "-m", model, "--resume", option.opts[0], *value)
    assert code == 2
    assert f"--resume keeps the model as it is; leave out {option.opts[0]};" in err


def test_every_option_that_a_message_names_is_one():
    known = {"--help", "--version"}
    for command in [*commands.every_command().values(), *plot.commands.values()]:
        known |= {word for option in command.params for word in option.opts}
    named = set()
    for path in (ROOT / "streamptron").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= set(re.findall(r"(?<![-\w])--[a-z][-\w]*", node.value))
    assert len(named) > 30
    assert named <= known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [
        ("README.md", "## Texts, River, the command line", 3),
        ("docs/command-line.md", "# The command line", 8),
    ],
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


def mail_file(folder, suffix, seed, n=12_000):
    """A file of mail; rows of CSV go over lines here and there."""
    file = folder / f"mail.{suffix}"
    events = list(random_mail(seed, n, ("ham", "spam")))
    if suffix == "csv":
        rows = (
            f'{label},"{text}{chr(10) * (i % 5 == 0)}"\n' for i, (label, text) in enumerate(events)
        )
        file.write_text("kind,body\n" + "".join(rows))
    else:
        shape = {"tsv": "{}\t{}\n", "vw": "{} | {}\n"}[suffix]
        file.write_text("".join(shape.format(*event) for event in events))
    return file


@pytest.mark.once  # another Python would say the same
@pytest.mark.parametrize(
    ("seed", "number", "suffix", "words"),
    [
        (0, signal.SIGKILL, "tsv", "--jobs 1"),
        (1, signal.SIGTERM, "tsv", "--jobs 2"),
        (2, signal.SIGINT, "csv", "--label kind --text body"),
        (3, signal.SIGKILL, "vw", "--holdout .25"),
        (4, signal.SIGTERM, "tsv", "--epochs 3 --holdout .1"),
    ],
)
def test_resumed_at_the_line_where_it_stopped_it_ends_as_if_undisturbed(
    seed, number, suffix, words, tmp_path
):
    rng = random.Random(seed)
    first, again = mail_file(tmp_path, suffix, seed), tmp_path / "again.tsv"
    words = words.split()
    jobs = words if "--jobs" in words else []
    files = (first,)
    if suffix == "tsv":
        again.write_bytes(written(random_mail(seed + 9, 5000)))
        files = (first, again)
    run("train", *files, "-m", tmp_path / "whole", "-q", *words, *SEEDED)
    words = [*words, *SEEDED]
    for _ in range(3):
        saves = ("--save-every", 3000) if number == signal.SIGKILL else ()
        with process("train", *files, "-m", tmp_path / "m", *saves, *words) as running:
            while (line := running.stderr.readline()) and b"current" not in line:
                pass
            time.sleep(rng.random() * 0.1)
            running.send_signal(number)
            said = running.communicate(timeout=60)[1].decode()
        if (tmp_path / "m").exists():  # the epochs and what is held out go on as they were
            words = ["--resume", *jobs]
        if running.returncode == 0:
            break
        assert running.returncode == (-9 if number == signal.SIGKILL else 128 + number), said
    else:
        run("train", *files, "-m", tmp_path / "m", "-q", *words)
    assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "whole"))
    assert contents(tmp_path / "m").lines == contents(tmp_path / "whole").lines


@pytest.mark.parametrize("stopped", [2, 3])
def test_stopped_between_two_epochs_it_goes_on_with_the_next(stopped, tmp_path, told, monkeypatch):
    """As if a signal had come behind the last line of an epoch: nothing of the next is read."""

    class Between(Training):
        def _pass(self):
            if self.epoch == stopped:
                self.signals.came.append(signal.SIGTERM)
            super()._pass()

    files = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    for seed, file in enumerate(files):
        file.write_bytes(written(random_mail(seed, 100)))
    train = ("train", *files, "-q", "-m")
    words = ("--epochs", 3, "--holdout", 0.1, *SEEDED)
    assert told(*train, tmp_path / "whole", *words)[0] == 0
    with monkeypatch.context() as patched:
        patched.setattr("streamptron.command.train.Training", Between)
        assert told(*train, tmp_path / "m", *words)[0] == 143
    assert loaded(tmp_path / "m").n_seen == (stopped - 1) * 180
    code, _, said = told("train", *files, "-m", tmp_path / "m", "--resume")
    assert (code, said.splitlines()[0]) == (
        0,
        f"streamptron: goes on at the beginning of {files[0]}, epoch {stopped} of 3",
    )
    assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "whole"))


def test_a_training_goes_on_in_its_file_wherever_that_is_among_others(tmp_path, told, monkeypatch):
    (tmp_path / "a.tsv").write_bytes(written(random_mail(1, 20_000)))
    for name in "bc":
        (tmp_path / f"{name}.tsv").write_bytes(written(random_mail(ord(name), 10)))
    found = None
    while found is None:  # it may have stopped between two epochs, where no line is
        with process("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "--epochs", 99) as running:
            while b"       16384  " not in running.stderr.readline():
                pass
            time.sleep(0.1)
            running.send_signal(signal.SIGTERM)
            said = running.communicate(timeout=60)[1].decode()
        found = re.search(r"after (\d+) events of epoch (\d+), at", said)
        assert "SIGTERM after " in said
    done, epoch = map(int, found.groups())
    assert ", and --resume goes on there\n" in said
    monkeypatch.chdir(tmp_path)
    train = ("train", "-m", "m", "--resume", "--epochs", epoch)
    before = (tmp_path / "m").read_bytes()
    said = run(*train, "b.tsv", cwd=tmp_path)[1]
    assert f"warning: the training stopped at {tmp_path}/a.tsv:{done}, which is not among" in said
    (tmp_path / "m").write_bytes(before)
    code, _, said = told(*train, "b.tsv", "./a.tsv", "c.tsv")
    assert code == 0
    assert f"streamptron: goes on behind {tmp_path}/a.tsv:{done}\n" in said
    assert loaded("m").n_seen == epoch * 20_000 + 20
    (tmp_path / "m").write_bytes(before)
    if epoch > 1:
        code, _, said = told("train", "a.tsv", "-m", "m", "--resume", "--epochs", epoch - 1)
        assert code == 2
        assert f"--epochs {epoch - 1}: the training stopped in epoch {epoch} of 99; give" in said
    (tmp_path / "a.tsv").write_bytes(written(random_mail(2, 30_000)))  # as a log is rotated
    code, _, said = told(*train, "a.tsv")
    assert code == 1
    assert f"a.tsv:{done} is not the line at which it stopped: the file is another one now" in said
    assert (tmp_path / "m").read_bytes() == before
    (tmp_path / "a.tsv").write_bytes(b"ham\tsee\n")
    assert "is not the line at which it stopped" in told(*train, "a.tsv")[2]


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
    found = re.search(r"after (\d+) events of epoch (\d+)(?:, at .*)?; the model is saved", said)
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
        while b" learned and not saved, will try again: " not in running.stderr.readline():
            pass
        model.rmdir()
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert loaded(model).n_seen == 8


@pytest.mark.parametrize("format", ["plain", "vw"])
def test_a_training_that_is_interrupted_saves_though_nobody_asked_for_it(format, tmp_path):
    words = ("train", "-", "--format", format, "-m", tmp_path / "m")
    with process(*words) as running:
        running.stdin.write(MAIL.replace(b"\t", b" | " if format == "vw" else b"\t"))
        while b"        4  ham" not in running.stderr.readline():
            pass
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr.read().endswith(
            b"streamptron: stopped by SIGINT after 4 events, at <stdin>:4; the model is saved\n"
        )
    assert loaded(tmp_path / "m").n_seen == 4


def test_a_training_that_waits_for_a_named_pipe_to_open_can_be_interrupted(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with process("train", tmp_path / "pipe", "--format", "plain", "-m", tmp_path / "m") as running:
        assert b"average" in running.stderr.readline()
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert b"before the first event; no model is saved" in running.stderr.read()


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


@pytest.mark.parametrize("learner", ["adaptive", "multiclass", "arow"])
def test_what_one_label_of_many_costs_is_said_and_a_large_model_warns_once(
    tmp_path, monkeypatch, capsys, learner
):
    path, model = tmp_path / "lines.tsv", tmp_path / "m"
    path.write_text("".join(f"label {k % 5}\tword{k} and\n" for k in range(64)))
    monkeypatch.setattr("streamptron.command.train.LABEL", 64)
    monkeypatch.setattr("streamptron.command.stream.EVENTS", 8)
    words = ["train", str(path), "--model", str(model), "--learner", learner]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for few, times in [(5, 1), (6, 0)]:
            monkeypatch.setattr("streamptron.command.train.FEW_APART", few)
            assert main(words) == 0
            said = capsys.readouterr().err
            assert said.count("MB for 5 labels, more than") == times
            assert "labels                 5\n" in said
            assert int(said.partition("bytes a label")[2].split()[0]) > 64


def test_two_labels_share_what_a_model_takes_and_nothing_is_said_of_it(tmp_path, capsys):
    path = tmp_path / "lines.tsv"
    path.write_text("spam\ta prize\nham\tsee you\n")
    assert main(["train", str(path), "--model", str(tmp_path / "m")]) == 0
    assert "bytes a label" not in capsys.readouterr().err
