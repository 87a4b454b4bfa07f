"""Writing a model file: what it holds of a model, and its bytes.

The header is JSON, the arrays are the core's (engine/table/arrays.h).
"""

from __future__ import annotations

import json
import math
import sys
import typing
import zlib
from typing import Any

from streamptron.common.names import type_shown
from streamptron.common.values import (
    encoded,
    encoded_parameters,
    encoded_position,
    hexed,
    kept_metadata,
)
from streamptron.common.version import RELEASE
from streamptron.doors.model import Model
from streamptron.doors.names import damaged
from streamptron.doors.state import array_kinds
from streamptron.engine.api import UNICODE
from streamptron.keeping.files import replace
from streamptron.keeping.layout import (
    ALIGNMENT,
    CHECKSUM,
    FORMAT,
    HEADER_LIMIT,
    IN_PLACE,
    JOURNAL,
    ONCE,
    STEPS,
    VERSION,
    Contents,
)

if typing.TYPE_CHECKING:
    import os


ARRAYS = array_kinds()  # the type and size of a number, in the order of the file
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def save(model: Any, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
    """Write a learner, or a pipeline that ends in one, into a file; ``load`` reads it back.

    A pipeline of River's has no ``save`` of its own. All its steps are written, with what they
    have kept, as data and not as code, and learn on with the same bits. docs/files.md has the list
    of steps. Everything else is as for ``Perceptron.save``.

    Parameters
    ----------
    model
        A learner, a pipeline, or a ``Journal`` of one.
    path
        The file.
    metadata
        A dict of what JSON can hold, kept with the model; see ``streamptron.read_metadata``.

    Raises
    ------
    TypeError
        If a step is none of those that a file can hold, or holds something else than this version
        knows: the message names it. Or where ``Perceptron.save`` raises one.
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
    """What a file holds of a model; TypeError if that would not be the whole model."""
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
            f"the pipeline has the attribute {own[0]!r}, which a model file does not hold; give it "
            "in metadata, or pickle the pipeline instead"
        )
    *_, learner = pipeline.steps.values()
    _check_bare(learner, "model")
    kept_metadata(metadata)
    journal = model._file_journal() if model is not pipeline else None
    return Contents(learner, None, None, metadata, journal=journal, steps=steps_of(pipeline))


def _check_bare(owner: Any, what: str) -> None:
    """That it has no attributes of the user's."""
    if attributes := getattr(owner, "__dict__", None):
        raise TypeError(
            f"the {what} has the attribute {next(iter(attributes))!r}, which a model file does "
            "not hold; give it in metadata, or pickle the model instead"
        )


def _is_ours(part: Any) -> bool:
    """Whether its class is one of streamptron's own, not a subclass from elsewhere."""
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
    header, buffers = _packed(contents)
    replace(path, [header, *buffers], like)


def _packed(contents: Contents) -> tuple[bytes, list[Any]]:
    """The header, and the arrays' bytes that follow it."""
    model, tokenizer, lines, metadata, position, journal, before, wrapper = contents
    if sys.byteorder != "little":
        raise NotImplementedError("model files need a little-endian machine; pickle the model")
    kept = kept_metadata(metadata)
    if journal is None or isinstance(journal, bytes):
        state, arrays = model._file_state()
    else:  # both of one moment
        (state, arrays), journal = journal._file_state(model)
    if journal is not None:
        arrays = {**arrays, JOURNAL: ((len(journal),), journal)}
    names = [name for name in ARRAYS if name in arrays and name != STEPS]
    crc = 0
    for name in names:
        crc = zlib.crc32(arrays[name][1], crc)
    if IN_PLACE in arrays:  # with the steps that the file has, which are its last array
        whole = zlib.crc32(arrays[STEPS][1], crc) if STEPS in arrays else crc
        if arrays[IN_PLACE][1] != whole.to_bytes(4, "little"):
            raise damaged("the arrays do not fit their checksum")
    if before is not None:
        arrays = {**arrays, STEPS: ((len(before.data),), before.data)}
        names.append(STEPS)
        crc = zlib.crc32(before.data, crc)
    parts = {
        "class": type(model).__name__,
        "parameters": encoded_parameters(state["params"]),  # of the same moment as the weights
        "seed": hex(state["seed"]),
        "labels": state["labels"] and [encoded(label, "the label") for label in state["labels"]],
        "objects": [encoded(name, "the feature name") for name in state["objects"]],
        "y_name": encoded(state["y_name"], "the name of the labels' series"),
        "counters": state["counters"],
        "clock": hexed(state["clock"]),
        "serve": hexed(state["serve"]),
        **{name: hexed(state[name]) for name in ONCE if name in state},
        "ceiling": state["ceiling"],
    }
    if "past" in state:
        parts["past"] = state["past"]
    if tokenizer is not None:
        parts[type(tokenizer).__name__.lower()] = encoded_parameters(tokenizer._get_params())
        parts["unicode"] = UNICODE  # of the letters by which it splits
    if lines is not None:
        parts["lines"] = lines
    if wrapper is not None:
        parts["sklearn"] = encoded(wrapper, "the classifier")
    if position is not None:
        parts["position"] = encoded_position(position)
    return _header(
        {
            "format": FORMAT,
            "version": VERSION,
            "streamptron": RELEASE,
            **{name: _ENCODER.encode(part) for name, part in parts.items()},
            "metadata": kept,
            "arrays_crc32": f"{crc:08x}",
        },
        {name: arrays[name][0] for name in names},
    ), [arrays[name][1] for name in names]


def _quoted(text: str) -> str:
    """JSON of a text that is JSON itself; the encoder takes ten times as long for a long one."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _header(metadata: dict[str, str], shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The file up to its arrays, its own checksum included."""
    said = {**metadata, "header_crc32": f"{0:08x}"}
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        dtype, size = ARRAYS[name]
        end = at + math.prod(shape) * size
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    words = ",".join(f"{_quoted(name)}:{_quoted(text)}" for name, text in said.items())
    rest = _ENCODER.encode(header)[1:]
    text = f'{{"__metadata__":{{{words}}}{"," if header else ""}{rest}'.encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > HEADER_LIMIT:
        raise ValueError(
            f"labels, odd feature names and metadata take {len(text)} bytes, and a model file "
            f"holds at most {HEADER_LIMIT} of them; pickle the model instead"
        )
    text = len(text).to_bytes(8, "little") + text
    return text.replace(CHECKSUM % 0, CHECKSUM % zlib.crc32(text))
