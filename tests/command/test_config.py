"""--config: options in a file."""

import json

import pytest

from tests.support.commands import MAIL, run
from tests.support.variants import learned, loaded


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "streamptron.toml"
        path.write_text(text)
        return path

    return write


def test_options_of_the_file_are_those_of_the_command_line(mail, config, tmp_path):
    tsv, _ = mail
    typed = ("--class-weight", "spam=2", "--ngrams", "1,2", "--hash-seed", "3", "--no-lowercase")
    run("train", tsv, "-m", tmp_path / "typed", "-q", *typed)
    path = config(f"""
        model = "{tmp_path / "m"}"

        [train]
        ngrams = [1, 2]
        quiet = true
        class-weight = {{ spam = 2.0 }}
        hash-seed = 3
        no-lowercase = true

        [predict]
        json = true
        learn = false
    """)
    run("train", tsv, "--config", path)
    assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "typed"))
    out, _ = run("predict", f"--config={path}", data=b"a prize\n")
    assert json.loads(out)["label"] == "spam"
    assert run("info", "--config", path)[0].startswith(b"learner ")


def test_the_command_line_counts_more_and_a_table_more_than_the_rest(mail, config, tmp_path):
    path = config(f"""
        model = "{mail[1]}"
        min-probability = 0.999
        [predict]
        min-probability = 0.5
        rsyslog = true
    """)
    out, _ = run("predict", "--config", path, data=b"a prize\n")
    assert b'{"$!": {"label": "spam"' in out
    words = ("--config", path, "--json", "--min-probability", "0.999")
    out, _ = run("predict", *words, data=b"a prize\n")
    assert out.startswith(b'{"label": "unsure"')
    path = config('class-weight = ["spam=2"]\nquiet = true\n')
    (tmp_path / "mail.tsv").write_bytes(MAIL)
    words = ("--config", path, "-m", tmp_path / "w", "--class-weight", "ham=3")
    run("train", tmp_path / "mail.tsv", *words)
    assert loaded(tmp_path / "w").class_weight == {"ham": 3.0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sav-every = 3", "the key 'sav-every' is not an option; the nearest is save-every"),
        ("[predict]\nsave_every = 3", "in [predict] the key 'save_every' is not an option; the n"),
        ("[predct]\nlearn = true", "the key 'predct' is not an option; the nearest is predict"),
        ("[predict]\neppochs = 3", "in [predict] the key 'eppochs' is not an option; the near"),
        ("learn = 1", "learn = 1: give true or false"),
        ("save-every = true", "save-every = True: give a text or a number"),
        ("save-every = 1979-05-27", "give a text or a number"),
        ("learn = ", "it is not TOML: "),
        ("save-every = 'x'", "'x' is not a valid integer"),
    ],
)
def test_what_is_wrong_is_named(text, why, mail, config):
    _, said = run("predict", "--config", config(text), "-m", mail[1], code=2)
    assert why in said
    assert said.count("\n") == 1
    assert "streamptron.toml" in said


def test_keys_of_other_commands_are_left_to_them(mail, config):
    path = config("holdout = 0.1\n[train]\nepochs = 3\n")
    out, _ = run("predict", "--config", path, "-m", mail[1], data=b"a prize\n")
    assert out.startswith(b"spam\t")
