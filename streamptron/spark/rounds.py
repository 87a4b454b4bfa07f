"""Learning in rounds: shards start from one model, which then learns what they have learned.

    driver    model --- broadcast ---.                      apply(combine(deltas)), by shard
                                     v                          ^
    tasks     shard 0   rows -> a copy of the model -> delta ---|
              shard 1   rows -> a copy of the model -> delta ---'

Each mix is one Spark job, whose tasks are pure: the same model and the same rows give the same
delta. So Spark may run a task again, here or elsewhere, with the same result to the bit. Which rows
a shard gets, and in which order, depends only on their ids (`monotonically_increasing_id`) and the
seed. If a row is invalid, the task returns the error as its answer instead of failing, because
Spark would repeat a failed task.
"""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.sql import functions as F

from streamptron.keeping.merging import Delta
from streamptron.spark.rows import ROW_BITS, BadRows, learn, parts

if typing.TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import Column, DataFrame

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

ANSWER = "shard long, delta binary, wrong string"
# Models of up to so many bytes are sent with the function; a broadcast takes one more round trip.
# From 1 MB on, Spark broadcasts the function itself.
INLINE = 900_000


class Plan(NamedTuple):
    """How rows are learned."""

    shards: int | None  # None: as many as the cluster has cores; only with shuffle
    rounds: int
    mixes: int  # in each round
    seed: int
    shuffle: bool


def learned(rows: DataFrame, model: Any, plan: Plan) -> None:
    """Learn the rows of a frame.

    Parameters
    ----------
    rows
        Rows with the columns of ``streamptron.spark.rows``.
    model
        A learner, or the pipeline of a tokenizer and a learner. It is changed by each mix.

    Raises
    ------
    BadRows
        If a row cannot be learned; the model has learned the mixes before it.
    """
    spread = dealt(rows, plan)
    jobs = plan.rounds * plan.mixes
    if jobs > 1:
        spread = spread.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        share = shares(spread, plan)
        for n in range(jobs):
            mix(share(*divmod(n, plan.mixes)), model)
    finally:
        if jobs > 1:
            spread.unpersist()


def dealt(rows: DataFrame, plan: Plan) -> DataFrame:
    """Rows in as many partitions as there are shards."""
    if not plan.shuffle:
        if plan.shards is not None:
            raise ValueError(
                "numShards is set and shuffle is False: then the partitions are the shards; "
                "repartition the frame instead"
            )
        return rows
    shards = plan.shards or rows.sparkSession.sparkContext.defaultParallelism
    return rows.repartition(shards, F.xxhash64(_long(plan.seed), "id"))


def shares(spread: DataFrame, plan: Plan) -> Callable[[int, int], DataFrame]:
    """A function that returns the rows to learn in a round before a mix."""
    if plan.shuffle:
        return lambda turn, mix: _random_share(spread, plan, turn, mix)
    if plan.mixes == 1:
        return lambda turn, mix: spread
    counts = spread.groupBy(F.spark_partition_id().alias("shard")).count().collect()
    sizes = [0] * (1 + max((row["shard"] for row in counts), default=0))
    for row in counts:
        sizes[row["shard"]] = row["count"]
    size = F.array(*map(_long, sizes))[F.spark_partition_id()]
    at = F.col("id").bitwiseAND(_long((1 << ROW_BITS) - 1))
    part = F.floor(at * plan.mixes / size)
    return lambda turn, mix: spread.where(part == mix)


def _random_share(spread: DataFrame, plan: Plan, turn: int, mix: int) -> DataFrame:
    """A random share in random order; both change with each round."""
    if plan.mixes > 1:
        number = F.xxhash64(_long(plan.seed), _long(2 * turn), "id")
        spread = spread.where(F.pmod(number, _long(plan.mixes)) == mix)
    order = F.xxhash64(_long(plan.seed), _long(2 * turn + 1), "id")
    return spread.sortWithinPartitions(order, "id")


def _long(value: int) -> Column:
    return F.lit(value).cast("long")


def mix(share: DataFrame, model: Any) -> None:
    """Run one job: copies of the model learn the partitions, and the model applies their deltas.

    The driver holds the model, its bytes until the tasks are done, and the deltas; at the end also
    the new model that replaces it.
    """
    answers = answered(share, pickle.dumps(model, protocol=5))
    deltas = []
    for answer in answers.sort_by("shard").to_batches():
        for shard, delta, wrong in zip(*answer.columns, strict=True):
            if wrong.is_valid:
                raise BadRows(f"{wrong.as_py()}; shard {shard.as_py()} has learned nothing of it")
            deltas.append(Delta.from_bytes(memoryview(delta.as_buffer())))  # type: ignore[arg-type]
    if deltas:
        parts(model)[1].apply(Delta.combine(deltas))


def answered(share: DataFrame, data: bytes) -> pa.Table:
    """The answers of the tasks, which start from the model in these bytes."""
    if len(data) <= INLINE:
        return share.mapInArrow(shard_task(Inline(data)), ANSWER).toArrow()
    base = share.sparkSession.sparkContext.broadcast(data)
    try:
        return share.mapInArrow(shard_task(base), ANSWER).toArrow()
    finally:
        base.destroy()


class Inline(NamedTuple):
    """A small model's bytes, with the attribute that a Broadcast has."""

    value: bytes


def shard_task(base: Broadcast[bytes] | Inline) -> Task:
    """The function that Spark runs for each partition."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        rows = (batch for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is not None:  # otherwise there is nothing to learn
            yield answer(base.value, context.partitionId(), first, rows)

    return task


def answer(
    data: bytes, shard: int, first: pa.RecordBatch, rows: Iterator[pa.RecordBatch]
) -> pa.RecordBatch:
    """The delta of a shard, or the error of an invalid row."""
    base = pickle.loads(data)
    tokenizer, learner = parts(base)
    since = copy.deepcopy(learner)
    delta = wrong = None
    try:
        learn(tokenizer, learner, first)
        for batch in rows:
            learn(tokenizer, learner, batch)
        delta = learner.delta(since, shard).to_bytes()
    except BadRows as error:
        wrong = str(error)
    arrays = [
        pa.array([shard], pa.int64()),
        pa.array([delta], pa.binary()),
        pa.array([wrong], pa.string()),
    ]
    return pa.RecordBatch.from_arrays(arrays, ["shard", "delta", "wrong"])
