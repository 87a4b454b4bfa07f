"""Lines with several labels: train, predict, eval, top, explain and info of a multilabel model."""

import json
import random
import warnings

import numpy as np
import pytest

from streamptron import MultiLabelClassifier, Tokenizer
from streamptron.command.cli import main
from streamptron.command.grades import Grades, average_precision
from streamptron.files import read
from tests.support.commands import SEEDED, predict, run
from tests.support.marks import seeds
from tests.support.variants import learned, loaded

pytestmark = pytest.mark.once  # another Python would say the same

LABELS = ["crude", "ship", "grain", "corn"]


def reports(seed=3, n=80):
    """[(labels, words)]; some have none."""
    rng = random.Random(seed)
    for _ in range(n):
        labels = [label for label in LABELS if rng.random() < 0.35]
        words = [f"{rng.choice([*labels, 'any'])}{rng.randrange(5)}" for _ in range(7)]
        yield labels, words


def line_of(format, labels, words):
    text = " ".join(words)
    numbers = ",".join(str(LABELS.index(label)) for label in labels)
    indices = sorted({sum(word.encode()) % 97 for word in words})
    return {
        "plain": f"{','.join(labels)}\t{text}",
        "semicolon": f"{'; '.join(labels)}\t{text}",
        "fasttext": " ".join([*(f"__label__{label}" for label in labels), text]),
        "csv": f'"{",".join(labels)}",{text}',
        "jsonl": json.dumps({"topics": labels, "body": text}),
        "svmlight": f"{numbers} {' '.join(f'{index}:1' for index in indices)}",
        "vw": f"{','.join(labels)} | {text}",
    }[format]


# The file's name, how it is read in Python, and what else the command line gets.
FORMATS = {
    "plain": ("r.tsv", {}, []),
    "semicolon": ("r.tsv", {"separator": "; "}, ["--label-separator", "; "]),
    "fasttext": ("r.ft", {}, []),
    "csv": ("r.csv", {"label": "topics", "text": "body"}, ["--label", "topics", "--text", "body"]),
    "jsonl": (
        "r.jsonl",
        {"label": "topics", "text": "body"},
        ["--label", "topics", "--text", "body"],
    ),
    "svmlight": ("r.svm", {}, []),
    "vw": ("r.vw", {"label_type": "text"}, []),
}


def file_of(folder, format, events=None):
    path = folder / FORMATS[format][0]
    lines = ["topics,body"] if format == "csv" else []
    lines += [line_of(format, *event) for event in events or reports()]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def in_python(path, format, **params):
    """The learner that has learned a file, event by event, and what it answered before each."""
    model, answers = MultiLabelClassifier(hash_seed=1, **params), []
    for x, y in read(path, several=True, **FORMATS[format][1]):
        event = Tokenizer().transform_one(x) if isinstance(x, str) else x
        labels = list(map(str, y))
        answer = model.predict_one(event)
        answers.append((labels, [label for label in answer if answer[label]]))
        model.learn_one(event, labels)
    return model, answers


def train(path, model, *words, **how):
    return run("train", path, "-m", model, "--learner", "multilabel", *SEEDED, *words, **how)[1]


@pytest.fixture
def trained(tmp_path):
    path, model = file_of(tmp_path, "plain"), tmp_path / "m"
    train(path, model)
    return path, model


# --- train


@pytest.mark.parametrize("format", FORMATS)
def test_training_is_the_librarys_whatever_the_lines_are(format, tmp_path):
    path = file_of(tmp_path, format)
    said = train(path, tmp_path / "m", *FORMATS[format][2])
    expected, answers = in_python(path, format)
    assert learned(loaded(tmp_path / "m")) == learned(expected)
    known = answers[1:]
    wrong = sum(set(there) != set(given) for there, given in known)
    assert f"progressive error (%)  {100 * wrong / len(known):.4f}" in said
    hits = sum(len({*there} & {*given}) for there, given in known)
    both = sum(len(there) + len(given) for there, given in known)
    assert f"micro-F1             {2 * hits / both:.6f}" in said
    first, rest = list(reports())[:30], list(reports())[30:]
    train(file_of(tmp_path, format, first), tmp_path / "n", *FORMATS[format][2])
    half = (tmp_path / "n").read_bytes()
    rest = file_of(tmp_path, format, rest)
    run("train", rest, "-m", tmp_path / "n", "--resume", "-q")
    assert learned(loaded(tmp_path / "n")) == learned(expected)
    if format == "plain":  # others have no form of a line that says: none of them
        (tmp_path / "n").write_bytes(half)
        run("predict", rest, "--learn", "-m", tmp_path / "n")
        assert learned(loaded(tmp_path / "n")) == learned(expected)


