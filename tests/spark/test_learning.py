"""Models that a cluster has trained: the same bits whatever is killed, and clear errors."""

import copy
import random

import pytest

import streamptron
from streamptron import Delta, MulticlassPerceptron, Tokenizer
from tests.support.shards import state

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import HashingTF
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder, TrainValidationSplit
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from streamptron.spark import StreamptronClassifier, StreamptronModel, predict_udf, rounds
from streamptron.spark.rows import BadRows
from tests.spark.sabotage import killing
from tests.spark.support import classifier, mails, spark_marks

pytestmark = spark_marks


@pytest.fixture(scope="module")
def frame(spark):
    """Two partitions, which are the same whenever they are read."""
    return spark.createDataFrame(mails(200), "text string, label string, weight double")


def bits(model):
    return state(model.model[-1])


def learned_here(rows, plan, model):
    """What ``rounds.learned`` does, by hand: shards learn_one by one, and are merged."""
    spread = rounds.dealt(rows, plan)
    share = rounds.shares(spread, plan)
    for turn in range(plan.rounds):
        for mix in range(plan.mixes):
            numbered = share(turn, mix).withColumn("shard", F.spark_partition_id())
            deltas = {}
            for row in numbered.collect():
                shard = deltas.setdefault(row.shard, copy.deepcopy(model))
                shard[-1].learn_one(shard[0].transform_one(row.x), row.y, row.w)
            model[-1].apply(
                Delta.combine([s[-1].delta(model[-1], shard=k) for k, s in deltas.items()])
            )
    return model


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_round_is_what_shards_learn_one_by_one_and_merge(frame, shuffle):
    shards = {"numShards": 2} if shuffle else {}
    found = StreamptronClassifier(
        textCol="text", weightCol="weight", learner="multiclass", hashSeed=0, mixes=2, rounds=2,
        shuffle=shuffle, **shards,
    )  # fmt: skip
    plain = Tokenizer() | MulticlassPerceptron(hash_seed=0)
    _, rows = found._rows(frame)
    assert bits(found.fit(frame)) == state(learned_here(rows, found._plan(), plain)[-1])


@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_process_killed_within_a_round_changes_no_bit(frame, victim, tmp_path, monkeypatch):
    whole = bits(classifier().fit(frame))
    frame.sparkSession.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 10)
    mark = tmp_path / "killed"
    if victim == "executor":  # a model is either in the task or broadcast
        monkeypatch.setattr(rounds, "INLINE", 0)
    monkeypatch.setattr(rounds, "shard_task", killing(victim, mark))
    try:
        assert bits(classifier().fit(frame)) == whole
    finally:
        frame.sparkSession.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert mark.exists()


def test_empty_and_skewed_shards_are_as_good_as_others(spark):
    one = spark.createDataFrame(mails(30), "text string, label string, weight double").coalesce(1)
    none = one.where("false")
    # of four partitions one has all rows, three have none
    skewed = none.union(one).union(none).union(none)
    model = StreamptronClassifier(
        textCol="text", learner="multiclass", hashSeed=0, shuffle=False, mixes=1
    ).fit(skewed)
    plain = Tokenizer() | MulticlassPerceptron(hash_seed=0)
    for text, label, _ in mails(30):
        plain.learn_one(text, label)
    assert model.model[-1].n_seen == 30
    assert model.model[-1].weights == plain[-1].weights
    empty = classifier().fit(none)
    assert empty.model[-1].n_seen == 0
    assert empty.transform(one).where("prediction is not null").count() == 0


@pytest.mark.parametrize(
    ("column", "what"), [("text", "text or vector"), ("label", "label"), ("weight", "weight")]
)
def test_a_null_is_an_error_that_names_partition_and_row(spark, column, what):
    rows = spark.createDataFrame(mails(9), "text string, label string, weight double").coalesce(1)
    holed = rows.withColumn(
        column, F.when(F.monotonically_increasing_id() == 5, None).otherwise(F.col(column))
    )
    model = Tokenizer() | MulticlassPerceptron(hash_seed=0)
    model.learn_one("free", "spam")
    before = state(model[-1])
    found = classifier(weightCol="weight", mixes=1)
    with pytest.raises(BadRows, match=rf"the {what} is null in partition 0, row 5;"):
        rounds.learned(found._rows(holed)[1], model, found._plan())
    assert state(model[-1]) == before


