"""The tokenizer as River's estimator."""

import copy
import gc
import pickle
import weakref
from collections import ChainMap

import pytest
from river import base, checks, compose, evaluate, linear_model, metrics, naive_bayes, utils

from streamptron import Journal, Perceptron, Tokenizer, load
from streamptron.estimator.pipeline import TextPipeline
from tests.support.tokenized import check, mails
from tests.support.variants import every_learner, learned, make
from tests.twin.text import features

PARAMETERS = {
    "analyzer": "word",
    "ngram_range": (1, 3),
    "lowercase": False,
    "separators": None,
    "min_length": 2,
    "max_length": None,
    "fold_numbers": True,
    "value": "log",
    "normalize": "l2",
    "fields": ("subject", "body"),
}


def test_parameters_are_kept_as_they_are_given():
    assert Tokenizer(**PARAMETERS)._get_params() == PARAMETERS
    for name, value in PARAMETERS.items():
        assert getattr(Tokenizer(**PARAMETERS), name) == value


def test_parameters_cannot_be_changed():
    tokenizer = Tokenizer(**PARAMETERS)
    for name, value in Tokenizer()._get_params().items():
        with pytest.raises(AttributeError):
            setattr(tokenizer, name, value)
    assert tokenizer._get_params() == PARAMETERS


@pytest.mark.parametrize(
    "make_copy",
    [
        lambda tokenizer: tokenizer.clone(),
        lambda tokenizer: tokenizer.clone(include_attributes=True),  # as River's unions do it
        copy.copy,
        copy.deepcopy,
        lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
    ],
    ids=["clone", "clone with attributes", "copy", "deepcopy", "pickle"],
)
def test_a_copy_has_the_parameters(make_copy):
    tokenizer = make_copy(Tokenizer(**PARAMETERS))
    assert type(tokenizer) is Tokenizer
    assert tokenizer._get_params() == PARAMETERS
    check({"subject": "10.0.0.1 is Up", "body": "Ab c Ab"}, tokenizer, **PARAMETERS)


def test_clone_takes_new_parameters():
    tokenizer = Tokenizer(**PARAMETERS).clone({"value": "count"})
    assert tokenizer._get_params() == {**PARAMETERS, "value": "count"}


@pytest.mark.parametrize(
    "params",
    [{}, {"fields": "text"}, {"analyzer": "char", "ngram_range": (3, 3)}],
    ids=["words", "fields", "characters"],
)
def test_every_check_of_river_passes(params):
    tokenizer = Tokenizer(**params)
    calls = list(checks.yield_checks(tokenizer))
    assert len(calls) >= 14
    failures = []
    for call in calls:
        try:
            call(tokenizer.clone())
        except Exception as error:
            failures.append((call.__name__, repr(error)))
    assert failures == []


def test_tokenizer_is_known_to_river_as_a_transformer_of_texts():
    assert isinstance(Tokenizer(), base.Transformer)
    assert not Tokenizer()._supervised
    assert base.tags.TEXT_INPUT in Tokenizer()._tags


@every_learner
def test_tokenizer_before_a_learner_is_the_learner_on_the_dicts(learner):
    pipeline, model = Tokenizer(value="log") | make(learner), make(learner)
    for text, y in mails(learner, 200):
        x = features(text, value="log")
        assert pipeline.predict_one(text) == model.predict_one(x)
        assert pipeline.predict_proba_one(text) == model.predict_proba_one(x)
        pipeline.learn_one(text, y)
        model.learn_one(x, y)
    assert learned(pipeline[learner]) == learned(model)
    assert pipeline.explain_one(text) == model.explain_one(x)
    assert pipeline.explain_one(text, label=y) == model.explain_one(x, label=y)
    assert 0 < model.n_mistakes < 150


@every_learner
def test_tokenizer_before_a_learner_takes_texts_in_batches(learner):
    pipeline, model = Tokenizer() | make(learner), make(learner)
    pairs = mails(learner)
    texts = [text for text, _ in pairs]
    pipeline.learn_many(texts, [y for _, y in pairs])
    for text, y in pairs:
        model.learn_one(features(text), y)
    assert learned(pipeline[learner]) == learned(model)
    predictions = [model.predict_one(features(text)) for text in texts]
    assert list(pipeline.predict_many(texts)) == predictions