def test_epochs_and_events_held_out(trained, tmp_path):
    path, _ = trained
    said = train(path, tmp_path / "n", "--epochs", "2", "--holdout", "0.25")
    model = MultiLabelClassifier(hash_seed=1)
    for _ in range(2):
        for number, (labels, words) in enumerate(reports(), 1):
            if number % 4:
                model.learn_one(Tokenizer().transform_one(" ".join(words)), labels)
    assert learned(loaded(tmp_path / "n")) == learned(model)
    assert "held-out events        20" in said
    assert said.count("micro-F1") == 2


def test_a_threshold_and_a_config_are_taken(trained, tmp_path):
    path, _ = trained
    train(path, tmp_path / "n", "--threshold", "f1")
    assert loaded(tmp_path / "n").threshold == "f1"
    (tmp_path / "c.toml").write_text("[train]\nlearner = 'multilabel'\nthreshold = 0.25\n")
    run("train", path, "-m", tmp_path / "n", "--config", tmp_path / "c.toml")
    assert loaded(tmp_path / "n").threshold == 0.25


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--class-weight", "ship=2"], "MultiLabelClassifier has no --class-weight"),
        (["--positive", "ship"], "--positive is for --learner perceptron"),
        (["--jobs", "2"], "--jobs is for lines of one label"),
        (["--threshold", "2"], "--threshold 2.0; it must be a number above 0 and below 1"),
        (["--threshold", "f2"], "give a number, or f1"),
        (["--label-separator", "a\tb"], "it must be a text without tabs or line ends"),
        (["--average", "none"], "MultiLabelClassifier has no --average"),
        (["--learn-unsure", "4"], "--learn-unsure is for models that answer one label"),
    ],
)
def test_what_does_not_go_with_several_labels_is_said(words, says, trained, tmp_path):
    code = 1 if words[0] in ("--label-separator", "--learn-unsure") else 2
    said = train(trained[0], tmp_path / "n", *words, code=code)
    assert says in " ".join(said.split())
    assert not (tmp_path / "n").exists()


def test_a_separator_is_for_several_labels(trained, tmp_path):
    _, said = run("train", trained[0], "-m", tmp_path / "n", "--label-separator", ";", code=2)
    assert "--label-separator is for --learner multilabel" in said
    run("train", trained[0], "-m", tmp_path / "n", "-q", "--on-error", "skip")
    _, said = run("eval", trained[0], "-m", tmp_path / "n", "--label-separator", ";", code=1)
    assert "--label-separator is for models of several labels" in said


def test_bad_lines_are_named_or_left_out(tmp_path):
    path = tmp_path / "r.tsv"
    path.write_text("crude,ship\toil\ncrude,crude\toil\nno tab\n,ship\toil\ngrain\twheat\n")
    assert f"{path}:2: the label 'crude' occurs twice" in train(path, tmp_path / "m", code=1)
    said = train(path, tmp_path / "m", "--on-error", "skip")
    assert "bad lines              3" in said
    assert loaded(tmp_path / "m").labels == ["crude", "ship", "grain"]
    said = train(path, tmp_path / "m", "--on-error", "skip", "--max-labels", "2")
    assert "bad lines              4" in said
    assert loaded(tmp_path / "m").n_seen == 1
    path.write_text("crude\toil\ngrain\twheat\n")
    said = train(path, tmp_path / "n", "--max-labels", "1", code=1)
    assert "r.tsv:2: the label 'grain' is one more than --max-labels 1 allows; " in said


