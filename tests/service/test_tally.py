"""What is counted of lessons: a correction counts as if the right label had come at once."""

import random

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.support.served import serving

pytest.importorskip("starlette")

from streamptron.service.tally import LATELY, POINTS, WORDS, Tally

LABELS = ("sport", "politics", "science")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("several", [False, True])
def test_a_correction_counts_as_if_the_right_label_had_come_at_once(seed, several):
    rng = random.Random(seed)
    corrected, twin, kept = Tally(), Tally(), []
    for _ in range(3 * max(LATELY, POINTS) // 2):
        answered, first, right = (some(rng, several) for _ in range(3))
        p = None if several else rng.choice((None, rng.random()))
        if rng.random() < 0.05:
            answered = None
        kept.append((corrected.judge(answered, p, first), first, right))
        twin.judge(answered, p, right)
    rng.shuffle(kept)
    for judged, first, right in kept:
        corrected.correct(judged, first, right)
    same(corrected, twin)
    same(Tally(corrected.kept()), twin)


def some(rng, several):
    return rng.sample(LABELS, rng.randrange(3)) if several else rng.choice(LABELS)


def same(found, wanted):
    """Both have counted the same, whatever the order of labels."""
    a, b = found.kept(), wanted.kept()
    for key in ("calibration", "log_loss"):
        left, right = a.pop(key), b.pop(key)
        flat = [x for row in left for x in row] if isinstance(left, list) else [left]
        other = [x for row in right for x in row] if isinstance(right, list) else [right]
        assert flat == pytest.approx(other, abs=1e-9)
    for key in ("labels", "confusions"):
        assert sorted(a.pop(key)) == sorted(b.pop(key))
    assert a == b
    assert found.error_lately == wanted.error_lately


def test_a_lesson_that_is_taken_back_counts_no_more():
    tally = Tally()
    for label in ("sport", "politics", "sport"):
        judged = tally.judge("sport", 0.75, label)
        if label == "politics":
            wrong = judged
    tally.correct(wrong, "politics", None)
    stats = tally.stats()
    assert (stats["lessons"], stats["mistakes"], stats["error_lately"]) == (2, 0, 0.0)
    assert stats["confusions"] == []
    assert stats["curve"]["mistakes"] == [0, 0, 0]  # it stays a lesson there, and no mistake
    assert {each["label"]: each["learned"] for each in stats["labels"]} == {
        "sport": 2,
        "politics": 0,
    }


@pytest.mark.slow
@pytest.mark.once
def test_the_service_counts_a_corrected_lesson_by_its_right_label(tmp_path):
    path = tmp_path / "news.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in (("goal", "sport"), ("law", "politics")):
        pipeline.learn_one(text, label)
    pipeline.save(path)
    with serving(path, "--learn") as (link, _):
        link.post("/learn", {"text": "goal", "label": "politics", "id": "slip"})
        assert link.get("/stats")["confusions"] == [
            {"label": "politics", "answered": "sport", "n": 1}
        ]
        link.post("/learn", {"text": "law", "label": "politics", "id": "other"})
    with serving(path, "--learn") as (link, _):  # after a save, too
        link.post("/learn", {"id": "slip", "label": "sport"})
        stats = link.get("/stats")
        assert (stats["error"], stats["error_lately"], stats["confusions"]) == (0.0, 0.0, [])
        assert (stats["lessons"], stats["mistakes"], stats["corrected"]) == (2, 0, 1)
        link.post("/learn", {"text": "law", "label": "sport", "id": "c"})
        link.post("/undo", {"id": "c"})
    with serving(path, "--learn") as (link, _):
        stats = link.get("/stats")
        assert (stats["lessons"], stats["error_lately"], stats["wrong"]) == (2, 0.0, [])


def test_words_that_move_most_are_kept_however_many_came_before():
    tally = Tally()
    tally.move("sport", {}, {"first": 0.5})
    for n in range(20):
        tally.move("sport", {}, {f"w{n}-{k}": 0.001 * (k % 7 + 1) for k in range(300)})
    tally.move("politics", {"late": 0.25}, {"late": -0.5})
    assert tally.moved(2) == [
        {"word": "late", "label": "politics", "by": -0.75},
        {"word": "first", "label": "sport", "by": 0.5},
    ]
    assert len(tally.moved(10**6)) <= WORDS + 1
