"""What the benchmarks share: the header, the data, statistics and tables.

The loaders of the real streams are those of the tests, tests/support/streams.py.
"""

import argparse
import ast
import importlib.util
import os
import platform
import shlex
import shutil
import sys
import sysconfig
from datetime import date
from importlib import metadata
from itertools import islice
from pathlib import Path

from tests.support import streams

ROOT = Path(__file__).resolve().parents[1]

# --- The command line and the header


def parser(doc):
    """An argument parser that says what the module's docstring says, with --quick."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few seconds: whether it runs, not how fast"
    )
    return parser


def header(args, data):
    """Print what the numbers below were made with: command, versions, flags, data, machine."""
    command = ["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]]
    options = " ".join(f"{name}={value}" for name, value in vars(args).items())
    load = [f"{load:.1f}" for load in os.getloadavg()] if hasattr(os, "getloadavg") else ["unknown"]
    rows = {
        "command": shlex.join(command),
        "date": date.today().isoformat(),
        "options": options,
        "versions": f"{platform.python_implementation()} {platform.python_version()}"
        + "".join(f", {name} {_version(name)}" for name in VERSIONS),
        "flags": _flags(),
        "data": data,
        "machine": f"{_processor()}, {_cores()} cores, {platform.platform()}",
        "load": f"{' '.join(load)} (the last 1, 5 and 15 minutes)",
    }
    for name, value in rows.items():
        print(f"{name:<9} {value}")
    sys.stdout.flush()


VERSIONS = ("streamptron", "numpy", "river", "Cython")


def _version(name):
    if name == "streamptron":
        import streamptron

        return streamptron.__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _flags():
    """The compiler's flags, as far as they can be known: nothing records them in the module."""
    import streamptron

    if Path(streamptron.__file__).resolve().parents[1] != ROOT:
        return "unknown: streamptron was not built in this folder"
    own = _setup_flags()
    if own is None:
        return "unknown: they could not be read from setup.py"
    own += os.environ.get("STREAMPTRON_CFLAGS", "").split()
    compiler, python = sysconfig.get_config_var("CC"), sysconfig.get_config_var("OPT")
    before = f"{compiler} {python} " if compiler and python else ""
    return f"{before}{' '.join(own)} (of Python's build, then of setup.py)"


def _setup_flags():
    """The list that setup.py assigns to compile_args on this system, or None."""
    for node in ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and "win32" in ast.unparse(node.test):
            branch = node.body if sys.platform == "win32" else node.orelse
            for statement in branch:
                if isinstance(statement, ast.Assign):
                    return list(ast.literal_eval(statement.value))
    return None


def _processor():
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def need_data():
    """End the program, with success and a clear word, where the real streams are not."""
    if not streams.DATA.is_dir():
        print("skipped: the real streams are not there (no folder shared/data beside the project)")
        sys.exit(0)


# --- The streams

# Of the text streams with two labels, the one that is True.
TRUE_LABELS = {
    "sms_spam": "spam",
    "trec07p_first12000": "spam",
    "spamassassin": "spam",
    "bgl_alert": "alert",
}
BINARY_TEXTS = tuple(TRUE_LABELS)
MULTICLASS_TEXTS = ("20news_train", "loghub_system")


def text_label(name, label):
    """The label as a learner gets it: a truth value where there are two."""
    return label == TRUE_LABELS[name] if name in TRUE_LABELS else label


def text_events(name, limit=None):
    """({word: 1}, label) of a text stream."""
    for x, label in streams.text_stream(name, limit):
        yield x, text_label(name, label)


def svmlight_events(name):
    for x, y in streams.svmlight(name):
        yield x, y > 0


def mnist_events():
    """({pixel: value / 255}, digit)."""
    images, labels = streams.mnist("train")
    for image, label in zip(images, labels.tolist(), strict=True):
        inked = image.nonzero()[0]
        yield dict(zip(inked.tolist(), (image[inked] / 255).tolist(), strict=True)), label


def chunks(events, n_features):
    """Lists of consecutive events that have n_features or a little more together."""
    chunk, size = [], 0
    for x, y in events:
        chunk.append((x, y))
        size += len(x)
        if size >= n_features:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def batches(items, n):
    """Lists of n consecutive items; the last may be shorter."""
    items = iter(items)
    while batch := list(islice(items, n)):
        yield batch


# --- Statistics


def quantile(values, q):
    """The q-quantile, 0 <= q <= 1, interpolated between neighbours."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def median(values):
    return quantile(values, 0.5)


def group_ratios(above, below, n_groups=20):
    """Ratios of two lists of times of the same chunks: of the medians of groups of chunks.

    Not of single chunks, which are short, and not of sums, in which one interruption by the system
    outweighs a hundred chunks.
    """
    size = min(len(above), max(5, len(above) // n_groups))
    groups = [slice(at, at + size) for at in range(0, len(above) - size + 1, size)]
    return [median(above[group]) / median(below[group]) for group in groups]


def spread(values, digits=1):
    """The median, and where 5 % and 95 % lie."""
    low, middle, high = (quantile(values, q) for q in (0.05, 0.5, 0.95))
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


# --- Peers


def vowpal_wabbit():
    """How to start Vowpal Wabbit, or None."""
    if found := shutil.which("vw"):
        return [found]
    if importlib.util.find_spec("vowpalwabbit"):
        return [sys.executable, "-m", "vowpalwabbit"]
    return None


# --- Output


def section(title):
    print(f"\n=== {title}\n")
    sys.stdout.flush()


def table(headings, rows):
    """Print rows of text below headings; the first column is set left, the others right."""
    rows = [headings, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(headings))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
    sys.stdout.flush()