def test_what_a_label_costs_is_said_and_a_large_model_warns_once(tmp_path, monkeypatch, capsys):
    path, model = file_of(tmp_path, "plain"), tmp_path / "m"
    said = train(path, model)
    assert "labels                 4\n" in said
    size = int(said.partition("bytes a label")[2].split()[0])
    assert loaded(model).memory_usage / 8 < size < loaded(model).memory_usage
    monkeypatch.setattr("streamptron.command.train.LABEL", 1024)
    monkeypatch.setattr("streamptron.command.train.FEW", 4)
    monkeypatch.setattr("streamptron.command.stream.EVENTS", 8)
    words = ["train", path, "-m", model, "--learner", "multilabel"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(list(map(str, words))) == 0
    assert capsys.readouterr().err.count("MB for 4 labels, more than") == 1
    monkeypatch.setattr("streamptron.command.train.FEW", 5)
    assert main(list(map(str, words))) == 0


def partly(folder, n=80):
    """A file of JSON lines that name some labels and leave others open, and its events."""
    events = []
    for number, (labels, words) in enumerate(reports(n=n)):
        named = LABELS[number % 4 :] if number % 3 else LABELS[: number % 4]
        events.append((" ".join(words), {label: label in labels for label in named}))
    path = folder / "partly.jsonl"
    path.write_text("".join(f"{json.dumps({'topics': y, 'body': x})}\n" for x, y in events))
    return path, events


def test_an_object_of_labels_leaves_open_what_it_does_not_name(tmp_path):
    path, events = partly(tmp_path)
    said = train(path, tmp_path / "m", *FORMATS["jsonl"][2])
    expected, wrong, graded = MultiLabelClassifier(hash_seed=1), 0, 0
    for text, y in events:
        x = Tokenizer().transform_one(text)
        answer = expected.predict_one(x)
        if answer:
            graded += 1
            wrong += any(answer[label] is not there for label, there in y.items())
        expected.learn_one(x, y)
    assert learned(loaded(tmp_path / "m")) == learned(expected)
    assert f"progressive error (%)  {100 * wrong / graded:.4f}" in said
    data = path.read_bytes()
    words = ["--learn", "--create", "--learner", "multilabel", "--format", "jsonl"]
    predict(data, tmp_path / "n", *words, *FORMATS["jsonl"][2], *SEEDED)
    assert learned(loaded(tmp_path / "n")) == learned(expected)


def test_only_labels_that_an_object_names_are_graded(tmp_path):
    path, events = partly(tmp_path)
    train(path, tmp_path / "m", *FORMATS["jsonl"][2])
    model, wrong, exact, judged = loaded(tmp_path / "m"), 0, 0, 0
    hits = both = 0
    for text, y in events:
        answer = model.predict_one(Tokenizer().transform_one(text))
        off = sum(answer[label] is not there for label, there in y.items())
        wrong, exact, judged = wrong + off, exact + (not off), judged + len(y)
        hits += sum(answer[label] and there for label, there in y.items())
        both += sum(answer[label] + there for label, there in y.items())
    found = json.loads(run("eval", path, "-m", tmp_path / "m", "--json")[0])
    assert found["exact"] == pytest.approx(exact / len(events))
    assert found["hamming"] == pytest.approx(wrong / judged)
    assert found["micro"]["f1"] == pytest.approx(2 * hits / both)


def test_an_object_with_a_bad_label_is_named(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"topics": {"crude": true}, "body": "oil"}\n'
        '{"topics": {"crude": true, "ship": "maybe"}, "body": "oil"}\n'
    )
    said = train(path, tmp_path / "m", *FORMATS["jsonl"][2], code=1)
    assert f"{path}:2: the label 'ship' has 'maybe'; it must be true" in " ".join(said.split())


# --- predict


