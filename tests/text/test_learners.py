"""Learners learn from texts what they learn from dicts, in threads too."""
# ruff: noqa: RUF001  letters that look alike are meant

import random
import threading
from itertools import islice

import numpy as np
import pytest

from streamptron import Perceptron, Tokenizer
from tests.support.texts import random_x
from tests.support.threads import eager
from tests.support.tokenized import as_bytes, mails
from tests.support.variants import (
    answers,
    every_learner,
    every_variant_and_in_turn,
    labels_for,
    learned,
    make,
)
from tests.twin.text import features

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

# Learners


TOKENIZERS = {
    "words": {},
    "values": {"ngram_range": (1, 2), "fold_numbers": True, "value": "log", "normalize": "l2"},
    "characters": {"analyzer": "char", "ngram_range": (1, 3), "value": "count"},
}
every_tokenizer = pytest.mark.parametrize("kind", TOKENIZERS)


def explained(model, x):
    """All that a model says of an event, and why."""
    return *answers(model, x), model.explain_one(x), model.debug_one(x)


def assert_predicted(got, expected):
    """As lists: numpy's truth values are Python's, and an array may have any dtype."""
    assert np.asarray(got).tolist() == list(expected)


def check_rows(model, texts, events):
    """The answers to texts are those to the events, row by row."""
    assert_predicted(model.predict_many(texts), [model.predict_one(x) for x in events])
    p = [list(model.predict_proba_one(x).values()) for x in events]
    assert np.asarray(model.predict_proba_many(texts)).tolist() == p
    decisions = [model.decision_function_one(x) for x in events]
    if decisions and isinstance(decisions[0], dict):
        decisions = [list(decision.values()) for decision in decisions]
    assert np.asarray(model.decision_function_many(texts)).tolist() == decisions


@every_variant_and_in_turn("kind", TOKENIZERS)
def test_learner_learns_from_texts_what_it_learns_from_dicts(learner, variant, kind):
    params = TOKENIZERS[kind]
    tokenizer = Tokenizer(**params)
    model, plain, tested = (make(learner, variant) for _ in range(3))
    for i, (text, y) in enumerate(mails(learner)):
        text = text if i % 3 else as_bytes(text)
        x = features(text, **params)
        event = tokenizer.transform_one(text)
        w = (1.0, 0.5, 2.0)[i % 3]
        # the same event is asked of, learned, and asked of again
        assert answers(model, event) == answers(plain, x)
        assert tested.test_then_train_one(event, y, w=w) == plain.predict_one(x)
        model.learn_one(event, y, w=w)
        plain.learn_one(x, y, w=w)
        if i % 10 == 9 and not (learner == "VotedPerceptron" and model.degree > 1):
            assert explained(model, event) == explained(plain, x)
        assert answers(model, event) == answers(plain, x)
    assert learned(model) == learned(plain) == learned(tested)


@every_variant_and_in_turn("kind", TOKENIZERS)
def test_batches_of_texts_are_learned_and_answered_row_by_row(learner, variant, kind):
    params = TOKENIZERS[kind]
    tokenizer = Tokenizer(**params)
    model, plain, tested = (make(learner, variant) for _ in range(3))
    pairs = iter(mails(learner))
    for n in (1, 30, 0, 49):
        rows = list(islice(pairs, n))
        raw, labels = [text for text, _ in rows], [y for _, y in rows]
        w = [(1.0, 0.5, 0.0)[i % 3] for i in range(n)]
        events = [features(text, **params) for text in raw]
        texts = tokenizer.transform_many(raw)
        if plain.n_seen:
            check_rows(plain, texts, events)
        model.learn_many(texts, labels, w=w)
        expected = [
            plain.test_then_train_one(x, y, w=step)
            for x, y, step in zip(events, labels, w, strict=True)
        ]
        assert_predicted(tested.test_then_train_many(texts, labels, w=w), expected)
        assert learned(model) == learned(plain) == learned(tested)
    check_rows(model, texts, events)


@every_learner
def test_batches_of_bytes_and_of_fields(learner):
    pairs = mails(learner)
    raw, labels = [as_bytes(text) + b" \xff" for text, _ in pairs], [y for _, y in pairs]
    mapped = [{"a": text, "b": as_bytes(text[::-1])} for text, _ in pairs]
    for params, xs in (({"value": "count"}, raw), ({"fields": ("a", "b")}, mapped)):
        texts = Tokenizer(**params).transform_many(xs)
        events = [features(x, **params) for x in xs]
        one, many, plain = (make(learner) for _ in range(3))
        many.learn_many(texts, labels)
        for x, event, y in zip(events, texts, labels, strict=True):
            one.learn_one(event, y)
            plain.learn_one(x, y)
        assert learned(one) == learned(many) == learned(plain)
        check_rows(many, texts, events)
        check_rows(many, texts[10:20], events[10:20])


@every_learner
def test_one_model_takes_dicts_texts_and_batches_in_turn(learner):
    tokenizer = Tokenizer()
    model, plain = make(learner), make(learner)
    pairs = mails(learner, 200)
    known = tokenizer.transform_one("word1 word2 word3")
    for i, (text, y) in enumerate(pairs):
        x = features(text)
        if i % 4 == 0:
            model.learn_one(x, y)
        elif i % 4 == 1:
            model.learn_one(tokenizer.transform_one(text), y)
        elif i % 4 == 2:
            model.learn_many(tokenizer.transform_many([text]), [y])
        else:
            model.learn_one({**tokenizer.transform_one(text)}, y)
        plain.learn_one(x, y)
        assert answers(model, known) == answers(plain, {"word1": 1, "word2": 1, "word3": 1})
    assert learned(model) == learned(plain)


