"""A journal corrects what it has learned, and is never at odds with its model's file."""

import contextlib
import copy
import itertools
import os
import pickle
import random
import re
import select
import subprocess
import sys
import threading
import time

import pytest

import streamptron
from streamptron import (
    AROW,
    AdaptiveClassifier,
    Checkpoint,
    Journal,
    ModelFileError,
    MulticlassPerceptron,
    Perceptron,
    Tokenizer,
)
from tests.support.marks import seeds, slow
from tests.support.processes import environment
from tests.support.streams import random_events
from tests.support.threads import eager, finished


def learned(model):
    """What it has learned, but not which steps it could take back."""
    state = model.__getstate__()
    state.pop("past", None)
    return pickle.dumps(state)


@seeds(3)
@pytest.mark.parametrize("learner", [Perceptron, MulticlassPerceptron, AdaptiveClassifier])
def test_a_corrected_event_is_undone_and_learned_again(learner, seed, path):
    rng = random.Random(seed)
    journal, twin, steps = Journal(learner(hash_seed=0)), learner(hash_seed=0), {}
    for t, (x, y, w) in enumerate(random_events(rng, 100)):
        y = y if rng.random() < 0.8 else not y
        journal.learn_one(("event", t), x, y, w)
        steps[t] = x, w, twin.learn_one(x, y, w, undo=True)
        if rng.random() < 0.3:
            t = rng.choice(list(steps))
            x, w, step = steps.pop(t)
            twin.undo(step)
            if rng.random() < 0.5:
                journal.undo(("event", t))
            else:
                journal.correct(("event", t), True)
                steps[t] = x, w, twin.learn_one(x, True, w, undo=True)
        if t % 25 == 24:
            journal.save(path)
            journal = rng.choice([Journal.load(path), pickle.loads(pickle.dumps(journal))])
        assert list(journal) == [("event", t) for t in steps]
    assert learned(journal.model) == learned(twin)


def test_the_oldest_events_fall_out_and_say_so():
    journal = Journal(Perceptron(), most=2)
    for name in "abc":
        journal.learn_one(name, {name: 1}, True)
    assert (list(journal), len(journal), "a" in journal) == (["b", "c"], 2, False)
    weights = journal.model.weights
    for call in (journal.undo, lambda name: journal.correct(name, False)):
        with pytest.raises(KeyError, match=r"there is no event 'a': .* 2 others have come since"):
            call("a")
    assert journal.model.weights == weights


def test_an_id_is_used_once():
    journal = Journal(Perceptron())
    journal.learn_one(1, {"a": 1}, True)
    with pytest.raises(ValueError, match="id=1 is in the journal already; nothing was learned"):
        journal.learn_one(1, {"b": 1}, True)
    with pytest.raises(ValueError, match="id=1 is in the journal already"):
        journal.learn_ticket(1, journal.model.predict_ticket({"b": 1}), True)
    assert journal.model.n_seen == 1
    journal.undo(1)
    with pytest.raises(KeyError):
        journal.undo(1)
    journal.learn_one(1, {"b": 1}, True)


def test_what_is_wrong_changes_nothing():
    journal = Journal(MulticlassPerceptron(max_labels=2))
    journal.learn_one("a", {"a": 1}, "ham")
    journal.learn_one("b", {"b": 1}, "spam")
    before = learned(journal.model)
    for call, error, why in (
        (lambda: journal.correct("a", None), ValueError, "y is None"),
        (lambda: journal.correct("a", "eggs"), ValueError, "y='eggs' is a new label"),
        (lambda: journal.correct("a", frozenset()), TypeError, "y frozenset"),
        (lambda: journal.correct("a", "spam", w=-1), ValueError, "w=-1"),
        (lambda: journal.learn_one("c", {"c": "7"}, "ham"), TypeError, "x\\['c'\\]"),
        (lambda: journal.learn_one(frozenset(), {"c": 1}, "ham"), TypeError, "id "),
        (lambda: journal.learn_one([], {"c": 1}, "ham"), TypeError, "id"),
        (lambda: journal.learn_ticket("c", b"", "ham"), ValueError, "ticket is not a ticket"),
    ):
        with pytest.raises(error, match=why):
            call()
        assert learned(journal.model) == before
        assert list(journal) == ["a", "b"]


