"""Mails by spamc and by HTTP, in one process: the same lessons, whichever way they come."""

import signal

import pytest

from streamptron import Journal, Perceptron, load
from streamptron.learners.mail import Mail
from tests.command.test_mail import HAM, MAIL, SPAM, boxes, model  # noqa: F401
from tests.command.test_serve import TELL_HAM, TELL_SPAM, asked, spamc
from tests.support.commands import run
from tests.support.served import serving

pytest.importorskip("starlette")
pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers

RAW = {"content_type": "message/rfc822"}


@pytest.fixture
def door(model):  # noqa: F811
    """The socket for spamc."""
    return str(model.parent / "spamd")


def test_both_doors_answer_the_same(model, door):  # noqa: F811
    with serving(model, "--spamd", door, said=[]) as (link, _):
        found = link.post("/predict?remember=false", MAIL, **RAW)
        answer = asked(door, "PROCESS", MAIL)[2]
        assert answer.startswith(f"X-Streamptron: spam {found['probability']:.4f} ".encode())
        assert link.get("/stats")["asked"] == 1
        assert asked(door, "TELL", MAIL, *TELL_SPAM)[0].startswith("SPAMD/1.5 69 ")


def test_a_lesson_of_one_door_is_known_to_the_other(model, door):  # noqa: F811
    with serving(model, "--learn", "--spamd", door) as (link, _):
        assert asked(door, "TELL", MAIL, *TELL_HAM)[1]["DidSet"] == "local"
        again = link.post("/learn?label=ham", MAIL, **RAW)
        assert (again["done"], again["version"]) == ("known", 1)
        assert link.post("/learn?label=spam", b"Status: RO\n" + MAIL, **RAW)["done"] == "corrected"
        assert "DidSet" not in asked(door, "TELL", MAIL, *TELL_SPAM)[1]
        assert link.post("/undo", {"id": again["id"]})["done"] == "undone"
        assert "DidRemove" not in asked(door, "TELL", MAIL, "Remove: local")[1]
        other = link.post("/learn?label=spam", SPAM % (9, 9), **RAW)
        assert asked(door, "TELL", SPAM % (9, 9), "Remove: local")[1]["DidRemove"] == "local"
        assert link.post("/undo", {"id": other["id"]})["done"] == "known"
        assert link.post("/learn?label=spam", SPAM % (9, 9), **RAW)["done"] == "learned"
        assert link.get("/model")["version"] == 6


def test_what_spamc_has_taught_survives_a_kill(model, door):  # noqa: F811
    before = load(model)[-1].n_seen
    with serving(model, "--learn", "--spamd", door, code=-signal.SIGKILL) as (link, server):
        assert b"successfully un/learned" in spamc(door, "-L", "ham")
        link.post("/learn?label=spam", SPAM % (9, 9), **RAW)
        assert b"successfully un/learned" in spamc(door, "-L", "spam")
        server.kill()
    with serving(model, "--learn", "--spamd", door) as (link, _):
        assert link.get("/model")["version"] == 3
        assert b"already un/learned" in spamc(door, "-L", "spam")
        assert link.post("/learn?label=spam", SPAM % (9, 9), **RAW)["done"] == "known"
    assert load(model)[-1].n_seen == before + 3


def test_what_the_commands_have_learned_is_known_and_can_be_corrected(model):  # noqa: F811
    run("learn", "--as", "ham", "-m", model, data=MAIL)
    with serving(model, "--learn") as (link, _):
        found = link.post("/learn?label=ham", MAIL, **RAW)
        assert (found["done"], found["version"]) == ("known", 0)
        known = link.post("/learn?label=spam", SPAM % (1, 1), **RAW)  # by train, long ago
        assert known["done"] == "known"
        assert link.post("/learn", {"id": found["id"], "label": "spam"})["done"] == "corrected"
        link.post("/learn?label=spam", SPAM % (9, 9), **RAW)
    assert "1 known already" in run("learn", "--as", "spam", "-m", model, data=MAIL)[1]
    assert "1 known already" in run("learn", "--as", "spam", "-m", model, data=SPAM % (9, 9))[1]
    assert "1 corrected" in run("learn", "--as", "ham", "-m", model, data=SPAM % (9, 9))[1]
    run("forget", "-m", model, data=MAIL)
    with serving(model, "--learn") as (link, _):
        assert link.post("/learn?label=ham", SPAM % (9, 9), **RAW)["done"] == "known"
        assert link.post("/learn?label=spam", MAIL, **RAW)["done"] == "learned"
    assert [Journal.load(model).label_of(id) for id in Journal.load(model)] == ["ham", "spam"]


def test_a_mail_that_spamc_has_asked_waits_in_the_queue(model, door):  # noqa: F811
    words = ("--learn", "--keep-texts", "9", "--spamd", door)
    with serving(model, *words) as (link, _):
        asked(door, "CHECK", MAIL)
        asked(door, "CHECK", MAIL)
        (waits,) = link.get("/queue")
        assert waits["text"].startswith("To: a")
        assert link.post("/learn", {"id": waits["id"], "label": "ham"})["done"] == "learned"
        assert "DidSet" not in asked(door, "TELL", MAIL, *TELL_HAM)[1]


def test_thick_training_is_for_both_doors(model, door):  # noqa: F811
    words = ("--learn", "--learn-unsure", "0", "--spamd", door)
    with serving(model, *words) as (link, _):
        assert link.post("/learn?label=spam", MAIL, **RAW)["done"] == "sure"
        assert "DidSet" not in asked(door, "TELL", MAIL, *TELL_SPAM)[1]
        assert link.post("/learn?label=ham", MAIL, **RAW)["done"] == "learned"


def test_a_filter_of_truths_takes_their_names_from_spamc(tmp_path):
    path, door = tmp_path / "m", str(tmp_path / "spamd")
    (Mail() | Perceptron()).save(path)
    with serving(path, "--learn", "--spamd", door, "--positive", "1") as (link, _):
        assert asked(door, "TELL", MAIL, *TELL_SPAM)[1]["DidSet"] == "local"
        assert link.post("/learn", {**_mail(MAIL), "label": True})["done"] == "known"
        assert asked(door, "CHECK", MAIL)[1]["Spam"].startswith("True ; ")


def _mail(data):
    import base64

    return {"mail": base64.b64encode(data).decode()}
