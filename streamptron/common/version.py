"""The version: of the release that is being worked on, and of the commit that was installed."""

from __future__ import annotations

# Written here and nowhere else. Model files have it, so that what two commits save of the same
# learning is the same bytes.
RELEASE = "0.1.0"


def version() -> str:
    """The version that was installed, such as 0.1.0.dev1234 of the 1234th commit before 0.1.0.

    Of a folder that is compiled in place and not installed: 0.1.0.dev0.
    """
    from importlib import metadata  # which takes longer than all that an import of the package does

    try:
        return metadata.version("streamptron")
    except metadata.PackageNotFoundError:
        return f"{RELEASE}.dev0"
