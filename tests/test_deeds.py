"""The whole table: every kind of learner in every form, its numbers, and all that is done to them.

What a merge, an undo or a file makes of a model is where the next deed begins, so each deed is
tried after each other one. A file may say anything: each number of it is something odd once. Where
memory may run out meanwhile: test_out_of_memory.py.
"""

import copy
import random

import pytest

from streamptron import ModelFileError, load
from tests.support import deeds, odd_numbers


@pytest.mark.parametrize("first", deeds.DEEDS)
@pytest.mark.parametrize(("kind", "named"), deeds.FORMS)
def test_a_model_is_sound_after_any_two_deeds(kind, named, first):
    for number, second in enumerate(deeds.DEEDS):
        case = deeds.Case(kind, named, seed=number)
        deeds.DEEDS[first](case)
        deeds.sound(case)
        deeds.DEEDS[second](case)
        deeds.sound(case)
        deeds.learn(case)
        deeds.sound(case)


def case_of(data, path, like, seed):
    """What is learned goes on with the model of a file; None if that is refused."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError:
        return None
    case = copy.copy(like)
    case.model, case.steps, case.rng = model, [], random.Random(seed)
    return case


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("kind", "named"), deeds.FORMS)
def test_a_file_with_an_odd_number_is_refused_or_a_sound_model(kind, named, seed, tmp_path):
    rng = random.Random(seed)
    like = deeds.Case(kind, named, seed)
    like.model.save(path := tmp_path / "model")
    n_refused = n_read = 0
    for what, data in odd_numbers.files(path.read_bytes(), rng, share=0.1):
        case = case_of(data, path, like, seed)
        n_refused += case is None
        if case is None:
            continue
        n_read += 1
        try:
            deeds.sound(case)
            for deed in (deeds.learn, deeds.merged, deeds.explained, deeds.undo):
                deed(case)
            deeds.sound(case)
        except ValueError as error:
            assert "damaged" in str(error) or "too large" in str(error), what  # noqa: PT017
        except Exception as error:
            raise AssertionError(what) from error
    assert n_refused > 10
    assert n_read > 10
