"""--create: no first model file is needed."""

import pytest

from tests.support.commands import MAIL, answered, predict, process, run
from tests.support.variants import learned, loaded


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--learner", "mira", "--ngrams", "1,2"),
        ("--learner", "perceptron", "--positive", "spam"),
    ],
    ids=" ".join,
)
def test_a_learner_begins_with_a_model_as_its_options_say(words, tmp_path):
    (tmp_path / "mail.tsv").write_bytes(MAIL)
    words = (*words, "--hash-seed", "1")
    run("train", tmp_path / "mail.tsv", "-m", tmp_path / "trained", "-q", *words)
    created = tmp_path / "created"
    assert len(predict(MAIL, created, "--learn", "--create", *words)[0]) == 4
    assert learned(loaded(created)) == learned(loaded(tmp_path / "trained"))
    # the same command goes on with the model that is there
    predict(MAIL, created, "--learn", "--create", *words)
    assert loaded(created).n_seen == 8


def test_the_file_is_there_as_soon_as_the_learner_waits(tmp_path):
    with process("predict", "--learn", "--create", "-m", tmp_path / "m") as running:
        assert answered(running, b"spam\tx\n") == b"\t\n"
        assert loaded(tmp_path / "m").n_seen == 0
        running.kill()


def test_events_need_what_a_training_needs(tmp_path):
    words = ("--learn", "--create", "--format", "jsonl")
    _, said = predict(b"", tmp_path / "m", *words, code=2)
    assert "the format jsonl needs --label FIELD" in said
    data = b'{"kind": "spam", "body": "a prize"}\n{"body": "a prize"}\n'
    lines, _ = predict(data, tmp_path / "m", *words, "--label", "kind", "--text", "body", "--merge")
    assert lines[1].startswith('{"body": "a prize", "label": "spam", "probability": ')


def test_who_answers_waits_for_a_model_that_is_learned(tmp_path):
    model = tmp_path / "m"
    words = ("predict", "-m", model, "--create")
    with process(*words, "--reload-seconds", "0.05") as answering:
        assert answered(answering, b"a prize\n") == b"\t\n"
        assert not model.exists()
        predict(MAIL, model, "--learn", "--create")
        assert b"reloaded" in answering.stderr.readline()
        while (line := answered(answering, b"a prize\n")) == b"\t\n":
            pass  # who learns has written the model before its first line, too
        assert line.startswith(b"spam\t")
    _, said = run(*words, code=2)
    assert "give --learn, or --reload-seconds" in said


def test_without_it_options_of_a_learner_are_refused(mail):
    _, model = mail
    _, said = predict(b"", model, "--learn", "--eta", "2", code=2)
    assert "--eta is for a new model; give --create too" in said
    _, said = predict(b"", model.with_name("none"), "--learn", code=1)
    assert "No such file" in said


def test_a_folder_that_is_not_there_is_named(tmp_path):
    _, said = predict(b"", tmp_path / "no" / "m", "--learn", "--create", code=1)
    assert str(tmp_path / "no" / "m") in said


def test_train_goes_on_or_begins(tmp_path):
    tsv, model = tmp_path / "mail.tsv", tmp_path / "m"
    tsv.write_bytes(MAIL)
    words = ("train", tsv, "-m", model, "-q", "--resume", "--create", "--learner", "mira")
    for n in (4, 4, 8):  # a file that has been learned is learned again once it has changed
        if n == 8:
            tsv.write_bytes(MAIL + b"\n")
        run(*words)
        assert loaded(model).n_seen == n
    assert "--create is for --resume" in run("train", tsv, "-m", model, "--create", code=2)[1]
