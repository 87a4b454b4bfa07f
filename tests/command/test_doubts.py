"""Files that look as if something else was meant: a warning, and the work is done all the same."""

import json
import random

import pytest

from tests.support.commands import MAIL, SEEDED, random_mail, run, written
from tests.support.streams import labelled_texts, needs_data
from tests.support.variants import loaded

pytestmark = pytest.mark.once  # another Python would say the same

SWAPPED = b"".join(b"%b\t%b\n" % tuple(line.split(b"\t")[::-1]) for line in MAIL.splitlines())


def texts(seed, n=60):
    """(label, text) with texts of many words, none of which comes twice."""
    rng = random.Random(seed)
    for label, text in random_mail(seed, n):
        yield label, f"{text} {' '.join(f'w{rng.randrange(999)}' for _ in range(8))}"


COMMANDS = {
    "train": lambda file, folder, *words: ("train", file, "-m", folder / "m", "-q", *words),
    "learn": lambda file, folder, *_: ("predict", file, "--learn", "-m", folder / "known"),
    "eval": lambda file, folder, *_: ("eval", file, "-m", folder / "known"),
    "compare": lambda file, folder, *words: ("compare", file, "--learners", "mira", *words),
    "plot": lambda file, folder, *words: ("plot", "memory", file, "-o", folder / "m.png", *words),
}


@pytest.fixture(params=COMMANDS)
def said(request, tmp_path):
    """What a command says of a file that is learned."""

    def said(name, data, *words):
        (tmp_path / name).write_bytes(data)
        known = ("train", tmp_path / name, "-m", tmp_path / "known", "-q", *SEEDED, *words)
        run(*known)
        return run(*COMMANDS[request.param](tmp_path / name, tmp_path, *words))[1]

    return said


@pytest.mark.parametrize("data", [SWAPPED, written((t, y) for y, t in texts(1, 400))])
def test_labels_and_texts_that_look_swapped(data, said):
    found = said("mail.tsv", data)
    assert found.startswith("streamptron: warning: ")
    assert "mail.tsv:1: label and text look swapped: " in found
    assert found.endswith("; a line is label<TAB>text\n")
    assert found.count("\n") == 1


def test_a_header_that_is_learned_as_a_label(said):
    for header in (b"label\ttext\n", b"Category\tMessage\n", b"what\ttext\n"):
        found = said("mail.tsv", header + MAIL * 3)
        assert "mail.tsv:1: the label " in found
        assert "look like a header, which is learned as an event; leave that line out" in found


def test_as_many_labels_as_lines(said):
    data = written((f"{i} {y}", t) for i, (y, t) in enumerate(texts(2)))
    assert "mail.tsv:1: 60 labels in 60 events, as '0 " in said("mail.tsv", data)
    rows = "".join(f"{i},red\n" for i in range(40))
    found = said("rows.csv", f"id,color\n{rows}".encode(), "--label", "id")
    assert "rows.csv:2: 40 labels in 40 events, as '0'; is that the label?" in found


def test_a_label_of_forty_words(said):
    long = " ".join(f"w{i}" for i in range(40))
    found = said("mail.tsv", MAIL * 9 + f"{long}\tspam\n".encode())
    assert "mail.tsv:1: a label of 40 words, 'w0 w1 w2" in found


def test_a_label_with_a_space_at_its_end(said):
    found = said("mail.tsv", MAIL.replace(b"ham\t", b"ham \t", 1))
    assert found.count("warning") == 1
    assert "the label 'ham ' begins or ends with a space, which makes it another one than " in found
    assert "'ham'; leave the space out\n" in found


def test_labels_of_fasttext_that_are_read_as_plain_ones(said):
    data = MAIL.replace(b"ham\t", b"__label__ham __label__good\t")
    found = said("mail.tsv", data)
    assert found.count("warning") == 1
    assert "the label '__label__ham __label__good' is written as fastText's are; give --f" in found


