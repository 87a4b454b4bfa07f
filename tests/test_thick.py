"""LearnUnsure and --learn-unsure: what is learned, and that each way learns the same."""

import random

import numpy as np
import pytest

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    LearnUnsure,
    MulticlassPerceptron,
    MultiLabelClassifier,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    load,
)
from streamptron.command.teach import journal_in
from tests.support.commands import SHAPES, random_mail, run, written
from tests.support.marks import seeds

MARGIN = 0.7
KINDS = [Perceptron, MulticlassPerceptron, MIRA, AROW, AdaptiveClassifier]


class Twin:
    """The rule as it is said: learned is what is wrong, or of a margin below the one given."""

    def __init__(self, learner, margin):
        self.learner, self.margin, self.learned = learner, margin, []

    def learn_one(self, x, y):
        scores = self.learner.decision_function_one(x)
        if isinstance(scores, dict):
            ranked = sorted(scores.values(), reverse=True)
            margin = ranked[0] - ranked[1] if len(ranked) > 1 else 0.0
        else:
            margin = max(scores, -scores)
        if not (self.learner.predict_one(x) == y and margin >= self.margin):
            self.learner.learn_one(x, y)
            self.learned.append((x, y))


def events(seed, labels, n=150):
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.choice(labels)
        words = {f"{label if rng.random() < 0.6 else 'any'}{rng.randrange(9)}" for _ in range(5)}
        yield dict.fromkeys(sorted(words), 1.0), label


@pytest.mark.parametrize("kind", KINDS)
@seeds(2, 4)
def test_it_learns_what_the_twin_learns(kind, seed):
    labels = [False, True] if kind is Perceptron else ["a", "b", "c"][: 2 + seed % 2]
    ours, twin = LearnUnsure(kind(hash_seed=1), MARGIN), Twin(kind(hash_seed=1), MARGIN)
    rows = list(events(seed, labels))
    for x, y in rows:
        ours.learn_one(x, y)
        twin.learn_one(x, y)
    assert ours.model.__getstate__() == twin.learner.__getstate__()
    assert 0 < len(twin.learned) < len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_are_learned_as_one_after_the_other(kind):
    pd = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = (frame["a"] > 0).to_numpy()
    one, many, array, rows = (LearnUnsure(kind(hash_seed=1), MARGIN) for _ in range(4))
    for x, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        one.learn_one(x, label)
    many.learn_many(frame, pd.Series(y))
    assert one.model.weights == many.model.weights
    assert 0 < one.model.n_seen == many.model.n_seen < 120
    array.learn_many(frame.to_numpy(), y)
    rows.learn_many(sparse.csr_matrix(frame.to_numpy()), y)
    assert array.model.weights == rows.model.weights
    with pytest.raises(ValueError, match="X has 120 rows and y 3"):
        rows.learn_many(frame, y[:3])


def test_texts_go_through_their_tokenizer():
    texts = [(text, label) for label, text in random_mail(3)]
    one, many = (LearnUnsure(Tokenizer() | AdaptiveClassifier(hash_seed=1), MARGIN) for _ in "12")
    for x, y in texts:
        one.learn_one(x, y)
    many.learn_many([x for x, _ in texts], [y for _, y in texts])
    assert one.model[-1].__getstate__() == many.model[-1].__getstate__()
    assert one.predict_one(texts[0][0]) == one.model.predict_one(texts[0][0])
    assert one.predict_proba_one("any1") == one.model.predict_proba_one("any1")
    fresh = one.clone()
    assert (fresh.margin, fresh.model[-1].n_seen) == (MARGIN, 0)


@pytest.mark.parametrize("margin", [-1, float("nan"), float("inf")])
def test_a_margin_is_a_number_from_0(margin):
    with pytest.raises(ValueError, match=r"margin=.*; it must be a finite number from 0"):
        LearnUnsure(Perceptron(), margin)


@pytest.mark.parametrize("margin", ["4", None, True])
def test_a_margin_is_a_number(margin):
    with pytest.raises(TypeError, match=r"margin=.* is .*; give a number from 0"):
        LearnUnsure(Perceptron(), margin)


