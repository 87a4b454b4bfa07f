"""`streamptron serve` over HTTP: what it answers, what it learns, and what it refuses."""

import base64
import contextlib
import json
import random

import pytest

from streamptron import (
    AROW,
    AdaptiveClassifier,
    Mail,
    MultiLabelClassifier,
    Perceptron,
    Tokenizer,
    load,
    save,
)
from tests.support.commands import run
from tests.support.served import Link, serving

pytest.importorskip("starlette")

TEXTS = [
    ("goal match win", "sport"),
    ("vote law court", "politics"),
    ("late goal", "sport"),
    ("court ruling", "politics"),
]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "news.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in TEXTS:
        pipeline.learn_one(text, label)
    pipeline.save(path)
    return path


def test_it_answers_as_the_library_does(model):
    pipeline = load(model)
    with serving(model) as (link, _):
        found = link.post("/predict", {"text": "a late goal", "top": 2, "explain": 2})
        p = pipeline.predict_proba_one("a late goal")
        assert found == {
            "label": "sport",
            "probability": p["sport"],
            "version": 0,
            "top": [
                {"label": "sport", "probability": p["sport"]},
                {"label": "politics", "probability": p["politics"]},
            ],
            "explain": [
                {"feature": name, "part": part}
                for name, part in pipeline.explain_one("a late goal", "sport")[:2]
            ],
        }
        listed = link.post("/predict", [{"text": "law"}, {"text": 1}, {"text": "goal", "id": 7}])
        assert [each.get("label") for each in listed] == ["politics", None, "sport"]
        assert listed[1]["error"]["message"] == "text=1: give a string"
        assert listed[2]["id"] == "7"
        assert {each["label"] for each in link.get("/labels")} == {"sport", "politics"}
        assert link.get("/model")["class"] == "AdaptiveClassifier"
        top = link.get("/top?label=sport&n=1")
        assert top[0]["feature"] == pipeline.top_features(1, "sport").positive[0][0]
        assert link.get("/-/healthy") == "healthy\n"
        assert link.get("/-/ready") == "ready\n"


def test_lines_are_answered_in_their_order_and_a_bad_one_harms_no_other(model):
    pipeline = load(model)
    texts = [f"goal {n} law {n % 7}" for n in range(3000)]
    lines = [{"text": text, "id": f"i{n}"} for n, text in enumerate(texts)]
    lines[5] = "not JSON"
    lines[70] = {"text": None}
    lines[71] = {"x": {}}
    lines[72] = '{"text": NaN}'
    with serving(model) as (link, _):
        found = link.lines("/predict", lines)
    assert len(found) == 3000
    for at in (5, 70, 71, 72):
        assert found[at]["error"]["line"] == at + 1
        assert found[at]["error"]["status"] == 400
    for at, text in enumerate(texts):
        if at not in (5, 70, 71, 72):
            p = pipeline.predict_proba_one(text)
            label = pipeline.predict_one(text)
            expected = {"id": f"i{at}", "label": label, "probability": p[label], "version": 0}
            assert found[at] == expected


def test_what_is_learned_twice_is_learned_once_and_another_label_corrects(model):
    twin = load(model)
    with serving(model, "--learn") as (link, _):
        one = {"text": "free prize", "label": "spam", "id": "a"}
        first = link.post("/learn", one)
        assert (first["done"], first["durable"], first["right"]) == ("learned", "disk", False)
        again = link.post("/learn", one)
        assert (again["done"], again["version"]) == ("known", first["version"])
        twin.learn_one("free prize", "spam")
        refused = link.post("/learn", {**one, "text": "another"}, status=409)
        assert "belongs to another event" in refused["error"]["message"]
        assert refused["error"]["field"] == "id"
        link.post("/predict", {"text": "another", "id": "a"}, status=409)
        step = twin[-1].learn_one(twin[0].transform_one("more goal"), "spam", undo=True)
        link.post("/learn", {"text": "more goal", "label": "spam", "id": "b"})
        assert link.post("/learn", {"id": "b", "label": "sport"})["done"] == "corrected"
        twin.undo(step)
        twin.learn_ticket(step.ticket, "sport")
        step = twin[-1].learn_one(twin[0].transform_one("law"), "spam", undo=True)
        link.post("/learn", {"text": "law", "label": "spam", "id": "c"})
        assert link.post("/undo", {"id": "c"})["done"] == "undone"
        assert link.post("/undo", {"id": "c"})["done"] == "known"
        twin.undo(step)
        link.post("/undo", {"id": "never"}, status=410)
    assert load(model).predict_proba_one("free goal law") == twin.predict_proba_one("free goal law")
    assert load(model)[-1].n_seen == twin[-1].n_seen


