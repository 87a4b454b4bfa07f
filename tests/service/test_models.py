"""Many models in a folder: made, asked and taught by their names, closed and opened again."""

import asyncio
import signal
import threading

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from streamptron.service import lessons
from streamptron.service.lessons import Log
from tests.service.test_guard import ASK, TEACH, at_a_port, bearer, tokens  # noqa: F401
from tests.service.test_lost import until
from tests.service.test_page import in_chromium
from tests.support.commands import run
from tests.support.devtools import page
from tests.support.served import serving

pytest.importorskip("starlette")
pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers


@pytest.fixture
def folder(tmp_path):
    """A folder with the models `news` and `mail`."""
    path = tmp_path / "models"
    path.mkdir()
    for name, label in (("news", "sport"), ("mail", "spam")):
        pipeline = Tokenizer() | AdaptiveClassifier()
        pipeline.learn_one("a late goal", label)
        pipeline.save(path / f"{name}.model")
    return path


def names(link):
    return [each["name"] for each in link.get("/models")]


def test_each_model_answers_by_its_name_as_if_it_were_alone(folder):
    pipeline = load(folder / "news.model")
    with serving(folder, "--learn") as (link, _):
        for name, label in (("news", "sport"), ("mail", "spam")):
            assert link.post(f"/m/{name}/predict", {"text": "goal"})["label"] == label
        found = link.post("/m/news/learn", {"text": "law", "label": "politics", "id": "a"})
        assert (found["done"], found["durable"], found["version"]) == ("learned", "disk", 1)
        assert link.lines("/m/news/predict", [{"text": "law"}])[0]["label"] == "politics"
        link.post("/m/mail/undo", {"id": "a"}, status=410)  # ids are a model's own
        for what in ("labels", "model", "top", "queue", "stats"):
            link.get(f"/m/news/{what}")
        assert "streamptron_asked_total 2.0" in link.get("/m/news/metrics")
        assert link.get("/m/news/-/ready") == link.get("/-/ready") == "ready\n"
        assert link.post("/m/news/-/save", b"")["done"] == "saved"
        assert link.post("/m/news/undo", {"id": "a"})["done"] == "undone"
        column = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["goal"]}
        infer = link.post("/v2/models/mail/infer", {"inputs": [column]})
        assert infer["outputs"][0]["data"] == ["spam"]
        assert link.get("/v2/models/none", 404)["error"].startswith("there is no model none")
        found = {each["name"]: each for each in link.get("/models")}
        assert found["news"] | {"asked": 2, "version": 2, "labels": 2} == found["news"]
        assert link.post("/-/save", b"") == {"done": "saved"}
        assert not (folder / "news.model.lessons").read_bytes()
    assert load(folder / "news.model").predict_one("a goal") == pipeline.predict_one("a goal")
    assert load(folder / "news.model")[-1].n_seen == 2