@pytest.mark.slow
def test_all_labels_that_are_likely_enough_are_written(trained):
    _, path = trained
    model = loaded(path)
    texts = [" ".join(words) for _, words in reports(seed=8, n=12)]
    events = [Tokenizer().transform_one(text) for text in texts]
    rows = []
    for x in events:
        p = {label: answer[True] for label, answer in model.predict_proba_one(x).items()}
        rows.append(sorted(p.items(), key=lambda item: -item[1]))
    said = [[(y, p) for y, p in row if p > 0.5] for row in rows]
    data = "".join(f"{text}\n" for text in texts).encode()

    def written(row):
        return ",".join(y for y, _ in row) + "\t" + ",".join(f"{p:.4f}" for _, p in row)

    assert predict(data, path)[0] == list(map(written, said))
    found = [json.loads(line) for line in predict(data, path, "--json", "--top", "2")[0]]
    for row, answer, each in zip(rows, said, found, strict=True):
        assert each["label"] == [y for y, _ in answer]
        assert each["probability"] == [round(p, 4) for _, p in answer]
        assert [top["label"] for top in each["top"]] == [y for y, _ in row[:2]]
    least = [[(y, p) for y, p in row if p >= 0.1] for row in rows]
    assert predict(data, path, "--min-probability", "0.1")[0] == list(map(written, least))
    assert predict(data, path, "--top", "1")[0] == [f"{row[0][0]}\t{row[0][1]:.4f}" for row in rows]
    lines = predict(data, path, "--template", "{label}|{text}")[0]
    assert lines[0] == ",".join(y for y, _ in said[0]) + "|" + texts[0]


def test_a_line_is_learned_after_its_answer_if_it_says_its_labels(tmp_path):
    data = b"crude,ship\toil tankers\ngrain\twheat\noil tankers\n\twheat\n\nx,x\tq\n"
    path = tmp_path / "m"
    words = ("--learn", "--create", "--learner", "multilabel", "--json", *SEEDED)
    lines, _ = predict(data, path, *words)
    answers = [json.loads(line)["label"] for line in lines]
    assert answers[0] is None
    assert answers[1] == []
    assert set(answers[2]) == {"crude", "ship"}
    assert answers[4] is answers[5] is None
    expected = MultiLabelClassifier(hash_seed=1)
    for text, labels in (("oil tankers", ["crude", "ship"]), ("wheat", ["grain"]), ("wheat", [])):
        expected.learn_one(Tokenizer().transform_one(text), labels)
    assert learned(loaded(path)) == learned(expected)


def test_json_lines_are_answered_with_lists_of_labels(tmp_path):
    path = file_of(tmp_path, "jsonl")
    train(path, tmp_path / "m", *FORMATS["jsonl"][2])
    lines, _ = predict(
        b'{"body": "crude1 crude2"}\n', tmp_path / "m", "--format", "jsonl", "--merge"
    )
    assert json.loads(lines[0])["label"] == ["crude"]
    assert json.loads(lines[0])["body"] == "crude1 crude2"


def test_a_file_of_the_format_is_answered_and_corrections_are_learned(trained, tmp_path):
    path, model = trained
    out, _ = run("predict", path, "-m", model, "--input", "labelled")
    texts = "".join(" ".join(words) + "\n" for _, words in reports())
    assert out.decode().split("\n")[:-1] == predict(texts.encode(), model)[0]
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "a.tsv").write_text("crude,corn\tpopcorn oil\n")
    n_seen = loaded(model).n_seen
    run("predict", "--learn", "-m", model, "--corrections", spool, data=b"popcorn\n")
    assert loaded(model).n_seen == n_seen + 1


@pytest.mark.slow
def test_one_label_is_needed_elsewhere_and_that_is_said(trained, tmp_path):
    path, model = trained
    _, said = run("predict", "--exit-code", "--positive", "ship", "-m", model, data=b"x", code=3)
    assert "the model answers several; leave it out" in said
    unsure = ("--learn", "--learn-unsure", "4")
    _, said = run("predict", *unsure, "-m", model, data=b"ship\tx\n", code=1)
    assert "--learn-unsure is for models that answer one label" in said
    new = ("--create", "--learner", "multilabel", "-m", tmp_path / "n")
    run("predict", *unsure, *new, data=b"ship\tx\n", code=1)
    assert not (tmp_path / "n").exists()
    _, said = run("plot", "weights", "-m", model, "-o", tmp_path / "w.png", code=2)
    assert "each label has weights of its own; give --label, one of" in said
    _, said = run("compare", path, "--learners", "multilabel,mira", code=2)
    assert "answers several labels a line, and this is for one" in " ".join(said.split())
    _, said = run("train", file_of(tmp_path, "fasttext"), "-m", tmp_path / "n", code=1)
    assert "label" in said


# --- eval, top, explain, info


