"""predict: one answer a line, the library's."""

import gzip
import json
import random
import re
import subprocess
import sys
from threading import Thread

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from streamptron.files import read
from tests.support.commands import (
    ENVIRONMENT,
    FORMATS,
    SHAPES,
    answered,
    library,
    predict,
    process,
    random_mail,
    run,
    written,
)
from tests.support.programs import both
from tests.support.streams import labelled_texts, needs_data
from tests.support.variants import loaded


@both
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


@both
@needs_data
@pytest.mark.parametrize("learner", ["adaptive", "multiclass", "perceptron"])
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


@both
def test_an_answer_is_written_before_the_next_line_is_waited_for(many):
    with process("predict", "--model", many[1]) as running:
        for _, text in random_mail(8, 20):
            line = f"{text or 'any'}\n".encode()
            running.stdin.write(line[:2])
            running.stdin.write(line[2:])
            assert re.fullmatch(rb"[a-z ]+\t[01]\.\d{4}\n", running.stdout.readline())
        assert running.communicate(b"spam1", timeout=60)[0].startswith(b"spam\t")


@both
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


@both
def test_labels_that_json_must_escape_are_escaped(tmp_path, told):
    (tmp_path / "m.tsv").write_text('a "b" \\\ta\nж\tb\n')
    assert told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "-q")[0] == 0
    found = [json.loads(line)["label"] for line in predict(b"a\nb\n", tmp_path / "m", "--json")[0]]
    assert set(found) <= {'a "b" \\', "ж"}
    assert predict(b"a\n", tmp_path / "m")[0][0].partition("\t")[0] in ('a "b" \\', "ж")


@both
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
        assert "the first: <stdin>:4; " in said or "the first: <stdin>:6; " in said
        assert [bool(re.fullmatch(r"(spam|ham)\t0\.\d{4}", line)) for line in found].count(
            False
        ) == 2
    assert predict(b"", model) == ([], "")
    assert len(predict(b"a\n\n", model)[0]) == 2


@both
@pytest.mark.parametrize("limit", [100, 100_000])
def test_a_line_that_is_too_long_is_answered_and_the_next_ones_too(limit, mail):
    _, model = mail
    long = b"a prize " * 500_000
    data = b"a prize\n" + long + b"\na prize\n\n" + long + b"\n" + long
    found, said = predict(data, model, "--max-line", limit)
    good = found[0]
    assert good.startswith("spam\t")
    assert found == [good, "\t", good, "\t", "\t", "\t"]
    assert f"3 of 6 lines are bad, the first: <stdin>:2: longer than {limit} bytes" in said


