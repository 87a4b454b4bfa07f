"""Writing a model file.

The header is JSON, the arrays are the core's (engine/table/arrays.h).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from streamptron.common.disk import replace
from streamptron.common.names import type_shown
from streamptron.common.values import encoded, encoded_parameters, encoded_position, kept_metadata
from streamptron.common.version import RELEASE
from streamptron.doors.model import Model
from streamptron.doors.names import damaged
from streamptron.keeping.container import (
    buffers_of,
    checksum,
    labels_text,
    objects_text,
    packed,
    text_of,
)
from streamptron.keeping.layout import COUNTS, IN_PLACE, JOURNAL, STEPS, Contents

if TYPE_CHECKING:
    import os


def save(model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
    """Write a learner, or a pipeline that ends in one, into a file; ``load`` reads it back.

    This is for River's pipelines, which have no ``save`` method. All steps are written with what
    they have learned, as data and not as code, and continue with the same bits. docs/files.md lists
    the steps that can be saved. Otherwise this is like ``Perceptron.save``.

    Parameters
    ----------
    model
        A learner, a pipeline, or a ``Journal`` of one.
    path
        The file.
    metadata
        A dict that JSON can hold, stored with the model; see ``streamptron.read_metadata``.

    Raises
    ------
    TypeError
        If a file cannot hold a step, or a step holds something that this version does not know: the
        message names it. Also wherever ``Perceptron.save`` raises a TypeError.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile, streamptron
    >>> from river import compose, preprocessing
    >>> numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    >>> words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    >>> model = (numbers + words) | streamptron.Perceptron()
    >>> model.learn_one({"size": 3.0, "city": "Paris"}, True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "places.model")
    ...     streamptron.save(model, path)
    ...     streamptron.load(path).predict_one({"size": 3.0, "city": "Paris"})
    True
    """
    write(path, contents_of(model, metadata))


def contents_of(model: Any, metadata: Any = None) -> Contents:
    """A model's contents for a file; TypeError if a file cannot hold all of the model."""
    pipeline = model.model if _is_ours(model) and hasattr(model, "_file_journal") else model
    if _has_steps(pipeline):
        return _with_steps(model, pipeline, metadata)
    if _is_ours(model) and hasattr(model, "_file_wrapper"):
        learner, wrapper = model._file_wrapper()
        kept_metadata(metadata)
        return Contents(learner, metadata=metadata, wrapper=wrapper)
    found = model._file_parts() if _is_ours(model) and hasattr(model, "_file_parts") else None
    if found is None or not all(part is None or _is_ours(part) for part in found[:2]):
        raise TypeError(_refusal(model))
    learner, tokenizer, lines = found
    _check_bare(learner, "model")
    _check_bare(tokenizer, "tokenizer")
    kept_metadata(metadata)
    journal = model._file_journal() if hasattr(model, "_file_journal") else None
    return Contents(learner, tokenizer, lines, metadata, journal=journal)


def _has_steps(model: Any) -> bool:
    """Whether a model is a pipeline that ends in one of our learners, with steps to be written."""
    steps = getattr(model, "steps", None)
    river = type(model).__module__ == "river.compose.pipeline"
    if not (isinstance(steps, dict) and len(steps) > 1 and (river or _is_ours(model))):
        return False
    last = list(steps.values())[-1]
    return isinstance(last, Model) and _is_ours(last) and getattr(model, "_pair", None) is None


def _with_steps(model: Any, pipeline: Any, metadata: Any) -> Contents:
    """The contents of a pipeline, or of a journal of one."""
    from streamptron.keeping.steps import steps_of

    if own := [name for name in vars(pipeline) if not name.startswith("_") and name != "steps"]:
        raise TypeError(
            f"the pipeline has the attribute {own[0]!r}, which a model file does not store; give "
            "it in metadata, or pickle the pipeline instead"
        )
    *_, learner = pipeline.steps.values()
    _check_bare(learner, "model")
    kept_metadata(metadata)
    journal = model._file_journal() if model is not pipeline else None
    return Contents(learner, None, None, metadata, journal=journal, steps=steps_of(pipeline))


def _check_bare(owner: Any, what: str) -> None:
    """Raise a TypeError if it has attributes that the user added."""
    if attributes := getattr(owner, "__dict__", None):
        raise TypeError(
            f"the {what} has the attribute {next(iter(attributes))!r}, which a model file does "
            "not store; give it in metadata, or pickle the model instead"
        )


def _is_ours(part: Any) -> bool:
    """Whether its class is defined in streamptron, and not a subclass from elsewhere."""
    return type(part).__module__.partition(".")[0] == __package__.partition(".")[0]


def _refusal(model: Any) -> str:
    """The message for a model that no file can hold."""
    holds = "a model file holds one of streamptron's learners, or a pipeline that ends in one"
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict):
        ours = [name for name, step in steps.items() if isinstance(step, Model) and _is_ours(step)]
        alone = ""
        if ours:
            alone = f"; or save its learner alone, pipeline[{ours[-1]!r}], and rebuild the others"
        return f"{holds}, not a pipeline of {', '.join(steps)}. Pickle the pipeline instead{alone}"
    cls = type(model)
    return f"{holds}, not {type_shown(model)} from {cls.__module__}; pickle it instead"


def write(
    path: str | os.PathLike[str], contents: Contents, like: str | os.PathLike[str] | None = None
) -> None:
    """Write a file; a new one gets owner and permissions of the file `like`, if there is one."""
    replace(path, _packed(contents), like)


def _packed(contents: Contents) -> list[Any]:
    """The header, and the arrays' bytes that follow it."""
    model, tokenizer, lines, metadata, position, journal, before, wrapper = contents
    if sys.byteorder != "little":
        raise NotImplementedError("model files need a little-endian machine; pickle the model")
    kept = kept_metadata(metadata)
    if journal is None or isinstance(journal, bytes):
        state, arrays = model._file_state()
    else:  # both at the same moment
        (state, arrays), journal = journal._file_state(model)
    arrays = dict(arrays)
    expected = arrays.pop(IN_PLACE, None)
    if journal is not None:
        arrays[JOURNAL] = (len(journal),), journal
    if expected and expected[1] != checksum(buffers_of(arrays)).to_bytes(4, "little"):
        raise damaged("the arrays do not match their checksum")
    arrays.pop(STEPS, None)
    if before is not None:
        arrays[STEPS] = (len(before.data),), before.data
    texts = {
        "streamptron": RELEASE,
        "class": text_of(type(model).__name__),
        "parameters": text_of(encoded_parameters(state["params"])),  # at the moment of the weights
        "seed": text_of(hex(state["seed"])),
        "labels": labels_text(state["labels"]),
        "objects": objects_text(state["objects"]),
        "y_name": text_of(encoded(state["y_name"], "the name of the labels' series")),
        **{name: state[name] for name in COUNTS if name in state},
    }
    if "past" in state:
        texts["past"] = state["past"].text()
    if tokenizer is not None:
        name = type(tokenizer).__name__.lower()
        texts[name] = text_of(encoded_parameters(tokenizer._get_params()))
        texts["unicode"] = text_of(tokenizer._unicode)  # the version of Unicode by which it splits
    if lines is not None:
        texts["lines"] = text_of(lines)
    if wrapper is not None:
        texts["sklearn"] = text_of(encoded(wrapper, "the classifier"))
    if position is not None:
        texts["position"] = text_of(encoded_position(position))
    texts["metadata"] = kept
    try:
        return packed(texts, arrays)
    except ValueError as error:
        raise ValueError(f"{error}; pickle the model instead") from None