def test_a_label_may_come_later_by_the_id_alone(model):
    twin = load(model)
    with serving(model, "--learn", "--remember", "2") as (link, _):
        ids = [link.post("/predict", {"text": text})["id"] for text in ("goal", "law", "court")]
        found = link.post("/learn", {"id": ids[0], "label": "sport"}, status=410)
        assert "--remember 2 others have come since" in found["error"]["message"]
        found = link.post("/learn", {"id": ids[1], "label": "politics", "weight": 2})
        assert (found["done"], found["answered"], found["right"]) == ("learned", "politics", True)
    twin.learn_one("law", "politics", w=2.0)
    assert load(model).predict_proba_one("law") == twin.predict_proba_one("law")


def test_nothing_is_learned_without_leave(model):
    before = model.read_bytes()
    with serving(model) as (link, _):
        found = link.post("/learn", {"text": "a", "label": "sport"}, status=403)
        assert found["error"]["message"] == "this server does not learn; start it with --learn"
        link.post("/undo", {"id": "a"}, status=403)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == ["news.model"]


REFUSED = [
    (b"", 400, "it is not JSON"),
    (b"\xff", 400, "it is not UTF-8"),
    (b"3", 400, "give an object, or a list of them"),
    (b"[" * 60_000, 400, "it is not JSON"),
    (b'{"text": "a", "weight": NaN, "label": "sport"}', 400, "NaN is not a JSON number"),
    (b'{"text": "a"}', 400, "label is missing; give what the event is"),
    (b'{"label": "sport"}', 400, "give an event, or the id of one that was answered"),
    (b'{"text": "a", "label": null}', 400, "label=None: give a text or a number"),
    (b'{"text": "a", "label": ["sport"]}', 400, "label=['sport']: give a text or a number"),
    (b'{"text": "a", "label": "a\\nb"}', 400, "has a line end"),
    (b'{"text": "a", "label": "sport", "weight": -1}', 400, "w=-1"),
    (b'{"text": "a", "label": "sport", "weight": "1"}', 400, "weight='1': give a number"),
    (b'{"text": "a", "label": "sport", "id": ""}', 400, "id='': give a text of 1 to 200"),
    (b'{"text": "a", "label": "sport", "id": true}', 400, "id=True: give a text of 1 to 200"),
    (b'{"mail": "a", "label": "sport"}', 400, 'the model takes {"text": ...}, not mail'),
    (b'{"text": 1, "label": "sport"}', 400, "text=1: give a string"),
    (b'{"id": "a", "label": "sport"}', 410, "id='a' is not known"),
    (b" " * 70_000, 413, "the body has 70000 bytes, and --max-size is 65536"),
    (b'{"text": "a", "label": "third"}', 400, "is one more than --max-labels 2 allows"),
]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "news.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in TEXTS:
        pipeline.learn_one(text, label)
    pipeline.save(path)
    with serving(path, "--learn", "--max-size", "65536", "--max-labels", "2") as (link, _):
        yield link


@pytest.mark.parametrize(("body", "status", "message"), REFUSED)
def test_what_cannot_be_learned_is_said_and_changes_nothing(refusing, body, status, message):
    found = refusing.post("/learn", body, status=status)
    assert message in found["error"]["message"]
    assert set(found["error"]) == {"field", "value", "message"}
    assert refusing.get("/model")["version"] == 0
    assert refusing.get("/model")["seen"] == len(TEXTS)


def test_an_address_that_is_not_there_is_said_as_json(refusing):
    assert refusing.get("/nothing", status=404)["error"]["message"].startswith("there is no such")
    assert "GET is not for this one" in refusing.get("/predict", status=405)["error"]["message"]
    assert "give a whole number" in refusing.get("/top?n=-1", status=400)["error"]["message"]
    assert (
        "is not one of the model's" in refusing.get("/top?label=z", status=404)["error"]["message"]
    )


