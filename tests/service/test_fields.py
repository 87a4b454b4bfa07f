"""Events of fields: texts by their names, alone or with features beside them."""

import json
import random
import signal

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from streamptron.common.river import compose
from tests.service.test_guard import at_a_port
from tests.service.test_lost import bits
from tests.service.test_page import in_chromium, shown
from tests.support.commands import run
from tests.support.devtools import page
from tests.support.served import serving

pytest.importorskip("starlette")
pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers

TEXTS = ("--create", "--events", "fields", "--text", "req", "--text", "ua", "--hash-seed", "1")
FEATURES = ("--features", "status,method")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "models"
    path.mkdir()
    return path


def library(features):
    tokenizer = Tokenizer(fields=("req", "ua"))
    before = compose.Discard("req", "ua") + tokenizer if features else tokenizer
    return before | AdaptiveClassifier(hash_seed=1)


def events(n, features, seed=1):
    """Pairs of fields and a label."""
    rng, found = random.Random(seed), []
    for number in range(n):
        bad = rng.random() < 0.5
        req = f"{rng.choice(['/env', '/login'] if bad else ['/shop', '/cart'])}/{number % 9}"
        fields = {"req": req, "ua": rng.choice(["zgrab", "curl"]) if bad else "firefox"}
        if features:
            status = rng.choice([404, 200.5]) if bad else 200
            fields |= {"status": status, "method": rng.choice(["GET", "HEAD", None])}
        found.append((fields, "scan" if bad else "human"))
    return found


def answered(model, fields, n=3):
    """What the library says, as the service does."""
    probabilities = model.predict_proba_one(fields)
    label = model.predict_one(fields)
    parts = model[-1].explain_one(model[0].transform_one(fields), label)[:n]
    explain = [{"feature": name or "(intercept)", "part": part} for name, part in parts]
    return {"label": label, "probability": probabilities.get(label), "explain": explain}


@pytest.mark.parametrize("features", [False, True])
def test_a_new_model_answers_and_learns_as_the_library_does(folder, features):
    model, words = library(features), (*TEXTS, *(FEATURES if features else ()))
    stream = events(40, features)
    with serving(folder, "--learn", *words) as (link, _):
        for number, (fields, label) in enumerate(stream[:20]):
            asked = {"fields": fields, "id": number, "explain": 3}
            if number:
                found = link.post("/m/web/predict", asked)
                expected = answered(model, fields)
                assert {name: found[name] for name in expected} == expected
            late = {"id": number} if number % 3 else {"fields": fields, "id": number}
            link.post("/m/web/learn", late | {"label": label})
            model.learn_one(fields, label)
        assert link.get("/m/web/model")["events"] == "fields"
        lines = [{"fields": fields, "label": label} for fields, label in stream[20:]]
        assert {each["done"] for each in link.lines("/m/web/learn", lines)} == {"learned"}
        for fields, label in stream[20:]:
            model.learn_one(fields, label)
        found = link.lines("/m/web/predict", [{"fields": fields} for fields, _ in stream])
        assert [each["label"] for each in found] == [model.predict_one(f) for f, _ in stream]
        link.post("/m/web/learn", {"fields": stream[0][0], "label": "odd", "id": "back"})
        link.post("/m/web/undo", {"id": "back"})
        seen = model[0].transform_one(stream[0][0])
        model[-1].undo(model[-1].learn_one(seen, "odd", undo=True))
        again = link.post("/m/web/predict", {"fields": stream[0][0], "top": 3})["top"]
        expected = model.predict_proba_one(stream[0][0])
        assert {each["label"]: each["probability"] for each in again} == expected
    assert load(folder / "web.model")[-1].weights == model[-1].weights


def test_the_command_line_reads_and_teaches_the_same_fields(folder, tmp_path):
    stream = events(30, True)
    rows = [{"label": label, **fields} for fields, label in stream]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = library(True)
    with serving(folder, "--learn", *TEXTS, *FEATURES) as (link, _):
        for fields, label in stream:
            link.post("/m/web/learn", {"fields": fields, "label": label})
            model.learn_one(fields, label)
    path = folder / "web.model"
    out = run("predict", tmp_path / "a.jsonl", "-m", path)[0].decode().splitlines()
    assert [line.split("\t")[0] for line in out] == [model.predict_one(x) for x, _ in stream]
    run("train", tmp_path / "a.jsonl", "-m", path, "-q", "--resume")
    for fields, label in stream:
        model.learn_one(fields, label)
    assert load(path)[-1].weights == model[-1].weights


def test_a_kill_loses_no_lesson_of_fields(folder):
    model, stream = library(True), events(9, True)
    words = ("--learn", *TEXTS, *FEATURES)
    with serving(folder, *words, code=-signal.SIGKILL) as (link, server):
        for fields, label in stream:
            link.post("/m/web/learn", {"fields": fields, "label": label})
            model.learn_one(fields, label)
        server.kill()
    with serving(folder, *words) as (link, _):
        assert link.get("/m/web/model")["version"] == len(stream)
    assert bits(load(folder / "web.model")[-1]) == bits(model[-1])


