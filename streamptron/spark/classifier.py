"""The estimator and its model, in the style of pyspark.ml."""

from __future__ import annotations

import pickle
import tempfile
import typing
from pathlib import Path
from typing import Any, Self

from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, DecimalType, NumericType, StringType

from streamptron.keeping.read import load
from streamptron.learners.multilabel import MultiLabelClassifier
from streamptron.spark import rounds
from streamptron.spark.params import StreamptronParams, _param
from streamptron.spark.rows import parts
from streamptron.spark.scores import PREDICTIONS, Sent, kind_of, scorer, sorted_labels

if typing.TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FILE = "model.st"  # in the folder of a saved StreamptronModel


class _Learning(StreamptronParams):
    """How a frame is read and learned."""

    def _event(self) -> Column:
        """The column of texts, several texts as a struct, or vectors as structs."""
        if self._has_text():
            if self.isSet("fields"):
                return F.struct(*self.getOrDefault("fields"))
            return F.col(self.getOrDefault("textCol"))
        return F.unwrap_udt(self.getOrDefault("featuresCol"))

    def _rows(self, dataset: DataFrame) -> tuple[str, DataFrame]:
        """The type of predictions, and the rows to learn; see ``streamptron.spark.rows``."""
        name = self.getOrDefault("labelCol")
        label = F.col(name)
        match dataset.schema[name].dataType, self._has_sets():
            case BooleanType(), False:
                kind = "boolean"
            case NumericType() as number, False:
                kind = "double"
                if isinstance(number, DecimalType):
                    label = label.cast("double")
            case StringType(), False:
                kind = "string"
            case ArrayType(elementType=StringType()), True:
                kind = "array<string>"
            case ArrayType(elementType=NumericType() as number), True:
                kind = "array<double>"
                if isinstance(number, DecimalType):
                    label = label.cast(kind)
            case ArrayType() as other, False:
                raise ValueError(
                    f"labelCol={name!r} is of type {other.simpleString()}; arrays of labels are "
                    "for learner='multilabel'; other learners take one label"
                )
            case other, True:
                raise ValueError(
                    f"labelCol={name!r} is of type {other.simpleString()}; learner='multilabel' "
                    "takes arrays of strings or numbers: split it, or put it into an array"
                )
            case other, False:
                raise ValueError(
                    f"labelCol={name!r} is of type {other.simpleString()}; labels are strings, "
                    "truth values or numbers: cast it"
                )
        columns = [
            F.monotonically_increasing_id().alias("id"),
            self._event().alias("x"),
            label.alias("y"),
        ]
        if self.isDefined("weightCol") and self.getOrDefault("weightCol"):
            columns.append(F.col(self.getOrDefault("weightCol")).cast("double").alias("w"))
        return kind, dataset.select(*columns)

    def _plan(self) -> rounds.Plan:
        shards = self.getOrDefault("numShards") if self.isDefined("numShards") else None
        own = [self.getOrDefault(name) for name in ("rounds", "mixes", "seed", "shuffle")]
        return rounds.Plan(shards, *own)


class StreamptronClassifier(
    _Learning,
    Estimator["StreamptronModel"],
    DefaultParamsReadable["StreamptronClassifier"],
    DefaultParamsWritable,
):
    """A learner that is trained on a cluster: shards learn in parallel, and are merged.

    All parameters are keywords. Those of the learner and the tokenizer have their usual names in
    camelCase (``halfLife``, ``ngramRange``), and the same defaults.

    Parameters
    ----------
    textCol
        The column of texts, which a ``Tokenizer`` reads.
    fields
        Several columns of texts instead, each a field of the ``Tokenizer``.
    featuresCol
        The column of pyspark.ml's vectors, "features" by default; feature j is entry j.
    labelCol
        The column of labels: strings, truth values or numbers; for "multilabel", arrays of strings
        or numbers: labels that are not in an array are absent. "label" by default.
    weightCol
        The column of sample weights.
    predictionCol, probabilityCol, rawPredictionCol
        The columns that the model adds; an empty name leaves one out. A prediction is a double if
        labels are numbers, otherwise it has their type; for "multilabel" it is an array of the
        labels whose probability is above ``threshold``. Vectors have the order of the model's
        ``labels``.
    thresholds
        A number for each of the model's ``labels``: the one with the largest p / t is predicted.
    learner
        "adaptive" (the default), "multiclass", "perceptron", "mira" or "arow"; or "multilabel" for
        rows that have several labels each.
    numShards
        How many shards learn in parallel; by default as many as the cluster has cores.
    rounds
        How often all rows are learned; 1 by default.
    mixes
        How often the shards are merged in each round; each merge is a job. 10 by default.
    seed
        The seed of the shuffle. The same rows, partitions, numShards and seed give the same model.
    shuffle
        True: rows are assigned to shards at random, and learned in a new random order in each
        round. False: each partition is a shard, and is learned in its own order.

    Examples
    --------
    ::

        from streamptron.spark import StreamptronClassifier

        classifier = StreamptronClassifier(textCol="text", labelCol="topic", numShards=8)
        model = classifier.fit(frame)
        model.transform(others).select("text", "prediction", "probability")
        model.write().overwrite().save("hdfs:///models/topics")
    """

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._set(**params)

    def setParams(self, **params: Any) -> Self:
        """Set parameters, by their names."""
        self._set(**params)
        return self

    def _fit(self, dataset: DataFrame) -> StreamptronModel:
        model = self._untrained()
        kind, rows = self._rows(dataset)
        rounds.learned(rows, model, self._plan())
        trained: StreamptronModel = self._copyValues(StreamptronModel(model, kind))
        return trained


