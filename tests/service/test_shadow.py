"""A second model that is asked and taught the same, and answers no client."""

import math
import random
import signal
from fractions import Fraction

import pytest

from streamptron import AdaptiveClassifier, Perceptron, Tokenizer, load, save
from tests.service.test_lost import bits, history, serial
from tests.support.commands import run
from tests.support.served import serving

pytest.importorskip("starlette")

from streamptron.service.shadow import SURE, log_evidence, sentence

pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers


# --- The test by betting


def twin(a, b):
    """The mean of p^a (1 - p)^b over all p, times 2^n, as a fraction."""
    return Fraction(2 ** (a + b) * math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))


def test_the_evidence_is_that_of_its_twin():
    for a in range(0, 60, 3):
        for b in range(0, 60, 7):
            assert log_evidence(a, b) == pytest.approx(math.log(twin(a, b)), abs=1e-9)


def test_a_fair_coin_makes_nobody_rich():
    """The mean of what a toss makes of it is what it was, so it is a fair game."""
    for a in range(12):
        for b in range(12):
            assert (twin(a + 1, b) + twin(a, b + 1)) / 2 == twin(a, b)


def test_of_equally_good_models_a_sentence_is_ever_said_with_the_probability_that_is_promised():
    """Exactly, for a look after each of 400 lessons."""
    silent, said = {0: 1.0}, 0.0  # by a: the probability of no sentence so far
    for n in range(1, 401):
        following = {}
        for a, p in silent.items():
            for each in (a, a + 1):
                following[each] = following.get(each, 0.0) + p / 2
        silent = {}
        for a, p in following.items():
            if sentence(a, n - a) is None:
                silent[a] = p
            else:
                said += p
    assert 0 < said <= 1 / SURE


def test_the_sentence_names_the_better_one():
    assert sentence(3, 5) is None
    assert sentence(0, 12).startswith("The shadow makes fewer mistakes: of 12 lessons")
    assert sentence(40, 8).startswith("The answering model makes fewer mistakes: of 48 lessons")


# --- The service


@pytest.fixture
def models(tmp_path):
    """The files of a model that answers, and of its shadow, which sees pairs of words."""
    path, other = tmp_path / "news.model", tmp_path / "other"
    (Tokenizer() | AdaptiveClassifier()).save(path)
    (Tokenizer(ngram_range=(1, 2)) | AdaptiveClassifier(naive_bayes=False)).save(other)
    return path, other


def taught(link, n, seed=1, first=0):
    """Lessons of all kinds: of events, late ones, corrections, lessons that are taken back."""
    rng = random.Random(seed)
    for number in range(first, first + n):
        words = [rng.choice("abcdefgh") for _ in range(3)]
        event = {"text": " ".join(words), "id": str(number)}
        if number % 3 == 0:
            link.post("/predict", event)
            del event["text"]
        link.post("/learn", {**event, "label": ("odd", "even")[words.count("a") % 2]})
        if number % 7 == 3:
            link.post("/learn", {"id": str(number - 1), "label": rng.choice(("odd", "even"))})
        if number % 11 == 5:
            link.post("/undo", {"id": str(number - 2)})


def expected(path, lessons):
    """What a model makes of lessons, by the library alone; texts of late ones are said before."""
    model = load(path)
    learner, steps = model[-1], {}
    for lesson in lessons:
        id, label = lesson["id"], lesson["label"]
        if lesson["do"] == "learn":
            x = model[0].transform_one(lesson["text"])
            steps[id] = learner.learn_one(x, label, undo=True)
        else:
            step = steps.pop(id)
            learner.undo(step)
            if lesson["do"] == "correct":
                steps[id] = learner.learn_ticket(step.ticket, label, undo=True)
    return learner