def test_a_shadow_reads_the_fields_that_are_its_own(tmp_path):
    stream = events(20, True)
    rows = [{"label": label, **fields} for fields, label in stream]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = ("train", "a.jsonl", "-q", "--label", "label", "--hash-seed", "1", "--text", "req")
    run(*read, "--text", "ua", "-m", "m", cwd=tmp_path)
    run(*read, "--features", "status", "-m", "other", cwd=tmp_path)
    expected = load(tmp_path / "other")
    with serving(tmp_path / "m", "--learn", "--shadow", tmp_path / "other") as (link, _):
        for fields, label in events(9, False, 2):
            link.post("/learn", {"fields": fields, "label": label})
            expected.learn_one({"req": fields["req"]}, label)
        assert link.get("/stats")["shadow"]["left_out"] == 0
    assert load(tmp_path / "other")[-1].weights == expected[-1].weights


def test_what_waits_in_the_queue_is_read_field_by_field(folder):
    with serving(folder, "--learn", "--keep-texts", "9", *TEXTS, *FEATURES) as (link, _):
        for fields, label in events(4, True):
            link.post("/m/web/learn", {"fields": fields, "label": label})
        fields = {"req": "/env/1", "ua": "curl", "status": 404, "method": None}
        link.post("/m/web/predict", {"fields": fields, "id": "a"})
        (waits,) = link.get("/m/web/queue")
        assert waits["text"] == "req: /env/1\nua: curl\nstatus: 404\nmethod: null"
        assert {each["word"] for each in waits["words"]} <= {
            "req:env", "req:1", "ua:curl", "status", "status=404"
        }  # fmt: skip
        assert link.post("/m/web/learn", {"id": "a", "label": "scan"})["done"] == "learned"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"req": "/env"}, "fields", "x has no field 'ua'; it has ['req']"),
        ({"req": 3, "ua": "a"}, "fields", "x['req'] is 3, an int; it must be a text"),
        (["/env"], "fields", "fields=['/env']: give an object"),
        ({"req": "a", "ua": "b", "stat": 1}, "fields", "the model reads no field 'stat'; give "),
        ({"req": "a", "ua": "b", "status": []}, "fields", "status"),
    ],
)
def test_fields_that_are_wrong_are_named_and_nothing_is_learned(folder, fields, field, message):
    with serving(folder, "--learn", *TEXTS, *FEATURES) as (link, _):
        link.post("/m/web/learn", {"fields": events(1, True)[0][0], "label": "human"})
        for do in ("predict", "learn"):
            found = link.post(f"/m/web/{do}", {"fields": fields, "label": "human"}, status=400)
            assert found["error"]["field"] == field
            assert message in found["error"]["message"]
        (line,) = link.lines("/m/web/learn", [{"fields": fields, "label": "human"}])
        assert message in line["error"]["message"]
        assert link.get("/m/web/model")["version"] == 1


@in_chromium
def test_the_page_asks_each_field(folder):
    with serving(folder, "--learn", *TEXTS, *FEATURES) as (link, _):
        for fields, label in events(9, True):
            link.post("/m/web/learn", {"fields": fields, "label": label})
    with at_a_port(folder, "--learn") as port, page() as tab:
        tab.open(f"http://127.0.0.1:{port}/m/web/")
        tab.until("document.getElementById('state').textContent === 'live'")
        labels = "[...document.querySelectorAll('#ask label')].map((e) => e.textContent)"
        assert tab.ask(labels) == [
            "req", "ua", "status", "method"
        ]  # fmt: skip
        for name, text in (("req", "/env/3"), ("ua", "curl"), ("status", "404")):
            tab.ask(f"document.querySelector('#ask [name={name}]').focus()")
            tab.type(text)
        tab.ask("document.getElementById('ask').requestSubmit()")
        tab.until("document.querySelectorAll('#answer .meter').length === 2")
        fields = {"req": "/env/3", "ua": "curl", "status": 404}
        label = load(folder / "web.model").predict_one(fields)
        assert shown(tab, "answer").startswith(label)
        assert tab.errors == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--create", "--events", "fields"], "--events fields: give --text FIELD, for each field"),
        (
            ["--create", "--events", "fields", "--features", "a"],
            "--events fields: give --text FIELD, for each field",
        ),
        (["--create", "--text", "a"], "--text is for --events fields; leave it out, or give that"),
        (
            ["--create", "--events", "x", "--features", "a"],
            "--features is for --events fields; leave it out, or give that",
        ),
        (["--text", "a"], "--text is for --create; leave it out, or give that"),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path, words, message):
    words = ("serve", "--models", ".", "--learn", "--http", "s", *words)
    assert message in run(*words, cwd=tmp_path, code=2)[1]
