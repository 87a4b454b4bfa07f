"""The command line does what the library does, line by line, and ends as its help says."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamptron
from streamptron import MulticlassPerceptron
from streamptron.command.cli import main
from tests.support.commands import COMMANDS, ENVIRONMENT, MAIL, process, random_mail, run, written


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


@pytest.mark.slow
def test_every_example_of_the_help_runs(tmp_path, shell):
    for folder in ("Junk", "INBOX"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1").write_bytes(b"Subject: hello\n\nhello\n")
    (tmp_path / "topics.tsv").write_text("crude,ship\toil tankers\ngrain\twheat prices\n")
    n = 0
    for example in examples():
        done = subprocess.run(
            ["sh", "-c", example],
            **shell,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (example, done.stderr.decode())
        if picture := re.search(r" -o (\S+)", example):
            assert (tmp_path / picture[1]).stat().st_size, example
        else:
            assert example.startswith("printf") or "train" in example or done.stdout, example
        n += 1
    assert n > 15


@pytest.mark.parametrize(
    ("command", "titles"),
    [
        ("train", ["The learner", "Words of texts", "Lines of files"]),
        (
            "predict",
            [
                "Answers",
                "Learning",
                "The model's file",
                "Lines of files",
                "The learner, with --create",
                "Words of texts, with --create",
            ],
        ),
        ("eval", ["Lines of files"]),
        ("compare", ["Words of texts", "Lines of files"]),
        ("plot memory", ["The learner", "Words of texts", "Lines of files"]),
        ("top", []),
    ],
)
def test_help_has_its_options_in_sections_and_each_once(command, titles, told):
    _, text, _ = told(*command.split(), "--help")
    text = text[text.index("\nOptions:\n") :]
    assert re.findall(r"^(\S.*):$", text, re.M) == ["Options", *titles]
    options = re.findall(r"^  (?:-\w, )?(--?[\w-]+)", text, re.M)
    assert len(set(options)) == len(options)
    assert options.index("--help") == text.partition("\n\n")[0].count("\n  -") - 1


def test_the_version_is_the_packages(told):
    assert told("--version") == (0, f"streamptron {streamptron.__version__}\n", "")


def test_no_sentence_of_the_list_of_commands_is_cut_off(told):
    _, text, _ = told("--help")
    listed = text[text.index("\nCommands:\n") :].splitlines()[2:]
    assert len(listed) > 5
    assert [line for line in listed if not line.endswith(".") or line.endswith("..")] == []


def test_no_words_are_a_question_for_help(told):
    assert told() == told("--help")
    assert told()[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train -m new.model", "Missing argument 'FILES...'; see streamptron train --help"),
        ("train mail.tsv", "Missing option '--model'"),
        (
            "train mail.tsv -m m --C 2",
            "AdaptiveClassifier has no --C; learners that have it: mira;",
        ),
        (
            "train mail.tsv -m m --average none",
            "AdaptiveClassifier has no --average; learners that have it: multiclass,",
        ),
        ("train mail.tsv -m m --learner perceptron --update mistake", "Perceptron has no --update"),
        (
            "train mail.tsv -m m --learner mira --average exponential --half-life 0",
            "--half-life 0.0; it must be",
        ),
        ("train mail.tsv -m m --half-life 9", "AdaptiveClassifier has no --half-life; learners"),
        (
            "train mail.tsv -m m --learner mira --half-life 9",
            "--half-life is for --average exponential",
        ),
        ("train mail.tsv -m m --learner mira --half-life 9 --average uniform", "give that too"),
        ("train mail.tsv -m m --encoding utf-9", "--encoding 'utf-9' is unknown to Python, or"),
        (
            "eval mail.tsv -m mail.model --encoding base64",
            "--encoding 'base64' is unknown to Python",
        ),
        ("predict -m mail.model --encoding x", "--encoding 'x' is unknown to Python"),
        ("train mail.tsv -m m --label y", "the format plain has no --label"),
        ("train - -m m --label y", "no suffix that tells its format; give --format (plain"),
        ("train mail.tsv -m m --ngrams 2,1", "error: --ngrams (2, 1); it must be"),
        ("compare mail.tsv --ngrams 2,1", "error: --ngrams (2, 1); it must be"),
        ("train mail.tsv -m m --learner mira --C -1", "error: --C -1.0; it must be"),
        ("train mail.tsv -m m --learner mira --serve pocket", "--serve 'pocket' needs --pocket;"),
        ("train mail.tsv -m m --class-weight spam=-1", "--class-weight 'spam'=-1.0; it must be"),
        ("train mail.tsv -m m --min-length 9 --max-length 3", "--max-length 3; it must be None or"),
        ("train mail.tsv -m m --min-length 9 --max-length 3", "at least --min-length 9;"),
        (
            "train mail.tsv -m m --hash-bits 9 --max-features 5",
            "--max-features 5 and --hash-bits 9 are",
        ),
        (
            "train mail.tsv -m m --analyzer char --fold-numbers",
            "--fold-numbers applies to words; leave it out with --analyzer 'char'",
        ),
        (
            "train mail.vw -m m --format vw --degree 2 --interactions a,b",
            "--degree 2 and --interactions (('a', 'b'),) are both given",
        ),
        ("plot progressive mail.tsv -o p.svg --learner mira --C -1", "error: --C -1.0; it must be"),
        ("train mail.tsv -m m --ngrams two", "'two': give two numbers, as 1,2"),
        ("train mail.tsv -m m --max-length all", "'all': give a number, or none"),
        ("train mail.tsv -m m --class-weight spam", "'spam': give LABEL=NUMBER"),
        ("train mail.tsv -m m --learner perceptron --class-weight spam=2", "--positive"),
        ("train mail.tsv -m m --class-weight a=2 --class-weight a=1", "given twice for a label"),
        ("train mail.tsv -m m --positive spam", "--positive is for --learner perceptron"),
        ("train mail.tsv -m m --format jsonl", "needs --label FIELD"),
        ("train mail.tsv -m m --format jsonl --label y", "needs --text FIELD, --features A,B or"),
        ("train mail.tsv -m m --format vw --l2", "these events are features"),
        ("train mail.tsv -m m --holdout 0.6", "0.6 is not in the range 0<x<=0.5"),
        ("train mail.tsv -m m --holdout .4", "--holdout 0.4: it can be one event of 2, of 3"),
        ("train mail.tsv -m m --holdout .35", "the nearest are 0.3333 and 0.5;"),
        ("train mail.tsv -m m --holdout 0.3", "the nearest are 0.25 and 0.3333;"),
        ("train mail.csv -m m --label y --features a,b,", "--features 'a,b,' has an empty name"),
        ("train - -m m --format plain --epochs 2", "give files, not a pipe"),
        ("train bare -m m", "no suffix that tells its format; give --format (plain"),
        ("train mail.tsv -m mail.model --resume --margin 1", "leave out --margin"),
        ("predict -m mail.model --json --template {label}", "exclude each other"),
        ("predict -m mail.model --template {label:>9}", "{label} takes no format, such as :>9"),
        ("predict -m mail.model --template {text!r}", "{text} takes no format, such as :>9"),
        ("predict -m mail.model --template {", "cannot be used"),
        ("predict -m mail.model --template {label}\n", "it is more than a line"),
        ("predict -m mail.model --learn --input text", "--learn needs labels"),
        ("predict -m mail.model --save-every 5", "nothing to save"),
        ("predict -m mail.model --input text --format vw", "cannot be given with"),
        ("teach", "No such command 'teach'"),
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
        ("train mail.tsv -m none/m", "none/m: the model cannot be written there, there is no"),
        ("train mail.tsv -m mail.tsv", "mail.tsv: the model cannot be written there, it is one of"),
        (
            "train mail.tsv -m bad.tsv",
            "bad.tsv: the model cannot be written there, it does not hold",
        ),
        ("train mail.tsv -m .", ".: the model cannot be written there"),
        ("train mail.tsv -m /dev/null", "/dev/null: the model cannot be written there"),
        (
            "train mail.tsv -m m --learner perceptron",
            "mail.tsv:1: the label 'spam' is not one of 0, 1",
        ),
        ("train bad.tsv -m m", "bad.tsv:2: no TAB; write label<TAB>text"),
        ("train label.tsv -m m", "label.tsv:2: the label b'sp\\xe4m' is not UTF-8"),
        ("train bad.jsonl -m m --label y --text x", "bad.jsonl:2: not JSON"),
        ("train short.tsv.gz -m m", "short.tsv.gz:"),
        ("eval mail.tsv -m none", "none: No such file or directory"),
        ("eval mail.tsv -m mail.tsv", "mail.tsv"),
        ("eval bad.tsv -m mail.model", "bad.tsv:2:"),
        (
            "train mail.tsv -m m --degree 2 --max-pairs 1",
            "mail.tsv:1: it makes 3 pairs of features, ",
        ),
        ("train mail.tsv -m m --degree 2 --max-pairs 1", "--max-pairs 1; raise --max-pairs, pair"),
        ("train mail.tsv -m m --max-labels 1", "one more than --max-labels 1 allows"),
        ("eval label=1.tsv -m mail.model", "error: label=1.tsv:2: no TAB"),
        ("train mail.csv -m m --label l --features x --text x", "both have 'x'; give it to one"),
        ("train mail.csv -m m --label l --features x --delimiter ;;", "--delimiter ';;'; it must"),
        ("train mail.csv -m m --label l --features x --type x=a", "--type 'x'='a'; it must be "),
        ("predict -m mail.model --template {word}", "{word} is not one of the template's"),
        ("top -m library.model", "it holds only a learner"),
        ("top -m mail.model --label eggs", "--label 'eggs' has not been seen"),
        ("predict mail.tsv -m vw.model --input text", "the model learns from features"),
        ("predict mail.tsv -m vw.model --template {text}", "there is no {text}"),
    ],
)
def test_failures_end_with_1_and_a_line_that_says_what_and_where(
    words, message, mail, monkeypatch, told
):
    monkeypatch.chdir(mail[0].parent)
    Path("bad.tsv").write_bytes(b"spam\ta prize\nno label\n")
    Path("label=1.tsv").write_bytes(b"spam\ta prize\nno label\n")
    Path("mail.csv").write_bytes(b"l,x\nspam,1\n")
    Path("label.tsv").write_bytes(b"spam\ta prize\nsp\xe4m\ta prize\n")
    Path("bad.jsonl").write_bytes(b'{"x": "a", "y": "b"}\n{"x": \n')
    Path("short.tsv.gz").write_bytes(gzip.compress(written(random_mail(1)))[:-500])
    Path("mail.vw").write_bytes(b"1 | a\n")
    MulticlassPerceptron().save("library.model")
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
    code = "import sys; sys.modules['click'] = None; "
    code += "from streamptron.command.cli import main; exit(main())"
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
        "import sys; from streamptron.command.cli import main; n = main(sys.argv[1:]); "
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
