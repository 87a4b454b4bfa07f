"""Learning and predicting on a Spark cluster, following the conventions of pyspark.ml."""

from streamptron.spark.classifier import StreamptronClassifier, StreamptronModel
from streamptron.spark.streaming import Learn
from streamptron.spark.udf import predict_udf

__all__ = ["Learn", "StreamptronClassifier", "StreamptronModel", "predict_udf"]
