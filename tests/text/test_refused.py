"""What is not a text, and parameters that cannot be, are refused by name."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from streamptron import ParameterError, Perceptron, Tokenizer
from tests.support.tokenized import MAIL
from tests.support.variants import make


@pytest.mark.parametrize(
    "x", [None, 3, 1.5, ["a"], ("a",), {"a": 1}, {"a": "b"}, bytearray(b"a"), memoryview(b"a")]
)
def test_what_is_no_text_is_refused(x):
    with pytest.raises(TypeError) as caught:
        Tokenizer().transform_one(x)
    assert type(x).__name__ in str(caught.value)
    with pytest.raises(TypeError):
        list(Tokenizer().transform_many(["good", x]))


@pytest.mark.parametrize("x", ["a", b"a", None, ["subject", "body"], 3])
def test_fields_of_no_mapping_are_refused(x):
    with pytest.raises(TypeError):
        Tokenizer(fields=("subject", "body")).transform_one(x)


def test_a_missing_field_is_named():
    tokenizer = Tokenizer(fields=("subject", "body"))
    for x in ({"subject": "a"}, {}, {"subject": "a", "Body": "b"}):
        with pytest.raises(ValueError, match="subject" if not x else "body"):
            tokenizer.transform_one(x)
    with pytest.raises(ValueError, match="body"):
        list(tokenizer.transform_many([MAIL, {"subject": "a"}]))


@pytest.mark.parametrize("value", [None, 3, ["a"], {"a": 1}, bytearray(b"a")])
def test_a_field_that_is_no_text_is_named(value):
    with pytest.raises(TypeError, match="body"):
        Tokenizer(fields=("subject", "body")).transform_one({"subject": "a", "body": value})


@pytest.mark.parametrize("texts", ["a text", b"a text", 3, None])
def test_one_text_is_not_taken_for_many(texts):
    with pytest.raises(TypeError):
        Tokenizer().transform_many(texts)


BAD_PARAMETERS = [
    {"analyzer": "words"},
    {"analyzer": None},
    {"ngram_range": (0, 1)},
    {"ngram_range": (2, 1)},
    {"ngram_range": (1,)},
    {"ngram_range": (1, 2, 3)},
    {"ngram_range": (1.0, 2.0)},
    {"ngram_range": ("1", "2")},
    {"ngram_range": 2},
    {"ngram_range": None},
    {"lowercase": "yes"},
    {"lowercase": None},
    {"separators": ""},
    {"separators": b" "},
    {"separators": [" "]},
    {"separators": 3},
    {"min_length": -1},
    {"min_length": 1.5},
    {"min_length": "3"},
    {"min_length": None},
    {"max_length": -1},
    {"max_length": 2.5},
    {"max_length": "100"},
    {"min_length": 10**30},
    {"max_length": 3, "min_length": 4},
    {"fold_numbers": "yes"},
    {"fold_numbers": None},
    {"value": "tf"},
    {"value": None},
    {"normalize": "l1"},
    {"normalize": True},
    {"fields": 3},
    {"fields": b"body"},
    {"fields": ("body", 3)},
    {"fields": ("body", None)},
    {"fields": ()},
    {"separators": " ", "fold_numbers": True},
    {"separators": " ", "analyzer": "char"},
    {"fold_numbers": True, "analyzer": "char"},
    {"min_length": 2, "analyzer": "char"},
    {"max_length": 50, "analyzer": "char"},
    {"max_length": None, "analyzer": "char"},
]


@pytest.mark.parametrize("params", BAD_PARAMETERS, ids=repr)
def test_bad_parameter_is_refused_by_its_name(params):
    with pytest.raises((TypeError, ValueError)) as caught:
        Tokenizer(**params)
    assert isinstance(caught.value, ParameterError)
    assert next(iter(params)) in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("params", BAD_PARAMETERS[-6:], ids=repr)
def test_parameters_that_do_not_go_together_are_both_named(params):
    with pytest.raises(ValueError, match=next(iter(params))) as caught:
        Tokenizer(**params)
    assert list(params)[1] in str(caught.value)


def test_text_beyond_what_can_be_counted_is_refused():
    text = b"a " * (2**27) + b"b"
    for given in (text, text.decode()):
        with pytest.raises(ValueError, match=r"x has a length of 268435457; split a text of more"):
            Tokenizer().transform_one(given)


def test_learner_alone_says_what_to_do_with_a_text():
    for text in ("a text", b"a text"):
        with pytest.raises(TypeError, match=r"for a text put Tokenizer\(\) before the learner"):
            make("Perceptron").learn_one(text, True)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_not_a_sequence_of_texts_and_its_fields_must_be_there(kind):
    frame = {
        "pandas": lambda texts: pd.DataFrame({"text": texts}),
        "polars": lambda texts: pl.DataFrame({"text": texts}),
        "pyarrow": lambda texts: pa.table({"text": texts}),
    }[kind](["a b", "c"])
    model = Tokenizer() | Perceptron()
    for call in (model.predict_many, Tokenizer().transform_many):
        with pytest.raises(TypeError, match="takes a sequence of texts: give it one column"):
            call(frame)
    with pytest.raises(ValueError, match=r"X has no column 'a'; it has \['text'\]"):
        Tokenizer(fields="a").transform_many(frame)
