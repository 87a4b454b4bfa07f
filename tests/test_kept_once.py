"""What a model keeps once goes along with it, number by number, whatever is done with it.

Each number is replaced by an odd one, which no other has. So one that is left out, or that takes
another's place, is seen.
"""

import copy
import pickle
from inspect import signature

import pytest

import streamptron
from streamptron import MultiLabelClassifier
from tests.support.counts import counts_of, counts_text
from tests.support.variants import LEARNERS

EVERYWHERE = ("counters", "clock", "serve", "ceiling")
OF_MACHINES = ("adaptive", "many", "sets", "votes")
ALL = LEARNERS | {"MultiLabelClassifier": MultiLabelClassifier}
VARIANTS = {
    "default": {},
    "hashed": {"hash_bits": 5},
    "ceiling": {"max_features": 9},
}


def learned(learner, params, n_labels):
    learner = ALL[learner]
    params = {
        name: value for name, value in params.items() if name in signature(learner).parameters
    }
    model = learner(hash_seed=1, **params)
    for i in range(60):
        x = {f"w{i % 11}": 1.0, f"v{i % 4}": 0.5, "always": i * 0.25 + 1.0}
        y = i % n_labels if n_labels > 2 else i % 3 == 0
        model.learn_one(x, {y, i % 5} if learner is MultiLabelClassifier else y)
    return model


def numbers_in(part):
    """Its numbers, one by one."""
    if isinstance(part, tuple):
        return [number for piece in part for number in numbers_in(piece)]
    return [part]


def replaced(part, numbers):
    """The same with these numbers, which are taken from an iterator."""
    if isinstance(part, tuple):
        return tuple(replaced(piece, numbers) for piece in part)
    return next(numbers)


def candidates(number, i):
    """Odd numbers that may stand in the place of one; `i`: which it is."""
    if isinstance(number, int):
        yield number + i + 1
        return
    for share in (i + 1) / 4096, -(i + 1) / 4096:
        yield number * (1.0 + share)
        yield number + share


def made_odd(model):
    """How many numbers it keeps once, and how many of them are odd now."""
    state = model.__getstate__()
    n = n_odd = 0
    for name in (*EVERYWHERE, *OF_MACHINES):
        for i in range(len(numbers_in(counts_of(state.get(name, "[]"))))):
            n += 1
            part = counts_of(state[name])
            numbers = numbers_in(part)
            for odd in candidates(numbers[i], n):
                others = iter([*numbers[:i], odd, *numbers[i + 1 :]])
                changed = {**state, name: counts_text(replaced(part, others))}
                if odd != numbers[i] and is_state(model, changed):
                    state, n_odd = changed, n_odd + 1
                    break
    model.__setstate__(state)
    return n, n_odd


def is_state(model, state):
    try:
        type(model)().__setstate__(state)
    except (ValueError, OverflowError):
        return False
    return True


def kept(model):
    state = model.__getstate__()
    return {name: state[name] for name in (*EVERYWHERE, *OF_MACHINES) if name in state}


@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("learner", ALL)
def test_every_number_goes_along_whatever_is_done(learner, variant, n_labels, tmp_path):
    if learner == "Perceptron" and n_labels > 2:
        pytest.skip("it has two labels")
    model = learned(learner, VARIANTS[variant], n_labels)
    n, n_odd = made_odd(model)
    assert n_odd >= 0.6 * n > 20
    before = kept(model)
    path = tmp_path / "odd.model"
    model.save(path)
    others = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    others += [streamptron.load(path), copy.copy(streamptron.load(path))]
    if learner != "VotedPerceptron":  # which cannot be used in place
        others.append(streamptron.load(path, mmap=True))
    for other in others:
        assert kept(other) == before
