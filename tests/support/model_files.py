"""Models that are saved, and files that are refused."""

import pytest

from streamptron import ModelFileError, load
from tests.support.project import TESTS
from tests.support.variants import make, named_events

GOLDEN = sorted((TESTS / "golden").glob("*.model"))
# Of more than 32 labels with blocks of four outputs, which is written with rows.
BLOCKS = [file for file in GOLDEN if file.stem.startswith("blocks")]


def taught(learner, variant="default", seed=0, n=150, **params):
    model = make(learner, variant, **params)
    for x, y, w in named_events(learner, seed, n):
        model.learn_one(x, y, w)
    return model


def refused(path):
    """Why a file is refused, in both ways of loading it."""
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert repr(str(path)) in str(error.value)
    with pytest.raises(ModelFileError):
        load(path, mmap=True)
    return str(error.value)
