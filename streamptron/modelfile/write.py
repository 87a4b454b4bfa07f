"""Writing a model file: what it holds of a model, its bytes, and how they replace an older file.

The header is JSON, the arrays are the core's (_flat.pxd). A file is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import sys
import zlib
from typing import Any

from streamptron.doors.model import Model
from streamptron.doors.names import damaged
from streamptron.doors.texts import TextDoor
from streamptron.estimator.names import type_shown
from streamptron.modelfile.layout import (
    ALIGNMENT,
    ARRAYS,
    CHECKSUM,
    FORMAT,
    HEADER_LIMIT,
    IN_PLACE,
    ITEM,
    JOURNAL,
    ONCE,
    VERSION,
    Contents,
    check_regular,
)
from streamptron.modelfile.values import (
    encoded,
    encoded_parameters,
    encoded_position,
    hexed,
    kept_metadata,
)


def save(model: Any, path: str | os.PathLike[str], metadata: Any = None) -> None:
    """Write a model into a file; see ``Estimator.save``."""
    write(path, contents_of(model, metadata))


def contents_of(model: Any, metadata: Any = None) -> Contents:
    """What a file holds of a model; TypeError if that would not be the whole model."""
    found = model._file_parts() if _is_ours(model) and hasattr(model, "_file_parts") else None
    if found is None or not all(part is None or _is_ours(part) for part in found[:2]):
        raise TypeError(_refusal(model))
    learner, tokenizer, lines = found
    for owner, what in ((learner, "model"), (tokenizer, "tokenizer")):
        if attributes := getattr(owner, "__dict__", None):
            raise TypeError(
                f"the {what} has the attribute {next(iter(attributes))!r}, which a model file does "
                "not hold; give it in metadata, or pickle the model instead"
            )
    kept_metadata(metadata)
    journal = model._file_journal() if hasattr(model, "_file_journal") else None
    return Contents(learner, tokenizer, lines, metadata, journal=journal)


def _is_ours(part: Any) -> bool:
    """Whether its class is one of streamptron's own, not a subclass from elsewhere."""
    return type(part).__module__.partition(".")[0] == __package__.partition(".")[0]


def _refusal(model: Any) -> str:
    """The message for a model that no file can hold."""
    holds = "a model file holds one of streamptron's learners, or Tokenizer() | one of them"
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict):
        match list(steps.values()):
            case [TextDoor() as tokenizer, Model() as learner] if _is_ours(tokenizer) and _is_ours(
                learner
            ):
                return (
                    f"{holds}, not {type_shown(model)} of them: make it pipeline[0] | pipeline[1]"
                )
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
    _put(path, [header, *buffers], like)


def _packed(contents: Contents) -> tuple[bytes, list[Any]]:
    """The header, and the arrays' bytes that follow it."""
    model, tokenizer, lines, metadata, position, journal = contents
    if sys.byteorder != "little":
        raise NotImplementedError("model files need a little-endian machine; pickle the model")
    kept = kept_metadata(metadata)
    if journal is None:
        state, arrays = model._file_state()
    else:  # both of one moment
        (state, arrays), steps = journal._file_state(model)
        arrays = {**arrays, JOURNAL: ((len(steps),), steps)}
    names = [name for name in ARRAYS if name in arrays]
    crc = 0
    for name in names:
        crc = zlib.crc32(arrays[name][1], crc)
    if IN_PLACE in arrays and arrays[IN_PLACE][1] != crc.to_bytes(4, "little"):
        raise damaged("the arrays do not fit their checksum")
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
        parts["tokenizer"] = encoded_parameters(tokenizer._get_params())
    if lines is not None:
        parts["lines"] = lines
    if position is not None:
        parts["position"] = encoded_position(position)
    from streamptron import __version__

    return _header(
        {
            "format": FORMAT,
            "version": str(VERSION),
            "streamptron": __version__,
            **{name: json.dumps(part, separators=(",", ":")) for name, part in parts.items()},
            "metadata": kept,
            "arrays_crc32": f"{crc:08x}",
        },
        {name: arrays[name][0] for name in names},
    ), [arrays[name][1] for name in names]


def _header(metadata: dict[str, str], shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The file up to its arrays, its own checksum included."""
    header: dict[str, Any] = {"__metadata__": {**metadata, "header_crc32": f"{0:08x}"}}
    at = 0
    for name, shape in shapes.items():
        dtype = ARRAYS[name][0]
        end = at + math.prod(shape) * ITEM[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > HEADER_LIMIT:
        raise ValueError(
            f"labels, odd feature names and metadata take {len(text)} bytes, and a model file "
            f"holds at most {HEADER_LIMIT} of them; pickle the model instead"
        )
    text = len(text).to_bytes(8, "little") + text
    return text.replace(CHECKSUM % 0, CHECKSUM % zlib.crc32(text))


def _put(
    path: str | os.PathLike[str], buffers: list[Any], like: str | os.PathLike[str] | None = None
) -> None:
    """Write a file whole or not at all, whatever interrupts it.

    A new file can be read by its owner only, because it holds a secret seed; an existing one keeps
    its permissions and, as far as that is allowed, its owner and group.
    """
    target = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        old = _status(target)
        if old is not None:
            check_regular(old, target, "to replace")
        elif like is not None:
            old = _status(like)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        number = os.open(temporary, flags, 0o600)
        try:
            with open(number, "wb") as file:
                if old is not None:
                    os.chmod(temporary, stat.S_IMODE(old.st_mode) & ~_disowned(number, old))
                for buffer in buffers:
                    file.write(buffer)
                file.flush()
                os.fsync(number)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        if hasattr(os, "O_DIRECTORY"):  # so that the new name, too, survives a power failure
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
    except OSError as error:
        error.filename = os.fspath(path)
        if error.filename2 is not None:
            del error.filename2
        raise


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _disowned(number: int, old: os.stat_result) -> int:
    """Give a new file an old one's owner and group; returns the permissions to take away."""
    if not hasattr(os, "fchown"):
        return 0
    new = os.fstat(number)
    for owner in (old.st_uid, -1):  # the group alone may be allowed
        if (new.st_uid if owner < 0 else owner, old.st_gid) == (new.st_uid, new.st_gid):
            return 0
        with contextlib.suppress(OSError):
            os.fchown(number, owner, old.st_gid)
            return 0
    return stat.S_IRWXG  # permissions of the old group must not go to another
