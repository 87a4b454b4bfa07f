"""Predictions in SQL: one file a machine, opened in place."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import typing
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from streamptron.keeping.read import load
from streamptron.spark.rows import parts
from streamptron.spark.scores import Filed, kind_of, scorer, sorted_labels

if typing.TYPE_CHECKING:
    from pyspark.sql import Column


def predict_udf(path: str | os.PathLike[str]) -> Callable[[Column | str], Column]:
    """A function that predicts a column by a model file.

    The file is sent to each machine once, and its processes open it in place and share the memory.
    It is copied now: what is saved there later is not seen.

    Parameters
    ----------
    path
        A model file, on the driver's machine. With a tokenizer the column is of texts, without one
        of pyspark.ml's vectors.

    Returns
    -------
    A function of a column, or its name, to a column: a double if the labels are numbers, else of
    their type; of a MultiLabelClassifier an array of labels.

    Raises
    ------
    ModelFileError
        If the file is damaged.
    ValueError
        If the model has no labels yet.

    Examples
    --------
    ::

        spam = predict_udf("/models/spam.st")
        frame.where(spam("text"))
    """
    tokenizer, learner = parts(load(path))  # all of it is checked, once
    kind = kind_of(learner)
    if not sorted_labels(learner):
        raise ValueError(f"the model in {os.fspath(path)!r} has learned no label yet")
    folder = tempfile.mkdtemp(prefix="streamptron-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with open(path, "rb") as file:
        name = f"streamptron-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}.st"
    copy = Path(folder, name)
    shutil.copyfile(path, copy)
    SparkSession.active().sparkContext.addFile(str(copy))
    score = scorer(Filed(name), kind, ("prediction",), None)

    def predict(column: Column | str) -> Column:
        events = column if tokenizer is not None else F.unwrap_udt(column)
        found: Column = score(events)["prediction"]
        return found

    return predict
