"""Mails on the command line: train, predict, eval; filter, learn and forget."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest

from streamptron import Journal, ModelLock, load
from streamptron.keeping.read import read
from streamptron.keeping.write import write
from tests.support import commands
from tests.support.commands import ENVIRONMENT, command, process, run
from tests.support.programs import both
from tests.support.project import ROOT

SPAM = b"Message-ID: <s%d@a>\nSubject: win a prize\n\nfree money %d\n"
HAM = b"Message-ID: <h%d@a>\nSubject: tomorrow\n\nsee you at the meeting %d\n"
MAIL = b"To: a\nSubject: free prize\n\nwin money\n"


@pytest.fixture
def boxes(tmp_path):
    for name, mail in (("Junk", SPAM), ("INBOX", HAM)):
        (tmp_path / name).mkdir()
        for i in range(6):
            (tmp_path / name / f"{i}.eml").write_bytes(mail % (i, i))
    return tmp_path


@pytest.fixture
def model(boxes):
    path = boxes / "mail.model"
    run("train", "-q", "--spam", boxes / "Junk", "--ham", boxes / "INBOX", "-m", path)
    return path


def filtered(model, mail, *words, code=0):
    return run("filter", "-m", model, *words, data=mail, code=code)


def test_a_model_is_trained_on_folders_and_answers_a_mail(boxes, model):
    assert load(model).predict_one(MAIL) == "spam"
    out, _ = run("predict", "-m", model, data=MAIL)
    assert out.startswith(b"spam\t")
    assert out.count(b"\n") == 1
    run("predict", "-m", model, "--exit-code", "--positive", "ham", data=MAIL, code=1)
    out, _ = run("eval", "-m", model, "--spam", boxes / "Junk", "--ham", boxes / "INBOX")
    assert b"accuracy  1.0000" in out
    out, _ = run("explain", "-", "-m", model, data=MAIL)
    assert b"subject: prize" in out
    assert b'bytes: "' in out
    assert b"subject: win" in run("top", "-m", model, "-n", "400")[0]


def test_folders_of_other_labels_and_an_index_do_too(boxes):
    run("train", "-q", boxes / "Junk", boxes / "INBOX", "--format", "mail", "--label-by", "folder",
        "-m", boxes / "a.model", "--bytes", "0", "--no-fold")  # fmt: skip
    assert load(boxes / "a.model")[0]._get_params() == {
        "headers": True, "text": True, "bytes": 0, "fold": False,
    }  # fmt: skip
    assert load(boxes / "a.model").predict_one(MAIL) == "Junk"
    (boxes / "index").write_text("spam Junk/1.eml\nham INBOX/1.eml\n")
    run("train", "-q", boxes / "index", "--format", "mail", "--label-by", "index", "-m",
        boxes / "b.model", "--resume", "--create")  # fmt: skip
    assert load(boxes / "b.model")[-1].n_seen == 2
    out, _ = run("compare", "--spam", boxes / "Junk", "--ham", boxes / "INBOX", "--learners",
                 "adaptive,arow", "--no-text")  # fmt: skip
    assert b"12 events" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.eml"], "nothing says which mails are spam"),
        (["a.eml", "--spam", "Junk"], "--spam and --ham name all mails"),
        ([], "Missing argument 'FILES...'"),
        (["--spam", "Junk", "--format", "csv"], "--spam and --ham are for mails"),
        (["--spam", "Junk", "--ngrams", "2"], "--ngrams is not for mails"),
        (["--spam", "Junk", "--bytes", "3"], "--bytes 3; it must be 0"),
        (["a.tsv", "--bytes", "0"], "--bytes is not for lines that are texts"),
        (["a.tsv", "--delimiter", ";"], "the format plain has no --delimiter"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(boxes, words, message):
    (boxes / "a.eml").write_bytes(MAIL)
    (boxes / "a.tsv").write_bytes(b"a\tb\n")
    _, said = run("train", *words, "-m", "x.model", cwd=boxes, code=2)
    assert message in said


def test_what_a_filter_would_lose_is_said_for_several_thresholds(boxes, model):
    for i in range(3):  # spam that lies in the inbox
        (boxes / "INBOX" / f"9{i}.eml").write_bytes(SPAM % (i, i))
    saw = ("--spam", boxes / "Junk", "--ham", boxes / "INBOX", "-m", model)
    out, _ = run("eval", *saw)
    table = [line.split() for line in out.decode().rpartition("\n\n")[2].splitlines()]
    assert [row[0] for row in table] == ["--min-probability", "0", "0.9", "0.99", "0.999"]
    assert b"ham answered wrongly  ham unsure" in out
    assert " ".join(table[1][1:]) in ("3 of 9 0 0 of 6 0", "0 of 6 0 3 of 9 0")
    found = json.loads(run("eval", *saw, "--json", "--min-probability", "1")[0])
    last = found["thresholds"][-1]
    assert (last["min_probability"], last["labels"]["ham"]) == (
        1,
        {"wrong": 0, "unsure": 9, "of": 9},
    )
    assert found["confusion"]["ham"] == {"unsure": 9}


@both
def test_a_model_of_mails_refuses_lines(boxes, model):
    (boxes / "a.tsv").write_bytes(b"spam\twin\n")
    _, said = run("eval", boxes / "a.tsv", "-m", model, code=1)
    assert "the model learns from mails, and these are lines; give --format mail" in said


# --- filter


@both
def test_the_mail_goes_on_with_a_field_in_front(model):
    out, said = filtered(model, MAIL)
    first, _, rest = out.partition(b"\n")
    assert first.startswith(b"X-Streamptron: spam 0.")
    assert b"subject: prize" in first
    assert (rest, said) == (MAIL, "")
    out, _ = filtered(model, HAM % (1, 1), code=1)
    assert out.startswith(b"X-Streamptron: ham ")
    out, _ = filtered(model, MAIL, "--min-probability", "1", code=2)
    assert out.startswith(b"X-Streamptron: unsure ")
    filtered(model, HAM % (1, 1), "--pass")


@both
def test_fields_of_ours_that_a_sender_wrote_are_removed(model):
    forged = b"x-streamptron: ham 1.0\n (trust me)\n" + MAIL.replace(
        b"\n\n", b"\nX-STREAMPTRON: ham\n\nX-Streamptron: text\n"
    )
    out, _ = filtered(model, forged)
    header, _, text = out.partition(b"\n\n")
    assert header.lower().count(b"x-streamptron:") == 1
    assert b"trust me" not in header
    assert text == b"X-Streamptron: text\nwin money\n"


@both
@pytest.mark.parametrize(
    "mail",
    [
        b"",
        b"\n",
        b"no header",
        b"\xff\x00\r\n\r\n",
        b"From a 12:30\r\nTo: b\r\n\r\nc",
        MAIL * 50_000,
    ],
)
def test_whatever_the_mail_is_the_rest_of_it_stays_as_it_is(model, mail):
    out, _ = run("filter", "-m", model, "--pass", data=mail)
    lines = [line for line in out.splitlines(True) if not line.startswith(b"X-Streamptron: ")]
    assert b"".join(lines) == mail
    assert len(out) > len(mail)


@both
def test_without_a_model_the_mail_goes_on(tmp_path):
    for path in (tmp_path / "none.model", tmp_path):
        out, said = run("filter", "-m", path, data=MAIL, code=3)
        assert out == MAIL
        assert said.count("\n") == 1
        assert "the mail is passed on unclassified" in said
    assert run("filter", "-m", tmp_path / "none.model", "--pass", data=MAIL)[0] == MAIL


@both
@pytest.mark.parametrize("passes", [[], ["--pass"]])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--min-probability", "7"], "7.0 is not in the range"),
        (["--nonsense"], "No such option"),
        (["another.eml"], "Got unexpected extra argument"),
    ],
)
def test_the_mail_goes_on_whatever_the_filter_is_told(boxes, model, words, message, passes):
    goes_on(boxes, model, words, message, passes)


@pytest.mark.parametrize("passes", [[], ["--pass"]])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "none.toml"], "none.toml: No such file or directory"),
        (["--config", "cut.toml"], "cut.toml: it is not TOML"),
        (["--config", "typo.toml"], "typo.toml: the key 'positiv' is not an option"),
        (["--config", "kind.toml"], "kind.toml: positive = {}"),
    ],
)
def test_and_whatever_its_configuration_says(boxes, model, words, message, passes):
    (boxes / "cut.toml").write_text("[filter\n")
    (boxes / "typo.toml").write_text("positiv = 'spam'\n")
    (boxes / "kind.toml").write_text("positive = [1.5, {}]\n")
    goes_on(boxes, model, words, message, passes)


def goes_on(boxes, model, words, message, passes):
    mail = b"X-Streamptron: ham 1.0\n" + MAIL
    filter = ("filter", "-m", model, *words, *passes)
    out, said = run(*filter, data=mail, code=0 if passes else 3, cwd=boxes)
    assert out == MAIL
    assert message in said
    assert said.endswith("; the mail is passed on unclassified\n")


def test_without_its_library_of_options_the_mail_goes_on(tmp_path):
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('none', name='click')\n")
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "streamptron", "filter", "-m", "m"],
        input=MAIL,
        capture_output=True,
        env={**ENVIRONMENT, "PYTHONPATH": path},
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, MAIL)
    assert b"the command line needs click" in done.stderr


@both
@pytest.mark.parametrize("words", ["", "--nonsense", "--pass"])
def test_a_mail_that_cannot_be_read_is_to_come_again(model, words):
    line = f'exec "$@" {words} <&-'
    shell = ["sh", "-c", line, "sh", *command("filter", "-m", model)]
    done = subprocess.run(shell, capture_output=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (75, b"")
    assert done.stderr.endswith(
        b"the mail cannot be read: the standard input is closed; give the mail there\n"
    )


@both
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_mail_that_cannot_be_written_is_to_come_again(model):
    with open("/dev/full", "wb") as full:
        words = command("filter", "--pass", "-m", model)
        done = subprocess.run(
            words, input=MAIL, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False
        )
    assert done.returncode == 75
    assert done.stderr.count(b"\n") == 1
    assert b"the mail cannot be written: No space left on device" in done.stderr


# --- learn and forget


@pytest.mark.slow
def test_a_mail_is_learned_once_corrected_and_forgotten(model):
    before = load(model).predict_proba_one(MAIL)
    assert run("learn", "--as", "ham", "-m", model, data=MAIL)[1].startswith(
        "streamptron: 1 learned, 0 corrected, 0 known"
    )
    assert list(Journal.load(model)) == [next(iter(Journal.load(model)))]
    learned = load(model).predict_proba_one(MAIL)
    assert "1 known already" in run("learn", "--as", "ham", "-m", model, data=MAIL)[1]
    assert load(model).predict_proba_one(MAIL) == learned != before
    assert "1 corrected" in run("learn", "--as", "spam", "-m", model, data=MAIL)[1]
    assert load(model).predict_one(MAIL) == "spam"
    run("forget", "-m", model, data=MAIL)
    assert len(Journal.load(model)) == 0
    assert load(model).predict_proba_one(MAIL) == pytest.approx(before, abs=1e-3)
    saved = model.read_bytes()
    assert (
        "cannot be taken back, and nothing was" in run("forget", "-m", model, data=MAIL, code=1)[1]
    )
    _, said = run("forget", "-m", model, "--id", "1@a", code=1)
    assert "the mail with the Message-ID '1@a' cannot be taken back" in said
    assert model.read_bytes() == saved
    # taken back, it may be learned again
    assert "1 learned" in run("learn", "--as", "spam", "-m", model, data=MAIL)[1]


@pytest.mark.parametrize("label", ["spam", "ham"])
def test_another_mail_with_the_id_of_a_known_one_is_another_mail(model, label):
    ham = b"Message-ID: <list@x>\nSubject: minutes\n\nminutes agenda\n"
    pills = ham.replace(b"minutes", b"pills").replace(b"agenda", b"cheap")
    run("learn", "--as", "ham", "-m", model, data=ham)
    run("learn", "--as", "ham", "-m", model, data=SPAM % (99, 99))
    kept = load(model).predict_proba_one(ham)["ham"]
    assert "1 learned, 0 corrected" in run("learn", "--as", label, "-m", model, data=pills)[1]
    assert "text:pills" in load(model)[-1].weights or "pills" in load(model)[-1].weights
    journal = Journal.load(model)
    labels = {id: journal.label_of(id) for id in journal if id[0] == "list@x"}
    assert list(labels.values()) == ["ham", label]
    assert load(model).predict_proba_one(ham)["ham"] > min(kept, 0.5)
    # both have one id, and both are taken back by it
    assert "2 forgotten" in run("forget", "-m", model, "--id", "<list@x>")[1]
    assert [id[0] for id in Journal.load(model)] == ["s99@a"]


@pytest.mark.slow
def test_a_folder_may_be_given_every_night_however_many_mails_it_has(boxes, model):
    box = boxes / "More"
    box.mkdir()
    for i in range(520):
        (box / f"{i}.eml").write_bytes(SPAM % (i, i))
    learn = ("learn", "--as", "spam", "-m", model)
    # six are those that it was trained on
    assert "514 learned, 0 corrected, 6 known" in run(*learn, box)[1]
    saved = model.read_bytes()
    assert "0 learned, 0 corrected, 520 known" in run(*learn, box)[1]
    assert model.read_bytes() == saved
    assert len(Journal.load(model)) == 500
    # the oldest can be learned with another label, and are known by that one then
    first = ("learn", "-m", model, box / "0.eml", "--as")
    assert "1 learned" in run(*first, "ham")[1]
    assert "1 known" in run(*first, "ham")[1]
    assert "1 corrected" in run(*first, "spam")[1]
    _, said = run("forget", "-m", model, box / "10.eml", code=1)
    assert "with the Message-ID 's10@a' cannot be taken back, and nothing was: it was not" in said


def test_mails_that_lines_have_taught_are_known_too(boxes):
    (boxes / "index").write_text("spam Junk/1.eml\nham INBOX/1.eml\n")
    run("predict", boxes / "index", "--format", "mail", "--label-by", "index", "--learn",
        "--create", "-m", boxes / "m")  # fmt: skip
    assert "1 known" in run("learn", "--as", "spam", "-m", boxes / "m", boxes / "Junk/1.eml")[1]
    assert "1 learned" in run("learn", "--as", "spam", "-m", boxes / "m", boxes / "Junk/2.eml")[1]


def test_an_older_journal_is_read_and_its_mails_are_found_by_their_ids(model):
    pipeline = load(model)
    journal = Journal(pipeline, 500)
    journal.learn_one("17@a", MAIL, "ham")
    contents = read(model)
    journal.save(model)
    write(model, read(model)._replace(lines=contents.lines))
    assert "1 learned" in run("learn", "--as", "spam", "-m", model, data=HAM % (17, 17))[1]
    assert "1 forgotten" in run("forget", "-m", model, "--id", "17@a")[1]
    assert [id[0] for id in Journal.load(model)] == ["h17@a"]


@both
def test_what_else_the_file_holds_stays_in_it(model):
    contents = read(model)
    write(model, contents._replace(position=("inbox", 7), metadata={"a": 1}))
    run("learn", "--as", "ham", "-m", model, data=MAIL)
    found = read(model)
    assert (found.position, found.metadata) == (("inbox", 7), {"a": 1})
    assert found.lines["reading"] == {"format": "mail"}


def test_whole_folders_are_learned_and_the_filter_reads_the_model(boxes, model):
    for i in range(6):
        (boxes / "Junk" / f"{i}.eml").write_bytes(SPAM % (10 + i, i))
    run("learn", "--as", "spam", "-m", model, boxes / "Junk")
    assert "6 known already" in run("learn", "--as", "spam", "-m", model, boxes / "Junk")[1]
    assert {id for id, _ in Journal.load(model)} == {f"s{10 + i}@a" for i in range(6)}
    assert filtered(model, MAIL)[0].startswith(b"X-Streamptron: spam")


@both
def test_a_model_of_texts_learns_no_mails(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"spam\twin\nham\tsee you\n")
    run("train", "-q", tmp_path / "a.tsv", "-m", tmp_path / "a.model")
    _, said = run("learn", "--as", "spam", "-m", tmp_path / "a.model", data=MAIL, code=1)
    assert "the model does not learn from mails; train one with --format mail" in said
    out, said = run("filter", "-m", tmp_path / "a.model", data=MAIL, code=3)
    assert out == MAIL


@pytest.mark.slow
@pytest.mark.parametrize("learner", [[], ["--learner", "perceptron", "--positive", "spam"]])
@pytest.mark.parametrize("label", ["Spam", "spma", "Junk", ""])
def test_a_label_that_the_filter_does_not_have_is_a_slip(boxes, label, learner):
    model, saw = boxes / "m", ("--spam", boxes / "Junk", "--ham", boxes / "INBOX")
    run("train", "-q", *saw, "-m", model, *learner)
    saved = model.read_bytes()
    _, said = run("learn", "--as", label, "-m", model, data=MAIL, code=1)
    assert f"the label '{label}' is not one of the model's, " in said
    assert ("did you mean 'spam'? To make it a new one" in said) == (label in ("Spam", "spma"))
    assert model.read_bytes() == saved
    run("learn", "--as", "ham", "-m", model, data=MAIL)
    if not learner and label:
        _, said = run("learn", "--as", label, "--new-label", "-m", model, data=MAIL)
        assert ("differs from 'spam' only in case" in said) == (label == "Spam")
        assert load(model)[-1].labels == ["ham", "spam", label] or label in load(model)[-1].labels
        # and it is one that it has from now on
        run("learn", "--as", label, "-m", model, data=SPAM % (8, 8))


def test_the_first_two_labels_of_a_filter_come_by_themselves(boxes):
    (boxes / "index").write_text("spam Junk/1.eml\nham INBOX/1.eml\nSpam Junk/2.eml\n")
    predict = ("predict", boxes / "index", "--format", "mail", "--label-by", "index", "--learn")
    _, said = run(*predict, "--create", "-m", boxes / "m")
    assert "1 of 3 lines are bad, the first: " in said
    assert "index:3: the label 'Spam' is not one of the model's, 'spam', 'ham'" in said
    assert load(boxes / "m")[-1].labels == ["spam", "ham"]
    _, said = run(*predict, "--new-label", "-m", boxes / "m")
    assert load(boxes / "m")[-1].labels == ["spam", "ham", "Spam"]


@both
def test_a_filter_that_knows_only_ham_answers_ham(boxes):
    model = boxes / "m"
    run("train", "-q", "--ham", boxes / "INBOX", "-m", model)
    out, _ = filtered(model, MAIL, code=1)
    assert out.startswith(b"X-Streamptron: ham 1.0000\n")
    out, _ = run("filter", "-m", model, "--positive", "junk", data=MAIL, code=1)
    run("learn", "--as", "spam", "-m", model, data=MAIL)
    filtered(model, MAIL)
    _, said = run("filter", "-m", model, "--positive", "junk", data=MAIL, code=3)
    assert "--positive junk is not a label of the model: ['ham', 'spam']" in said


@pytest.mark.slow
def test_mails_that_come_at_once_wait_for_each_other(model):
    learn = ("learn", "--as", "ham", "-m", model)
    running = [process(*learn) for _ in range(5)]
    for number, each in enumerate(running):
        each.stdin.write(HAM % (50 + number, number))
        each.stdin.close()
        each.stdin = None
    said = [each.communicate(timeout=60)[1] for each in running]
    assert [each.returncode for each in running] == [0] * 5, said
    assert len(Journal.load(model)) == 5
    with ModelLock(model):
        _, said = run(*learn, "--wait", "0.1", data=MAIL, code=1)
        assert "is being written by process" in said
        run("forget", "-m", model, "--wait", "0", data=MAIL, code=1)


@both
def test_a_mail_that_may_not_be_written_is_to_come_again(tmp_path, model):
    line = f'ulimit -f 0; exec "$@" > {tmp_path}/out'
    shell = ["sh", "-c", line, "sh", *command("filter", "--pass", "-m", model)]
    done = subprocess.run(shell, input=MAIL, capture_output=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 75
    assert b"File too large" in done.stderr


# --- Programs that deliver mail


def blocks(name):
    """What docs/mail.md has for a file, the command being that which is tested."""
    text = (ROOT / "docs" / "mail.md").read_text()
    (found,) = re.findall(rf"^`{re.escape(name)}`.*:\n\n((?:    .*\n|\n)+)", text, re.M)
    assert "spt filter " in found
    words = "spt filter" if commands.PROGRAM else "streamptron filter"
    return textwrap.dedent(found).replace("spt filter", words)


def delivered(tmp_path, model, program, before, name, after=""):
    """Where two mails are in the folders of such a program, with its rules on the page."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: apt-get install {program}")
    home = tmp_path / "home"
    for folder in ("Junk", "Maildir/.Junk", "bin"):
        for part in ("cur", "new", "tmp"):
            (home / folder / part).mkdir(parents=True)
    shutil.copy(model, home / "mail.model")
    words = [sys.executable, "-m", "streamptron"]
    if commands.PROGRAM is not None:
        words = [str(commands.PROGRAM)]
    tool = home / "bin" / ("spt" if commands.PROGRAM else "streamptron")
    tool.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {shlex.join(words)} "$@"\n')
    tool.chmod(0o755)
    rules = home / "rules"
    begins = f"SHELL=/bin/sh\nPATH={home}/bin:{os.environ['PATH']}\n"
    text = f"{begins}{before}{blocks(name)}{after}"
    rules.write_text(text.replace("$HOME", str(home)))  # which is the password file's
    rules.chmod(0o600)
    for mail in (MAIL, HAM % (1, 1)):
        subprocess.run(
            [program, str(rules)],
            input=b"From a@a Mon Jan  1 12:30:00 2024\n" + mail,
            env={**ENVIRONMENT, "HOME": str(home)},
            check=True,
            cwd=home,
        )
    (junk,) = [*home.glob("Junk/new/*"), *home.glob("Maildir/.Junk/new/*")]
    return junk.read_bytes(), (home / "inbox.mbox").read_bytes()


@both
def test_procmail_sorts_by_the_field(tmp_path, model):
    before = "MAILDIR=$HOME\nDEFAULT=$HOME/inbox.mbox\n"
    junk, inbox = delivered(tmp_path, model, "procmail", before, ".procmailrc")
    assert b"free prize" in junk
    assert b"X-Streamptron: ham" in inbox
    assert b"the meeting" in inbox


@both
def test_maildrop_sorts_by_the_field(tmp_path, model):
    after = 'to "$HOME/inbox.mbox"\n'
    junk, inbox = delivered(tmp_path, model, "maildrop", "", ".mailfilter", after)
    assert b"free prize" in junk
    assert b"X-Streamptron: ham" in inbox
