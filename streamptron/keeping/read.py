"""Reading a model file: everything in it is checked before it is used.

Nothing in a file is code, and no class is imported because a file names it.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from streamptron.common.disk import check_regular
from streamptron.common.errors import WRONG, ModelFileError
from streamptron.common.values import decode, kept_metadata
from streamptron.doors.state import header_read
from streamptron.keeping.classes import classes
from streamptron.keeping.container import Texts
from streamptron.keeping.layout import BESIDE, HEADER_LIMIT, IN_PLACE, JOURNAL, STEPS, Contents

if TYPE_CHECKING:
    from mmap import mmap


def load(path: str | os.PathLike[str], mmap: bool = False) -> Any:
    """Read a model from a file that its ``save``, or the command line, has written.

    The model continues exactly where it was. The whole file is checked, and nothing in it is run,
    so files from untrusted sources can be loaded safely.

    Parameters
    ----------
    path
        The file.
    mmap
        Open the model read-only, without copying it into memory: that takes no time, whatever its
        size, and processes that open the same file share one copy in memory. Only the header is
        checked at first; damage elsewhere makes answers wrong, or raises a ModelFileError when it
        is read. (``load`` without mmap checks everything.) A deep copy of the model is in memory
        and can learn. The file must not be overwritten in place while it is open; ``save`` never
        does that.

    Returns
    -------
    What was saved: a learner, a pipeline, whose learner is ``model[-1]``, or a classifier for
    scikit-learn.

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
    contents = read(path, mmap)
    if contents.wrapper is None:
        return model_of(contents)
    with _named(path):
        return model_of(contents)


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


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The file's size, the version that wrote it, its checksum, and whether it has a journal.

    Files of different models have different checksums.
    """
    with _opened(path) as file, _named(path):
        header = _Header(file)
        said = header.texts
        return {
            "bytes": os.fstat(file.fileno()).st_size,
            "streamptron": said.get("streamptron"),
            "format": int(said["version"]),
            "checksum": said["header_crc32"] + said["arrays_crc32"],
            "journal": JOURNAL in header.arrays,
        }


def read(path: str | os.PathLike[str], mmap: bool = False) -> Contents:
    """Read a file. It is opened once, so that all of it is from one save."""
    with _opened(path) as file, _named(path):
        header = _Header(file, whole=True)
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
            raise ModelFileError("the arrays do not match their checksum")
        return header.contents(body)


def model_of(contents: Contents) -> Any:
    """The model in a file: a learner, a pipeline or a classifier for scikit-learn."""
    learner, steps, said = contents.learner, contents.steps, contents.wrapper
    if steps is not None:
        from streamptron.common.river import compose

        room = compose if steps.kind == "Pipeline" else classes().pipelines()
        kind: Any = getattr(room, steps.kind)
        return kind(*zip(steps.names, [*steps.before, learner], strict=True))
    if said is not None:
        room = classes().wrappers()
        if said["class"] not in room.__all__:
            raise ValueError(f"streamptron.sklearn has no class {said['class']!r}")
        return getattr(room, said["class"])._of_file(learner, said["given"], said["kept"])
    if contents.tokenizer is None:
        return learner
    model = classes().pipelines().pipeline_of(contents.tokenizer, learner)
    model._lines = contents.lines
    return model


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read it; opening a pipe would wait for a writer."""

    def opener(name: str, flags: int) -> int:
        check_regular(os.stat(name), name, "to read")
        number = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
        try:
            check_regular(os.fstat(number), name, "to read")
        except OSError:
            os.close(number)
            raise
        return number

    return open(os.fspath(path), "rb", opener=opener)


@contextlib.contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file's name, and what to do, to an error."""
    try:
        yield
    except _NotOurs as error:
        raise ModelFileError(f"{os.fsdecode(path)!r} {error}") from None
    except WRONG as error:
        raise ModelFileError(
            f"{os.fsdecode(path)!r} is damaged: {error}; take another copy of the file, or an "
            "older checkpoint"
        ) from error


class _NotOurs(ModelFileError):
    """The file is not damaged, as far as we know, but this version cannot read it."""


class _Header(Texts):
    """The header of a file, read and checked."""

    def __init__(self, file: BinaryIO, whole: bool = False) -> None:
        """If the model will be read, too (``whole``), all of the header is checked."""
        size = os.fstat(file.fileno()).st_size
        length = file.read(8)
        beginning = length + file.read(min(int.from_bytes(length, "little"), HEADER_LIMIT))
        found, more = header_read(beginning, size, whole)  # all checks are the engine's
        if isinstance(found, str):
            raise (_NotOurs if more else ModelFileError)(found)
        super().__init__(beginning)
        self.arrays = found
        self.arrays_crc32 = more
        self.size = len(beginning)

    def users_metadata(self) -> Any:
        metadata = self.part("metadata")
        kept_metadata(metadata)  # or the model could not be saved with it again
        return metadata

    def contents(self, body: memoryview, whole: mmap | None = None) -> Contents:
        """All that the file holds; the arrays are in `body`."""
        tokenizer: Any = None
        for name, made in classes().tokenizers.items():
            if name in self:
                tokenizer = made(**self.parameters(name))
        return Contents(
            self.learner(body, whole),
            tokenizer,
            self.part("lines") if "lines" in self else None,
            self.users_metadata(),
            decode(self.part("position")) if "position" in self else None,
            self.beside(JOURNAL, body),
            self.steps(body),
            decode(self.part("sklearn")) if "sklearn" in self else None,
        )

    def beside(self, name: str, body: memoryview) -> bytes | None:
        """The bytes of an array that is not the learner's, if the file has it."""
        if name not in self.arrays:
            return None
        _, at, end = self.arrays[name]
        return bytes(body[at:end])

    def steps(self, body: memoryview) -> Any:
        """The steps before the learner, if there are any besides a tokenizer."""
        data = self.beside(STEPS, body)
        if data is None:
            return None
        from streamptron.keeping.steps import UnknownStep, steps_read

        try:
            return steps_read(data)
        except UnknownStep as error:
            raise _NotOurs(str(error)) from None

    def learner(self, body: memoryview, whole: mmap | None) -> Any:
        """The learner whose arrays are in `body`."""
        cls = classes().learners[self.part("class")]
        # parameters added after the file was written have their defaults
        model = cls(**self.parameters("parameters"))
        if whole is not None and model._can("vote"):
            raise _NotOurs(
                "holds a VotedPerceptron, which cannot be used in place: load it without mmap"
            )
        state = {
            **self.kept(),
            "seed": int(self.part("seed"), 16),
            "y_name": decode(self.part("y_name")),
            **({"past": self.part("past")} if "past" in self else {}),
        }
        arrays: dict[str, Any] = {
            name: (shape, body[at:end])
            for name, (shape, at, end) in self.arrays.items()
            if name not in BESIDE or whole is not None  # in place they stay with it, unread
        }
        if whole is not None:
            arrays[IN_PLACE] = ((4,), self.arrays_crc32.to_bytes(4, "little"))
        model._set_file_state(state, arrays, whole)
        return model
