"""A bar that shows how far files have been read, if standard error is a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from streamptron.common.bars import bar_of
from streamptron.files.sources import Source, find_sources

PATIENCE = 0.5  # seconds before the bar is shown; by then most files are read


@contextmanager
def watched(files: Sequence[str]) -> Iterator[list[str | Source]]:
    """The files, to be read within the ``with`` block, while a bar counts their bytes.

    In compressed files, it counts compressed bytes.
    """
    tqdm = bar_of("auto")
    if tqdm is None:
        yield list(files)
        return
    sources = find_sources(list(files))
    with tqdm(
        total=_size(sources),
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        leave=False,
        delay=PATIENCE,
    ) as bar:
        yield [Source(each.name, each.path, _Watched(each, bar.update)) for each in sources]


def _size(sources: Sequence[Source]) -> int | None:
    """The size of all files together; None if one of them is not a file on disk."""
    paths = [source.path for source in sources]
    if all(path is not None and os.path.isfile(path) for path in paths):
        return sum(os.path.getsize(path) for path in paths if path is not None)
    return None


class _Watched:
    """A file that is opened when it is first read, and reports how many bytes were read."""

    def __init__(self, source: Source, advance: Callable[[int], object]) -> None:
        self.name = source.name
        self._path = source.path
        self._file = source.file
        self._advance = advance

    def readinto(self, view: memoryview) -> Any:
        if self._file is None:
            assert self._path is not None
            self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115
        n = (getattr(self._file, "readinto1", None) or self._file.readinto)(view)
        if n:
            self._advance(n)
        elif self._path is not None and n == 0:
            self._file.close()
        return n
