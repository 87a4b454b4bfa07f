"""false_positive_rate: a label is answered in just that share of the events of other labels."""

import copy
import pickle
import random

import pytest

from streamptron import AdaptiveClassifier, Mail, Tokenizer, load, merge
from streamptron.files.lines import LineModel
from streamptron.files.verdict import judged
from tests.support.counts import counts_of, counts_text
from tests.support.marks import seeds
from tests.support.streams import needs_data, text_stream
from tests.twin.adaptive import AdaptiveClassifier as Twin

RATES = {"spam": 0.05, "eggs": 0.2, "never": 0.1}
LABELS = ("ham", "spam", "eggs", "bacon", "toast")


def noisy(rng, n, labels=("ham", "spam"), share=0.3, hint=0.5):
    """Events of which some have no word that says what they are."""
    for _ in range(n):
        y = labels[0] if rng.random() > share else rng.choice(labels[1:])
        x = {f"word {rng.randrange(40)}": 1.0 for _ in range(5)}
        x[f"of {y}" if rng.random() < hint else f"of {rng.choice(labels)}"] = 1.0
        yield x, y


def answers(model, events):
    """What each event was answered before it was learned, beside its label."""
    return [(model.test_then_train_one(x, y), y) for x, y in events]


def false_alarms(found, label="spam"):
    """The share of the events of other labels that were answered so."""
    others = [answer for answer, y in found if y != label]
    return sum(answer == label for answer in others) / len(others)


@seeds(3)
@pytest.mark.parametrize("labels", [LABELS[:2], LABELS[:3], LABELS], ids=len)
def test_texts_are_learned_as_event_by_event_and_as_by_the_twin(labels, seed):
    events = list(noisy(random.Random(seed), 300, labels))
    texts = [" ".join(x).replace("word ", "w").replace("of ", "of") for x, _ in events]
    ys = [y for _, y in events]
    tokens = Tokenizer()
    model, twin = AdaptiveClassifier(false_positive_rate=RATES), Twin(false_positive_rate=RATES)
    many = Tokenizer() | AdaptiveClassifier(false_positive_rate=RATES)
    many.learn_many(texts, ys)
    for text, y in zip(texts, ys, strict=True):
        x = tokens.transform_one(text)
        assert model.predict_one(x) == twin.predict_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
        assert model.n_mistakes == twin.n_mistakes
    learner = many[-1]
    assert learner.n_mistakes == model.n_mistakes
    assert threshold(learner) == threshold(model)
    found = [model.predict_one(tokens.transform_one(text)) for text in texts]
    assert list(many.predict_many(texts)) == found


@seeds(3)
@pytest.mark.parametrize("rate", [0.3, 0.1, 0.02])
@pytest.mark.parametrize("labels", [LABELS[:2], LABELS], ids=len)
def test_the_rate_is_kept_whatever_the_order_of_the_stream(labels, rate, seed):
    rng = random.Random(seed)
    events = list(noisy(rng, 3000, labels))
    events += sorted(noisy(rng, 3000, labels), key=lambda event: event[1])
    model = AdaptiveClassifier(false_positive_rate={"spam": rate})
    found = answers(model, events)
    # of n others: how far the threshold has gone, times 2 / n
    assert false_alarms(found) == pytest.approx(rate, abs=0.008)


def test_without_a_rate_answers_and_bits_are_as_ever():
    events = list(noisy(random.Random(0), 500, LABELS))
    model, asked = (
        AdaptiveClassifier(hash_seed=1),
        AdaptiveClassifier(hash_seed=1, false_positive_rate={"none": 0.1}),
    )
    assert answers(model, events) == answers(asked, events)
    for x, _ in events[:50]:
        assert model.predict_proba_one(x) == asked.predict_proba_one(x)
    mine, its = model.__getstate__(), asked.__getstate__()
    assert mine["arrays"] == its["arrays"]


def test_probabilities_and_weights_do_not_know_of_it():
    events = list(noisy(random.Random(0), 800))
    model, asked = AdaptiveClassifier(), AdaptiveClassifier(false_positive_rate={"spam": 0.01})
    assert answers(model, events) != answers(asked, events)
    for x, _ in events[:50]:
        assert model.predict_proba_one(x) == asked.predict_proba_one(x)
        assert model.decision_function_one(x) == asked.decision_function_one(x)
    assert model.weights == asked.weights
    assert model.n_mistakes != asked.n_mistakes


