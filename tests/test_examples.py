"""Every example runs from any folder, without a network; what it lacks it says in one line."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import streamptron
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

PACKAGE = Path(streamptron.__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def run(name, folder, *arguments):
    """The example in a process that has no home, no network and another folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGE),
        "RIVER_DATA": str(folder / "none"),
        "HOME": str(folder),
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", ["pipeline.py", "log_topics.py", "ranking.py"])
def test_example_needs_nothing_from_anywhere(name, tmp_path):
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("\n") > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spam_filter.py", "log_topics.py"])
def test_example_learns_from_a_file(name, tmp_path):
    lines = "spam\twin a prize\nham\tsee you\n" * 200
    (tmp_path / "lines.tsv").write_text(lines)
    done = run(name, tmp_path, "lines.tsv")
    assert done.returncode == 0, done.stderr
    assert "prize" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("spam_filter.py", []),
        ("spam_filter.py", ["gone.tsv"]),
        ("log_topics.py", ["gone.tsv"]),
        ("tagger.py", []),
        ("tagger.py", ["gone.conllu", "gone.conllu"]),
    ],
)
def test_example_that_lacks_its_data_says_so_in_one_line(name, arguments, tmp_path):
    done = run(name, tmp_path, *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"python examples/{name}" in done.stderr


SENTENCES = [
    [("The", "DET"), ("dog", "NOUN"), ("walks", "VERB")],
    [("A", "DET"), ("walk", "NOUN"), ("helps", "VERB"), ("in", "ADP"), ("2026", "NUM")],
    [("Dogs", "NOUN"), ("walk", "VERB"), ("well-fed", "ADJ"), (".", "PUNCT")],
]


def conllu(sentences):
    """The sentences as a file, with a comment and a contraction, which is not a word of its own."""
    return "".join(
        "# a comment\n1-2\tof-the\t_\t_\t_\n"
        + "".join(f"{i}\t{word}\t_\t{tag}\t_\n" for i, (word, tag) in enumerate(sentence, start=1))
        + "\n"
        for sentence in sentences
    )


@pytest.mark.slow
def test_tagger_learns_beside_nltks(tmp_path):
    (tmp_path / "some.conllu").write_text(conllu(SENTENCES * 5))
    done = run("tagger.py", tmp_path, "some.conllu", "some.conllu")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("60 words to learn from, 60 to test with")
    table = done.stdout.splitlines()[3:]
    assert len(table) == 4
    assert all("100.00%" in row for row in table)


def test_tagger_does_without_nltk_and_says_how_to_get_it(tmp_path):
    (tmp_path / "some.conllu").write_text(conllu(SENTENCES * 5))
    (tmp_path / "nltk.py").write_text("raise ImportError")
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "sys.argv[1:] = ['some.conllu', 'some.conllu']; "
        f"runpy.run_path({str(EXAMPLES / 'tagger.py')!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    *table, last = done.stdout.splitlines()[3:]
    assert last == "NLTK's PerceptronTagger: pip install nltk"
    assert len(table) == 3


def test_features_of_the_tagger_are_nltks():
    tagger = runpy.run_path(str(EXAMPLES / "tagger.py"))
    theirs = tagger["nltks"]()
    for sentence in SENTENCES:
        words = [word for word, _ in sentence]
        context = [tagger["shape"](word) for word in words]
        assert context == [theirs.normalize(word) for word in words]
        context = [*theirs.START, *context, *theirs.END]
        for i, word in enumerate(words):
            own = tagger["features"](i, word, context, "NOUN", "DET")
            expected = dict(theirs._get_features(i, word, context, "NOUN", "DET"))
            del expected["bias"]  # the learners have an intercept
            assert own == expected