def test_a_line_that_is_too_long_is_not_held_in_memory(mail):
    _, model = mail
    code = (
        "import sys; from streamptron.command.cli import main; n = main(sys.argv[1:]); "
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


@both
def test_before_the_first_label_an_answer_is_empty(tmp_path):
    (Tokenizer() | AdaptiveClassifier()).save(tmp_path / "m")
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


UNLABELLED = {
    "csv": ("kind,color,size\na,red,3\nb,blue,5\n", "color,size\nred,3\nblue,5\n"),
    "svmlight": ("1 1:1 2:3\n2 1:2 3:5\n", "1:1 2:3\n1:2 3:5\n"),
    "jsonl": (
        '{"kind": "a", "size": 3}\n{"kind": "b", "size": 5}\n',
        '{"size": 3}\n{"size": 5}\n',
    ),
    "vw": ("1 |a x:3\n2 |a y:5\n", "|a x:3\n|a y:5\n"),
}
READ = {"csv": ["--label", "kind"], "jsonl": ["--label", "kind", "--features", "size"]}


@pytest.mark.parametrize("format", UNLABELLED)
def test_events_of_features_need_no_labels_to_be_answered(format, tmp_path):
    labelled, unlabelled = UNLABELLED[format]
    file, bare, model = tmp_path / f"f.{format}", tmp_path / f"g.{format}", tmp_path / "m"
    file.write_text(labelled)
    bare.write_text(unlabelled)
    run("train", file, "-m", model, "-q", *READ.get(format, []))
    answers, _ = predict(unlabelled.encode(), model)
    assert len(answers) == 2
    assert answers == run("predict", file, "-m", model)[0].decode().split("\n")[:-1]
    assert answers == run("predict", bare, "-m", model)[0].decode().split("\n")[:-1]


def test_a_file_of_the_format_that_texts_were_learned_from_is_read_as_that(tmp_path):
    file, model = tmp_path / "mail.csv", tmp_path / "m"
    file.write_text('kind,body\nspam,win a prize\nham,"see you,\nsoon"\n')
    run("train", file, "-m", model, "-q", "--label", "kind", "--text", "body")
    answers = run("predict", file, "-m", model)[0].decode().split("\n")[:-1]
    assert answers == predict(b"win a prize\nsee you, soon\n", model)[0]


BARE = {"tsv": rb"(?m)^.*\t", "txt": rb"(?m)^.*\t", "ft": rb"(?m)^__label__\S+ "}


@pytest.mark.parametrize("suffix", BARE)
def test_the_labels_of_a_file_are_no_part_of_its_texts(suffix, tmp_path):
    """Though they be words that the model knows, and whether or not there are any."""
    shape = SHAPES["fasttext" if suffix == "ft" else "plain"]
    data = "".join(shape.format(*event) for event in random_mail(3, 200, ("ham", "spam"))).encode()
    file, bare, model = tmp_path / f"f.{suffix}", tmp_path / f"bare.{suffix}", tmp_path / "m"
    file.write_bytes(data)
    bare.write_bytes(re.sub(BARE[suffix], b"", data))
    run("train", file, "-m", model, "-q")
    expected = list(library(model, [text for text, _ in read(file)]))
    words = ("predict", "-m", model, "--template", "{label}\t{probability}\t{text}")
    found = [line.rsplit("\t", 1) for line in run(*words, file)[0].decode().split("\n")[:-1]]
    assert [answer for answer, _ in found] == expected
    assert [text for _, text in found] == [text for text, _ in read(file)]
    for line, (answer, text) in zip(run(*words, bare)[0].decode().split("\n"), found, strict=False):
        assert line == (f"{answer}\t{text}" if text else "\t\t")
    whole = [line for line in data.decode().split("\n") if line]
    as_text = run("predict", "-m", model, "--input", "text", file)[0].decode().split("\n")[:-1]
    assert as_text == list(library(model, whole)) != expected


def test_a_line_with_a_bad_label_is_no_event_and_not_held_out(tmp_path):
    file, model = tmp_path / "mail.tsv", tmp_path / "m"
    file.write_bytes(b"spam\twin\nh\xffam\tsee\nham\tyou\n")
    said = run("train", file, "-m", model, "--on-error", "skip")[1]
    assert re.search(r"^events +2$", said, re.M)
    assert re.search(r"^bad lines +1$", said, re.M)
    assert "held out" not in said


@pytest.mark.parametrize(
    ("format", "words", "lines"),
    [
        ("jsonl", ["--label", "y", "--text", "t"], ['{"y":"a","t":"win"}', '{"y":"b","t":"see"}']),
        ("jsonl", ["--label", "y", "--features", "t"], ['{"y":"a","t":1}', '{"y":"b","t":2}']),
        ("vw", [], ["1 | win", "-1 | see"]),
        ("svmlight", [], ["1 3:1", "-1 4:1"]),
    ],
)
def test_a_pipe_is_read_as_a_file_of_what_the_model_was_trained_on(format, words, lines, tmp_path):
    (tmp_path / f"a.{format}").write_text("\n".join(lines * 9) + "\n")
    run("train", tmp_path / f"a.{format}", *words, "-m", tmp_path / "m", "-q")
    data = (tmp_path / f"a.{format}").read_bytes()
    from_file = run("predict", tmp_path / f"a.{format}", "-m", tmp_path / "m")[0]
    assert run("predict", "-m", tmp_path / "m", data=data) == (from_file, "")
    assert from_file.count(b"\n") == 18
    if "--text" in words:
        said = run("predict", "-m", tmp_path / "m", data=b"win\n")[1]
        assert said.endswith("lines are jsonl, as in the training; else give --input or --format\n")
        answer = run("predict", "-m", tmp_path / "m", "--input", "text", data=b"win\n")[0]
        assert answer.startswith(b"a\t")


@pytest.mark.parametrize("learner", [[], ["--learner", "multilabel"]])
def test_a_model_of_known_labels_learns_no_others(tmp_path, learner):
    model, more = tmp_path / "m", b"spam\ta prize\nspma\ta prize\nham\tsee\n"
    (tmp_path / "a.tsv").write_bytes(b"spam\twin a prize\nham\tsee you\n" * 2)
    run("train", "-q", tmp_path / "a.tsv", "-m", model, *learner)
    learn = ("predict", "--learn", "-m", model)
    for known in ([], ["--known-labels"]):
        saved = model.read_bytes()
        _, said = run(*learn, *known, data=more)
        assert ("the label 'spma' is not one of the model's" in said) == bool(known)
        assert ("spma" in loaded(model).labels) == (not known)
        model.write_bytes(saved)
    _, said = run("train", "-q", tmp_path / "a.tsv", "-m", model, "--known-labels", *learner)
    assert "did you mean 'spam'?" in run(*learn, data=more)[1]
    assert loaded(model).labels == ["spam", "ham"]
    (tmp_path / "b.tsv").write_bytes(more)
    resume = ("train", "-q", "--resume", tmp_path / "b.tsv", "-m", model)
    assert "b.tsv:2: the label 'spma' is not one" in run(*resume, code=1)[1]
    run(*resume, "--new-label")
    assert loaded(model).labels == ["spam", "ham", "spma"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--known-labels"], 2, "say what is learned; give --learn"),
        (["--learn", "--known-labels", "--new-label"], 2, "exclude each other"),
        (
            ["--learn", "--create", "--known-labels"],
            1,
            "the model knows no label yet",
        ),
    ],
)
def test_known_labels_need_some(tmp_path, words, code, message):
    assert message in run("predict", "-m", tmp_path / "none", *words, code=code)[1]
