"""The C library gives Python's bits: answers, probabilities, explanations, and files."""

import copy
import random
import subprocess
from urllib.parse import unquote

import pytest

from streamptron import (
    AdaptiveClassifier,
    Journal,
    Mail,
    MultiLabelClassifier,
    Perceptron,
    Tokenizer,
    load,
)
from streamptron.keeping.layout import Contents
from streamptron.keeping.read import read
from streamptron.keeping.write import contents_of, write
from tests.support.library import c_hex, called, event_line, needs_compiler, program
from tests.support.mails import (
    changed,
    likely_mail,
    needs_mails,
    random_mail,
    random_parameters,
    sample,
)
from tests.support.marks import in_turn, seeds
from tests.support.streams import labelled_texts, needs_data
from tests.support.variants import LEARNERS, OWN, VARIANTS, make

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

NAMES = [
    *(f"word{i}" for i in range(30)),
    *(f"a name of more than fifteen bytes {i}" for i in range(15)),
    *(f"é{i}" for i in range(6)),
    *("tab\tin it", 'quo"te', ""),
]
LABELS = ["label 1", "sky", "label 3", "é", 'q"uo\\te', "6"]


def events(seed, n, labels):
    """({name: number}, label, weight): names met again and again, numbers of all kinds."""
    rng = random.Random(seed)
    for _ in range(n):
        names = rng.sample(NAMES, rng.randint(0, 8))
        x = {name: rng.choice([1, 2.0, 0.5, -1.0, 0.1, 0.0, 1e-30, 1e20]) for name in names}
        yield x, rng.choice(labels), rng.choice([1.0, 1.0, 2.0, 0.5, 0.0])


def parts_of(model):
    """Learner and what makes events, of a pipeline or a learner alone."""
    if hasattr(model, "steps"):
        return model[-1], model[0].transform_one
    return model, lambda x: x


def answer(model, x):
    """What tests/library/conformance.c prints of an event."""
    learner, event = parts_of(model)
    x = event(x)
    labels = learner._known_labels
    label = learner.predict_one(x)
    decision = learner.decision_function_one(x)
    p, top = learner.predict_proba_one(x), learner.predict_proba_one(x, top=3)
    scores = list(decision.values()) if isinstance(decision, dict) else [decision]
    if isinstance(learner, MultiLabelClassifier):
        p, top = ({each: of[True] for each, of in its.items()} for its in (p, top))
        first = ["set", *likely(labels, {each: p[each] for each in labels if label[each]})]
    else:
        number = labels.index(label) if label is not None else -1
        score = scores[max(number, 0)] if len(scores) > 1 else (scores or [0.0])[0]
        first = [str(number), c_hex(score), c_hex(p[label] if number >= 0 else 0.0)]
    first += ["scores", *map(c_hex, scores), "p", *(c_hex(p[each]) for each in labels)]
    return " ".join([*first, "top", *likely(labels, top)])


def likely(labels, choices):
    """{label: probability} as C prints it."""
    for label, p in choices.items():
        yield str(labels.index(label))
        yield c_hex(p)


def told(text):
    """The same without the parts of a score."""
    return text.split(" parts")[0]


