"""Set up glibc's malloc for a server; other C libraries keep their defaults.

Free memory at the end of the heap stays there. Otherwise it would return to the system after each
request, and the next request would get it back page by page. All threads share one heap. Otherwise
each would keep free memory of its own. Free pages within the heap are returned from time to time,
so that a server that has run for months takes no more than one that has just started.
"""

from __future__ import annotations

import ctypes
from typing import Any

# as in glibc's malloc.h
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
SETTINGS = {M_TRIM_THRESHOLD: 1 << 25, M_MMAP_THRESHOLD: 1 << 24, M_ARENA_MAX: 1}
END = 1 << 20  # bytes that stay at the end of the heap

_mallopt: Any
_malloc_trim: Any
try:
    _libc = ctypes.CDLL(None)
    _mallopt, _malloc_trim = _libc.mallopt, _libc.malloc_trim
except (AttributeError, OSError):
    _mallopt = _malloc_trim = None


def settle() -> None:
    """Set up malloc. Call it at the start, before there are threads."""
    if _mallopt is not None:
        for name, value in SETTINGS.items():
            _mallopt(name, value)


def trim() -> None:
    """Return free pages to the system. Other threads that need memory wait meanwhile."""
    if _malloc_trim is not None:
        _malloc_trim(ctypes.c_size_t(END))
