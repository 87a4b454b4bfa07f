"""spt and streamptron give the same bytes: answers, models and tables."""

import shutil

import pytest

from streamptron import load
from tests.support import commands
from tests.support.commands import SEEDED, random_mail, run, written
from tests.support.library import COMPILER, called, folder, needs_compiler
from tests.support.programs import SOURCES, spt
from tests.support.streams import labelled_texts, needs_data

pytestmark = [needs_compiler, pytest.mark.once]

LEARNERS = ("adaptive", "perceptron", "multiclass", "mira", "arow", "voted")


@pytest.fixture
def each(monkeypatch):
    """What each of the two programs gives for the same words."""

    def each(*words, **options):
        found = []
        for program in (None, spt()):
            monkeypatch.setattr(commands, "PROGRAM", program)
            found.append(run(*words, **options))
        monkeypatch.setattr(commands, "PROGRAM", None)
        return found

    return each


@pytest.fixture
def taught(monkeypatch):
    """Answers and model after `predict --learn` of some lines, by each of the programs."""

    def taught(data, model, *words):
        found = []
        for program in (None, spt()):
            monkeypatch.setattr(commands, "PROGRAM", program)
            path = model.with_name("copy")
            path.unlink(missing_ok=True)
            if model.exists():
                shutil.copy(model, path)
            out, _ = run("predict", "--learn", "-m", path, *words, data=data)
            found.append((out, path.read_bytes()))
        monkeypatch.setattr(commands, "PROGRAM", None)
        return found

    return taught


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """spt that writes its probabilities in base 16."""
    path = tmp_path_factory.mktemp("exact") / "streamptron"
    flags = ["-std=c11", "-O0", "-D_GNU_SOURCE", '-DPROBABILITY="%a"', f"-I{folder()}"]
    library = str(folder() / "libstreamptron.a")
    called(*COMPILER, *flags, *map(str, SOURCES), library, "-lm", "-o", str(path))
    return path


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--ngrams", "1,2", "--fold-numbers", "--value", "log"),
        ("--analyzer", "char", "--ngrams", "3,4", "--no-lowercase", "--l2"),
        ("--hash-bits", "10", "--min-length", "2", "--separators", " ;"),
    ],
)
def test_a_model_that_is_begun_and_learns_is_the_same(learner, words, tmp_path, taught):
    labels = ("1", "0") if learner == "perceptron" else ("ham", "spam", "a list")
    data = written(random_mail(3, 300, labels))
    words = ("--create", "--learner", learner, *SEEDED, *words)
    one, other = taught(data, tmp_path / "m", *words)
    assert one == other


STREAMS = (
    "sms_spam",
    "spamassassin",
    "20news_train",
    "loghub_system",
    "bgl_alert",
    "trec07p_first12000",
)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_real_streams_are_answered_learned_and_explained_alike(name, tmp_path, taught, each):
    events = [(label, text) for text, label in labelled_texts(name, 1500)]
    model = tmp_path / "m"
    one, other = taught(written(events[:1000]), model, "--create", *SEEDED, "--top", "3")
    assert one == other
    model.write_bytes(one[1])
    data = "".join(f"{text}\n" for _, text in events[1000:]).encode()
    for words in ((), ("--json", "--min-probability", "0.9"), ("--top", "2", "--rsyslog")):
        one, other = each("predict", "-m", model, *words, data=data)
        assert one == other
    for words in (("top", "-n", "50"), ("top", "--json"), *explained(events[1000:1010])):
        one, other = each(words[0], "-m", model, *words[1:])
        assert one == other


def explained(events):
    return [("explain", "--", text) for _, text in events]


@pytest.mark.parametrize("learner", LEARNERS)
def test_tables_are_the_same(learner, tmp_path, each):
    labels = ("1", "0") if learner == "perceptron" else ("ham", "spam", "a list")
    (tmp_path / "mail.tsv").write_bytes(written(random_mail(5, 400, labels)))
    model = tmp_path / "m"
    run("train", tmp_path / "mail.tsv", "-m", model, "-q", "--learner", learner, *SEEDED)
    for words in (
        ("info",),
        ("info", "--json"),
        ("top",),
        ("top", "--json"),
        ("explain", "any1 1"),
    ):
        (one, _), (other, _) = each(words[0], "-m", model, *words[1:])
        assert other == b"".join(
            line for line in one.splitlines(True) if not line.startswith(b"memory_usage")
        ) or words == ("info", "--json")


@needs_data
@pytest.mark.slow
def test_probabilities_of_real_streams_are_pythons_to_the_last_bit(tmp_path, monkeypatch, exact):
    for name in STREAMS:
        events = [(label, text) for text, label in labelled_texts(name, 1500)]
        model = tmp_path / name
        run("predict", "--learn", "--create", "-m", model, *SEEDED, data=written(events[:1000]))
        texts = [text for _, text in events[1000:]]
        data = "".join(f"{text}\n" for text in texts).encode()
        monkeypatch.setattr(commands, "PROGRAM", exact)
        lines = run("predict", "-m", model, data=data)[0].decode().split("\n")[:-1]
        monkeypatch.setattr(commands, "PROGRAM", None)
        loaded = load(model)
        for text, line in zip(texts, lines, strict=True):
            answers = loaded.predict_proba_one(text)
            label, _, probability = line.partition("\t")
            assert float.fromhex(probability) == max(answers.values()) == answers[label], text


MAILS = [
    b"Message-ID: <1@a>\nFrom: ann\nSubject: prize\n\nwin money\n",
    b"From: bob\r\nsubject: =?utf-8?Q?Fr=C3=A9e?=\r\n  more\r\n\r\n a\r\nb \r\n\r\n",
    b"\nno header",
    b"From x@a Mon Jan  1 12:30:00 2024\nMessage-ID:\n <2@a>\n\n>From here\n\n",
    b"Message-ID: <\xff@a>\nFrom: a\nFROM: b\n\n",
    b"",
]


def test_what_one_program_has_learned_the_other_knows(tmp_path, monkeypatch):
    for name, label in (("Junk", b"free prize"), ("INBOX", b"a meeting")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.eml").write_bytes(b"Subject: %b\n\n%b\n" % (label, label))
    boxes = ("--spam", tmp_path / "Junk", "--ham", tmp_path / "INBOX")
    begun = tmp_path / "begun"
    run("train", "-q", *boxes, "-m", begun)
    models = []
    for first, second in ((None, spt()), (spt(), None)):
        model = tmp_path / "m"
        shutil.copy(begun, model)
        for mail in MAILS:
            for program, said in ((first, "1 learned"), (second, "1 known already")):
                monkeypatch.setattr(commands, "PROGRAM", program)
                found = run("learn", "--as", "spam", "-m", model, data=mail)[1]
                assert said in found or (mail == b"" and "0 learned, 0" in found), mail
        models.append(run("filter", "-m", model, "--pass", data=MAILS[0])[0])
        monkeypatch.setattr(commands, "PROGRAM", spt())
        said = run("learn", "--as", "ham", "-m", model, data=MAILS[0], code=0 if first else 1)[1]
        assert ("1 learned" if first else "use the Python program") in said
        monkeypatch.setattr(commands, "PROGRAM", None)
        run("learn", "--as", "ham", "-m", model, data=MAILS[0])
    assert models[0] == models[1]
