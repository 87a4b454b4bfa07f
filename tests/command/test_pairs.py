"""Pairs of features on the command line."""

import json

import pytest

import streamptron
from streamptron import Pair, Perceptron, Tokenizer
from tests.support.commands import FORMATS, SEEDED, random_mail, run, written
from tests.support.variants import learned, loaded


@pytest.mark.parametrize("learner", ["perceptron", "adaptive", "mira"])
def test_training_with_degree_2_is_learn_one_in_order(learner, tmp_path):
    events = list(random_mail(1, 300, ("0", "1")))
    (tmp_path / "m.tsv").write_bytes(written(events))
    run(
        "train",
        tmp_path / "m.tsv",
        "-m",
        tmp_path / "m",
        "--degree",
        2,
        "--learner",
        learner,
        *SEEDED,
    )
    model = streamptron.learners.registry.LEARNERS[learner](degree=2, hash_seed=1)
    for label, text in events:
        y = label == "1" if learner == "perceptron" else label
        model.learn_one(Tokenizer().transform_one(text), y)
    assert learned(loaded(tmp_path / "m")) == learned(model)
    assert model.n_features > 27  # words


def test_interactions_pair_the_namespaces_of_vowpal_wabbit(tmp_path):
    (tmp_path / "m.vw").write_bytes(b"1 |user a b |ad x |hour 3\n-1 |user c |ad x y\n")
    run(
        *("train", tmp_path / "m.vw", "-m", tmp_path / "m", "--learner", "perceptron", "-q"),
        *("--interactions", "user,ad", "--interactions", "ad,ad", "--max-pairs", "20", *SEEDED),
    )
    model = loaded(tmp_path / "m")
    assert (model.interactions, model.max_pairs) == ((("user", "ad"), ("ad", "ad")), 20)
    twin = Perceptron(interactions=[("user", "ad"), ("ad", "ad")], max_pairs=20, hash_seed=1)
    twin.learn_one({"user^a": 1, "user^b": 1, "ad^x": 1, "hour^3": 1}, True)
    twin.learn_one({"user^c": 1, "ad^x": 1, "ad^y": 1}, False)
    assert learned(model) == learned(twin)
    assert Pair("ad^x", "ad^y") in model.weights


def test_categories_of_csv_are_fields(tmp_path):
    (tmp_path / "m.csv").write_bytes(b"y,user,ad\n1,a,x\n0,b,x\n1,a,y\n")
    run(
        *("train", tmp_path / "m.csv", "-m", tmp_path / "m", "--label", "y", "-q"),
        *("--learner", "perceptron", "--interactions", "user,ad", *SEEDED),
    )
    assert Pair("user=a", "ad=x") in loaded(tmp_path / "m").weights


def test_top_explain_and_info_name_both_halves(tmp_path):
    (tmp_path / "m.tsv").write_bytes(b"1\texcellent\n0\tterrible\n0\tnot excellent\n" * 5)
    model = tmp_path / "m"
    options = ("--degree", "2", "--learner", "perceptron", "-q", *SEEDED)
    run("train", tmp_path / "m.tsv", "-m", model, *options)
    assert b"\nnot * excellent " in run("top", "-m", model)[0]
    assert b"\nnot * excellent " in run("explain", "not excellent", "-m", model)[0]
    out, _ = run("info", "-m", model, "--json")
    assert json.loads(out)["parameters"]["degree"] == 2


BIG = "a b c d e f"  # 15 pairs


@pytest.mark.parametrize(
    "options", [(), ("--epochs", "2", "--holdout", "0.25")], ids=["", "epochs"]
)
def test_line_with_too_many_pairs_is_a_bad_line(options, tmp_path):
    lines = [f"{i % 2}\tw{i % 5} w{i % 3} v{i % 7}" for i in range(40)]
    bad = [*lines[:6], f"1\t{BIG}", *lines[6:20], f"third\t{BIG} g", *lines[20:]]
    (tmp_path / "good.tsv").write_text("\n".join(lines))
    (tmp_path / "bad.tsv").write_text("\n".join(bad))
    words = ("--degree", "2", "--max-pairs", "10", *SEEDED)
    _, said = run("train", tmp_path / "bad.tsv", "-m", tmp_path / "m", *words, *options, code=1)
    assert "bad.tsv:7: it makes 15 pairs of features, more than --max-pairs 10" in said
    assert not (tmp_path / "m").exists()
    skipping = (*words, "--on-error", "skip")
    _, said = run("train", tmp_path / "bad.tsv", "-m", tmp_path / "m", *skipping, *options)
    assert "bad lines              2" in said
    assert loaded(tmp_path / "m").labels == ["0", "1"]
    if not options:
        run("train", tmp_path / "good.tsv", "-m", tmp_path / "n", *words)
        assert learned(loaded(tmp_path / "m")) == learned(loaded(tmp_path / "n"))
    out, said = run("predict", "-m", tmp_path / "m", data=f"w1 w2\n{BIG}\nw3\n".encode())
    answers = out.decode().split("\n")
    assert [bool(answer.strip()) for answer in answers] == [True, False, True, False]
    assert "makes 15 pairs" in said
    _, said = run("eval", tmp_path / "bad.tsv", "-m", tmp_path / "m", code=1)
    assert "bad.tsv:7: it makes 15 pairs" in said


def test_event_with_too_many_pairs_is_a_bad_line_of_other_formats(tmp_path):
    (tmp_path / "m.vw").write_text(f"1 | a b\n0 | {BIG}\n0 | c b\n")
    words = ("--degree", "2", "--max-pairs", "10", "--learner", "perceptron")
    _, said = run("train", tmp_path / "m.vw", "-m", tmp_path / "m", *words, code=1)
    assert "m.vw:2: x makes 15 pairs" in said
    _, said = run("train", tmp_path / "m.vw", "-m", tmp_path / "m", *words, "--on-error", "skip")
    assert "bad lines              1" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--degree", "3"), "--degree 3"),
        (("--degree", "two"), "--degree"),
        (("--interactions", "user"), "give two fields, as user,ad"),
        (("--interactions", "user,ad,hour"), "give two fields, as user,ad"),
        (("--interactions", "user,"), "give two fields, as user,ad"),
        (("--max-pairs", "0"), "--max-pairs 0"),
        (("--degree", "2", "--interactions", "user,ad"), "--degree 2 and --interactions (("),
    ],
    ids=str,
)
def test_bad_option_is_a_usage_error(words, message, tmp_path):
    (tmp_path / "m.vw").write_bytes(FORMATS["vw"][0])
    _, said = run("train", tmp_path / "m.vw", "-m", tmp_path / "m", *words, code=2)
    assert message in " ".join(said.split())
    assert not (tmp_path / "m").exists()


def test_interactions_of_texts_are_a_usage_error(tmp_path):
    (tmp_path / "m.tsv").write_bytes(b"spam\ta\n")
    words = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--interactions", "a,b")
    _, said = run(*words, code=2)
    assert "a line that is a text has none" in " ".join(said.split())
