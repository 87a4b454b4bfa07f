"""Batches of a streaming query are learned once, whatever is killed."""

import json
import os
import signal
import subprocess
import sys

import pytest

import streamptron
from streamptron import Checkpoint
from tests.spark.support import classifier, mails, spark_marks
from tests.support.project import ROOT
from tests.support.shards import state

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install pyspark")

from pyspark.errors import StreamingQueryException

from streamptron.spark import Learn
from streamptron.spark.streaming import QUERY
from tests.spark.query import SCHEMA, run

pytestmark = spark_marks


def put(folder, batch, rows):
    """A file of the stream."""
    (folder / "in").mkdir(exist_ok=True)
    lines = [json.dumps({"text": text, "label": label}) for text, label, _ in rows]
    file = folder / "in" / f"{batch}.json"
    file.write_text("\n".join(lines))
    os.utime(file, (10**9 + batch, 10**9 + batch))  # Spark takes the oldest first


def newest(folder):
    return state(Checkpoint.newest(folder / "model")[-1])


@pytest.fixture
def query(spark):
    """A function that makes this thread one of a streaming query's, as Spark does."""

    def query(name):
        spark.sparkContext.setLocalProperty(QUERY, name)

    yield query
    query(None)


@pytest.fixture
def batch(spark):
    """A function to a batch's frame."""
    return lambda seed: spark.createDataFrame([row[:2] for row in mails(20, seed)], SCHEMA)


def test_drivers_killed_before_and_after_a_save_learn_each_batch_once(spark, tmp_path, monkeypatch):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for folder in (killed, whole):
        folder.mkdir()
        for number in range(3):
            put(folder, number, mails(20, seed=number))
    driver = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.spark.query", str(killed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert driver.returncode == -signal.SIGKILL, driver.stderr[-2000:]
    assert Checkpoint.newest(killed / "model")[-1].n_seen == 20  # batch 1 was learned, not saved

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", failing_after(Checkpoint.save, 1))
        with pytest.raises(StreamingQueryException, match="lost power"):
            run(spark, killed)
    assert Checkpoint.newest(killed / "model")[-1].n_seen == 40  # and Spark does not know it
    assert run(spark, killed) == Checkpoint.newest_saved(killed / "model").position[0]
    run(spark, whole)
    assert newest(killed) == newest(whole)
    assert Checkpoint.newest(killed / "model")[-1].n_seen == 60


def failing_after(save, last):
    def failing(self, position=None):
        save(self, position)
        if position[1] == last:
            raise OSError("lost power")

    return failing


def test_a_batch_that_comes_again_is_not_learned_again(batch, query, tmp_path):
    learn = Learn(tmp_path / "model", classifier())
    query("one")
    learn(batch(0), 0)
    learn(batch(1), 1)
    before = newest(tmp_path)
    learn(batch(1), 1)
    learn(batch(0), 0)
    assert newest(tmp_path) == before


def test_what_would_lose_batches_or_learn_twice_is_an_error(batch, query, tmp_path):
    model = streamptron.MulticlassPerceptron()
    learn = Learn(tmp_path / "model", classifier())
    with pytest.raises(ValueError, match="called by a streaming query only"):
        learn(batch(0), 0)
    query("one")
    with pytest.raises(ValueError, match="learned the batches up to -1: those between"):
        learn(batch(0), 4)
    learn(batch(0), 0)
    before = newest(tmp_path)
    with pytest.raises(ValueError, match="learned the batches up to 0: those between"):
        learn(batch(2), 2)
    with pytest.raises(ValueError, match="has average='uniform', but the model given to Learn"):
        Learn(tmp_path / "model", classifier(average="none"))(batch(1), 1)
    with pytest.raises(ValueError, match="has a MulticlassPerceptron, but the model given"):
        Learn(tmp_path / "model", classifier(learner="mira"))(batch(1), 1)
    holed = batch(1).union(batch(1).selectExpr("text", "null"))
    with pytest.raises(ValueError, match="the label is null in partition"):
        learn(holed, 1)
    query("two")
    with pytest.raises(ValueError, match="is of the query one, but this is two"):
        learn(batch(1), 1)
    assert newest(tmp_path) == before
    Checkpoint(model, tmp_path / "plain").save()
    with pytest.raises(ValueError, match="is of no streaming query"):
        Learn(tmp_path / "plain", classifier())(batch(0), 0)


def test_a_query_goes_on_from_a_trained_model(batch, query, tmp_path):
    trained = classifier().fit(batch(0))
    query("one")
    Learn(tmp_path / "model", trained)(batch(1), 0)
    assert Checkpoint.newest(tmp_path / "model")[-1].n_seen == 40
    assert trained.model[-1].n_seen == 20