def test_a_correction_may_leave_the_wrong_step_where_it_is():
    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    journal.correct("a", False, undo=False)
    assert (journal.model.n_seen, journal.model.weights) == (2, {})
    journal.undo("a")
    assert journal.model.weights == {"a": 1.0}
    with pytest.raises(TypeError, match="undo=0"):
        journal.correct("a", False, undo=0)


def test_a_journal_needs_a_model_that_can_take_steps_back():
    with pytest.raises(TypeError, match="model: AROW cannot take a step back"):
        Journal(AROW())
    with pytest.raises(TypeError, match="a model file holds one of streamptron's learners"):
        Journal(object())
    with pytest.raises(ValueError, match="most=0"):
        Journal(Perceptron(), most=0)


def test_texts_and_tickets_go_through_a_journal(path):
    journal = Journal(Tokenizer() | AdaptiveClassifier())
    journal.learn_one("mail-1", "win a free prize", "ham")
    journal.learn_ticket("mail-2", journal.model.predict_ticket("see you"), "ham")
    journal.save(path, metadata={"of": "Ada"})
    assert streamptron.read_metadata(path) == {"of": "Ada"}
    assert streamptron.load(path).predict_one("prize") == "ham"
    journal = Journal.load(path)
    journal.correct("mail-1", "spam")
    assert journal.model.predict_one("free prize") == "spam"
    assert list(journal) == ["mail-2", "mail-1"]


def test_what_is_learned_past_the_journal_does_no_harm():
    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    journal.model.learn_one({"b": 1}, False)
    journal.undo("a")
    assert journal.model.weights == {"b": -1.0}


WHOLE = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda journal: pickle.loads(pickle.dumps(journal)),
    "beside its model": lambda journal: copy.deepcopy([journal, journal.model])[0],
}


@pytest.mark.parametrize("how", WHOLE)
@eager
def test_a_copy_of_a_journal_that_learns_is_of_one_moment(how):
    """Its model has learned the events that it remembers, each once, and no others."""
    journal = Journal(Perceptron(), most=100)
    names = [f"a long name of the feature {i}" for i in range(300)]

    def learn(stop):
        for id in itertools.count():
            if stop.is_set():
                return
            journal.learn_one(id, {names[id % len(names)]: 1, "b": id}, id % 2 == 0)
            if id % 3 == 2:
                journal.correct(id - 1, True)

    def look():
        met = set()
        while len(met) < 30:
            other = WHOLE[how](journal)
            n = max(other, default=-1) + 1
            met.add(n)
            assert other.model.n_seen - n in (n // 3, n // 3 - 1)  # the last may not be corrected

    finished(look, learn)


def test_a_shallow_copy_of_a_journal_is_the_same_one():
    journal = Journal(Perceptron())
    other = copy.copy(journal)
    other.learn_one("a", {"a": 1}, True)
    with pytest.raises(ValueError, match="id='a' is in the journal already"):
        journal.learn_one("a", {"a": 1}, True)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_model_that_is_copied_beside_its_journal_stays_its_model(how):
    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    for other, model in (how((journal, journal.model)), how((journal.model, journal))[::-1]):
        other.correct("a", False)
        assert model.weights == {"a": -1.0}


def test_a_copy_of_a_journal_is_another_one():
    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    other = copy.deepcopy(journal)
    journal.undo("a")
    assert (journal.model.weights, other.model.weights) == ({}, {"a": 1.0})
    other.undo("a")
    assert other.model.weights == {}


def test_a_file_without_a_journal_or_with_a_damaged_one_is_refused(path):
    Perceptron().save(path)
    with pytest.raises(ModelFileError, match="a model but no journal"):
        Journal.load(path)
    from streamptron.keeping.journal import journal_of

    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    _, data = journal._file_state(journal.model)
    assert list(journal_of(Perceptron(), data)) == ["a"]
    for n in range(len(data)):
        if n != 2:  # an empty one
            with pytest.raises(ModelFileError, match="the journal is damaged"):
                journal_of(Perceptron(), data[:n])
    for i in (*range(3, 6), *range(8, len(data))):
        flipped = data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :]
        with contextlib.suppress(ModelFileError):
            assert list(journal_of(Perceptron(), flipped)) != ["a"]
    with pytest.raises(ModelFileError, match="an id occurs twice"):
        journal_of(Perceptron(), data + data[2:])