def test_models_are_made_when_they_are_first_taught(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    words = ("--create", "--ngrams", "1,2", "--learner", "mira", "--max-models", "2")
    with serving(folder, "--learn", *words) as (link, _):
        assert names(link) == []
        for url in ("/m/a/stats", "/v2/models/a"):
            assert "to have it made, teach it something" in str(link.get(url, 404))
        link.post("/m/a/predict", {"text": "goal"}, status=404)
        link.post("/m/a/learn", {"text": "law", "label": "politics"})
        assert link.post("/m/b-1.x_/learn", {"text": "goal", "label": "sport"})["version"] == 1
        assert names(link) == ["a", "b-1.x_"]
        full = link.post("/m/c/learn", {"text": "goal", "label": "sport"}, status=507)
        assert full["error"]["message"].startswith("there are --max-models 2 models, and c would")
    model = load(folder / "b-1.x_.model")
    assert type(model[-1]).__name__ == "MIRA"
    assert model[0].ngram_range == (1, 2)
    assert b"sport" in run("predict", "-m", folder / "b-1.x_.model", data=b"a goal\n")[0]


@pytest.mark.parametrize(
    ("events", "event"), [("x", {"x": {"size": 1}}), ("mail", {"mail": "U3ViamVjdDogYQoKYg=="})]
)
def test_new_models_are_of_the_events_that_are_asked_for(tmp_path, events, event):
    folder = tmp_path / "models"
    folder.mkdir()
    with serving(folder, "--learn", "--create", "--events", events) as (link, _):
        link.post("/m/a/learn", {**event, "label": "ham"})
        assert link.post("/m/a/predict", event)["label"] == "ham"
        assert link.get("/m/a/model")["events"] == events


def test_a_name_is_never_a_path(folder):
    lesson = {"text": "goal", "label": "sport"}
    with serving(folder, "--learn", "--create") as (link, _):
        for name in ("A", ".news", "-a", "a" * 65, "..", "n%00", "ne%20ws", "%C3%A9", "a%0A"):
            found = link.post(f"/m/{name}/learn", lesson, status=400)
            assert "give 1 to 64 of a-z, 0-9" in found["error"]["message"]
            assert found["error"]["field"] == "name"
        for name in ("a%2Fb", "%2e%2e%2fnews", "a/b", ""):
            link.post(f"/m/{name}/learn", lesson, status=404)
        assert names(link) == ["mail", "news"]
    assert {each.name for each in folder.iterdir()} == {"news.model", "mail.model"}


def test_those_used_least_recently_are_closed_and_nothing_of_them_is_lost(folder):
    with serving(folder, "--learn", "--max-open-bytes", "1") as (link, _):
        link.post("/m/news/learn", {"text": "law", "label": "politics", "id": "a"})
        link.post("/m/mail/predict", {"text": "goal"})

        def open_ones():
            return [each["name"] for each in link.get("/models") if each["open"]]

        until(lambda: open_ones() == ["mail"])
        until(lambda: not (folder / "news.model.lessons").exists())
        assert load(folder / "news.model").predict_one("law") == "politics"
        found = link.post("/m/news/learn", {"text": "law", "label": "politics", "id": "a"})
        assert (found["done"], found["version"]) == ("known", 1)
        until(lambda: open_ones() == ["news"])


def test_a_kill_loses_no_lesson_of_any_model(folder):
    with serving(folder, "--learn", "--create", code=-signal.SIGKILL) as (link, server):
        for number in range(6):
            name = ("news", "mail", "new")[number % 3]
            link.post(f"/m/{name}/learn", {"text": f"w{number}", "label": "sport", "id": number})
        server.kill()
    with serving(folder, "--learn") as (link, _):
        for name in ("news", "mail", "new"):
            assert link.get(f"/m/{name}/model")["version"] == 2


def test_each_model_may_have_a_shadow_in_a_folder_of_them(folder, tmp_path):
    shadows = tmp_path / "shadows"
    shadows.mkdir()
    (Tokenizer(ngram_range=(1, 2)) | AdaptiveClassifier()).save(shadows / "news.model")
    words = ("--learn", "--shadow", shadows)
    with serving(folder, *words, "--create", code=-signal.SIGKILL) as (link, server):
        for number in range(4):
            for name in ("news", "mail", "new"):
                lesson = {"text": f"goal w{number}", "id": number, "label": "sport"}
                link.post(f"/m/{name}/learn", lesson)
        assert link.get("/m/mail/stats")["shadow"] is link.get("/m/new/stats")["shadow"] is None
        shadow = link.get("/m/news/stats")["shadow"]
        assert (shadow["lessons"], shadow["file"]) == (3, str(shadows / "news.model"))
        lines = link.get("/metrics").splitlines()
        assert 'streamptron_shadow_judged_total{model="news"} 3.0' in lines
        assert not any("shadow" in line and '"mail"' in line for line in lines)
        server.kill()
    with serving(folder, *words, "--max-open-bytes", "1") as (link, _):
        assert link.get("/m/news/stats")["shadow"] == shadow
        link.get("/m/mail/model")
        until(lambda: load(shadows / "news.model")[-1].n_seen == 4)
    assert sorted(each.name for each in shadows.iterdir()) == ["news.model"]


def test_all_models_share_the_few_threads_that_wait_for_the_disk(tmp_path):
    def syncing():
        return {each for each in threading.enumerate() if each.name.startswith("sync")}

    async def written(logs):
        for n in range(1, 4):
            for log in logs:
                log.append({"n": n})
            assert set(await asyncio.gather(*[log.durable() for log in logs])) == {"disk"}

    before = syncing()
    logs = [Log(str(tmp_path / f"{number}"), "always") for number in range(40)]
    asyncio.run(written(logs))
    assert len(syncing() | before) <= 4
    for log in logs:
        log.close()
    assert [each["n"] for each in lessons.read(str(tmp_path / "39"))] == [1, 2, 3]


def test_numbers_have_the_name_of_their_model(folder):
    with serving(folder, "--learn") as (link, _):
        link.post("/m/news/learn", {"text": "goal", "label": "politics"})
        link.get("/m/mail/model")
        lines = link.get("/metrics").splitlines()
    assert 'streamptron_mistakes_total{model="news"} 1.0' in lines
    assert 'streamptron_mistakes_total{model="mail"} 0.0' in lines
    assert "streamptron_open_models 2.0" in lines


def test_a_model_that_another_process_writes_is_named_and_the_others_answer(folder):
    from streamptron import ModelLock

    said = []
    with serving(folder, "--learn", said=said) as (link, _), ModelLock(folder / "news.model"):
        found = link.post("/m/news/predict", {"text": "goal"}, status=503)
        assert "the model news cannot be opened: " in found["error"]["message"]
        assert link.post("/m/mail/predict", {"text": "goal"})["label"] == "spam"
    assert "is being written by process" in said[0]


def test_the_api_of_many_models_is_described_as_it_is(folder):
    with serving(folder, "--learn", said=[]) as (link, _):
        paths = link.get("/openapi.json")["paths"]
        assert set(paths) >= {"/m/{name}/learn", "/models", "/-/save", "/metrics"}
        for path, does in paths.items():
            if path.endswith("/events"):
                continue
            (method,) = set(does) - {"parameters"}
            url = path.replace("{name}", "news")
            status, found = link.ask(method.upper(), url, b"{}" if method == "post" else None)
            assert status in (200, 400), (path, status, found)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--models", "none"], 1, "--models none is not a folder; make it first"),
        ([], 2, "give --model FILE or --models FOLDER, one of the two"),
        (["--models", ".", "--model", "m"], 2, "give --model FILE or --models FOLDER, one of"),
        (["--models", ".", "--create"], 2, "--create is for models that learn; give --learn"),
        (
            ["--models", ".", "--learn", "--shadow", "a"],
            1,
            "--shadow a is not a folder; with --mod",
        ),
        (["--models", ".", "--learn", "--shadow", "."], 1, "--shadow . is the folder of --models"),
        (["--models", ".", "--ngrams", "1,2"], 2, "--ngrams is for --create; leave it out"),
        (["-m", "m", "--max-models", "2"], 2, "--max-models is for --models; leave it out"),
        (["-m", "m", "--positive", "a"], 2, "--positive is for --create or --spamd; leave it"),
        (
            ["--models", ".", "--learn", "--create", "--learner", "perceptron", "--shape", "auto"],
            2,
            "Perceptron has no --shape",
        ),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path, words, code, message):
    assert message in run("serve", "--http", "s", *words, cwd=tmp_path, code=code)[1]


