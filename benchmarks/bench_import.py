"""What `import streamptron` costs beyond `import numpy`, in fresh processes.

Each process imports numpy, then River's base classes, then streamptron, and times the three. The
target is for what comes after numpy: less than 60 ms.
"""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import streamptron
from benchmarks import common

TARGET = 60  # ms

PROGRAM = """
import json, sys
from time import perf_counter
times = [perf_counter()]
import numpy
times.append(perf_counter())
import river.base
times.append(perf_counter())
import streamptron
times.append(perf_counter())
heavy = [name for name in {heavy} if name in sys.modules]
print(json.dumps([times, heavy]))
"""

# What streamptron uses only where it is asked for.
HEAVY = ["pandas", "polars", "pyarrow", "scipy", "sklearn", "narwhals", "matplotlib"]


def import_times():
    """Milliseconds for numpy, river.base and streamptron in one new process, and what else came."""
    # -P: not from the current folder, but the one whose version the header has printed
    paths = [str(Path(streamptron.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-c", PROGRAM.format(heavy=HEAVY)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    times, heavy = json.loads(run.stdout)
    return [1000 * (after - before) for before, after in pairwise(times)], heavy


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--processes", type=int, help="how many (default 21)")
    args = parser.parse_args()
    if args.processes is None:
        args.processes = 3 if args.quick else 21
    common.header(args, "none")
    common.section("import, in ms; the files are in the system's cache")
    import_times()  # the first one reads from disk and writes the bytecode
    runs = [import_times() for _ in range(args.processes)]
    numpy, river, ours = zip(*(times for times, _ in runs), strict=True)
    together = [sum(pair) for pair in zip(river, ours, strict=True)]
    rows = []
    for name, times in [
        ("numpy", numpy),
        ("river.base, after numpy", river),
        ("streamptron, after both", ours),
        ("streamptron with river.base, after numpy", together),
    ]:
        quartiles = [common.quantile(times, q) for q in (0.25, 0.5, 0.75)]
        rows.append([name, *(f"{value:.1f}" for value in quartiles), f"{min(times):.1f}"])
    common.table(["", "25 %", "median", "75 %", "least"], rows)
    said = "met" if common.median(together) < TARGET else "MISSED"
    print(f"\ntarget: the last median below {TARGET} ms: {said}")
    print("imported along the way, of the heavy ones:", ", ".join(runs[0][1]) or "none")


if __name__ == "__main__":
    main()
