"""Models that are saved, and files that are refused."""

import pytest

from streamptron import ModelFileError, load
from tests.support.project import TESTS
from tests.support.variants import make, named_events

GOLDEN = sorted((TESTS / "golden").glob("*.model"))
# Before format 5 an AdaptiveClassifier with more than two labels had numbers of every label for
# every feature, which are rows now, and another rule: what these files answer is what the rule of
# now makes of their numbers.
FORMER = [file for file in GOLDEN if file.stem in ("AdaptiveClassifier-0.1.0", "columns-0.1.0")]

# Before format 6 linear learners had blocks of four outputs with any number of labels.
BLOCKS = [file for file in GOLDEN if file.stem.startswith("former-wide")]


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