def test_pages_are_open_and_what_they_show_wants_a_token(folder, tokens):  # noqa: F811
    with serving(folder, "--learn", "--create", "--token-file", tokens) as (link, _):
        for path in ("/", "/models.js", "/page.css", "/m/news/", "/m/news/page.js"):
            link.get(path)
        for path in ("/models", "/m/news/stats", "/m/news/-/ready", "/metrics"):
            link.get(path, 401)
            link.get(path, **bearer(ASK))
        lesson = {"text": "goal", "label": "sport"}
        link.post("/m/new/learn", lesson, 403, **bearer(ASK))
        assert len(link.get("/models", **bearer(ASK))) == 2
        link.post("/m/new/learn", lesson, **bearer(TEACH))


@in_chromium
def test_the_page_lists_the_models_and_opens_each(folder):
    with at_a_port(folder, "--learn") as port, page() as tab:
        tab.open(f"http://127.0.0.1:{port}/")
        tab.until("document.querySelectorAll('#models tbody a').length === 2")
        assert tab.ask("document.getElementById('count').textContent") == "2 models"
        for width in (360, 1280):
            tab.size(width, 800)
            assert tab.ask("document.documentElement.scrollWidth") <= width
        tab.ask("document.querySelectorAll('#models tbody a')[1].click()")
        tab.until("document.getElementById('state') && location.pathname === '/m/news/'")
        tab.until("document.getElementById('state').textContent === 'live'")
        assert "news" in tab.ask("document.title")
        tab.ask("document.querySelector('header a').click()")
        tab.until("location.pathname === '/' && document.querySelectorAll('#models a').length")
        tab.open(f"http://127.0.0.1:{port}/m/none/")
        tab.until("document.getElementById('state').textContent.startsWith('there is no model')")


@in_chromium
def test_the_list_is_used_by_keyboard_and_read_aloud(folder):
    with at_a_port(folder, "--learn") as port, page() as tab:
        tab.open(f"http://127.0.0.1:{port}/")
        tab.until("document.querySelectorAll('#models tbody a').length === 2")
        found = tab.read_aloud()
        for each in (
            ("heading", "streamptron"),
            ("table", "Models"),
            ("columnheader", "errors lately"),
            ("rowheader", "mail"),
            ("link", "news"),
            ("status", ""),
        ):
            assert each in found, each
        assert tab.ask("document.getElementById('state').textContent") == "live"
        order = []
        for _ in range(4):
            tab.press("Tab")
            order.append(tab.focused())
        assert order == ["mail", "news", "models", "metrics"]
        tab.ask("document.querySelectorAll('#models a')[1].focus()")
        tab.ask(
            'fetch(\'m/mail/learn\', {method: \'POST\', body: \'{"text": "a", "label": "b"}\'})'
        )
        tab.until("document.getElementById('models').textContent.includes('AdaptiveClassifier')")
        assert tab.focused() == "news"  # the list has been drawn anew
        tab.press("Enter")
        tab.until("location.pathname === '/m/news/' && document.getElementById('queue') !== null")
        assert tab.errors == []
