"""The page of a service, in Chromium: read, typed into, labelled by keyboard, watched."""

import re
import shutil

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from tests.service.test_guard import TEACH, at_a_port
from tests.support.browser import CHROMIUM
from tests.support.devtools import page
from tests.support.served import serving

pytest.importorskip("starlette")
pytestmark = pytest.mark.once
in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "news.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in [("goal match", "sport"), ("vote law", "politics")]:
        pipeline.learn_one(text, label)
    pipeline.save(path)
    return path


def test_its_files_come_from_here_alone(model):
    with serving(model) as (link, _):
        for path, kind in [("/", "html"), ("/page.css", "css"), ("/base.js", "javascript")]:
            link.request("GET", path)
            answer = link.getresponse()
            text = answer.read().decode()
            assert kind in answer.headers["content-type"]
            assert answer.headers["content-security-policy"].startswith("default-src 'self'")
            assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}
            assert not re.search(r"<script>|<style>| style=| on\w+=\"|innerHTML|eval\(", text)


def test_prometheus_reads_its_numbers(model):
    with serving(model, "--learn") as (link, _):
        link.post("/learn", {"text": "goal", "label": "politics"})
        link.post("/predict", {"text": "goal"})
        text = link.get("/metrics")
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert numbers["streamptron_asked_total"] == "1.0"
    assert numbers["streamptron_mistakes_total"] == "1.0"
    assert numbers['streamptron_label_lessons_total{label="politics"}'] == "1.0"
    assert numbers["streamptron_answer_seconds_count"] == "1.0"
    assert numbers["streamptron_unsaved_lessons"] == "1.0"
    named = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert all(f"# HELP {name} " in text for name in named)


def shown(tab, id):
    return tab.ask(f"document.getElementById('{id}').textContent")


@pytest.mark.slow
@in_chromium
def test_texts_are_asked_and_the_queue_is_labelled_by_keyboard(model):
    words = ("--learn", "--keep-texts", "100")
    with at_a_port(model, *words) as port, page() as tab:
        url = f"http://127.0.0.1:{port}"
        tab.open(f"{url}/")
        tab.until("document.getElementById('state').textContent === 'live'")
        assert "All that was asked has its label." in shown(tab, "item")
        tab.ask("document.getElementById('text').focus()")
        tab.type("match")
        tab.ask("document.getElementById('ask').requestSubmit()")
        tab.until("document.querySelectorAll('#answer .meter').length === 2")
        assert shown(tab, "answer").startswith("sport")
        tab.ask(
            "(async () => { for (let k = 0; k < 5; k++) await fetch('predict', {method: 'POST',"
            "body: JSON.stringify({text: `goal law <b>${k}</b>`, id: `i${k}`})}); })()"
        )
        tab.until("document.querySelector('#item .text') !== null")
        assert "goal law <b>" in shown(tab, "item")  # texts are texts
        tab.ask("document.getElementById('queue').focus()")
        for key in "12121":
            tab.until("document.querySelector('#item .text') !== null")
            tab.type(key)
        tab.until("document.getElementById('item').textContent.startsWith('All that')")
        tab.until("document.querySelectorAll('#curve path').length > 0")
        tab.type("u")
        tab.until("document.querySelector('#item .text') !== null")
        assert "taken back" in shown(tab, "did")
        tab.type("2")
        tab.until("document.getElementById('item').textContent.startsWith('All that')")
        tab.until("now.model.version === 7")  # which is said once a second
        state = tab.ask("now")
        assert state["undone"] == 1
        assert {each["label"]: each["learned"] for each in state["labels"]} == {
            "sport": 2,  # one was taken back
            "politics": 3,
        }
        assert tab.errors == []
        for width in (360, 1280):
            tab.size(width, 800)
            assert tab.ask("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@in_chromium
def test_the_shadow_is_shown_beside_the_model(model, tmp_path):
    other = tmp_path / "other"
    (Tokenizer() | AdaptiveClassifier()).save(other)
    with at_a_port(model, "--learn", "--shadow", other) as port, page() as tab:
        tab.open(f"http://127.0.0.1:{port}/")
        tab.until("document.getElementById('state').textContent === 'live'")
        rows = tab.ask("[...document.querySelectorAll('#second tr')].map((e) => e.innerText)")
        assert [row.split("\t") for row in rows] == [
            ["model", "errors lately", "errors so far", "right alone"],
            ["answers AdaptiveClassifier", "\u2013", "\u2013", "0"],
            ["shadow AdaptiveClassifier", "\u2013", "\u2013", "0"],
        ]
        assert shown(tab, "compared").startswith("No difference beyond chance yet")
        assert tab.errors == []
        for width in (360, 1280):
            tab.size(width, 800)
            assert tab.ask("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@in_chromium
def test_the_shadow_is_read_aloud_and_the_page_walked_by_keyboard(model, tmp_path):
    other = tmp_path / "other"
    (Tokenizer() | AdaptiveClassifier()).save(other)
    words = ("--learn", "--keep-texts", "9", "--shadow", other)
    with at_a_port(model, *words) as port, page() as tab:
        tab.open(f"http://127.0.0.1:{port}/")
        tab.until("document.getElementById('state').textContent === 'live'")
        tab.ask('fetch(\'predict\', {method: \'POST\', body: \'{"text": "goal", "id": "a"}\'})')
        tab.until("document.querySelectorAll('#keys button').length === 3")
        found = tab.read_aloud()
        for each in (
            ("region", "Shadow"),
            ("table", "Shadow"),
            ("columnheader", "right alone"),
            ("rowheader", "answers AdaptiveClassifier"),
            ("rowheader", "shadow AdaptiveClassifier"),
            ("region", "To label next"),
            ("textbox", "What is to be answered"),
        ):
            assert each in found, each
        order = []
        for _ in range(6):
            tab.press("Tab")
            order.append(tab.focused())
        assert order == [
            "To the queue", "What is to be answered", "Ask", "1sport", "2politics", "sskip"
        ]  # fmt: skip
        tab.ask("document.querySelector('.skip').focus()")
        tab.press("Enter")
        tab.until("document.activeElement.id === 'queue'")
        tab.type("1")
        tab.until("now.model.version === 1")
        assert "0.0 %0.0 %" in shown(tab, "second")
        assert shown(tab, "compared").startswith("No difference beyond chance yet: of 0 lessons")
        assert tab.errors == []


@pytest.mark.slow
@in_chromium
def test_a_token_is_asked_for_and_a_server_that_comes_back_is_found(model, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"teach {TEACH}\n")
    with page() as tab:
        with at_a_port(model, "--token-file", tokens) as port:
            tab.open(f"http://127.0.0.1:{port}/")
            tab.until("document.getElementById('login').open")
            tab.ask(
                f"document.getElementById('token').value = '{TEACH}';"
                "document.querySelector('#login button').click()"
            )
            tab.until("document.getElementById('state').textContent === 'live'")
        tab.until("document.getElementById('state').textContent.startsWith('the server is away')")
        with at_a_port(model, "--token-file", tokens, port=port):
            tab.until("document.getElementById('state').textContent === 'live'")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")
def test_promtool_has_nothing_to_say(model):
    import subprocess

    with serving(model) as (link, _):
        text = link.get("/metrics")
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_model_is_as_before(model):
    before = load(model).predict_proba_one("goal")
    with serving(model, "--learn") as (link, _):
        link.post("/predict", {"text": "goal", "remember": False})
        assert link.get("/stats")["asked"] == 0
    assert load(model).predict_proba_one("goal") == before
