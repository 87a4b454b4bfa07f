"""The number of the next release, and the version that is installed."""

from __future__ import annotations

# Written here and nowhere else. Model files have this number, not the commit's, so that two commits
# save the same model as the same bytes.
RELEASE = "0.1.0"


def version() -> str:
    """The version that is installed, such as 0.1.0.dev1234: the 1234th commit, before 0.1.0.

    It is 0.1.0.dev0 in a folder that is compiled in place and not installed.
    """
    from importlib import metadata  # slower to import than the whole package

    try:
        return metadata.version("streamptron")
    except metadata.PackageNotFoundError:
        return f"{RELEASE}.dev0"
