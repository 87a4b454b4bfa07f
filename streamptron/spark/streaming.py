"""Structured streaming: each batch is learned exactly once, whatever is killed."""

from __future__ import annotations

import copy
import os
import typing
from typing import Any

from streamptron.common.names import type_shown
from streamptron.keeping.checkpoint import Checkpoint
from streamptron.spark import rounds
from streamptron.spark.rows import parts

if typing.TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamptron.keeping.checkpoint import Saved
    from streamptron.spark.classifier import StreamptronClassifier, StreamptronModel

QUERY = "sql.streaming.queryId"  # Spark's property; the id stays the same after a restart


class Learn:
    """Learns the batches of a streaming query, for ``foreachBatch``.

    After each batch the model is saved as a checkpoint, with the ids of the query and the batch in
    the same file. If Spark delivers a batch again after a crash, it is skipped if it is in the
    file, and learned if it is not: so each batch counts once. ``Checkpoint.newest(path)`` opens the
    model, on any machine that sees the file, while the query runs.

    Parameters
    ----------
    path
        The beginning of the files' names, as for ``Checkpoint``. It is on the driver's machine, or
        wherever a new driver will find it again.
    model
        A StreamptronClassifier says what to start from and how to learn; a StreamptronModel
        continues from what it has learned. If batches are small, choose few shards and one mix.
    keep
        How many files to keep.

    Raises
    ------
    ValueError
        For a batch: if the checkpoint is of another query or has other parameters, if batches
        between it and this one are missing, or if a row cannot be learned. Then nothing is saved,
        and the query fails.

    Examples
    --------
    ::

        classifier = StreamptronClassifier(textCol="text", numShards=2, mixes=1)
        query = (
            frames.writeStream.option("checkpointLocation", "/queries/spam")
            .foreachBatch(Learn("/models/spam", classifier))
            .start()
        )
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: StreamptronClassifier | StreamptronModel,
        keep: int = 3,
    ) -> None:
        self.path = os.fspath(path)
        self.model = model
        self.keep = keep

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Learn a batch, unless it has been learned already."""
        query = batch.sparkSession.sparkContext.getLocalProperty(QUERY)
        if query is None:
            raise ValueError("Learn is called by a streaming query only: foreachBatch(Learn(...))")
        start = self._start()
        saved = Checkpoint.newest_saved(self.path)
        last = -1 if saved is None else self._last_batch(saved, query, start)
        if batch_id <= last:
            return
        if batch_id != last + 1:
            raise ValueError(
                f"query {query} delivers batch {batch_id}, but the checkpoint {self.path!r} has "
                f"learned the batches up to {last}: those between would be lost. Restore the "
                "newest checkpoint, or start a new query, with another checkpointLocation"
            )
        model = start if saved is None else saved.model
        _, rows = self.model._rows(batch)
        rounds.learned(rows, model, self.model._plan())
        Checkpoint(model, self.path, keep=self.keep).save((query, batch_id))

    def _start(self) -> Any:
        """The model to start from."""
        given = getattr(self.model, "model", None)
        return self.model._untrained() if given is None else copy.deepcopy(given)

    def _last_batch(self, saved: Saved, query: str, start: Any) -> int:
        """The number of the last batch that a checkpoint has learned, if it is this query's."""
        match saved.position:
            case (str() as other, int() as last):
                if other == query:
                    break_if_other(saved, start)
                    return last
                what = f"of the query {other}, but this is {query}"
            case _:
                what = "of no streaming query"
        raise ValueError(
            f"the checkpoint {os.fspath(saved.path)!r} is {what}; give Learn another path, or load "
            "the model and give it to Learn as a StreamptronModel, with another path"
        )


def break_if_other(saved: Saved, start: Any) -> None:
    """Raise an error if a checkpoint's parameters differ, other than in the hash's seed."""
    for part, own in zip(parts(saved.model), parts(start), strict=True):
        if type(part) is not type(own):
            raise ValueError(
                f"the checkpoint {os.fspath(saved.path)!r} has {type_shown(part)}, but the "
                f"model given to Learn is {type_shown(own)}"
            )
        if part is None:
            continue
        kept, given = part._get_params(), own._get_params()
        for name in given:
            if name != "hash_seed" and kept[name] != given[name]:
                raise ValueError(
                    f"the checkpoint {os.fspath(saved.path)!r} has {name}={kept[name]!r}, but the "
                    f"model given to Learn has {name}={given[name]!r}"
                )