def test_vectors_are_learned_as_the_rows_of_their_matrix(spark):
    draw = random.Random(1)
    vectors = [
        Vectors.sparse(6, {j: draw.random() for j in sorted(draw.sample(range(6), 2))})
        if k % 2
        else Vectors.dense([draw.random() for _ in range(6)])
        for k in range(40)
    ]
    rows = [(v, int(v.toArray()[:3].sum() > v.toArray()[3:].sum())) for v in vectors]
    learners = {"perceptron": streamptron.Perceptron, "mira": streamptron.MIRA}
    for name, chosen in (("perceptron", rows[::2]), ("mira", rows[1::2]), ("perceptron", rows)):
        frame = spark.createDataFrame(chosen, ["features", "label"]).coalesce(1)
        learner = StreamptronClassifier(learner=name, hashSeed=0, shuffle=False, mixes=1)
        model = learner.fit(frame)
        plain = learners[name](hash_seed=0)
        for v, y in chosen:
            plain.learn_one({j: x for j, x in enumerate(v.toArray()) if x}, y)
        assert model.model.weights == plain.weights
    answers = model.transform(frame).collect()
    assert [row.prediction for row in answers] == [
        plain.predict_one({j: x for j, x in enumerate(v.toArray()) if x}) for v, _ in chosen
    ]


def test_a_null_vector_is_an_error_wherever_it_is(spark):
    rows = [(Vectors.sparse(3, [k % 3], [1.0]), k % 2) for k in range(9)]
    holed = [*rows[:5], (None, 1), *rows[6:]]
    frame = spark.createDataFrame(holed, StructType([
        StructField("features", VectorUDT()), StructField("label", LongType())
    ])).coalesce(1)  # fmt: skip
    learner = StreamptronClassifier(learner="mira", hashSeed=0, shuffle=False, mixes=1)
    model = streamptron.MIRA(hash_seed=0)
    model.learn_one({0: 1.0}, 1)
    before = state(model)
    with pytest.raises(BadRows, match=r"the text or vector is null in partition 0, row 5;"):
        rounds.learned(learner._rows(frame)[1], model, learner._plan())
    assert state(model) == before
    with pytest.raises(Exception, match="the vector in row 5 is null"):
        StreamptronModel(model, "double").transform(frame).collect()


def test_class_weights_scale_the_steps_and_are_saved_with_labels_of_their_type(frame, tmp_path):
    weights = {"spam": 3.0, "ham": 0.5}
    found = classifier(classWeight=weights, mixes=1, shuffle=False)
    found.clear(found.numShards)
    model = found.fit(frame.coalesce(1))
    plain = Tokenizer() | MulticlassPerceptron(hash_seed=0, class_weight=weights)
    for text, label, _ in mails(200):
        plain.learn_one(text, label)
    assert bits(model) == state(plain[-1])
    model.save(str(tmp_path / "model"))
    assert StreamptronModel.load(str(tmp_path / "model")).model[-1].class_weight == weights
    for k, given in enumerate(({True: 2.0}, {1: 2.0, 2.5: 1.0}, {"true": 2.0})):
        StreamptronClassifier(learner="mira", classWeight=given).save(str(tmp_path / str(k)))
        again = StreamptronClassifier.load(str(tmp_path / str(k))).getClassWeight()
        assert again == given
        assert [*map(type, again)] == [*map(type, given)]
    perceptron = StreamptronClassifier(learner="perceptron", classWeight={1: 2.0})
    assert perceptron._untrained().class_weight == {True: 2.0}


def test_several_columns_of_texts_are_the_fields_of_the_tokenizer(frame):
    mail = frame.withColumn("subject", F.reverse("text"))
    found = classifier(fields=["subject", "text"], mixes=1, shuffle=False)
    found.clear(found.numShards)
    found.clear(found.textCol)
    model = found.fit(mail.coalesce(1))
    plain = Tokenizer(fields=("subject", "text")) | MulticlassPerceptron(hash_seed=0)
    for text, label, _ in mails(200):
        plain.learn_one({"subject": text[::-1], "text": text}, label)
    assert bits(model) == state(plain[-1])
    for row in model.transform(mail).limit(20).collect():
        assert row.prediction == plain.predict_one({"subject": row.subject, "text": row.text})
    number = F.monotonically_increasing_id()
    holed = mail.coalesce(1).withColumn("subject", F.when(number != 7, F.col("subject")))
    with pytest.raises(BadRows, match="the text or vector is null in partition 0, row 7;"):
        found.fit(holed)


