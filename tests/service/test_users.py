"""A folder of mail filters, each for a user of spamc."""

import shutil
import signal

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from streamptron.learners.mail import Mail
from tests.command.test_mail import HAM, MAIL, SPAM, boxes, model  # noqa: F401
from tests.command.test_serve import TELL_HAM, TELL_SPAM, asked, spamc
from tests.service.test_lost import until
from tests.support.commands import run
from tests.support.served import serving

pytest.importorskip("starlette")
pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers

RAW = {"content_type": "message/rfc822"}


@pytest.fixture
def folder(tmp_path):
    """A folder in which `all` takes MAIL for spam, and `ann` for ham; `news` reads texts."""
    path = tmp_path / "filters"
    path.mkdir()
    for name, label, other in (("all", "spam", "ham"), ("ann", "ham", "spam")):
        pipeline = Mail() | AdaptiveClassifier()
        for number in range(3):
            pipeline.learn_one(SPAM % (number, number), label)
            pipeline.learn_one(HAM % (number, number), other)
        pipeline.save(path / f"{name}.model")
    pipeline = Tokenizer() | AdaptiveClassifier()
    pipeline.learn_one("a late goal", "sport")
    pipeline.save(path / "news.model")
    return path


@pytest.fixture
def door(tmp_path):
    """The socket for spamc."""
    return str(tmp_path / "spamd")


def names(link):
    return [each["name"] for each in link.get("/models")]


def is_spam(door, *fields):
    first, found, _ = asked(door, "CHECK", MAIL, *fields)
    assert first == "SPAMD/1.5 0 EX_OK", first
    return found["Spam"].startswith("True ; ")


def test_the_user_names_the_model_and_others_have_the_one_for_all(folder, door):
    with serving(folder, "--spamd", door, "--user-model", "all") as (link, _):
        assert is_spam(door)
        assert not is_spam(door, "User: ann")
        assert b"X-Streamptron: ham" in asked(door, "PROCESS", MAIL, "User: ann")[2]
        for other in ("bob", "Ann", "ann@example.org", "../filters/ann", "", ".", "n" * 65):
            assert is_spam(door, f"User: {other}")
        assert asked(door, "PING")[0] == "SPAMD/1.5 0 PONG"
        counted = {each["name"]: each.get("asked") for each in link.get("/models")}
    assert counted == {"all": 8, "ann": 2, "news": None}


def test_without_a_model_for_all_an_unknown_user_is_refused(folder, door):
    said = []
    with serving(folder, "--learn", "--spamd", door, said=said) as (_, _):
        assert not is_spam(door, "User: ann")
        for method, fields in (("CHECK", ()), ("TELL", TELL_SPAM)):
            for user, message in (
                (["User: bob"], "User: bob has no model; make it, or give --user-model"),
                (["User: B"], "User: 'B' is not a model's name, 1 to 64 of a-z, 0-9, '.', "),
                ([], "the request has no User; give spamc -u NAME, or serve with --user-model"),
            ):
                first, _, _ = asked(door, method, MAIL, *user, *fields)
                assert first.startswith(f"SPAMD/1.5 67 {message}"), first
        first = asked(door, "CHECK", MAIL, "User: news")[0]
        assert first == (
            "SPAMD/1.5 70 the model news: the model learns from texts, and this format gives mails"
        )
        first = asked(door, "CHECK", MAIL, "User: ann", "User: all")[0]
        assert first == "SPAMD/1.5 76 the field 'user' comes twice"
    assert sorted(each.name for each in folder.iterdir()) == [
        "all.model", "ann.model", "news.model"
    ]  # fmt: skip


def test_each_user_teaches_the_model_that_answers_them(folder, door):
    before = {name: load(folder / f"{name}.model")[-1].n_seen for name in ("all", "ann")}
    with serving(folder, "--learn", "--spamd", door, "--user-model", "all") as (link, _):
        assert asked(door, "TELL", MAIL, "User: ann", *TELL_SPAM)[1]["DidSet"] == "local"
        assert "DidSet" not in asked(door, "TELL", MAIL, "User: ann", *TELL_SPAM)[1]
        assert asked(door, "TELL", MAIL, "User: bob", *TELL_HAM)[1]["DidSet"] == "local"
        assert asked(door, "TELL", MAIL, "User: ann", *TELL_HAM)[1]["DidSet"] == "local"
        assert asked(door, "TELL", MAIL, "User: bob", "Remove: local")[1]["DidRemove"] == "local"
        found = {each["name"]: each.get("version") for each in link.get("/models")}
        assert found == {"all": 2, "ann": 2, "news": None}
    assert load(folder / "all.model")[-1].n_seen == before["all"] + 1
    assert load(folder / "ann.model")[-1].n_seen == before["ann"] + 2


