"""eval, explain, top, info, and model files that come from elsewhere."""

import copy
import json
import re
from itertools import pairwise

import pytest

import streamptron
from streamptron import (
    AdaptiveClassifier,
    Checkpoint,
    Journal,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
)
from streamptron.files import read
from streamptron.learners.registry import LEARNERS
from tests.support.commands import (
    MAIL,
    SEEDED,
    library,
    predict,
    random_mail,
    written,
)
from tests.support.programs import both
from tests.support.variants import learned, loaded

ROWS = {
    "csv": ("kind,color,size\na,red,3\nb,blue,5\n", ["a,red,3", "red,3", "color,size\nred,3"]),
    "jsonl": (
        '{"kind": "a", "color": "red", "size": 3}\n{"kind": "b", "color": "blue", "size": 5}\n',
        ['{"kind": "a", "color": "red", "size": 3}', '{"color": "red", "size": 3}'],
    ),
    "vw": ("a | color=red size:3\nb | color=blue size:5\n", ["| color=red size:3"]),
    "svm": ("1 1:1 7:3\n2 2:1 7:5\n", ["1 1:1 7:3", "1:1 7:3"]),
}
OPTIONS = {"csv": ["--label", "kind"], "jsonl": ["--label", "kind", "--features", "color,size"]}


@pytest.mark.parametrize("suffix", ROWS)
def test_a_line_of_features_is_explained_and_drawn_with_its_label_and_without(
    suffix, tmp_path, told
):
    content, rows = ROWS[suffix]
    file, model = tmp_path / f"f.{suffix}", tmp_path / "m"
    file.write_text(content)
    assert told("train", file, "-m", model, "-q", *OPTIONS.get(suffix, [])) == (0, "", "")
    found = [told("explain", row, "-m", model) for row in rows]
    assert found == [found[0]] * len(rows)
    code, out, err = found[0]
    assert (code, err) == (0, "")
    assert re.search(r"^(size|7) +3\.0", out, re.M)
    for row in rows:
        words = ("plot", "explanation", row, "-m", model, "-o", tmp_path / "e.svg")
        assert told(*words) == (0, "", "")
    for blank in ("", "\n"):
        code, _, err = told("explain", blank, "-m", model)
        assert code == 1
        assert "error: TEXT holds no event; give a line of the format " in err
    assert told("explain", "red,", "-m", model)[0] == (0 if suffix == "csv" else 1)


def test_a_row_with_other_cells_is_an_error_that_names_the_columns(tmp_path, told):
    file, model = tmp_path / "f.csv", tmp_path / "m"
    file.write_text(ROWS["csv"][0])
    told("train", file, "-m", model, "-q", "--label", "kind")
    code, _, err = told("explain", "red", "-m", model)
    assert (code, err) == (
        1,
        "streamptron: error: TEXT has 1 cells; give those of kind, color, size, with or without "
        "the label kind\n",
    )
    # and after more has been learned from a file with other columns
    file.write_text("size,kind,color\n3,a,red\n")
    assert told("train", file, "-m", model, "-q", "--resume")[0] == 0
    assert told("explain", "3,a,red", "-m", model)[0] == 0


def test_evaluation_is_what_scikit_learn_says(many, told):
    from sklearn.metrics import classification_report, confusion_matrix

    tsv, model = many
    code, out, _ = told("eval", tsv, "-m", model, "--json")
    assert code == 0
    found = json.loads(out)
    events = list(read(tsv))
    answers = [line.split("\t")[0] for line in library(model, [text for text, _ in events])]
    labels = [label for _, label in events]
    expected = classification_report(labels, answers, output_dict=True, zero_division=0)
    assert found["accuracy"] == pytest.approx(expected["accuracy"], abs=1e-12)
    for label, values in found["labels"].items():
        for name in ("precision", "recall", "support"):
            assert (values[name] or 0.0) == pytest.approx(expected[label][name], abs=1e-12)
        assert values["f1"] == pytest.approx(expected[label]["f1-score"], abs=1e-12)
    for mean in ("macro", "weighted"):
        for name in ("precision", "recall"):
            assert found[mean][name] == pytest.approx(expected[f"{mean} avg"][name], abs=1e-12)
    names = sorted(found["labels"])
    matrix = [[found["confusion"][y].get(p, 0) for p in names] for y in names]
    assert matrix == confusion_matrix(labels, answers).tolist()
    code, out, _ = told("eval", tsv, "-m", model)
    assert code == 0
    columns = out.split("\n\n")[0].splitlines()
    assert len({len(line) for line in columns}) == 1
    assert f"accuracy  {expected['accuracy']:.4f}" in out