@pytest.mark.parametrize("learner", ["adaptive", "perceptron"])
def test_scores_and_probabilities_are_the_models_in_the_order_of_its_labels(frame, learner):
    spam = frame.withColumn("label", F.col("label") == "spam")
    model = classifier(learner=learner).fit(spam)
    assert model.labels == [False, True]
    plain = model.model
    for row in model.transform(spam).limit(20).collect():
        assert row.prediction is plain.predict_one(row.text)
        p = plain.predict_proba_one(row.text)
        assert row.probability.toArray().tolist() == [p[False], p[True]]
        assert bool(row.rawPrediction[1] > row.rawPrediction[0]) is row.prediction
    cautious = model.copy({model.thresholds: [1e-3, 1.0]}).transform(spam).limit(50).collect()
    guesses = [row.prediction for row in cautious]
    assert guesses == [row.probability[1] > row.probability[0] / 1e-3 for row in cautious]


def test_pipelines_and_cross_validation_take_the_estimator(spark, tmp_path):
    rows = [(text.split(), float(label == "spam")) for text, label, _ in mails(80)]
    frame = spark.createDataFrame(rows, "words array<string>, label double").coalesce(2).cache()
    learner = StreamptronClassifier(numShards=2, mixes=1, hashSeed=0)
    pipeline = Pipeline(
        stages=[HashingTF(numFeatures=64, inputCol="words", outputCol="features"), learner]
    )
    grid = ParamGridBuilder().addGrid(learner.learner, ["adaptive", "mira"]).build()
    judge = MulticlassClassificationEvaluator(metricName="accuracy")
    found = CrossValidator(
        estimator=pipeline, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=1
    ).fit(frame)
    assert max(found.avgMetrics) > 0.8
    split = TrainValidationSplit(
        estimator=learner, estimatorParamMaps=grid[:1], evaluator=judge, seed=1
    ).fit(found.bestModel.stages[0].transform(frame))
    assert max(split.validationMetrics) > 0.8
    found.bestModel.save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert again.transform(frame).collect() == found.bestModel.transform(frame).collect()


def test_a_saved_model_is_a_plain_model_file_and_loads_as_it_was(frame, tmp_path):
    model = classifier(predictionCol="guess", ngramRange=[1, 2]).fit(frame)
    model.save(str(tmp_path / "model"))
    plain = streamptron.load(tmp_path / "model" / "model.st")
    assert state(plain[-1]) == bits(model)
    assert plain[0].ngram_range == (1, 2)
    again = StreamptronModel.load(str(tmp_path / "model"))
    assert bits(again) == bits(model)
    assert {p.name: v for p, v in again.extractParamMap().items()} == {
        p.name: v for p, v in model.extractParamMap().items()
    }
    classifier(rounds=2).save(str(tmp_path / "classifier"))
    assert StreamptronClassifier.load(str(tmp_path / "classifier")).getRounds() == 2


def test_a_file_predicts_in_sql_on_every_machine(frame, tmp_path):
    model = classifier().fit(frame).model
    model.save(tmp_path / "spam.st")
    spam = predict_udf(tmp_path / "spam.st")
    for row in frame.select("text", spam("text").alias("guess")).collect():
        assert row.guess == model.predict_one(row.text)


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"margin": 1.0, "learner": "adaptive"}, ValueError, "margin is not a parameter of A"),
        ({"learner": "voted"}, ValueError, "it must be one of adaptive, multiclass"),
        ({"mixes": 0}, ValueError, "must be at least 1"),
        ({"mixers": 2}, TypeError, "mixers is not a parameter"),
        ({"featuresCol": "f"}, ValueError, "textCol and featuresCol are both set"),
        ({"fields": ["text"]}, ValueError, "textCol and fields are both set"),
        ({"fields": []}, TypeError, "fields"),
        ({"classWeight": {"spam": -1.0}}, ValueError, r"classWeight\['spam'\]=-1.0"),
        ({"classWeight": {("a", "b"): 1.0}}, TypeError, "the label .* is not a str, bool"),
        ({"classWeight": "balanced"}, TypeError, "classWeight.*give a dict"),
        ({"shuffle": False}, ValueError, "numShards is set and shuffle is False"),
        ({"labelCol": "parts"}, ValueError, "labelCol='parts' is of type array<int>"),
        ({"learner": "perceptron"}, BadRows, "the label is '(ham|spam)'; a perceptron has"),
    ],
)
def test_what_cannot_be_is_refused_by_name(frame, params, error, says):
    with pytest.raises(error, match=says):
        classifier(**params).fit(frame.withColumn("parts", F.array(F.lit(1))))


# --- Several labels a row


