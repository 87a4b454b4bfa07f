"""Predictions in SQL: one file per machine, opened in place."""

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
    """Make a function that predicts a column with a model file.

    The file is sent to each machine once, and its processes open it in place and share the memory.
    The file is copied when this is called: later changes to it have no effect.

    Parameters
    ----------
    path
        A model file, on the driver's machine. If the model has a tokenizer, the column must hold
        texts, otherwise pyspark.ml's vectors.

    Returns
    -------
    A function from a column, or its name, to a column: doubles if the labels are numbers, otherwise
    of the labels' type; for a MultiLabelClassifier, arrays of labels.

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
    tokenizer, learner = parts(load(path))  # checks the whole file, once
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