def test_a_model_opened_in_place_comes_without_its_journal(tmp_path):
    journal = Journal(Perceptron())
    journal.learn_one("a", {"a": 1}, True)
    Checkpoint(journal, tmp_path / "m").save()
    assert isinstance(Checkpoint.newest(tmp_path / "m"), Journal)
    mapped = Checkpoint.newest(tmp_path / "m", mmap=True)
    assert mapped.predict_one({"a": 1}) is True
    mapped.save(tmp_path / "again")
    for file in ("again", "m.000001"):
        assert list(Journal.load(tmp_path / file)) == ["a"]
    copy.deepcopy(mapped).save(tmp_path / "copy")
    assert streamptron.load(tmp_path / "copy").weights == {"a": 1.0}


@pytest.mark.parametrize("model", [AdaptiveClassifier(), Tokenizer() | Perceptron()])
def test_a_model_that_was_opened_in_place_gets_no_journal(model, path):
    model.save(path)
    mapped = streamptron.load(path, mmap=True)
    with pytest.raises(RuntimeError, match=r"opened read-only.*load it without mmap to learn"):
        Journal(mapped)
    assert len(Journal(copy.deepcopy(mapped))) == 0


def test_threads_share_a_journal(path):
    journal = Journal(MulticlassPerceptron(), most=1000)
    errors = []

    def work(k):
        rng = random.Random(k)
        try:
            for t in range(150):
                journal.learn_one((k, t), {f"w{rng.randrange(50)}": 1, "b": 1}, rng.choice("abc"))
                if t % 3 == 0:
                    journal.correct((k, t), rng.choice("abc"))
                if t % 5 == 0:
                    journal.undo((k, t))
                if t % 70 == 0:
                    journal.save(path)
                    Journal.load(path)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert journal.model.n_seen == 4 * 200
    assert len(journal) == 4 * 120
    journal.model._check()
    for id in list(journal):
        journal.undo(id)


# --- Killed at any moment

N_CORRECTED = 3  # every so many events an earlier one is corrected


def event(t):
    rng = random.Random(t)
    return {f"word {rng.randrange(3000)}": rng.randint(1, 2) for _ in range(20)}, rng.random() < 0.5


def step(journal, t):
    """What the daemon does at position t: it depends on t alone."""
    x, y = event(t)
    journal.learn_one(t, x, y)
    if t % N_CORRECTED == 2:
        journal.correct(t - 2, not event(t - 2)[1])
        journal.undo(t - 1)


def daemon(path):
    saved = Checkpoint.newest_saved(path)
    journal = saved.model if saved else Journal(AdaptiveClassifier(hash_seed=1), most=50)
    checkpoint = Checkpoint(journal, path, every_events=5, keep=2)
    t = saved.position + 1 if saved else 0
    while True:
        step(journal, t)
        if checkpoint.step(position=t):
            os.write(1, b"%d\n" % t)
        t += 1


def killed_once(rng, path):
    code = f"from tests.late import test_journal; test_journal.daemon({str(path)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE
    ) as process:
        try:
            ready, _, _ = select.select([process.stdout], [], [], 120)
            assert ready, "the daemon saves nothing"
            time.sleep(rng.random() * 0.05)
        finally:
            process.kill()
        return int(re.findall(rb"\d+(?=\n)", process.stdout.read())[-1])


@pytest.mark.parametrize("n", slow([12], [2, 12]))
def test_killed_at_any_moment_journal_and_model_agree(n, tmp_path):
    """As if nothing had happened: what is corrected after the crash is what was learned before."""
    rng = random.Random(n)
    path = tmp_path / "model"
    twin, t = Journal(AdaptiveClassifier(hash_seed=1), most=50), 0
    for _ in range(n):
        said = killed_once(rng, path)
        saved = Checkpoint.newest_saved(path)
        assert saved.position >= said
        while t <= saved.position:
            step(twin, t)
            t += 1
        assert list(saved.model) == list(twin)
        assert learned(saved.model.model) == learned(twin.model)
    for id in list(twin):
        saved.model.undo(id)
        twin.undo(id)
    assert learned(saved.model.model) == learned(twin.model)