def tagged(label):
    """A column of arrays: each mail's label, and whether it names a meeting."""
    meets = F.when(F.col("text").contains("meeting"), F.array(F.lit("meets")))
    return F.concat(F.array(label), F.coalesce(meets, F.array().cast("array<string>")))


def tagger(**params):
    return classifier(**{"learner": "multilabel", "labelCol": "tags", **params})


@pytest.fixture(scope="module")
def tags(frame):
    return frame.withColumn("tags", tagged(F.col("label")))


def test_rows_of_several_labels_are_learned_and_answered_as_without_spark(tags, tmp_path):
    found = tagger(mixes=1, shuffle=False, hashSeed=0)
    found.clear(found.numShards)
    model = found.fit(tags.coalesce(1))
    plain = Tokenizer() | streamptron.MultiLabelClassifier(hash_seed=0)
    for row in tags.coalesce(1).collect():
        plain.learn_one(row.text, row.tags)
    assert bits(model) == state(plain[-1])
    assert model.labels == ["ham", "meets", "spam"]
    model.save(str(tmp_path / "model"))
    plain.save(tmp_path / "tags.st")
    tags_of = predict_udf(tmp_path / "tags.st")
    again = StreamptronModel.load(str(tmp_path / "model")).transform(tags)
    found = {0: 0, 1: 0, 2: 0}
    for row in again.withColumn("said", tags_of("text")).limit(50).collect():
        answer = plain.predict_one(row.text)
        p = plain.predict_proba_one(row.text)
        assert row.prediction == row.said == sorted(label for label in answer if answer[label])
        assert row.probability.toArray().tolist() == [p[label][True] for label in model.labels]
        found[len(row.prediction)] += 1
    assert found[1] > 10
    assert found[2] > 5


def test_shards_of_several_labels_are_merged_as_deltas(tags):
    found = tagger()
    plain = Tokenizer() | streamptron.MultiLabelClassifier(hash_seed=0)
    _, rows = found._rows(tags)
    rows = rows.withColumn("w", F.lit(1.0))
    assert bits(found.fit(tags)) == state(learned_here(rows, found._plan(), plain)[-1])


def test_the_threshold_says_which_labels_are_answered(tags):
    eager = tagger(threshold=0.02).fit(tags)
    strict = tagger(threshold=0.98).fit(tags)
    assert eager.model[-1].threshold == 0.02
    pairs = [
        [len(row.prediction) for row in model.transform(tags).orderBy("text").collect()]
        for model in (eager, strict)
    ]
    assert sum(pairs[0]) > sum(pairs[1]) > 0
    numbers = tags.withColumn("tags", F.transform("tags", F.length))
    model = tagger(threshold="f1").fit(numbers)
    assert model.labels == [3, 4, 5]
    assert model.transform(numbers).schema["prediction"].dataType.simpleString() == "array<double>"
    assert model.transform(numbers).where("array_contains(prediction, 4.0)").count() > 50


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"labelCol": "label"}, ValueError, "labelCol='label' is of type string; .* takes arrays"),
        ({"learner": "adaptive"}, ValueError, "array<string>; arrays of labels are for learner='"),
        ({"labelCol": "truths"}, ValueError, "array<boolean>; .* takes arrays of strings or num"),
        ({"labelCol": "holed"}, BadRows, "the label is null in partition 0, row 3;"),
        ({"labelCol": "twice"}, BadRows, "y has the label 'ham' twice .*the first is partition 0"),
        ({"threshold": 2.0}, ValueError, "threshold=2.0; it must be a number above 0 and below 1"),
        ({"threshold": "f2"}, TypeError, "threshold.*'f2'; give a number, or 'f1'"),
        ({"learner": "mira", "threshold": 0.5}, ValueError, "threshold is not a parameter of MIRA"),
    ],
)
def test_what_cannot_be_of_several_labels_is_refused_by_name(tags, params, error, says):
    is_third = F.monotonically_increasing_id() == 3
    holed = F.when(is_third, F.array(F.lit("a"), F.lit(None))).otherwise(F.col("tags"))
    frame = (
        tags.coalesce(1)
        .withColumn("truths", F.array(F.lit(True)))
        .withColumn("holed", holed)
        .withColumn("twice", F.array(F.lit("ham"), F.lit("ham")))
    )
    with pytest.raises(error, match=says):
        tagger(**params).fit(frame)


def test_thresholds_that_weigh_labels_are_not_for_several_of_them(tags):
    model = tagger(mixes=1).fit(tags)
    with pytest.raises(ValueError, match="clear it, and train with threshold"):
        model.copy({model.thresholds: [1.0, 1.0, 1.0]}).transform(tags)