@pytest.mark.parametrize("model", [RankingPerceptron(), MultiLabelClassifier(), Tokenizer(), None])
def test_what_has_not_one_label_an_event_is_refused(model):
    with pytest.raises(TypeError, match="give a learner whose events have one label each"):
        LearnUnsure(model)


# --- The commands


def learned(rows):
    model = LearnUnsure(Tokenizer() | AdaptiveClassifier(hash_seed=1), MARGIN)
    for label, text in rows:
        model.learn_one(text, label)
    return model.model[-1].__getstate__()


@pytest.fixture(scope="module")
def rows():
    return [(label.replace(" ", "_"), text) for label, text in random_mail(5, 300) if text]


@pytest.mark.parametrize("format", ["plain", "fasttext"])
def test_train_learns_the_same(tmp_path, rows, format):
    lines = "".join(SHAPES[format].format(*row) for row in rows)
    (tmp_path / "in").write_text(lines)
    _, said = run("train", tmp_path / "in", "--format", format, "-m", tmp_path / "m",
                  "--hash-seed", "1", "--learn-unsure", MARGIN)  # fmt: skip
    assert load(tmp_path / "m")[-1].__getstate__() == learned(rows)
    assert f"events                 {len(rows)}" in said


def test_a_daemon_learns_the_same_however_its_input_comes_and_goes_on_with_it(tmp_path, rows):
    words = ("predict", "--learn", "--learn-unsure", MARGIN, "-m", tmp_path / "m")
    run(*words, "--create", "--input", "labelled", "--hash-seed", "1", data=written(rows[:100]))
    out, _ = run(*words, "--input", "labelled", data=written(rows[100:]))
    assert load(tmp_path / "m")[-1].__getstate__() == learned(rows)
    assert out.count(b"\n") == len(rows) - 100


def test_features_are_left_out_too(tmp_path):
    lines = "".join(f"{y} | {' '.join(x)}\n" for x, y in events(7, ["1", "2"]))
    (tmp_path / "in.vw").write_text(lines)
    words = (tmp_path / "in.vw", "-q", "--hash-seed", "1", "--learn-unsure", MARGIN)
    run("train", *words, "-m", tmp_path / "m")
    run("predict", "--learn", "--create", *words[:1], *words[2:], "-m", tmp_path / "n")
    from streamptron.files.lines import LineModel

    found = [LineModel.load(tmp_path / name).learner.__getstate__() for name in "mn"]
    assert found[0] == found[1]
    twin = Twin(AdaptiveClassifier(hash_seed=1), MARGIN)
    for x, y in events(7, ["1", "2"]):
        twin.learn_one(x, y)
    assert LineModel.load(tmp_path / "m").learner.n_seen == len(twin.learned) < 150


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "a.tsv", "-m", "m", "--learn-unsure", "-1"], "-1.0 is not in the range x>=0"),
        (["train", "a.tsv", "-m", "m", "--learn-unsure", "1", "--jobs", "2"], "leave out --jobs"),
        (["predict", "-m", "m", "--learn-unsure", "1"], "--learn-unsure says what is learned"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(tmp_path, words, message):
    (tmp_path / "a.tsv").write_bytes(b"a\tb\n")
    assert message in run(*words, cwd=tmp_path, code=2)[1]


def test_learn_leaves_out_mails_that_the_model_is_sure_of(tmp_path):
    for i in range(6):
        (tmp_path / f"s{i}.eml").write_bytes(b"Subject: win a prize\n\nfree money %d\n" % i)
        (tmp_path / f"h{i}.eml").write_bytes(b"Subject: tomorrow\n\nsee you soon %d\n" % i)
    run("train", "-q", "--spam", tmp_path / "s0.eml", "--ham", tmp_path / "h0.eml",
        "-m", tmp_path / "m")  # fmt: skip
    mails = [tmp_path / f"s{i}.eml" for i in range(1, 6)]
    words = ("learn", "-m", tmp_path / "m", "--learn-unsure")
    assert "0 learned, 0 corrected, 0 known already, 5 left out" in run(
        *words, "0", "--as", "spam", *mails
    )[1]  # fmt: skip
    assert "1 learned" in run(*words, "0", "--as", "ham", mails[0])[1]
    from streamptron.files.lines import LineModel

    assert len(journal_in(LineModel.load(tmp_path / "m"))) == 1
