"""predict --exit-code: one event, whose answer is the exit code."""

import time

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.support.commands import process, run
from tests.support.programs import both

SPAM = ("--positive", "spam", "--exit-code")


def answer(model, *words, data=b"", code):
    return run("predict", "-m", model, *words, data=data, code=code)


@both
def test_the_exit_code_is_the_answer(mail):
    _, model = mail
    assert answer(model, *SPAM, data=b"a prize\n", code=0)[0].startswith(b"spam\t0.")
    assert answer(model, *SPAM, data=b"see you", code=1)[0].startswith(b"ham\t0.")
    unsure = ("--min-probability", "0.999")
    assert answer(model, *SPAM, *unsure, data=b"a prize\n", code=2)[0].startswith(b"unsure\t0.")
    assert answer(model, "--positive", "ham", "--exit-code", data=b"a prize\n", code=1)


@both
def test_all_of_the_input_is_one_text(mail, tmp_path):
    _, model = mail
    message = b"Subject: you\r\n\r\nwin a prize\nwin\n\na prize\n"
    (tmp_path / "message.eml").write_bytes(message)
    out, _ = answer(model, *SPAM, "--template", "{label}: {text}", data=message, code=0)
    assert out == b"spam: Subject: you  win a prize win  a prize\n"
    assert answer(model, *SPAM, tmp_path / "message.eml", code=0)
    _, said = answer(model, *SPAM, "--max-line", 16, data=b"a\n" * 20, code=3)
    assert "the text has more than 16 bytes; give --max-line" in said


@both
def test_a_perceptron_knows_its_positive_label(mail, tmp_path):
    tsv, _ = mail
    words = ("--learner", "perceptron", "--positive", "spam")
    run("train", tsv, "-m", tmp_path / "p", "-q", *words)
    answer(tmp_path / "p", "--exit-code", data=b"a prize\n", code=0)
    answer(tmp_path / "p", "--exit-code", data=b"see you\n", code=1)


@both
def test_a_line_is_an_event_if_somebody_says_so(mail, tmp_path):
    _, model = mail
    answer(model, *SPAM, "--input", "labelled", data=b"ham\ta prize\n", code=0)
    _, said = answer(model, *SPAM, "--input", "text", data=b"a prize\na prize\n", code=3)
    assert "there is more than one line" in said
    (tmp_path / "m.jsonl").write_text('{"k": "spam", "t": "prize"}\n{"k": "ham", "t": "you"}\n')
    run("train", tmp_path / "m.jsonl", "-m", tmp_path / "j", "-q", "--label", "k", "--text", "t")
    words = ("--format", "jsonl", "--merge")
    out, _ = answer(tmp_path / "j", *SPAM, *words, data=b'{"t": "prize"}\n', code=0)
    assert out.startswith(b'{"t": "prize", "label": "spam", "probability": ')
    _, said = answer(tmp_path / "j", *SPAM, *words, data=b'{"t": 1}\n', code=3)
    assert "<stdin>:1: the text 1" in said


@both
@pytest.mark.parametrize(
    ("words", "data", "why"),
    [
        (("--exit-code",), b"x", "as --positive spam; the model knows ['spam', 'ham']"),
        (("--exit-code", "--positive", "eggs"), b"x", "--positive 'eggs' has not been seen"),
        (SPAM, b"", "there is no event in the input"),
        ((*SPAM, "--learn"), b"x", "--exit-code is for one event, and --learn for many"),
        ((*SPAM, "--what"), b"x", "No such option '--what'"),
        ((*SPAM, "none.txt"), b"x", "none.txt"),
        ((*SPAM, "-m", "none.model"), b"x", "none.model"),
    ],
)
def test_errors_have_a_code_of_their_own(words, data, why, mail):
    _, model = mail
    out, said = answer(model, *words, data=data, code=3)
    assert out == b""
    assert why in said


def test_a_configuration_that_is_not_there_has_that_code_too(mail):
    words = (*SPAM, "--config", "none.toml")
    assert "none.toml" in answer(mail[1], *words, data=b"x", code=3)[1]


@both
def test_a_signal_is_no_verdict(mail):
    _, model = mail
    with process("predict", "-m", model, *SPAM) as running:
        running.stdin.write(b"a prize\n")
        time.sleep(1.5)
        running.terminate()
        assert running.wait(60) in (3, -15)  # before it listens, a signal ends it at once
        assert running.stdout.read() == b""


@both
def test_a_model_without_labels_is_unsure(mail):
    path = mail[1].with_name("new")
    (Tokenizer() | AdaptiveClassifier()).save(path)
    assert answer(path, *SPAM, data=b"x\n", code=2)[0] == b"\t\n"