@every_learner
def test_one_event_serves_many_models(learner):
    # seeds differ, and so does where each model keeps a feature
    models = [make(learner, hash_seed=seed) for seed in (1, 2)]
    models += [make(learner, "hashed", hash_seed=3)]
    plain = [model.clone() for model in models]
    tokenizer = Tokenizer(value="log")
    for text, y in mails(learner, 40) * 2:
        event = tokenizer.transform_one(text)
        for model, other in zip(models, plain, strict=True):
            assert answers(model, event) == answers(other, features(text, value="log"))
            model.learn_one(event, y)
            other.learn_one(features(text, value="log"), y)
    assert [learned(model) for model in models] == [learned(model) for model in plain]


@every_learner
def test_names_of_every_kind_are_the_dicts_names(learner):
    texts = ["a", "a\0", "\0", "\0\0", "x" * 14, "x" * 15, "x" * 16, "é" * 7, "é" * 8, "語" * 5]
    texts += ["語" * 6, "\ud83d\ude42", "🙂", "\ud800", "\udfff", "𝔘" * 3, "𝔘" * 4, "x" * 3000, "ÿ"]
    tokenizer = Tokenizer(separators=" ", max_length=None, lowercase=False)
    model, plain = make(learner), make(learner)
    labels = labels_for(learner)
    for i, text in enumerate(texts * 2):
        model.learn_one(tokenizer.transform_one(text), labels[i % 2])
        plain.learn_one({text: 1}, labels[i % 2])
    assert learned(model) == learned(plain)
    assert model.n_features == len(texts)
    assert model.weights == plain.weights


@every_learner
def test_a_bad_batch_of_texts_teaches_nothing(learner):
    texts = Tokenizer().transform_many(["one two", "three", "four"])
    good, bad = labels_for(learner)[:2], [] if learner != "Perceptron" else "maybe"
    model = make(learner)
    model.learn_many(texts, [good[0], good[1], good[0]])
    before = learned(model)
    for labels in ([good[0]], [good[0], good[1], bad], [*good, *good]):
        with pytest.raises((TypeError, ValueError)):
            model.learn_many(texts, labels)
    with pytest.raises(ValueError, match="w"):
        model.learn_many(texts, [good[0]] * 3, w=[1.0, -1.0, 1.0])
    with pytest.raises((TypeError, ValueError)):
        model.learn_one(texts[0], bad)
    assert learned(model) == before


@pytest.mark.parametrize("intercept", [True, False])
def test_a_text_without_features_is_the_empty_event(intercept):
    model, plain = (Perceptron(intercept=intercept, hash_seed=1) for _ in range(2))
    empty = Tokenizer().transform_one(" ")
    for y in (True, False, False, True):
        model.learn_one(empty, y)
        plain.learn_one({}, y)
        assert answers(model, empty) == answers(plain, {})
    model.learn_many(Tokenizer().transform_many(["", ""]), [True, True])
    plain.learn_one({}, True)
    plain.learn_one({}, True)
    assert learned(model) == learned(plain)


# Threads


@pytest.mark.parametrize("shared", [True, False], ids=["shared events", "own events"])
@pytest.mark.parametrize("way", ["one", "many"])
@eager
@every_learner
def test_who_asks_while_another_learns_is_told_of_a_state_before_or_after(learner, way, shared):
    tokenizer = Tokenizer(value="count")
    pairs = mails(learner, 400)
    probes = [text for text, _ in pairs[:5]]
    events = [features(probe, value="count") for probe in probes]
    model, plain = make(learner), make(learner)
    known = [[repr(plain.decision_function_one(x))] for x in events]
    for text, y in pairs:
        plain.learn_one(features(text, value="count"), y)
        for answers_known, x in zip(known, events, strict=True):
            answers_known.append(repr(plain.decision_function_one(x)))
    known = [set(answers_known) for answers_known in known]
    common = [tokenizer.transform_one(probe) for probe in probes]
    stop, errors, asked = threading.Event(), [], [0] * 3

    def ask(i):
        try:
            while not stop.is_set() or not asked[i]:
                for k, probe in enumerate(probes):
                    event = common[k] if shared else tokenizer.transform_one(probe)
                    assert repr(model.decision_function_one(event)) in known[k]
                    assert model.predict_one(event) in (None, *labels_for(learner))
                    assert event == events[k]
                asked[i] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        for i in range(0, len(pairs), 40):
            texts, labels = zip(*pairs[i : i + 40], strict=True)
            if way == "many":
                model.learn_many(tokenizer.transform_many(texts), labels)
            else:
                for text, y in zip(texts, labels, strict=True):
                    model.learn_one(tokenizer.transform_one(text), y)
    finally:
        stop.set()
    for thread in threads:
        thread.join(100)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    assert min(asked) > 0
    assert learned(model) == learned(plain)


@eager
def test_one_tokenizer_serves_many_threads():
    params = {"ngram_range": (1, 2), "fold_numbers": True, "value": "log"}
    tokenizer = Tokenizer(**params)
    rng = random.Random(9)
    texts = [random_x(rng) for _ in range(150)]
    expected = [list(features(text, **params).items()) for text in texts]
    results = [None] * 4

    def run(i):
        results[i] = [list(tokenizer.transform_one(text).items()) for text in texts]

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert results == [expected] * 4
