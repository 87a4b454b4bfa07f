"""Progress bars for long operations, drawn by tqdm on a terminal or in a notebook."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from streamptron.common.names import short_repr


def bar_of(progress: Any) -> Any:
    """tqdm's class of progress bars, or None if no bar is shown.

    Parameters
    ----------
    progress
        True, False, or "auto": a bar if tqdm is installed and standard error is a terminal.
    """
    if not isinstance(progress, bool) and progress != "auto":
        raise ValueError(f'progress={short_repr(progress)}; give True, False or "auto"')
    if progress is False or (progress == "auto" and not sys.stderr.isatty()):
        return None
    try:
        return importlib.import_module("tqdm").tqdm
    except ModuleNotFoundError as error:
        if error.name != "tqdm":
            raise
        if progress is True:
            raise ImportError(
                'progress=True needs tqdm: pip install "streamptron[study]"; or leave it out'
            ) from None
        return None