def test_each_kind_of_event_is_taken(tmp_path):
    mail = b"Subject: win\n\na free prize"
    said = base64.b64encode(mail).decode()
    labels = ["spam", "ham"]
    cases = [
        (Tokenizer(fields=("a", "b")) | AdaptiveClassifier(), {"fields": {"a": "x", "b": "y"}}),
        (AdaptiveClassifier(), {"x": {"size": 1.5, "city": "Paris", "gap": None}}),
        (Tokenizer() | AROW(), {"text": "free prize"}),
        (Mail() | AdaptiveClassifier(), {"mail": said}),
    ]
    for number, (pipeline, event) in enumerate(cases):
        path = tmp_path / str(number) / "m"
        path.parent.mkdir()
        save(pipeline, path)
        with serving(path, "--learn") as (link, _):
            link.post("/learn", {**event, "label": "spam"})
            link.post("/learn", {**event, "label": "ham", "id": "late"})
            found = link.post("/predict", {**event, "id": "ask"})
            assert found["label"] in labels
            assert link.post("/learn", {"id": "ask", "label": "ham"})["done"] == "learned"
            wrong = link.post("/predict", {"text" if number else "x": {}}, status=400)
            assert "the model takes" in wrong["error"]["message"] or "give a" in str(wrong)
        assert load(path).predict_one(mail if number == 3 else next(iter(event.values())))


def test_mails_come_as_they_are_and_are_known_again(tmp_path):
    path = tmp_path / "mail.model"
    (Mail() | AdaptiveClassifier()).save(path)
    mail, other = b"Subject: win\n\na free prize", b"Subject: tomorrow\n\nsee you"
    kind = {"content_type": "message/rfc822"}
    with serving(path, "--learn") as (link, _):
        assert link.post("/learn?label=spam", mail, **kind)["done"] == "learned"
        link.post("/learn?label=ham", other, **kind)
        again = link.post("/learn?label=spam", b"Status: RO\r\n" + mail, **kind)
        assert again["done"] == "known"
        found = link.post("/predict?explain=1", mail, **kind)
        assert found["label"] == "spam"
        assert found["explain"][0]["feature"].startswith(("subject: ", "text: ", "bytes: "))
        third = link.post("/learn?label=Spam", mail, status=400, **kind)
        assert "did you mean 'spam'" in third["error"]["message"]
        assert link.post("/learn?label=ham", mail, **kind)["done"] == "corrected"


def test_labels_are_those_that_the_command_line_writes(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"spam\twin a prize\nham\tsee you\n")
    path = tmp_path / "m"
    run(
        "train",
        "a.tsv",
        "--model",
        "m",
        "--learner",
        "perceptron",
        "--positive",
        "spam",
        cwd=tmp_path,
    )
    with serving(path, "--learn") as (link, _):
        assert link.post("/predict", {"text": "a prize"})["label"] == "spam"
        link.post("/learn", {"text": "a prize", "label": "spam"})
        found = link.post("/learn", {"text": "a prize", "label": "ham"}, status=400)
        assert "give 'not spam' or 'spam'" in found["error"]["message"]
    save(Perceptron(), tmp_path / "p" if (tmp_path / "p").mkdir() else tmp_path / "p" / "m")
    with serving(tmp_path / "p" / "m", "--learn") as (link, _):
        link.post("/learn", {"x": {"a": 1}, "label": True})
        assert link.post("/predict", {"x": {"a": 1}})["label"] is True
        found = link.post("/learn", {"x": {"a": 1}, "label": "yes"}, status=400)
        assert found["error"]["message"] == "label='yes': give true or false"


def test_several_labels_are_answered_and_learned(tmp_path):
    path = tmp_path / "m"
    (Tokenizer() | MultiLabelClassifier()).save(path)
    with serving(path, "--learn") as (link, _):
        for _ in range(30):
            link.post("/learn", {"text": "goal law", "labels": ["sport", "politics"]})
            link.post("/learn", {"text": "goal", "labels": ["sport"]})
        found = link.post("/predict", {"text": "goal law"})
        assert sorted(found["labels"]) == ["politics", "sport"]
        assert len(found["probabilities"]) == 2
        assert link.post("/learn", {"text": "a", "label": "x"}, status=400)["error"]["field"] == (
            "labels"
        )


def test_the_queue_has_the_least_sure_first_and_a_label_takes_it_away(model):
    with serving(model, "--learn", "--keep-texts", "3") as (link, _):
        for text in ("vote", "goal goal win match", "law goal", "goal"):
            link.post("/predict", {"text": text, "id": text})
        queue = link.get("/queue")
        assert len(queue) == 3
        assert queue[0]["id"] == "law goal"
        assert {each["word"] for each in queue[0]["words"]} == {"law", "goal"}
        assert [each["probability"] for each in queue] == sorted(
            each["probability"] for each in queue
        )
        link.post("/learn", {"id": "law goal", "label": "sport"})
        assert "law goal" not in [each["id"] for each in link.get("/queue")]
    with serving(model, "--learn") as (link, _):
        link.post("/predict", {"text": "vote"})
        assert link.get("/queue") == []