def test_labels_that_the_model_does_not_know_are_wrong_answers(mail, told):
    tsv, model = mail
    tsv.write_bytes(b"eggs\tbacon\nham\tsee you\n")
    code, out, _ = told("eval", tsv, "-m", model, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["labels"]["eggs"]["recall"] == 0
    assert found["labels"]["eggs"]["support"] == 1


def test_a_rate_of_nothing_is_null_and_not_nought(mail, told):
    tsv, model = mail
    tsv.write_bytes(b"eggs\tsee you\n")
    found = json.loads(told("eval", tsv, "-m", model, "--json")[1])
    assert found["labels"]["eggs"]["precision"] is None
    assert found["labels"]["ham"]["recall"] is None
    assert found["macro"] == found["weighted"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    rows = [line.split() for line in told("eval", tsv, "-m", model)[1].splitlines()]
    assert rows[1:3] == [
        ["eggs", "-", "0.0000", "0.0000", "1"],
        ["ham", "0.0000", "-", "0.0000", "0"],
    ]


@both
def test_explanations_are_the_librarys(mail, told):
    _, model = mail
    code, out, _ = told("explain", "a prize", "-m", model)
    assert code == 0
    found = {
        line.split()[0]: float(line.split()[-1]) for line in out.split("\n\n")[0].splitlines()[1:]
    }
    expected = loaded(model).explain_one(Tokenizer().transform_one("a prize"), "spam")
    assert found == {n or "(intercept)": pytest.approx(part, abs=1e-5) for n, part in expected}
    assert "answer: spam, probability 0." in out


@both
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "perceptron"])
@pytest.mark.parametrize("label", ["spam", "ham"])
def test_contributions_are_towards_the_answer(label, name, tmp_path, told):
    """Also where two labels share one output, which is for one of them."""
    (tmp_path / "m.tsv").write_bytes(MAIL)
    told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", name, "-q", *SEEDED)
    text = {"spam": "win a prize", "ham": "see you"}[label]
    out = told("explain", text, "-m", tmp_path / "m")[1]
    parts = [float(line.split()[-1]) for line in out.split("\n\n")[0].splitlines()[1:]]
    assert f"contributions towards {label}\nanswer: {label}, probability 0." in out
    assert sum(parts) > 0
    has_weights = loaded(tmp_path / "m")._can("draw")  # one a feature, times its value
    assert ("weight" in out.splitlines()[0]) == has_weights


@both
def test_top_features_are_the_librarys(many, told):
    _, model = many
    found = json.loads(told("top", "-m", model, "-n", 3, "--label", "ham", "--json")[1])
    top = loaded(model).top_features(3, "ham")
    assert found == {
        "ham": {name: list(map(list, getattr(top, name))) for name in ("positive", "negative")}
    }
    shown = told("top", "-m", model, "-n", 3, "--label", "ham")[1].splitlines()
    assert shown[0] == "towards ham"
    weights = [float(line.split()[-1]) for line in shown[2:]]
    assert all(a >= b for a, b in pairwise(weights))
    assert len(weights) == 6


