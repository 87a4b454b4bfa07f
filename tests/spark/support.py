"""Mails, and what learns them."""

import random

import pytest

spark_marks = [
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),  # one cluster for all
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    # which pyspark's CrossValidator leaves
    pytest.mark.filterwarnings("ignore:Exception ignored in. <function Pool.__del__"),
]

WORDS = ["win", "free", "prize", "meeting", "report", "budget", "now", "today"]


# So much less is compiled that a test of a few rows takes a part of the time.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
FRUGAL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
}


def mails(n, seed=0):
    """[(text, label, weight)]"""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        words = draw.choices(WORDS, k=4)
        rows.append(
            (" ".join(words), "spam" if "free" in words else "ham", draw.choice([1.0, 2.0]))
        )
    return rows


def classifier(**params):
    from streamptron.spark import StreamptronClassifier

    return StreamptronClassifier(
        **{
            **{"textCol": "text", "learner": "multiclass", "hashSeed": 0},
            **{"numShards": 2, "mixes": 2, "seed": 3, **params},
        }
    )