def test_numbers_say_what_was_asked_and_taught(model):
    with serving(model, "--learn") as (link, _):
        for text, label in [("goal", "sport"), ("law", "sport"), ("court", "politics")]:
            link.post("/learn", {"text": text, "label": label})
        stats = link.get("/stats")
    assert (stats["lessons"], stats["mistakes"], stats["error_lately"]) == (3, 1, 1 / 3)
    assert stats["confusions"] == [{"label": "sport", "answered": "politics", "n": 1}]
    assert stats["curve"]["mistakes"] == [0, 1, 0]
    assert {(each["label"], each["recall"]) for each in stats["labels"]} == {
        ("sport", 0.5),
        ("politics", 1.0),
    }
    assert stats["moved"][0]["word"] == "law"
    assert stats["wrong"][0]["words"][0]["word"] == "law"
    assert "text" not in stats["wrong"][0] or stats["wrong"][0]["text"] == ""
    with serving(model, "--learn") as (link, _):  # and they go on
        assert link.get("/stats")["mistakes"] == 1


def test_who_watches_hears_of_numbers_and_lessons(model):
    with serving(model, "--learn") as (link, _):
        link.request("GET", "/events")
        answer = link.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        kind, stats = event_of(answer)
        assert (kind, stats["lessons"]) == ("stats", 0)
        with contextlib.closing(Link(link.path)) as other:
            for n in range(30):
                other.post("/learn", {"id": f"l{n}", "text": "goal", "label": "sport"})
            other.post("/undo", {"id": "l7"})
            other.post("/learn", {"id": "l7", "text": "goal", "label": "politics"})
        lessons = []
        while len(lessons) < 32 or stats["undone"] != 1:
            kind, found = event_of(answer)
            if kind == "lessons":
                lessons += found
            else:
                stats = found
        answer.close()
    assert [each["id"] for each in lessons] == [*(f"l{n}" for n in range(30)), "l7", "l7"]
    assert [each["done"] for each in lessons] == [*["learn"] * 30, "undo", "learn"]
    assert lessons[0] == {"done": "learn", "id": "l0", "label": "sport", "wrong": False}


def event_of(answer):
    """The kind and the data of a server-sent event."""
    kind, data, end = (answer.readline() for _ in range(3))
    assert end == b"\n", (kind, data)
    return kind.decode().removeprefix("event: ").strip(), json.loads(data.removeprefix(b"data: "))


def test_the_api_is_described_as_it_is(model):
    with serving(model, "--learn", said=[]) as (link, _):
        paths = link.get("/openapi.json")["paths"]
        assert set(paths) >= {"/predict", "/learn", "/undo", "/stats", "/metrics", "/-/save"}
        for path, does in paths.items():
            if path == "/events":
                continue
            (method,) = does
            status, found = link.ask(method.upper(), path, b"{}" if method == "post" else None)
            assert status in (200, 400), (path, status, found)
            wrong = "POST" if method == "get" else "GET"
            assert link.ask(wrong, path)[0] == 405


def wrecked(rng):
    """An invalid body, from a valid one."""
    body = bytearray(json.dumps({"text": "a", "label": "sport", "id": "7", "weight": 1}).encode())
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(body))
        body[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
    return bytes(body)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_whatever_comes_is_answered_and_never_a_fault_of_the_server(model, seed):
    rng = random.Random(seed)
    words = ("--learn", "--sync", "never", "--journal", "10", "--remember", "10")
    with serving(model, *words) as (link, _):
        for _ in range(400):
            url = rng.choice(("/predict", "/learn", "/undo", "/predict?top=z", "/nothing"))
            kind = rng.choice(("application/json", "application/x-ndjson", "message/rfc822"))
            status, _ = link.ask("POST", url, wrecked(rng), content_type=kind)
            assert status in (200, 400, 404, 409, 410, 413), status
        assert link.get("/-/ready") == "ready\n"


def test_numbers_too_large_for_a_double_are_refused_where_they_come(model):
    with serving(model, "--learn") as (link, _):
        for body in ('"label": 1e999', '"label": "sport", "weight": 1' + 400 * "0"):
            found = link.post("/learn", f'{{"text": "goal", {body}}}'.encode(), status=400)
            assert found["error"]["field"] in ("label", "weight")
        found = link.post("/predict", b'{"text": 1e999}', status=400)
        assert found["error"]["message"] == "text=inf: give a string"
        assert link.get("/model")["version"] == 0


def test_a_label_with_half_a_character_is_one_and_metrics_are_still_utf_8(model):
    with serving(model, "--learn") as (link, _):
        link.post("/learn", b'{"text": "goal", "label": "\\ud800"}')
        assert link.post("/predict", {"text": "goal"})["label"] == "\ud800"
        assert 'label="?"' in link.get("/metrics")