@pytest.mark.parametrize("labels", [LABELS[:2], LABELS], ids=len)
def test_a_saved_model_and_a_copy_go_on_as_if_nothing_had_happened(labels, tmp_path):
    rng = random.Random(0)
    model = AdaptiveClassifier(false_positive_rate=RATES)
    answers(model, noisy(rng, 400, labels))
    model.save(tmp_path / "m")
    others = [
        load(tmp_path / "m"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    more = list(noisy(rng, 400, labels))
    mapped = load(tmp_path / "m", mmap=True)
    assert [mapped.predict_one(x) for x, _ in more] == [model.predict_one(x) for x, _ in more]
    found = answers(model, more)
    for other in others:
        assert other.false_positive_rate == RATES
        assert answers(other, more) == found


def test_merged_models_go_on_from_the_mean_of_the_thresholds():
    rng = random.Random(0)
    rates = {"spam": 0.02}
    backwards = {"eggs": 0.3, "spam": 0.02}
    base = AdaptiveClassifier(false_positive_rate=rates)
    answers(base, noisy(rng, 500))
    shards = [copy.deepcopy(base) for _ in range(2)]
    for shard in shards:
        answers(shard, noisy(rng, 500))
    merged = merge(shards, since=base)
    q = [threshold(model) for model in (*shards, merged)]
    assert q[2] == pytest.approx((q[0] + q[1]) / 2)
    # the order in which rates are given makes no difference
    one = AdaptiveClassifier(false_positive_rate=backwards)
    other = AdaptiveClassifier(false_positive_rate=dict(reversed(backwards.items())))
    for model in (one, other):
        answers(model, noisy(random.Random(1), 300, LABELS))
    assert threshold(merge([one, other])) == pytest.approx(threshold(one))


def threshold(model, label="spam"):
    """What has been learned of a label's threshold."""
    state = model.__getstate__()
    once = state["many" if "many" in state else "adaptive"]
    return counts_of(once)[3][model.labels.index(label)][-1]


def test_a_step_taken_back_leaves_no_bit_of_it():
    model = AdaptiveClassifier(false_positive_rate=RATES)
    for x, y in noisy(random.Random(0), 200, LABELS):
        before = threshold(model) if "spam" in model.labels else 0.0
        step = model.learn_one(x, y, undo=True)
        model.undo(step)
        assert "spam" not in model.labels or threshold(model) == before
        model.learn_one(x, y)


def test_a_weight_of_0_moves_nothing_and_any_other_as_much_as_1():
    x, _ = next(noisy(random.Random(0), 1))
    found = []
    for w in (0.0, 1.0, 7.0):
        model = AdaptiveClassifier(false_positive_rate={"spam": 0.1})
        model.learn_one({"a": 1}, "spam")
        model.learn_one({"b": 1}, "ham")
        model.learn_one(x, "ham", w)
        found.append(threshold(model))
    assert found[0] == 0.0
    assert found[1] == found[2] == pytest.approx(-0.05)


def test_a_label_that_comes_late_begins_without_a_past():
    model = AdaptiveClassifier(false_positive_rate={"spam": 0.1})
    for x, y in noisy(random.Random(0), 300, ("ham", "eggs")):
        model.learn_one(x, y)
    model.learn_one({"new": 1.0}, "spam")
    assert threshold(model) == 0.0
    model.learn_one({"new": 2.0}, "ham")
    assert threshold(model) != 0.0


def test_rates_cannot_be_changed_and_are_a_copy():
    given = {"spam": 0.1}
    model = AdaptiveClassifier(false_positive_rate=given)
    given["spam"] = 0.5
    assert model.false_positive_rate == {"spam": 0.1}
    with pytest.raises(TypeError, match="cannot be changed"):
        model.false_positive_rate["spam"] = 0.5
    assert model.clone({"false_positive_rate": None}).false_positive_rate is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"spam": 1.5}, r"false_positive_rate\['spam'\]=1.5; it must be a number above 0"),
        ({"spam": 0}, r"false_positive_rate\['spam'\]=0"),
        ({"spam": "1"}, r"false_positive_rate\['spam'\]"),
        (0.001, r"a dict of label to rate, such as \{'spam': 0.001\}"),
        ({None: 0.1}, "false_positive_rate has an invalid label"),
    ],
)
def test_a_rate_that_makes_no_sense_is_refused_in_a_sentence(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        AdaptiveClassifier(false_positive_rate=given)


def test_a_threshold_that_no_learning_makes_is_refused():
    model = AdaptiveClassifier(false_positive_rate={"spam": 0.1})
    model.learn_one({"a": 1}, "ham")
    model.learn_one({"b": 1}, "spam")
    for label, q in ((0, 1.0), (1, float("inf"))):  # ham has no rate
        state = model.__getstate__()
        T, m, nm, rows, *more = counts_of(state["adaptive"])
        rows = [list(row) for row in rows]
        rows[label][-1] = q
        state["adaptive"] = counts_text((T, m, nm, rows, *more))
        with pytest.raises(
            ValueError, match=r"what is kept (for a label is invalid|once does not fit)"
        ):
            AdaptiveClassifier().__setstate__(state)


def test_a_servers_score_agrees_with_its_answer():
    learner = AdaptiveClassifier(false_positive_rate={"spam": 0.001})
    model = LineModel(learner, Mail(), {"format": "mail"}, None)
    learner.learn_one(model.event(b"Subject: win now\n\na free prize"), "spam")
    learner.learn_one(model.event(b"Subject: tomorrow\n\nsee you"), "ham")
    verdict = judged(model, b"Subject: free\n\na prize", "spam", 0.0)
    assert verdict.said == "ham"
    assert 50 < float(verdict.score) <= float(verdict.threshold)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.01, 0.003, 0.001])
def test_the_rate_is_kept_on_mail(rate):
    model = AdaptiveClassifier(false_positive_rate={"spam": rate})
    found = answers(model, list(text_stream("spamassassin")))
    assert false_alarms(found[len(found) // 2 :]) == pytest.approx(rate, abs=0.0015)
    spam = [answer for answer, y in found if y == "spam"]
    assert spam.count("spam") / len(spam) > 0.9
