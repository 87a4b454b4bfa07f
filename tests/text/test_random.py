"""Random and real texts give what the twin gives."""

import random

import pytest

from streamptron import Tokenizer
from tests.support.marks import seeds
from tests.support.streams import labelled_texts, needs_data
from tests.support.texts import random_bytes, random_parameters, random_text, random_x
from tests.support.tokenized import check


@seeds(40)
def test_random_texts_with_random_parameters(seed):
    rng = random.Random(seed)
    params = random_parameters(rng)
    tokenizer = Tokenizer(**params)
    for _ in range(120):
        check(random_x(rng, params["fields"]), tokenizer, **params)


@seeds(10)
def test_random_texts_are_folded(seed):
    rng = random.Random(seed)
    params = {"fold_numbers": True, "value": "count", "lowercase": seed % 2 == 0}
    tokenizer = Tokenizer(**params)
    for _ in range(300):
        # addresses and what is nearly one
        text = "".join(rng.choices(("1", "25", "0", "ab", "f", ".", ":", "::", " ", "_"), k=25))
        check(text, tokenizer, **params)
        check(rng.choice((random_text, random_bytes))(rng, 12), tokenizer, **params)


# name: how many lines
STREAMS = {
    "sms_spam": 300,
    "trec07p_first12000": 40,
    "spamassassin": 40,
    "20news_train": 60,
    "loghub_system": 400,
    "bgl_alert": 400,
}


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ngram_range": (1, 2), "fold_numbers": True, "value": "log", "normalize": "l2"},
        {"lowercase": False, "separators": " \t", "min_length": 2, "max_length": None},
        {"analyzer": "char", "ngram_range": (2, 4), "value": "count"},
    ],
    ids=["words", "folded", "separators", "characters"],
)
def test_real_streams_as_text_and_as_bytes(stream, params):
    tokenizer = Tokenizer(**params)
    for text, _ in labelled_texts(stream, STREAMS[stream]):
        check(text, tokenizer, **params)
        assert list(tokenizer.transform_one(text.encode()).items()) == list(
            tokenizer.transform_one(text).items()
        )