def test_fields_of_interactions_that_no_line_has(tmp_path):
    rows = [f"{'ab'[i % 3 > 1]},u{i % 3},a{i % 5},{i % 7}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["y,user,ad,age", *rows, ""]))
    words = ("train", tmp_path / "a.csv", "-m", tmp_path / "m", "-q", "--label", "y")
    assert run(*words, "--interactions", "user,ad", "--interactions", "age,ad")[1] == ""
    found = run(*words, "--interactions", "user,add")[1]
    assert found.count("warning") == 1
    assert "none of 40 lines has a feature of the field 'add', which --interactions " in found
    assert "there are ['user=u0', 'ad=a0', 'age', 'user=u1', 'ad=a1'" in found


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_space_behind_the_separator_of_labels(separator, tmp_path):
    lines = f"crude{separator}ship\toil\ncrude{separator} ship\ttankers\n"
    (tmp_path / "r.tsv").write_text(lines)
    words = ("-m", tmp_path / "m", "-q", "--learner", "multilabel", "--label-separator", separator)
    _, found = run("train", tmp_path / "r.tsv", *words)
    assert found.count("warning") == 1
    assert "the label ' ship' begins or ends with a space, which makes it another one" in found
    assert f"leave the space out, or give --label-separator '{separator} '" in found


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_texts_that_are_taken_for_categories(format, said):
    events = list(texts(3))
    if format == "csv":
        rows = "".join(f"{y},{i % 7},{t}\n" for i, (y, t) in enumerate(events))
        data, words = f"kind,size,body\n{rows}", ["--label", "kind"]
    else:
        rows = ({"kind": y, "size": i % 7, "body": t} for i, (y, t) in enumerate(events))
        data = "".join(json.dumps(row) + "\n" for row in rows)
        words = ["--label", "kind", "--features", "size,body"]
    found = said(f"mail.{format}", data.encode(), *words)
    assert f"mail.{format}:{1 + (format == 'csv')}: body has texts, as " in found
    assert "each is taken for one category; give --text body, or leave body out" in found
    assert found.count("\n") == 1


def measured(format, far, gaps, n=60):
    """Lines of two numbers, the first `far` from 0 and missing in some; as bytes."""
    rows = []
    for i in range(n):
        x = {"pressure": far + i % 7, "wind": i % 5}
        rows.append(({**x, "pressure": None} if i % 10 in gaps else x, "ab"[i % 7 > 3]))
    if format == "jsonl":
        return "".join(json.dumps({"y": y, **x}) + "\n" for x, y in rows).encode()
    cells = [",".join("" if v is None else str(v) for v in (y, *x.values())) for x, y in rows]
    return "\n".join(["y,pressure,wind", *cells, ""]).encode()


MEASURED = ("--label", "y", "--features", "pressure,wind")


def doubted(file, folder, learner):
    return run("train", file, "-m", folder / "m", "-q", "--learner", learner, *MEASURED)[1]


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_gaps_that_count_as_a_0_far_from_all_other_values(format, tmp_path):
    file = tmp_path / f"a.{format}"
    file.write_bytes(measured(format, 1000, {4}))
    found = doubted(file, tmp_path, "mira")
    assert found.count("warning") == 1
    assert "pressure is missing in 6 of 60 lines, where it counts as 0, far from its " in found
    assert "as 1003; fill it in, or leave pressure out" in found
    assert doubted(file, tmp_path, "adaptive") == ""  # which knows a gap where it sees one


@pytest.mark.parametrize("command", ["predict", "eval"])
@pytest.mark.parametrize("learner", ["adaptive", "arow"])
def test_columns_that_a_model_does_not_know_or_misses(learner, command, tmp_path):
    file, model = tmp_path / "a.csv", tmp_path / "m"
    data = measured("csv", 3, ())
    file.write_bytes(data.replace(b"a,", b"0,").replace(b"b,", b"1,"))
    run("train", file, "-m", model, "-q", "--label", "y", "--learner", learner, *SEEDED)
    assert run(command, file, "-m", model)[1] == ""
    file.write_bytes(file.read_bytes().replace(b"wind", b"Wind"))
    unknown, *missed = run(command, file, "-m", model)[1].splitlines()
    assert unknown.startswith(f"streamptron: warning: {file}:2: Wind has no weight in this model")
    assert [f"{file}:2: there is no wind here, a column that" in line for line in missed] == (
        [True] if learner == "adaptive" else []
    )


@pytest.mark.parametrize("far_and_gaps", [(1000, ()), (-3, {4}), (0, {4}), (1000, set(range(6)))])
def test_gaps_that_may_be_zeros_are_not_doubted(far_and_gaps, tmp_path):
    (tmp_path / "a.csv").write_bytes(measured("csv", *far_and_gaps))
    assert doubted(tmp_path / "a.csv", tmp_path, "mira") == ""


@pytest.mark.parametrize("command", ["train", "eval"])
def test_what_is_usual_is_not_doubted(command, tmp_path):
    rng = random.Random(5)
    print("seed 5")
    usual = {
        "mail.tsv": (MAIL, []),
        "one.tsv": (b"label\ta text of words\n", []),
        "word.tsv": (b"label\tprize\n", []),
        "many.tsv": (written(random_mail(5, 3000)), []),
        "languages.tsv": (written((f"label {i % 40}", f"w{i}") for i in range(90)), []),
        "numbers.csv": (
            "".join(
                ["label,id,color,place\n"]
                + [f"{i % 2},x{i % 30},red,New York City {rng.randrange(3)}\n" for i in range(99)]
            ).encode(),
            ["--label", "label"],
        ),
        "x.vw": (b"y | label text\nx | a\n" * 9, []),
    }
    for name, (data, words) in usual.items():
        (tmp_path / name).write_bytes(data)
        assert run("train", tmp_path / name, "-m", tmp_path / "m", "-q", *words)[1] == ""
        if command == "eval":
            assert run("eval", tmp_path / name, "-m", tmp_path / "m", *words)[1] == ""


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["bgl_alert", "bibtex_tags", "loghub_templates", "reuters_topics", "sms_spam", "udhr2"]
)
def test_real_streams_are_not_doubted_until_they_are_swapped(name, tmp_path):
    events = [(y, t) for t, y in labelled_texts(name)][:3000]
    (tmp_path / "m.tsv").write_bytes(written(events))
    several = [] if "tags" not in name and "topics" not in name else ["--learner", "multilabel"]
    words = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "-q")
    assert run(*words, *several)[1] == ""
    assert ("give --learner multilabel" in run(*words)[1]) is bool(several)
    (tmp_path / "m.tsv").write_bytes(written((t or "-", y) for y, t in events))
    assert "warning" in run("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "-q")[1]


def test_the_event_is_learned_all_the_same(tmp_path):
    (tmp_path / "m.tsv").write_bytes(SWAPPED)
    run("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "-q")
    assert loaded(tmp_path / "m").n_seen == 4