def test_progressive_validation_is_that_of_the_dicts():
    pairs = mails("Perceptron", 300)
    plain = compose.FuncTransformer(features) | make("Perceptron")
    scores = [
        evaluate.progressive_val_score(pairs, model, metrics.Accuracy()).get()
        for model in (Tokenizer() | make("Perceptron"), plain)
    ]
    assert scores[0] == scores[1] > 0.6


@pytest.mark.parametrize(
    ("between", "model"),
    [
        ([], naive_bayes.MultinomialNB()),
        ([], naive_bayes.BernoulliNB()),
        # River's linear models take dicts and nothing else
        ([compose.FuncTransformer(dict)], linear_model.LogisticRegression()),
        ([compose.FuncTransformer(dict)], linear_model.PAClassifier()),
    ],
    ids=["MultinomialNB", "BernoulliNB", "LogisticRegression", "PAClassifier"],
)
def test_rivers_own_models_learn_from_it_what_they_learn_from_dicts(between, model):
    pipeline = compose.Pipeline(Tokenizer(value="count"), *between, model.clone())
    plain = compose.FuncTransformer(count_features) | model.clone()
    for text, y in mails("Perceptron"):
        assert pipeline.predict_proba_one(text) == plain.predict_proba_one(text)
        pipeline.learn_one(text, y)
        plain.learn_one(text, y)
    assert pipeline.predict_proba_one("word1 word2") == plain.predict_proba_one("word1 word2")


def count_features(text):
    return features(text, value="count")


def test_union_of_words_and_characters():
    chars = {"analyzer": "char", "ngram_range": (3, 3)}
    union = Tokenizer() + Tokenizer(**chars)
    pipeline = (Tokenizer() + Tokenizer(**chars)) | make("Perceptron")
    model = make("Perceptron")
    for text, y in mails("Perceptron"):
        x = dict(ChainMap(features(text), features(text, **chars)))
        assert list(union.transform_one(text).items()) == list(x.items())
        assert pipeline.predict_one(text) == model.predict_one(x)
        pipeline.learn_one(text, y)
        model.learn_one(x, y)
    assert learned(pipeline["Perceptron"]) == learned(model)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"on": "subject"}, r"on='subject' is not a parameter here; give fields='subject'"),
        ({"stop_words": ["the"]}, "leave it out: the learner finds out which words do not matter"),
        ({"strip_accents": True}, r"FuncTransformer\(strip\) \| Tokenizer\(\)"),
        ({"tokenizer": str.split}, r"tokenizer=<.*the learners take such dicts"),
        ({"binary": True}, "give value='presence'"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
    ],
    ids=str,
)
def test_what_other_libraries_call_a_parameter_is_answered_with_ours(given, remedy):
    with pytest.raises(TypeError, match=remedy):
        Tokenizer(**given)


def test_a_list_of_two_is_a_range_of_ngrams():
    assert Tokenizer(ngram_range=[1, 2]).ngram_range == (1, 2)
    model = Tokenizer() | Perceptron()
    grid = {"Tokenizer": {"ngram_range": [[1, 1], [1, 2]]}}
    found = [each["Tokenizer"].ngram_range for each in utils.expand_param_grid(model, grid)]
    assert found == [(1, 1), (1, 2)]
    with pytest.raises(ValueError, match=r"ngram_range=\[2, 1\]; it must be two ints"):
        Tokenizer(ngram_range=[2, 1])


def test_a_model_goes_with_its_pipeline_and_not_when_the_garbage_collector_comes(tmp_path):
    gc.collect()
    gc.disable()
    try:
        (Tokenizer() | Perceptron()).save(tmp_path / "m")
        for make in (
            lambda: Tokenizer() | Perceptron(),
            lambda: load(tmp_path / "m"),
            lambda: Journal(Tokenizer() | Perceptron()).model,
            lambda: TextPipeline(("a", Tokenizer()), ("b", Perceptron())),
        ):
            model = make()
            learner = weakref.ref(model[-1])
            del model
            assert learner() is None
    finally:
        gc.enable()