@both
def test_a_hashed_model_has_slots_instead_of_names(tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(MAIL)
    train = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--hash-bits", "8", "-q", *SEEDED)
    assert told(*train) == (0, "", "")
    slots = loaded(tmp_path / "m").top_features(2, "ham").positive
    shown = told("top", "-m", tmp_path / "m", "-n", 2, "--label", "ham")[1]
    assert [f"slot {slot}" in shown for slot, _ in slots] == [True, True]
    assert "\nsee " in told("explain", "see", "-m", tmp_path / "m")[1]


def test_info_says_what_a_model_is(mail, told):
    _, model = mail
    found = json.loads(told("info", "-m", model, "--json")[1])
    assert found["learner"] == "AdaptiveClassifier"
    assert found["parameters"]["hash_seed"] == 1
    assert found["n_seen"] == 4
    assert found["labels"] == ["spam", "ham"]
    assert found["tokenizer"]["ngram_range"] == [1, 1]
    shown = told("info", "-m", model)[1]
    assert re.search(r"^labels +2: spam, ham$", shown, re.M)
    assert "memory_usage" in shown


def test_info_says_it_of_any_file(tmp_path, told):
    def about(model):
        streamptron.save(model, tmp_path / "m")
        assert "memory_usage" in told("info", tmp_path / "m")[1]
        return json.loads(told("info", tmp_path / "m", "--json")[1])

    model = AdaptiveClassifier(class_weight={7: 2.0})
    model.learn_one({"a": 1}, 7)
    found = about(model)
    assert found["labels"] == ["7"]
    assert found["parameters"]["class_weight"] == {"7": 2.0}
    assert found["tokenizer"] is found["reading"] is None
    from river import preprocessing

    model = preprocessing.StandardScaler() | Perceptron()
    model.learn_one({"a": 1.0}, True)
    found = about(model)
    assert found["pipeline"] == ["StandardScaler", "Perceptron"]
    assert found["labels"] == ["False", "True"]
    assert about(RankingPerceptron())["learner"] == "RankingPerceptron"
    assert about(Tokenizer(fields="subject") | Perceptron())["tokenizer"]["fields"] == "subject"


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pipeline_saved_in_python_is_used_by_every_command(name, tmp_path, told):
    labels = (False, True) if name == "perceptron" else ("ham", "spam")
    tokenizer = Tokenizer(ngram_range=(1, 2), fold_numbers=True)
    model = tokenizer | LEARNERS[name](hash_seed=1)
    events = list(random_mail(11, 300, labels))
    for label, text in events:
        model.learn_one(text, label)
    model.save(tmp_path / "m", metadata={"mine": 1})
    written_as = (
        {False: "0", True: "1"} if name == "perceptron" else {label: label for label in labels}
    )
    texts = [text for _, text in random_mail(12, 50, labels) if text]
    out, _ = predict("\n".join(texts).encode(), tmp_path / "m")
    assert [line.partition("\t")[0] for line in out] == [
        written_as[model.predict_one(text)] for text in texts
    ]
    (tmp_path / "m.tsv").write_bytes(written([(written_as[y], text) for y, text in events]))
    for words in (
        ("eval", tmp_path / "m.tsv"),
        ("info",),
        ("top",),
        ("explain", texts[0]),
        ("train", tmp_path / "m.tsv", "--resume", "-q"),
    ):
        code, _, err = told(*words, "-m", tmp_path / "m")
        assert code == 0, err
    for label, text in events:
        model.learn_one(text, label)
    resumed = streamptron.load(tmp_path / "m")
    assert learned(resumed[-1]) == learned(model[-1])
    assert resumed[0]._get_params() == tokenizer._get_params()
    assert streamptron.read_metadata(tmp_path / "m") == {"mine": 1}


@pytest.mark.parametrize(
    ("words", "labels", "names"),
    [
        (("--positive", "spam"), ("ham", "spam"), {False: "not spam", True: "spam"}),
        ((), ("-1", "+1"), {False: "-1", True: "+1"}),
    ],
)
def test_a_trained_perceptron_opens_as_a_pipeline_and_keeps_its_names_when_python_saves_it(
    words, labels, names, tmp_path, told
):
    (tmp_path / "m.tsv").write_bytes(written(random_mail(13, 300, labels)))
    train = ("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--learner", "perceptron", *words)
    assert told(*train, *SEEDED)[0] == 0
    texts = [text for _, text in random_mail(14, 40, labels) if text]
    data = "\n".join(texts).encode()
    answers = predict(data, tmp_path / "m")[0]
    model = streamptron.load(tmp_path / "m")
    assert model.label_names == names
    for text, line in zip(texts, answers, strict=True):
        answer = model.predict_one(text)
        assert answer in (False, True)
        label, probability = line.split("\t")
        assert label == names[answer]
        assert probability == f"{model.predict_proba_one(text)[answer]:.4f}"
    for copied in (model, copy.deepcopy(model), model.clone(include_attributes=True)):
        copied.save(tmp_path / "again")
        assert predict(data, tmp_path / "again")[0] == answers


def test_a_trained_model_of_features_opens_as_its_learner(tmp_path, told):
    (tmp_path / "a.vw").write_bytes(b"1 | a\n-1 | b\n")
    assert told("train", tmp_path / "a.vw", "-m", tmp_path / "m", "-q")[0] == 0
    model = streamptron.load(tmp_path / "m")
    assert type(model) is AdaptiveClassifier
    assert model.labels == ["1", "-1"]


@both
def test_a_pipeline_that_takes_fields_is_refused_for_lines(tmp_path, told):
    (Tokenizer(fields="subject") | Perceptron()).save(tmp_path / "m")
    code, _, err = told("top", "-m", tmp_path / "m")
    assert code == 1
    assert "its tokenizer takes mappings with the fields 'subject', and a line is one text" in err


@both
def test_a_model_that_chooses_among_candidates_is_refused_for_lines(tmp_path, told):
    (Tokenizer() | RankingPerceptron()).save(tmp_path / "m")
    code, _, err = told("top", "-m", tmp_path / "m")
    assert code == 1
    assert "it chooses among candidates, and a line is one event" in err
    code, _, err = told("train", "--learner", "ranking", "-m", tmp_path / "n")
    assert code == 2
    assert "'ranking' chooses among candidates, and a line is one event" in err
    assert not (tmp_path / "n").exists()


def test_a_position_stays_in_a_checkpoint_that_the_command_line_resumes(tmp_path, told):
    model = Tokenizer() | MulticlassPerceptron()
    Checkpoint(model, tmp_path / "m", metadata={"mine": 1}).save(position=("mail", 7))
    (tmp_path / "a.tsv").write_bytes(b"spam\ta\n")
    assert told("train", tmp_path / "a.tsv", "-m", tmp_path / "m.000001", "--resume", "-q")[0] == 0
    saved = Checkpoint.newest_saved(tmp_path / "m")
    assert (saved.position, saved.metadata) == (("mail", 7), {"mine": 1})
    assert saved.model[-1].labels == ["spam"]


@both
def test_a_journal_stays_in_the_file_and_can_still_correct(tmp_path, told):
    journal = Journal(Tokenizer() | AdaptiveClassifier(hash_seed=1))
    journal.learn_one("mail-1", "see you at the meeting", "spam")
    journal.save(tmp_path / "m")
    (tmp_path / "a.tsv").write_bytes(b"ham\tanother meeting\nspam\ta prize\n" * 5)
    assert told("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "--resume", "-q")[0] == 0
    assert json.loads(told("info", tmp_path / "m", "--json")[1])["file"]["journal"] == 1
    found = Journal.load(tmp_path / "m")
    assert found.model["AdaptiveClassifier"].n_seen == 11
    before = found.model.predict_proba_one("see you")["ham"]
    found.correct("mail-1", "ham")
    assert found.model.predict_proba_one("see you")["ham"] > before