def test_it_learns_what_the_model_learns_bit_for_bit_and_changes_no_answer(models, tmp_path):
    path, other = models
    first, first_other = tmp_path / "first", tmp_path / "first_other"
    first.write_bytes(path.read_bytes())
    first_other.write_bytes(other.read_bytes())
    with serving(path, "--learn", "--keep-lessons", "--shadow", other) as (link, _):
        taught(link, 60)
        stats = link.get("/stats")
        lines = link.get("/metrics").splitlines()
    lessons = history(path)
    assert bits(load(path)[-1]) == bits(serial(first, lessons))
    rng, texts = random.Random(1), {}
    for number in range(60):
        texts[str(number)] = " ".join(rng.choice("abcdefgh") for _ in range(3))
        if number % 7 == 3:
            rng.choice("ab")
    whole = [{**lesson, "text": texts[lesson["id"]]} for lesson in lessons]
    assert bits(load(other)[-1]) == bits(expected(first_other, whole))
    shadow = stats["shadow"]
    assert (shadow["left_out"], shadow["lacks"]) == (0, 0)
    assert shadow["lessons"] == stats["lessons"]
    apart = stats["mistakes"] - shadow["mistakes"]
    assert shadow["only_shadow_right"] - shadow["only_answering_right"] == apart
    assert f"streamptron_shadow_mistakes_total {float(shadow['mistakes'])}" in lines


@pytest.mark.parametrize("when", ["at once", "after a save"])
def test_after_a_kill_it_learns_from_the_log(models, tmp_path, when):
    path, other = models
    words = ("--learn", "--shadow", other)
    with serving(path, *words, code=-signal.SIGKILL) as (link, server):
        taught(link, 20)
        if when == "after a save":
            link.post("/-/save", b"")
            taught(link, 12, 2, 20)
        before = link.get("/stats")["shadow"]
        server.kill()
    with serving(path, *words) as (link, _):
        after = link.get("/stats")["shadow"]
        assert after == before
        taught(link, 5, 3, 40)
    assert load(other)[-1].n_seen == load(path)[-1].n_seen


def test_what_it_lacks_is_said(models):
    path, other = models
    old, said = other.read_bytes(), []
    with serving(path, "--learn", "--shadow", other) as (link, _):
        old = other.read_bytes()
        taught(link, 4)
        n = link.get("/model")["version"]
    other.write_bytes(old)
    with serving(path, "--learn", "--shadow", other, said=said) as (link, _):
        assert link.get("/stats")["shadow"]["lacks"] == n
    with serving(path, "--learn", "--shadow", other, said=said) as (link, _):
        assert link.get("/stats")["shadow"]["lacks"] == n


def test_a_lesson_that_does_not_fit_it_is_left_out_and_harms_nothing(tmp_path):
    path, other = tmp_path / "m", tmp_path / "other"
    save(Tokenizer() | AdaptiveClassifier(), path)
    save(Tokenizer() | Perceptron(), other)  # whose labels are true and false
    said = []
    with serving(path, "--learn", "--shadow", other, said=said) as (link, _):
        for number in range(3):
            link.post("/learn", {"text": "goal", "label": "sport", "id": number})
        link.post("/learn", {"id": 0, "label": "law"})
        assert link.get("/stats")["shadow"]["left_out"] == 4
    assert said[0].count("does not fit the shadow, and is left out") == 1


def test_a_better_shadow_is_named(tmp_path):
    path, other = tmp_path / "m", tmp_path / "other"
    save(Tokenizer() | AdaptiveClassifier(), path)  # which sees no order of words
    save(Tokenizer(ngram_range=(1, 2)) | AdaptiveClassifier(), other)
    rng, lines = random.Random(5), []
    for number in range(400):
        words = rng.sample("ab", 2)
        lines.append({"text": " ".join(words), "label": words[0], "id": number})
    with serving(path, "--learn", "--sync", "never", "--shadow", other) as (link, _):
        link.lines("/learn", lines)
        assert link.get("/stats")["shadow"]["sentence"].startswith("The shadow makes fewer")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--shadow", "other"], 2, "--shadow learns what the model does; give --learn, too"),
        (["--learn", "--shadow", "none"], 1, "No such file"),
        (["--learn", "--shadow", "features"], 1, "--shadow features: it takes other events than"),
        (["--learn", "--shadow", "news.model"], 1, "is being written by process"),
    ],
)
def test_what_cannot_be_meant_is_said(models, tmp_path, words, code, message):
    save(AdaptiveClassifier(), tmp_path / "features")
    said = run("serve", "-m", "news.model", "--http", "s", *words, cwd=tmp_path, code=code)[1]
    assert message in said