def printed_alike(command, stream, expected, learner):
    """The program prints these answers to a stream's events, and then the learner's counts."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    *found, counts = done.stdout.splitlines()
    for i, (line, want) in enumerate(zip(found, expected, strict=True)):
        assert told(line) == want, f"event {i}: {stream[i]}"
    assert counts == (
        f"seen {learner.n_seen} updates {learner.n_updates} mistakes {learner.n_mistakes}"
    )


def compared(model, stream, folder):
    """C and Python learn the same events: the answers before each, and the files, are equal."""
    before, after, mine, lines = (folder / name for name in ("before", "after", "mine", "lines"))
    stream = list(stream)
    model.save(before)
    learner, event = parts_of(model)
    expected = []
    with open(lines, "w", newline="\n") as file:
        for x, label, weight in stream:
            file.write(event_line(x, label, weight))
            expected.append(answer(model, x))
            if label is not None:
                learner.learn_one(event(x), label, weight)
    printed_alike([program("conformance"), before, lines, after], stream, expected, learner)
    model.save(mine)
    assert after.read_bytes() == mine.read_bytes()
    return after


@pytest.mark.parametrize(("learner", "variant"), VARIANTS)
@seeds(1)
def test_every_learner_answers_and_learns_alike(learner, variant, seed, tmp_path):
    labels = [True, False] if learner == "Perceptron" else LABELS
    model = make(learner, variant)
    for x, label, w in events(seed, 60, labels[:2]):
        model.learn_one(x, label, w)
    compared(model, events(seed + 1, 80, labels), tmp_path)


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_untrained_learner_and_its_first_labels(learner, tmp_path):
    labels = [True, False] if learner == "Perceptron" else LABELS
    compared(LEARNERS[learner](hash_seed=3), events(5, 60, labels), tmp_path)


@pytest.mark.parametrize("learner", ["MIRA", "AROW", "AdaptiveClassifier", "VotedPerceptron"])
@pytest.mark.parametrize("labels", [[True, False], [0, 1, 2], [1.5, b"x", ("a", 1)]], ids=str)
def test_labels_that_are_no_texts_are_known_and_kept(learner, labels, tmp_path):
    model = LEARNERS[learner](hash_seed=3)
    for x, label, w in events(1, 30, labels):
        model.learn_one(x, label, w)
    shown = {str(label): label for label in labels}
    stream = [(x, str(label), w) for x, label, w in events(2, 30, labels)]
    before, after, lines = (tmp_path / name for name in ("before", "after", "lines"))
    model.save(before)
    lines.write_text("".join(event_line(*each) for each in stream))
    assert subprocess.run([program("conformance"), before, lines, after]).returncode == 0
    for x, label, w in stream:
        model.learn_one(x, shown[label], w)
    model.save(before)
    assert after.read_bytes() == before.read_bytes()


TOKENIZERS = {
    "default": {},
    "bigrams": {"ngram_range": (1, 2), "value": "count"},
    "log, l2": {"ngram_range": (1, 3), "value": "log", "normalize": "l2"},
    "characters": {"analyzer": "char", "ngram_range": (2, 4)},
    "folded": {"fold_numbers": True, "min_length": 2, "max_length": 12},
    "as written": {"lowercase": False, "max_length": None},
    "separators": {"separators": " -É;", "value": "count"},
    "fields": {"fields": ("subject", "bödy"), "ngram_range": (1, 2)},
    "one field": {"fields": "text"},
}
WORDS = (
    *(
        "the",
        "CAT",
        "10.0.0.1",
        "0x3fA",
        "Écris",
        "日本語",
        "!!",
        "a-b",
        "deadbeef",
        "\u017f",
        "\u01c5",
    ),
    *("12345", "fe80::1", "naïve", "\u0301x", "x" * 40, "a" * 130, "\n", "\t", "\u0130"),
)


def text(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 12)))


@pytest.mark.parametrize(
    ("options", "learner"), in_turn(TOKENIZERS, ["Perceptron", "AdaptiveClassifier", "MIRA"])
)
def test_every_tokenizer_splits_alike(options, learner, tmp_path):
    rng = random.Random(options)
    tokenizer = Tokenizer(**TOKENIZERS[options])
    fields = tokenizer.fields
    names = (fields,) if isinstance(fields, str) else fields
    labels = [True, False] if learner == "Perceptron" else LABELS[:3]
    model = tokenizer | LEARNERS[learner](hash_seed=1)
    lines, expected = [], []
    for _ in range(60):
        x = tuple(text(rng) for _ in names) if names else text(rng)
        event = model[0].transform_one(dict(zip(names, x, strict=True)) if names else x)
        lines.append((x, event, rng.choice(labels)))
    before, after, events_of = (tmp_path / name for name in ("before", "after", "lines"))
    model.save(before)
    events_of.write_text("".join(event_line(x, y) for x, _, y in lines))
    for _, event, label in lines:
        expected.append(answer(model[-1], event))
        model[-1].learn_one(event, label)
    done = subprocess.run(
        [program("conformance"), before, events_of, after], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    assert [told(line) for line in done.stdout.splitlines()[:-1]] == expected
    model.save(before)
    assert after.read_bytes() == before.read_bytes()


@pytest.mark.parametrize("learner", ["AdaptiveClassifier", "MIRA", "VotedPerceptron"])
@seeds(4, n_slow=12)
def test_mails_are_taken_apart_alike(learner, seed, tmp_path):
    rng = random.Random(seed)
    mail = Mail(**random_parameters(rng))
    stream = [
        (changed(rng, likely_mail(rng)) if rng.random() < 0.5 else random_mail(rng), label, 1.0)
        for label in rng.choices(LABELS[:3], k=40)
    ]
    model = mail | LEARNERS[learner](hash_seed=1)
    saved = compared(model, stream, tmp_path)
    if learner != "VotedPerceptron":
        check_explanations(load(saved), [x for x, _, _ in stream], tmp_path, True)


@needs_mails
def test_real_mails(tmp_path):
    stream = [(x, label, 1.0) for x, label in sample("spamassassin_raw", 150)]
    compared(Mail() | AdaptiveClassifier(hash_seed=1), stream, tmp_path)


def test_a_new_model_of_mails_is_pythons(tmp_path):
    stream = [(b"Subject: win now\n\na prize", "spam"), (b"Subject: tomorrow\n\nsee you", "ham")]
    (tmp_path / "lines").write_text("".join(event_line(*each) for each in stream))
    model = 'mail:adaptive:{"hash_seed": 5}|{"bytes": 20, "fold": false}'
    called(program("conformance"), model, tmp_path / "lines", tmp_path / "after")
    mine = Mail(bytes=20, fold=False) | AdaptiveClassifier(hash_seed=5)
    for x, label in stream:
        mine.learn_one(x, label)
    loaded = load(tmp_path / "after")
    assert vars(type(loaded[0])) == vars(type(mine[0]))
    assert loaded[0]._get_params() == mine[0]._get_params()
    assert loaded.predict_proba_one(b"Subject: win") == mine.predict_proba_one(b"Subject: win")


def test_what_a_file_has_besides_is_kept_byte_for_byte(tmp_path):
    """A journal, a position, where a training stopped: C learns on as a model in Python does."""
    journal = Journal(Tokenizer() | AdaptiveClassifier(hash_seed=1))
    for i, text in enumerate(("win a prize", "see you", "a prize", "a meeting")):
        journal.learn_one(f"mail-{i}", text, "spam" if "prize" in text else "ham")
    journal.correct("mail-1", "spam")
    place = {"file": "mails", "epoch": 1}
    lines = {"reading": {"format": "plain"}, "positive": None, "names": None, "place": place}
    position = {"at": ("mail", 7), "ids": [b"1-0", None, 0.5, {"a": [1]}]}

    def write_all(path, journal):
        found = contents_of(journal, {"whose": "mine"})
        write(path, found._replace(lines=lines, position=position))

    before, after, events_of = (tmp_path / name for name in ("before", "after", "lines"))
    write_all(before, journal)
    stream = [("free lunch", "ham"), ("elections today", "news"), ("a prize", "spam")]
    for known in (stream[:0], stream):
        events_of.write_text("".join(event_line(*each) for each in known))
        called(program("conformance"), before, events_of, after)
        journal = Journal.load(before)
        for x, label in known:
            journal.model.learn_one(x, label)
        write_all(before, journal)
        assert after.read_bytes() == before.read_bytes()
    again = Journal.load(after)
    again.undo("mail-0")
    journal.undo("mail-0")
    assert again.model.predict_proba_one("a prize") == journal.model.predict_proba_one("a prize")
    assert read(after).position == position


def test_a_learner_that_watches_for_changes(tmp_path):
    model = AdaptiveClassifier(hash_seed=1, forget="auto")
    stream = [(x, y, 1.0) for x, y, _ in events(4, 400, LABELS[:2])]
    compared(model, stream, tmp_path)


LATE = [{}, {"hash_bits": 6}, {"max_features": 30}, {"false_positive_rate": {LABELS[3]: 0.1}}]


@pytest.mark.parametrize("options", LATE, ids=str)
def test_labels_that_come_late(options, tmp_path):
    """The third one turns what two had into rows."""
    model = AdaptiveClassifier(hash_seed=1, **options)
    late = [event for k in range(1, 7) for event in events(k, 40, LABELS[:k])]
    compared(model, late, tmp_path)


@needs_data
@pytest.mark.parametrize("name", ["sms_spam", "20news_train", "loghub_system"])
@pytest.mark.parametrize("learner", ["AdaptiveClassifier", "MIRA"])
def test_real_streams(name, learner, tmp_path):
    model = Tokenizer(ngram_range=(1, 2)) | LEARNERS[learner](hash_seed=1)
    stream = ((x, label, 1.0) for x, label in labelled_texts(name, 300))
    saved = compared(model, stream, tmp_path)
    lines = tmp_path / "more"
    texts = [x for x, _ in labelled_texts(name, 330)][300:]
    lines.write_text("".join(map(event_line, texts)))
    command = [program("conformance"), saved, lines, "mapped"]
    done = subprocess.run(command, capture_output=True, text=True)
    found = [told(line) for line in done.stdout.splitlines()[:-1]]
    assert found == [answer(model, x) for x in texts]


def check_explanations(model, xs, folder, mapped):
    """C and Python name the same parts of the scores of events."""
    model.save(folder / "model")
    (folder / "lines").write_text("".join(map(event_line, xs)))
    command = [program("conformance"), folder / "model", folder / "lines"]
    done = subprocess.run([*command, *["mapped"] * mapped], capture_output=True, text=True)
    learner, event = parts_of(model)
    first = learner._known_labels[0]
    for x, line in zip(xs, done.stdout.splitlines(), strict=False):
        found = line.split(" parts ", 1)[1].split(" ")
        names = [None if name == "-" else unquote(name) for name in found[::2]]
        assert len(names) == len({*names}), "a part is listed twice"
        found = dict(zip(names, map(float.fromhex, found[1::2]), strict=True))
        contributions = learner._explain(event(x), *learner._explained(first))[0]
        named = {None if name is None else str(name): part for name, part in contributions}
        assert found == {None: 0.0, **named}


def measured(seed, n, labels):
    """Columns of numbers, some of which an event lacks, with a word among them."""
    rng = random.Random(seed)
    for _ in range(n):
        k = rng.randrange(len(labels))
        x = {f"column {j}": rng.gauss(100.0 * j, 1 + k) for j in range(6) if rng.random() < 0.9}
        yield {**x, f"word {rng.randrange(9)}": 1}, labels[k], rng.choice((1.0, 0.5))


@pytest.mark.parametrize(
    "options", [{}, {"hash_bits": 8}, {"forget": "auto"}, {"degree": 2}], ids=str
)
@pytest.mark.parametrize("labels", [["ham", "spam"], list("abcdefghi")], ids=len)
def test_columns_of_numbers(labels, options, tmp_path):
    model = AdaptiveClassifier(hash_seed=1, **options)
    for x, label, w in measured(1, 200, labels):
        model.learn_one(x, label, w)
    xs = [{"word 1": 1}, *(x for x, _, _ in measured(3, 20, labels))]
    if not options:  # the columns that an event lacks speak, too
        assert "column 3" in dict(model.explain_one(xs[0], label=labels[0]))
    for mapped in (False, True):
        check_explanations(model, xs, tmp_path, mapped)
    compared(model, measured(2, 120, labels), tmp_path)


@pytest.mark.parametrize("learner", ["Perceptron", "MIRA", "AROW", "AdaptiveClassifier"])
@pytest.mark.parametrize("mapped", [False, True], ids=["in memory", "mapped"])
def test_explanations(learner, mapped, tmp_path):
    labels = [True, False] if learner == "Perceptron" else LABELS[:3]
    model = LEARNERS[learner](hash_seed=1)
    for x, label, w in events(1, 100, labels):
        model.learn_one(x, label, w)
    check_explanations(model, [x for x, _, _ in events(2, 20, labels)], tmp_path, mapped)


def test_a_new_model_is_pythons(tmp_path):
    """The parameters as people write them make the learner that Python makes of them."""
    stream = list(events(3, 60, LABELS[:3]))
    lines = tmp_path / "lines"
    lines.write_text("".join(event_line(*each) for each in stream))
    for spec, model in (
        ('adaptive:{"hash_seed": 5, "eta": 0.5}', AdaptiveClassifier(hash_seed=5, eta=0.5)),
        (
            'mira:{"hash_seed": 5, "C": 0.25, "class_weight": {"sky": 2.5}, "max_features": 20}',
            LEARNERS["MIRA"](hash_seed=5, C=0.25, class_weight={"sky": 2.5}, max_features=20),
        ),
        ('arow:{"hash_seed": 18446744073709551615}', LEARNERS["AROW"](hash_seed=2**64 - 1)),
        (
            'multiclass:{"hash_seed": 1, "interactions": [["word1", "word2"]]}',
            LEARNERS["MulticlassPerceptron"](hash_seed=1, interactions=[("word1", "word2")]),
        ),
    ):
        saved = tmp_path / "saved"
        command = [program("conformance"), spec, lines, saved]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        for x, label, w in stream:
            model.learn_one(x, label, w)
        loaded = load(saved)
        assert type(loaded) is type(model)
        assert loaded.labels == model.labels
        for name in model._get_params():
            assert getattr(loaded, name) == getattr(model, name), name
        for x, _, _ in stream:
            assert loaded.predict_proba_one(x) == model.predict_proba_one(x)


def test_lines_name_a_perceptrons_labels(tmp_path):
    lines = {"reading": {"format": "plain"}, "positive": None, "names": ["ham", "spam"]}
    model = Perceptron(hash_seed=1)
    write(tmp_path / "model", Contents(model, Tokenizer(), lines))
    (tmp_path / "lines").write_text(event_line("win a prize", "spam") + event_line("hello", "ham"))
    command = [program("conformance"), tmp_path / "model", tmp_path / "lines", tmp_path / "after"]
    assert subprocess.run(command).returncode == 0
    tokens = Tokenizer()
    model.learn_one(tokens.transform_one("win a prize"), True)
    model.learn_one(tokens.transform_one("hello"), False)
    write(tmp_path / "model", Contents(copy.deepcopy(model), tokens, lines))
    assert (tmp_path / "after").read_bytes() == (tmp_path / "model").read_bytes()


def test_every_variant_of_the_learners_is_asked():
    assert {variant for variants in OWN.values() for variant in variants} <= {
        variant for _, variant in VARIANTS
    }
