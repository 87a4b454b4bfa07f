"""Model files: one safetensors file a model, written and read here. docs/format.md describes them.

The header is JSON, the arrays are the core's (engine/flat.pxd). Nothing in a file is code, no class is
imported because a file names it, and nothing that it says is believed before it is checked.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import stat
import sys
import typing
import zlib
from typing import Any, BinaryIO

from streamptron._core import _damaged
from streamptron._names import shown
from streamptron.adaptive import AdaptiveClassifier
from streamptron.mira import MIRA
from streamptron.perceptron import MulticlassPerceptron, Perceptron
from streamptron.text import Tokenizer

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from mmap import mmap

FORMAT = "streamptron"
VERSION = 1
CLASSES = {
    cls.__name__: cls for cls in (AdaptiveClassifier, Perceptron, MulticlassPerceptron, MIRA)
}

ALIGNMENT = 64  # of the arrays' start: a cache line
HEADER_LIMIT = 100_000_000  # bytes, as the other readers of safetensors have it

# The arrays in the order of the file, wider numbers first so that all of them are aligned: the type
# and the shape of one row (of weights the core knows it).
ARRAYS: dict[str, tuple[str, tuple[int, ...] | None]] = {
    "weights": ("F64", None),
    "keys": ("U64", (2,)),
    "chunks": ("U32", (3,)),
    "rows": ("U32", ()),
    "lookup": ("U32", ()),
    "stamps": ("U32", ()),
    "texts": ("U8", ()),
}
EXACT = {"weights", "keys", "chunks", "lookup", "texts"}
LIMITED = EXACT | {"stamps"}
HASHED = {"weights", "chunks", "rows"}
ONCE = ("adaptive",)  # what only some of the learners keep once a model
IN_PLACE = "crc32"  # what the arrays of a model opened in place should have, beside them
ITEM = {"F64": 8, "U64": 8, "U32": 4, "U8": 1}

# What wrong contents may end in, where they are rebuilt.
WRONG = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)


class ModelFileError(ValueError):
    """Not a model file, a damaged one, or one that this version cannot read."""


class Contents(typing.NamedTuple):
    """All that a model file holds.

    Attributes
    ----------
    learner
        The Perceptron, MulticlassPerceptron or MIRA.
    tokenizer
        The Tokenizer before it; None: the learner is alone.
    lines
        How the command line reads and writes lines (see _line_model.py), or None.
    metadata
        The user's.
    position
        Up to where a stream has been learned, as ``Checkpoint.step`` was told; or None.
    """

    learner: Any
    tokenizer: Tokenizer | None = None
    lines: dict[str, Any] | None = None
    metadata: Any = None
    position: Any = None

    @property
    def model(self) -> Any:
        """The learner, or the pipeline of tokenizer and learner."""
        if self.tokenizer is None:
            return self.learner
        from streamptron._pipeline import TextPipeline

        model = TextPipeline(self.tokenizer, self.learner)
        model._lines = self.lines
        return model


# --- The public face


def save(model: Any, path: str | os.PathLike[str], metadata: Any = None) -> None:
    """Write a model into a file; see ``Estimator.save``."""
    write(path, contents_of(model, metadata))


def load(path: str | os.PathLike[str], mmap: bool = False) -> Any:
    """Read a model from the file that its ``save``, or the command line, has written.

    It continues exactly where it was. The whole file is checked, and nothing in it is run: also a
    file from a stranger may be loaded.

    Parameters
    ----------
    path
        The file.
    mmap
        Open the model read-only, in place: that takes no time, whatever its size, and processes
        that open the same file share one copy in memory. Only the header is checked at first;
        damage elsewhere makes answers wrong, or raises a ModelFileError when it is met. (``load``
        without mmap checks everything.) A deep copy of the model is in memory and can learn. The
        file must not be written in place meanwhile, which ``save`` never does.

    Returns
    -------
    The learner; or, if that was saved with its tokenizer, the pipeline ``Tokenizer() | learner``,
    whose learner is ``model[-1]``.

    Raises
    ------
    ModelFileError
        If the file is damaged, incomplete, not a model file, or from a newer version.
    OSError
        If the file cannot be read, or is not a regular file.

    Examples
    --------
    >>> import os, tempfile, streamptron
    >>> from streamptron import Perceptron, Tokenizer
    >>> model = Tokenizer() | Perceptron.from_weights({"free": 2.0, "meeting": -3.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.model")
    ...     model.save(path)
    ...     loaded = streamptron.load(path)
    >>> loaded.predict_one("Free!")
    True
    >>> loaded[-1].weights
    {'free': 2.0, 'meeting': -3.0}
    """
    return read(path, mmap).model


def read_metadata(path: str | os.PathLike[str]) -> Any:
    """The metadata that was given to ``save``, without loading the model; {} if there was none.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError, OSError
        As for ``load``.

    Examples
    --------
    >>> import os, tempfile, streamptron
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.model")
    ...     streamptron.Perceptron().save(path, metadata={"words": "lower case"})
    ...     streamptron.read_metadata(path)
    {'words': 'lower case'}
    """
    with _opened(path) as file, _named(path):
        return _Header(file).users_metadata()


# --- A file as a whole


def contents_of(model: Any, metadata: Any = None) -> Contents:
    """What a file holds of a model; TypeError if that would not be the whole model."""
    learner: Any = model
    tokenizer: Any = None
    lines = None
    if type(model) not in CLASSES.values():
        from streamptron._pipeline import TextPipeline

        if type(model) is TextPipeline and model._pair is not None:
            (tokenizer, learner), lines = model._pair, model._lines
            _check_pipeline(model)
    cls = type(learner)
    if CLASSES.get(cls.__name__) is not cls:
        raise TypeError(_refusal(model))
    for owner, what in ((learner, "model"), (tokenizer, "tokenizer")):
        if attributes := getattr(owner, "__dict__", None):
            raise TypeError(
                f"the {what} has the attribute {next(iter(attributes))!r}, which a model file does "
                "not hold; give it in metadata, or pickle the model instead"
            )
    _kept(metadata)
    return Contents(learner, tokenizer, lines, metadata)


def _check_pipeline(pipeline: Any) -> None:
    """Whether Tokenizer() | learner would make it again."""
    tokenizer = pipeline[0]
    if type(tokenizer) is not Tokenizer:
        raise TypeError(_refusal(pipeline))
    expected = [type(step).__name__ for step in pipeline.steps.values()]
    if list(pipeline.steps) != expected:
        raise TypeError(
            f"the pipeline's steps are named {shown(list(pipeline.steps))}, which a model file "
            f"does not hold; make it as Tokenizer() | learner, or pickle it instead"
        )
    own = [name for name in vars(pipeline) if not name.startswith("_") and name != "steps"]
    if own:
        raise TypeError(
            f"the pipeline has the attribute {own[0]!r}, which a model file does not hold; give it "
            "in metadata, or pickle the pipeline instead"
        )


def _refusal(model: Any) -> str:
    """The message for a model that no file can hold."""
    holds = f"a model file holds a {', '.join(CLASSES)}, or Tokenizer() | one of them"
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict):
        kinds = [type(step) for step in steps.values()]
        if len(kinds) == 2 and kinds[0] is Tokenizer and kinds[1] in CLASSES.values():
            return (
                f"{holds}, not a {type(model).__name__} of them: make it pipeline[0] | pipeline[1]"
            )
        ours = [name for name, step in steps.items() if type(step) in CLASSES.values()]
        alone = ""
        if ours:
            alone = f"; or save its learner alone, pipeline[{ours[-1]!r}], and rebuild the others"
        return f"{holds}, not a pipeline of {', '.join(steps)}. Pickle the pipeline instead{alone}"
    cls = type(model)
    return f"{holds}, not a {cls.__name__} from {cls.__module__}; pickle it instead"


def write(
    path: str | os.PathLike[str], contents: Contents, like: str | os.PathLike[str] | None = None
) -> None:
    """Write a file; a new one gets owner and permissions of the file `like`, if there is one."""
    header, buffers = _packed(contents)
    _replace(path, [header, *buffers], like)


def read(path: str | os.PathLike[str], mmap: bool = False) -> Contents:
    """Read a file, opened once: all of what it gives is from one save."""
    with _opened(path) as file, _named(path):
        header = _Header(file)
        size = sum(end - start for _, start, end in header.arrays.values())
        if mmap:
            from mmap import ACCESS_READ
            from mmap import mmap as map_file

            whole = map_file(file.fileno(), 0, access=ACCESS_READ)
            if len(whole) != header.size + size:
                raise ModelFileError("the file has changed while it was opened")
            return header.contents(memoryview(whole)[header.size :], whole)
        body = memoryview(file.read(size))
        if len(body) != size or zlib.crc32(body) != header.arrays_crc32:
            raise ModelFileError("the arrays do not fit their checksum")
        return header.contents(body)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file to read; opening a pipe would wait until somebody writes to it."""

    def opener(name: str, flags: int) -> int:
        _check_regular(os.stat(name), name, "to read")
        number = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
        try:
            _check_regular(os.fstat(number), name, "to read")
        except OSError:
            os.close(number)
            raise
        return number

    return open(os.fspath(path), "rb", opener=opener)


def _check_regular(status: os.stat_result, path: str, purpose: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(number, f"{os.strerror(number)}: not a regular file {purpose}", path)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add to an error which file it is about, and what to do."""
    try:
        yield
    except _NotOurs as error:
        raise ModelFileError(f"{os.fspath(path)!r} {error}") from None
    except WRONG as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is damaged: {error}; take another copy of the file, or an older "
            "checkpoint"
        ) from error


class _NotOurs(ModelFileError):
    """The file is whole, as far as is known, but not one that this version can read."""


# --- Values: all that can be rebuilt without running anybody's code


def encode(value: Any) -> Any:
    """A value as JSON can hold it, to the last bit; TypeError if it cannot.

    Examples
    --------
    >>> encode(("new", 1, 0.5))
    ['tuple', 'new', 1, ['float', '0x1.0000000000000p-1']]
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if abs(value) < 2**53 else ["int", hex(value)]
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is tuple:
        return ["tuple", *map(encode, value)]
    if kind is list:
        return ["list", *map(encode, value)]
    if kind is dict:
        return ["dict", *([encode(name), encode(part)] for name, part in value.items())]
    if _is(kind, "decimal", "Decimal"):
        return ["Decimal", str(value)]
    if _is(kind, "fractions", "Fraction"):
        return ["Fraction", hex(value.numerator), hex(value.denominator)]
    if _is(kind, "datetime", "date") or _is(kind, "datetime", "datetime"):
        text = value.isoformat()
        if repr(kind.fromisoformat(text)) == repr(value):  # not with a named time zone
            return [kind.__name__, text]
    raise TypeError(
        f"{shown(value)} is a {kind.__name__}, which a model file cannot hold: it must be a str, "
        "bytes, bool, int, float, complex, None, Decimal, Fraction, date, datetime (in no named "
        "time zone) or a tuple, list or dict of these. Use such a value, or pickle the model"
    )


def _is(kind: type, module: str, name: str) -> bool:
    """Whether a type is one of the standard library's; whose value is there has been loaded."""
    return kind is getattr(sys.modules.get(module), name, None)


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _fraction(above: str, below: str) -> Any:
    from fractions import Fraction

    return Fraction(int(above, 16), int(below, 16))


def _date(text: str) -> Any:
    from datetime import date

    return date.fromisoformat(text)


def _datetime(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


DECODERS: dict[str, Callable[..., Any]] = {
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "complex": lambda real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "bytes": bytes.fromhex,
    "tuple": lambda *parts: tuple(map(decode, parts)),
    "list": lambda *parts: list(map(decode, parts)),
    "dict": lambda *items: {decode(name): decode(part) for name, part in items},
    "Decimal": _decimal,
    "Fraction": _fraction,
    "date": _date,
    "datetime": _datetime,
}


def decode(encoded: Any) -> Any:
    """The value that ``encode`` was given.

    Examples
    --------
    >>> decode(encode(("new", 1, 0.5)))
    ('new', 1, 0.5)
    """
    if isinstance(encoded, list):
        kind, *parts = encoded
        return DECODERS[kind](*parts)
    if isinstance(encoded, float | dict):
        raise ValueError(f"{shown(encoded)} stands for no value")
    return encoded


def _encoded(value: Any, what: str) -> Any:
    try:
        return encode(value)
    except TypeError as error:
        raise TypeError(f"{what} {error}") from None
    except RecursionError:
        raise TypeError(f"{what} {shown(value)} is nested too deeply for a model file") from None


def _number(value: Any) -> Any:
    """A parameter's number as one of Python's; numpy's are equal to those."""
    return value.item() if type(value).__module__ == "numpy" else value


def _encoded_parameter(name: str, value: Any) -> Any:
    if name == "class_weight" and value is not None:
        return [
            [_encoded(_number(label), "in class_weight the label"), _encoded(_number(w), name)]
            for label, w in value.items()
        ]
    return _encoded(_number(value), f"the parameter {name}")


def _encoded_parameters(params: dict[str, Any]) -> dict[str, Any]:
    return {name: _encoded_parameter(name, value) for name, value in params.items()}


def encoded_position(position: Any) -> Any:
    """A position as a file holds it; TypeError if it cannot."""
    return _encoded(position, "position: ")


def _decoded_parameter(name: str, encoded: Any) -> Any:
    if name == "class_weight" and encoded is not None:
        return {decode(label): decode(weight) for label, weight in encoded}
    return decode(encoded)


def _hexed(values: Any) -> Any:
    """Doubles as hexadecimal text, in nested lists; ints as they are."""
    if isinstance(values, tuple | list):
        return [_hexed(value) for value in values]
    return values.hex() if isinstance(values, float) else values


def _unhexed(values: Any) -> Any:
    if isinstance(values, list):
        return tuple(map(_unhexed, values))
    if isinstance(values, str):
        number = float.fromhex(values)
        if not math.isfinite(number):
            raise ValueError(f"a number is {number}")
        return number
    if type(values) is not int:
        raise ValueError(f"{shown(values)} is not a number")
    return values


# --- Writing


def _packed(contents: Contents) -> tuple[bytes, list[Any]]:
    """The header, and the arrays' bytes that follow it."""
    model, tokenizer, lines, metadata, position = contents
    if sys.byteorder != "little":
        raise NotImplementedError("model files need a little-endian machine; pickle the model")
    kept = _kept(metadata)
    state, arrays = model._file_state()
    names = [name for name in ARRAYS if name in arrays]
    crc = 0
    for name in names:
        crc = zlib.crc32(arrays[name][1], crc)
    if IN_PLACE in arrays and arrays[IN_PLACE][1] != crc.to_bytes(4, "little"):
        raise _damaged("the arrays do not fit their checksum")
    parts = {
        "class": type(model).__name__,
        "parameters": _encoded_parameters(state["params"]),  # of the same moment
        "seed": hex(state["seed"]),
        "labels": state["labels"] and [_encoded(label, "the label") for label in state["labels"]],
        "objects": [_encoded(name, "the feature name") for name in state["objects"]],
        "y_name": _encoded(state["y_name"], "the name of the labels' series"),
        "counters": state["counters"],
        "clock": _hexed(state["clock"]),
        "serve": _hexed(state["serve"]),
        "ceiling": state["ceiling"],
        **{name: _hexed(state[name]) for name in ONCE if name in state},
    }
    if tokenizer is not None:
        parts["tokenizer"] = _encoded_parameters(tokenizer._get_params())
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


def _kept(metadata: Any) -> str:
    """The user's metadata as JSON, if that gives it back as it was."""
    if metadata is None:
        return "{}"
    with contextlib.suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(metadata, allow_nan=False)
        if isinstance(metadata, dict) and json.loads(text) == metadata:
            return text
    raise TypeError(
        f"metadata={shown(metadata)} would not come back from JSON as it is; it must be a dict of "
        "str keys, and of str, finite numbers, bool, None, lists and such dicts"
    )


CHECKSUM = b'"header_crc32":"%08x"'


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


def _replace(
    path: str | os.PathLike[str], buffers: list[Any], like: str | os.PathLike[str] | None = None
) -> None:
    """Write a file whole or not at all, whatever happens meanwhile.

    A new file can be read by its owner only, because it holds a secret seed; an existing one keeps
    its permissions and, as far as that is allowed, its owner and group.
    """
    target = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        old = _status(target)
        if old is not None:
            _check_regular(old, target, "to replace")
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
        if hasattr(os, "O_DIRECTORY"):  # the new name, too, survives a loss of power
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
    """Give a new file an old one's owner and group; the permissions that it then must not have."""
    if not hasattr(os, "fchown"):
        return 0
    new = os.fstat(number)
    for owner in (old.st_uid, -1):  # perhaps the group alone may be kept
        if (new.st_uid if owner < 0 else owner, old.st_gid) == (new.st_uid, new.st_gid):
            return 0
        with contextlib.suppress(OSError):
            os.fchown(number, owner, old.st_gid)
            return 0
    return stat.S_IRWXG  # what the old group might do is not for another one


# --- Reading


class _Header:
    """A file up to its arrays, read and checked."""

    def __init__(self, file: BinaryIO) -> None:
        if sys.byteorder != "little":
            raise _NotOurs("cannot be read on a machine that is not little-endian")
        size = os.fstat(file.fileno()).st_size
        length = file.read(8)
        n = int.from_bytes(length, "little")
        if len(length) < 8 or n > HEADER_LIMIT or n + 8 > size:
            raise _NotOurs("is not a model file, or the beginning of one: it has no header")
        text = file.read(n)
        if not text.startswith(b"{"):
            raise _NotOurs("is not a model file: its header is not JSON")
        try:
            header = json.loads(text, object_pairs_hook=_once)
            self.metadata: Mapping[str, str] = header.pop("__metadata__")
            known, version = self.metadata["format"], self.metadata["version"]
        except WRONG:
            known = version = None
            if FORMAT.encode() in text:
                raise ModelFileError("its header is not JSON, or has no format") from None
        if known != FORMAT:
            raise _NotOurs("is not a model file of streamptron")
        if version != str(VERSION):
            by = shown(self.metadata.get("streamptron"))
            raise _NotOurs(
                f"has the format {shown(version)}, written by streamptron {by}; this version reads "
                f"format {VERSION}: install the version that wrote it, or a newer one"
            )
        crc = int(self.metadata["header_crc32"], 16)
        if zlib.crc32((length + text).replace(CHECKSUM % crc, CHECKSUM % 0)) != crc:
            raise ModelFileError("the header does not fit its checksum")
        self.arrays_crc32 = int(self.metadata["arrays_crc32"], 16)
        self.size = 8 + n
        if self.size % ALIGNMENT:
            raise ModelFileError(f"the arrays do not start at a multiple of {ALIGNMENT} bytes")
        self.arrays = _arrays(header, size - self.size)

    def part(self, name: str) -> Any:
        return json.loads(self.metadata[name], object_pairs_hook=_once)

    def users_metadata(self) -> Any:
        metadata = self.part("metadata")
        _kept(metadata)  # or the model could not be saved with it again
        return metadata

    def contents(self, body: memoryview, whole: mmap | None = None) -> Contents:
        """All that the file holds; the arrays are in `body`."""
        tokenizer = None
        if "tokenizer" in self.metadata:
            tokenizer = Tokenizer(**self.parameters("tokenizer"))
        return Contents(
            self.learner(body, whole),
            tokenizer,
            _lines(self.part("lines")) if "lines" in self.metadata else None,
            self.users_metadata(),
            decode(self.part("position")) if "position" in self.metadata else None,
        )

    def parameters(self, name: str) -> dict[str, Any]:
        return {name: _decoded_parameter(name, value) for name, value in self.part(name).items()}

    def learner(self, body: memoryview, whole: mmap | None) -> Any:
        """The learner whose arrays are in `body`."""
        cls = CLASSES[self.part("class")]
        # parameters that came after the file have their defaults
        model = cls(**self.parameters("parameters"))
        expected = EXACT if model.max_features is None else LIMITED
        if self.arrays.keys() != (expected if model.hash_bits is None else HASHED):
            raise ModelFileError("the arrays are not those of such a model")
        seed = int(self.part("seed"), 16)
        if model.hash_seed not in (None, seed):
            raise ModelFileError("the hash's seed is not the parameter's")
        labels = self.part("labels")
        state = {
            "seed": seed,
            "labels": None if cls is Perceptron else [decode(label) for label in labels],
            "objects": [decode(name) for name in self.part("objects")],
            "y_name": decode(self.part("y_name")),
            "counters": _unhexed(self.part("counters")),
            "clock": _unhexed(self.part("clock")),
            "serve": _unhexed(self.part("serve")),
            "ceiling": _unhexed(self.part("ceiling")),
            **{name: _unhexed(self.part(name)) for name in ONCE if name in self.metadata},
        }
        arrays: dict[str, Any] = {
            name: (shape, body[at:end]) for name, (shape, at, end) in self.arrays.items()
        }
        if whole is not None:
            arrays[IN_PLACE] = ((4,), self.arrays_crc32.to_bytes(4, "little"))
        model._set_file_state(state, arrays, whole)
        return model


def _lines(part: Any) -> dict[str, Any]:
    """What the command line keeps, if it could have written it."""
    names = part["names"]
    if not (
        part.keys() == {"reading", "positive", "names"}
        and isinstance(part["reading"]["format"], str)
        and (names is None or len(names) == 2)
        and all(
            text is None or isinstance(text, str) for text in (part["positive"], *(names or ()))
        )
    ):
        raise ValueError("the entry for lines is invalid")
    return dict(part)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no name may occur twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in the header")
    return found


def _arrays(header: dict[str, Any], size: int) -> dict[str, tuple[tuple[int, ...], int, int]]:
    """Shape, start and end of each array, which together fill the rest of the file."""
    arrays = {}
    at = 0
    for name in [name for name in ARRAYS if name in header]:
        dtype, row = ARRAYS[name]
        entry = header.pop(name)
        shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
        if (
            entry["dtype"] != dtype
            or any(type(n) is not int or not 0 <= n < 2**48 for n in (*shape, start, end))
            or (len(shape) != 2 if row is None else shape[1:] != row)
            or start != at
            or end != at + math.prod(shape) * ITEM[dtype]
        ):
            raise ModelFileError(f"the array {name} is not where or what it must be")
        arrays[name] = (shape, start, end)
        at = end
    if header or at != size:
        raise ModelFileError(
            f"the arrays should take {at} bytes and take {size}: it was cut off, or something was "
            "appended"
        )
    return arrays