@seeds(3)
def test_grades_are_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    Y = rng.random((40, 6)) < 0.3
    Y[:, 5] = False
    p = rng.integers(0, 9, (40, 6)) / 8  # with ties
    said = p > 0.5
    grades = Grades()
    for there, answer, row in zip(Y, said, p, strict=True):
        names = [f"l{k}" for k in range(6)]
        grades.add(
            {names[k] for k in np.flatnonzero(there)},
            {names[k] for k in np.flatnonzero(answer)},
            dict(zip(names, row.tolist(), strict=True)),
        )
    found = grades.measures()
    assert found["micro"]["f1"] == pytest.approx(metrics.f1_score(Y, said, average="micro"))
    macro = metrics.f1_score(Y, said, average="macro", zero_division=0)
    assert found["macro"]["f1"] == pytest.approx(macro)
    assert found["hamming"] == pytest.approx(metrics.hamming_loss(Y, said))
    assert found["exact"] == pytest.approx(metrics.accuracy_score(Y, said))
    lrap = metrics.label_ranking_average_precision_score(Y, p)
    assert found["lrap"] == pytest.approx(lrap)
    assert average_precision({"a"}, {"b": 0.5}) == 0.5


@pytest.mark.parametrize("format", ["plain", "svmlight"])
def test_a_model_is_graded_on_files(format, tmp_path):
    path = file_of(tmp_path, format)
    train(path, tmp_path / "m")
    out, _ = run("eval", path, "-m", tmp_path / "m", "--json")
    found = json.loads(out)
    model = loaded(tmp_path / "m")
    exact = n = 0
    for x, y in read(path, several=True):
        answer = model.predict_one(Tokenizer().transform_one(x) if isinstance(x, str) else x)
        exact += {*map(str, y)} == {label for label in answer if answer[label]}
        n += 1
    assert found["events"] == n
    assert found["exact"] == pytest.approx(exact / n)
    assert set(found["labels"]) == set(model.labels)
    out, _ = run("eval", path, "-m", tmp_path / "m")
    for word in (b"(micro)", b"(macro)", b"Hamming loss", b"LRAP", b"exact sets"):
        assert word in out


def test_what_a_model_weighs_and_why_it_answers_are_shown(trained):
    _, path = trained
    out, _ = run("top", "-m", path, "-n", "1", "--label", "ship")
    assert b"towards ship\nfeature" in out
    assert b"ship" in out.split(b"feature")[1]
    out, _ = run("explain", "ship1 crude1 crude2", "-m", path)
    assert b"contributions towards crude, probability" in out
    assert b"answer: crude" in out
    out, _ = run("explain", "nothing of note", "-m", path)
    assert b"answer:" in out
    out, _ = run("info", path)
    assert b"MultiLabelClassifier" in out


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_eval_lists_the_events_that_were_answered_wrongly(several, form, tmp_path):
    lines = [("a", "x"), ("b", "y"), ("a", "y"), ("a", "x"), ("b", "x")]
    if form == "tsv":
        text, words = "".join(f"{y}\t{t}\n" for y, t in lines), []
    else:
        records = [{"y": [y] if several else y, "t": t} for y, t in lines]
        text = "".join(json.dumps(record) + "\n" for record in records)
        words = ["--label", "y", "--text", "t"]
    file, model = tmp_path / f"a.{form}", tmp_path / "m"
    file.write_text("\n".join(text.splitlines()[:2] * 20) + "\n")
    learner = ["--learner", "multilabel"] if several else []
    run("train", file, "-m", model, "-q", *learner, *words)
    file.write_text(text)
    out = run("eval", file, "-m", model, *words, "--wrong", "9")[0].decode()
    found = [line.split() for line in out.split("\n\n")[-1].splitlines()]
    assert found[1:] == [[f"{file}:3", "a", "b", "'y'"], [f"{file}:5", "b", "a", "'x'"]]
    out = json.loads(run("eval", file, "-m", model, *words, "--wrong", "1", "--json")[0])
    assert out["wrong"] == [{"place": f"{file}:3", "label": "a", "answer": "b", "text": "y"}]
    assert "wrong" not in json.loads(run("eval", file, "-m", model, *words, "--json")[0])
