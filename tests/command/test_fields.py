"""Events of several texts, of texts and features, and of files that are texts."""

import json
import random

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from streamptron.common.river import compose
from tests.support.commands import run


def test_a_folder_of_texts_is_a_label(tmp_path):
    for label, text in (("pos", "a great film"), ("neg", "an awful film")):
        (tmp_path / "films" / label).mkdir(parents=True)
        for i in range(5):
            (tmp_path / "films" / label / f"{i}.txt").write_text(f"{text} {i}\nof two lines\n")
    films = tmp_path / "films"
    said = run("train", films, "--label-by", "folder", "-m", tmp_path / "m")[1]
    assert "events                 10\n" in said
    labels = [line.split()[3] for line in said.splitlines()[2:6]]
    assert sorted(labels[:2]) == ["neg", "pos"]  # in turns
    out = run("eval", films, "--label-by", "folder", "-m", tmp_path / "m")[0]
    assert b"accuracy  1.0000" in out
    out = run("predict", films / "neg" / "1.txt", "-m", tmp_path / "m")[0]
    assert out.count(b"\n") == 1
    assert run("predict", "-m", tmp_path / "m", data=b"awful\ngreat\n")[0].count(b"\n") == 2
    said = run("train", films, "--format", "document", "-m", tmp_path / "m", code=2)[1]
    assert "nothing says the labels; give --label-by folder, or index" in said


@pytest.mark.parametrize("features", [None, "status,method"])
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_several_texts_and_features_make_one_event(format, features, tmp_path):
    rng = random.Random(3)
    rows = []
    for i in range(60):
        bad = rng.random() < 0.5
        req = f"{rng.choice(['/env', '/login'] if bad else ['/shop', '/cart'])}/{i % 9}"
        ua = rng.choice(["zgrab", "curl"]) if bad else "firefox"
        status = 404 if rng.random() < 0.8 and bad else 200
        kind = "scan" if bad else "human"
        rows.append({"req": req, "ua": ua, "status": status, "method": "GET", "kind": kind})
    file = tmp_path / f"a.{format}"
    if format == "csv":
        lines = [",".join(map(str, row.values())) for row in rows]
        file.write_text("\n".join(["req,ua,status,method,kind", *lines]) + "\n")
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--label", "kind", "--text", "req", "--text", "ua", "--hash-seed", "1"]
    words += ["--features", features] if features else []
    run("train", file, "-m", tmp_path / "m", "-q", *words)
    tokenizer = Tokenizer(fields=("req", "ua"))
    before = compose.Discard("req", "ua") + tokenizer if features else tokenizer
    model = before | AdaptiveClassifier(hash_seed=1)
    kept = ["req", "ua", *(features.split(",") if features else [])]
    events = [({name: row[name] for name in kept}, row["kind"]) for row in rows]
    for x, y in events:
        model.learn_one(x, y)
    loaded = load(tmp_path / "m")
    assert loaded[-1].weights == model[-1].weights
    assert ("status" in model[-1].weights) is (features is not None)
    out = run("predict", file, "-m", tmp_path / "m")[0].decode().splitlines()
    assert [line.split("\t")[0] for line in out] == [loaded.predict_one(x) for x, _ in events]
    again = tmp_path / f"b.{format}"
    again.write_bytes(file.read_bytes())
    run("train", again, "-m", tmp_path / "m", "-q", "--resume")
    for x, y in events:
        model.learn_one(x, y)
    assert load(tmp_path / "m")[-1].weights == model[-1].weights
    assert b"req:/" not in run("top", "-m", tmp_path / "m")[0]
    assert b"ua:zgrab" in run("top", "-m", tmp_path / "m")[0]


def test_a_text_that_is_missing_beside_others_is_empty(tmp_path):
    lines = '{"y":"a","s":"win"}\n{"y":"b","t":"see","s":null}\n{"y":"b","t":1}\n'
    (tmp_path / "a.jsonl").write_text(lines)
    words = ("train", tmp_path / "a.jsonl", "--label", "y", "--text", "s", "--text", "t")
    said = run(*words, "-m", tmp_path / "m", "--on-error", "skip")[1]
    assert "events                 2\n" in said
    assert "a.jsonl:3: t: the text 1; it must be a text" in said
