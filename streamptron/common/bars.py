"""Progress bars of what takes long: tqdm's, on a terminal or in a notebook."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from streamptron.common.names import short_repr


def bar_of(progress: Any) -> Any:
    """tqdm's class of bars, or None for no bar.

    Parameters
    ----------
    progress
        True, False, or "auto": if tqdm is there and standard error is a terminal.
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