def test_a_first_lesson_makes_a_user_a_copy_of_the_model_for_all(folder, door, model):  # noqa: F811
    shutil.copy(model, folder / "all.model")
    words = ("--learn", "--create", "--max-models", "4", "--spamd", door, "--user-model", "all")
    said = []
    with serving(folder, *words, said=said, code=-signal.SIGKILL) as (link, server):
        assert asked(door, "TELL", SPAM % (9, 9), *TELL_SPAM)[1]["DidSet"] == "local"
        assert "DidRemove" not in asked(door, "TELL", MAIL, "User: bob", "Remove: local")[1]
        assert is_spam(door, "User: bob")
        assert names(link) == ["all", "ann", "news"]
        assert asked(door, "TELL", MAIL, "User: bob", *TELL_HAM)[1]["DidSet"] == "local"
        assert names(link) == ["all", "ann", "bob", "news"]
        assert "DidSet" not in asked(door, "TELL", SPAM % (9, 9), "User: bob", *TELL_SPAM)[1]
        probability = link.post("/m/bob/predict?remember=false", MAIL, **RAW)["probability"]
        expected = load(folder / "all.model")  # which was saved before it was copied
        expected.learn_one(MAIL, "ham")
        assert expected.predict_proba_one(MAIL)["ham"] == probability
        assert link.get("/m/bob/stats")["lessons"] == link.get("/m/bob/model")["version"] == 1
        assert asked(door, "TELL", SPAM % (9, 9), "User: bob", "Remove: local")[1]["DidRemove"]
        first = asked(door, "TELL", MAIL, "User: cid", *TELL_HAM)[0]
        assert first.startswith("SPAMD/1.5 75 there are --max-models 4 models, and cid would be")
        assert is_spam(door, "User: cid")
        server.kill()
    with serving(folder, "--spamd", door, "--learn") as (link, _):
        assert link.post("/m/bob/learn?label=ham", MAIL, **RAW)["done"] == "known"
        assert link.get("/m/all/model")["version"] == 1


def test_a_model_is_closed_between_two_mails_and_nothing_of_it_is_lost(folder, door):
    words = ("--learn", "--max-open-bytes", "1", "--spamd", door)
    with serving(folder, *words) as (link, _):
        assert asked(door, "TELL", MAIL, "User: ann", *TELL_SPAM)[1]["DidSet"] == "local"
        is_spam(door, "User: all")
        until(lambda: [e["name"] for e in link.get("/models") if e["open"]] == ["all"])
        assert "DidSet" not in asked(door, "TELL", MAIL, "User: ann", *TELL_SPAM)[1]


def test_spamc_names_its_user(folder, door):
    with serving(folder, "--learn", "--spamd", door):
        assert b"successfully un/learned" in spamc(door, "-u", "ann", "-L", "spam")
        assert b"X-Streamptron: spam" in spamc(door, "-u", "ann")


COPIES = ["--models", ".", "--spamd", "s", "--learn", "--create"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-m", "a", "--user-model", "b"], 2, "--user-model is for --models and --spamd"),
        (["--models", ".", "--user-model", "b"], 2, "--user-model is for --models and --spamd"),
        (
            ["--models", ".", "--spamd", "s", "--user-model", "B"],
            2,
            "--user-model B is not a model's name, 1 to 64 of a-z, 0-9, '.', '_' and '-'",
        ),
        (
            ["--models", ".", "--spamd", "s", "--user-model", "b"],
            1,
            "--user-model b: there is no ./b.model",
        ),
        (
            COPIES,
            2,
            "give --user-model NAME, the one to copy",
        ),
        (
            [*COPIES, "--user-model", "b", "--events", "mail"],
            2,
            "--events: new models are copies of --user-model; leave it out",
        ),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path, words, code, message):
    assert message in run("serve", *words, cwd=tmp_path, code=code)[1]
