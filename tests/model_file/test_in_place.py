"""A model opened in place answers, learns nothing, and is left alone; others use it meanwhile."""

import itertools
import threading
from decimal import Decimal

import numpy as np
import pytest

from streamptron import Perceptron, load
from tests.support.marks import in_turn
from tests.support.model_files import taught
from tests.support.variants import (
    COPIES,
    PLACED_VARIANTS,
    learned,
    make,
    named_events,
)

# In place


def test_model_opened_in_place_learns_nothing_and_says_why(path):
    model = taught("MIRA")
    model.save(path)
    data = path.read_bytes()
    mapped = load(path, mmap=True)
    before = learned(mapped)
    odd = {Decimal("0.1"): 1, "a": 1}
    for learn in (
        lambda: mapped.learn_one({"a": 1}, "label 1"),
        lambda: mapped.learn_one(odd, "label 1"),
        lambda: mapped.learn_one({}, "a new label"),
        lambda: mapped.test_then_train_one({"a": 1}, "label 1"),
        lambda: mapped.learn_many(np.ones((3, 3)), ["label 1"] * 3),
        lambda: mapped.test_then_train_many(np.ones((3, 3)), ["label 1"] * 3),
        lambda: mapped._add_label("a new label"),
    ):
        with pytest.raises(RuntimeError, match=r"read-only.*load it without mmap to learn"):
            learn()
    assert learned(mapped) == before == learned(model)
    assert path.read_bytes() == data


EVERY_COPY = COPIES | {"clone": lambda model: model.clone(include_attributes=True)}


@pytest.mark.parametrize(("learner", "variant", "how"), in_turn(PLACED_VARIANTS, EVERY_COPY))
def test_copy_of_a_model_opened_in_place_lies_in_memory_and_learns(learner, variant, how, path):
    model = taught(learner, variant)
    model.save(path)
    mapped = load(path, mmap=True)
    mapped.note = ["x"]
    other = EVERY_COPY[how](mapped)
    assert other.note == ["x"]
    del mapped
    path.unlink()
    del other.note
    for x, y, w in named_events(learner, seed=9):
        model.learn_one(x, y, w)
        other.learn_one(x, y, w)
    assert learned(other) == learned(model)


def test_saving_over_a_file_leaves_the_models_opened_in_it_alone(path):
    model = taught("Perceptron")
    model.save(path)
    mapped = load(path, mmap=True)
    before = learned(mapped)
    taught("Perceptron", seed=5).save(path)
    assert learned(mapped) == before
    mapped.save(path)
    assert learned(load(path)) == before


def test_model_opened_in_place_holds_little_memory_of_its_own(path):
    model = Perceptron.from_weights({f"w{i}": 1.0 for i in range(100_000)})
    model.save(path)
    assert load(path, mmap=True).memory_usage < model.memory_usage / 100


def test_constructor_called_again_lets_go_of_the_file(path):
    taught("Perceptron").save(path)
    mapped = load(path, mmap=True)
    mapped.__init__(hash_seed=1)
    mapped.learn_one({"a": 1}, True)
    assert mapped.weights == {"a": 1.0}


# While others use the model


@pytest.mark.parametrize("in_batches", [False, True], ids=["events", "batches"])
def test_file_saved_while_another_thread_learns_is_the_model_of_one_moment(in_batches, path):
    n, size = 4000, 20
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, (n, 60)) * 1.0
    y = rng.random(n) < 0.5
    model, again = make("Perceptron"), make("Perceptron")
    enough = threading.Event()

    def learn():
        for first in itertools.count(0, size):
            if enough.is_set():
                break
            rows = np.arange(first, first + size) % n
            if in_batches:
                model.learn_many(X[rows], y[rows])
            else:
                for row in rows:
                    model.learn_one({j: v for j, v in enumerate(X[row].tolist()) if v}, y[row])

    thread = threading.Thread(target=learn)
    thread.start()
    files = [path.with_name(str(i)) for i in range(10)]
    for file in files:
        model.save(file)
    enough.set()
    thread.join()
    for file in files:
        saved = load(file)
        rows = np.arange(again.n_seen, saved.n_seen) % n
        again.learn_many(X[rows], y[rows])
        assert saved.weights == again.weights
        assert saved.n_updates == again.n_updates
