"""A driver that runs a streaming query and kills itself: python -m tests.spark.query folder

folder/in/*.json     the batches     folder/model.*     the checkpoints
"""

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from streamptron.keeping.checkpoint import Checkpoint
from streamptron.spark import Learn
from tests.spark.support import FRUGAL, JAVA, classifier

SCHEMA = "text string, label string"


def run(spark, folder):
    """Learn all files that are there, a file a batch; the query's id."""
    batches = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    query = (
        batches.json(str(folder / "in"))
        .writeStream.option("checkpointLocation", str(folder / "query"))
        .trigger(availableNow=True)
        .foreachBatch(Learn(folder / "model", classifier()))
        .start()
    )
    query.awaitTermination(100)
    return str(query.id)


def die_before_the_save_of(batch):
    """Let this process be killed when a batch has been learned."""
    save = Checkpoint.save

    def last(self, position=None):
        if position[1] == batch:
            os.kill(os.getpid(), signal.SIGKILL)
        save(self, position)

    Checkpoint.save = last


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config(map=FRUGAL)
    session = session.config("spark.driver.extraJavaOptions", JAVA)
    die_before_the_save_of(1)
    run(session.getOrCreate(), Path(sys.argv[1]))