class StreamptronModel(_Learning, Model, MLWritable, MLReadable["StreamptronModel"]):
    """A trained model, which adds predictions to a frame; see ``StreamptronClassifier``.

    Parameters
    ----------
    model
        A learner of streamptron, or ``Tokenizer() | learner`` (then set textCol).
    kind
        The type of predictions: "boolean", "double" or "string", or for a MultiLabelClassifier
        "array<double>" or "array<string>"; by default the type of the labels.

    Attributes
    ----------
    model
        The learner or the pipeline.
    labels
        Its labels, sorted: the order of probabilities and scores.
    """

    kind = _param("kind", f"the type of predictions: {', '.join(PREDICTIONS)}", str)

    def __init__(self, model: Any, kind: str | None = None) -> None:
        super().__init__()
        self.model = model
        self._sent: tuple[Any, Sent] | None = None  # with its SparkContext
        self._set(kind=kind or kind_of(parts(model)[1]))

    @property
    def labels(self) -> list[Any]:
        """The labels in the order of probabilities and scores."""
        return sorted_labels(parts(self.model)[1])

    def _has_sets(self) -> bool:
        return isinstance(parts(self.model)[1], MultiLabelClassifier)

    def setParams(self, **params: Any) -> Self:
        """Set parameters, by their names."""
        self._set(**params)
        return self

    def _transform(self, dataset: DataFrame) -> DataFrame:
        columns = {
            name: self.getOrDefault(f"{name}Col")
            for name in ("rawPrediction", "probability", "prediction")
            if self.getOrDefault(f"{name}Col")
        }
        if not columns:
            return dataset
        thresholds = self.getOrDefault("thresholds") if self.isDefined("thresholds") else None
        if thresholds is not None and self._has_sets():
            raise ValueError(
                "thresholds weighs each label against the others, but those of a "
                "MultiLabelClassifier are independent; clear it, and train with threshold"
            )
        if thresholds is not None and len(thresholds) != len(self.labels):
            raise ValueError(
                f"there are {len(thresholds)} thresholds, but {len(self.labels)} labels"
            )
        context = dataset.sparkSession.sparkContext
        if self._sent is None or self._sent[0] is not context:
            self._sent = context, Sent(context.broadcast(pickle.dumps(self.model, protocol=5)))
        score = scorer(self._sent[1], self.getOrDefault("kind"), tuple(columns), thresholds)
        whole = f"{self.uid}_scores"
        scored = dataset.withColumn(whole, score(self._event()))
        for name, column in columns.items():
            found = F.col(whole)[name]
            scored = scored.withColumn(
                column, found if name == "prediction" else array_to_vector(found)
            )
        return scored.drop(whole)

    def write(self) -> MLWriter:
        """A writer that saves the parameters, and a model file that ``streamptron.load`` opens."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[StreamptronModel]:
        """A reader that loads a saved model."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, instance: StreamptronModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, spark)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, FILE)
            self.instance.model.save(file)
            system, target, local = _paths(spark, path, file)
            system.copyFromLocalFile(False, True, local, target)


class _Reader(MLReader[StreamptronModel]):
    def load(self, path: str) -> StreamptronModel:
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(
            path, spark, f"{StreamptronModel.__module__}.{StreamptronModel.__name__}"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, FILE)
            system, source, local = _paths(spark, path, file)
            system.copyToLocalFile(False, source, local, True)
            model = StreamptronModel(load(file))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _paths(spark: SparkSession, path: str, file: Path) -> tuple[Any, Any, Any]:
    """The file system of a saved model, its model file there, and a local file."""
    context: Any = spark.sparkContext
    hadoop = context._jvm.org.apache.hadoop.fs.Path
    target = hadoop(path, FILE)
    return (
        target.getFileSystem(context._jsc.hadoopConfiguration()),
        target,
        hadoop(file.as_uri()),
    )
