"""Lines and branches of the core that tests have taken, room by room: rooms.py FOLDER [--missing].

FOLDER is where .ci/coverage has built the core and run tests. A room of the engine is its .c and
its .h. What several compiled modules have of the same line counts as taken if one of them has taken
it. Of the doors' .pyx files only lines are looked at: most of their branches are Cython's own,
after each call of Python.

A room falls below its floor: the exit code is 1.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Per cent of lines and of branches that a room must have at least, unless it is named here.
FLOOR = (97, 90)
# .pyx: Python code sees to the rest (tests of the command line, of threads)
FLOOR_OF_DOORS = (88, 0)
FLOORS = {
    # each instance of a template has branches of its own, and many are constant there
    "engine/table/loops": (95, 30),
    "engine/table/keep": (97, 5),
    "engine/events/step": (97, 70),
    "engine/table/table": (95, 90),
    "engine/adaptive/slots": (97, 85),
    "engine/features/head": (97, 85),
    "engine/adaptive/two": (97, 60),
    "engine/math/logs": (97, 85),
    "engine/events/lines": (60, 45),  # most kinds of lines are the command line's
    "engine/events/matrix": (96, 90),  # some kinds of numbers are read in one way only
    "engine/memory/pool": (94, 84),  # Windows, AddressSanitizer
    "doors/gate": (97, 85),  # two threads that meet, which happens only now and then
}

# How the names of functions begin that are not Cython's own; gcov does not name that of every line.
OURS = ("__pyx_f_", "__pyx_pf_", "__pyx_fuse_", "sp_")


def reports(folder):
    """What gcov says of each source file that the compiled modules have code of."""
    counts = sorted(folder.resolve().rglob("*.gcda"))
    if not counts:
        sys.exit(f"no test has run the core that is built in {folder}")
    for file in counts:
        with tempfile.TemporaryDirectory() as output:
            subprocess.run(["gcov", "-b", "-j", file], cwd=output, check=True, capture_output=True)
            for report in Path(output).glob("*.gcov.json.gz"):
                yield from json.loads(gzip.decompress(report.read_bytes()))["files"]


def of_faults(name):
    """The lines of functions that look for faults of our own, of which they never find any."""
    text = Path("streamptron", name).read_text("utf-8") if name.endswith((".c", ".h")) else ""
    functions = re.finditer(r"^SP_\w+ const char \*\w+_fault\((.|\n)*?^}", text, re.M)
    return {
        line
        for function in functions
        for line in range(
            1 + text.count("\n", 0, function.start()), 2 + text.count("\n", 0, function.end())
        )
    }


def taken(folder):
    """{file: ({line: count}, {(line, branch): count})} of the core's rooms."""
    files = defaultdict(lambda: (defaultdict(int), defaultdict(int)))
    left_out = {}
    for report in reports(folder):
        name = report["file"]
        if "streamptron/" not in name:
            continue
        name = name[name.rindex("streamptron/") + len("streamptron/") :]
        lines, branches = files[name]
        aside = left_out.setdefault(name, of_faults(name))
        # a template has its lines once for each instance
        for line in report["lines"]:
            # Cython's own functions have no lines; gcov counts on from the last that was named
            if not line.get("function_name", OURS[0]).startswith(OURS):
                continue
            number = line["line_number"]
            if number in aside:
                continue
            lines[number] += line["count"]
            for i, branch in enumerate(line["branches"]):
                branches[number, i] += branch["count"]
    return files


def share(counts):
    return 100 * sum(count > 0 for count in counts.values()) / len(counts) if counts else 100.0


def main(folder, missing=False):
    rooms = defaultdict(lambda: ({}, {}))
    for name, (lines, branches) in taken(Path(folder)).items():
        of_room = rooms[str(Path(name).with_suffix(""))]
        of_room[0].update({(name, line): n for line, n in lines.items()})
        if not name.endswith(".pyx"):
            of_room[1].update({(name, *key): n for key, n in branches.items()})
    short = []
    print(f"{'room':25} {'lines':>6} {'taken':>7} {'branches':>9} {'taken':>7}")
    for room, (lines, branches) in sorted(rooms.items()):
        found = share(lines), share(branches)
        is_door = Path("streamptron", f"{room}.pyx").exists()
        floor = FLOORS.get(room, FLOOR_OF_DOORS if is_door else FLOOR)
        below = found[0] < floor[0] or found[1] < floor[1]
        short += [room] if below else []
        print(
            f"{room:25} {len(lines):6} {found[0]:6.1f}% {len(branches):9} {found[1]:6.1f}%"
            f"{f'   below {floor[0]}% and {floor[1]}%' if below else ''}"
        )
        if missing:
            never = {key[:2] for counts in (lines, branches) for key, n in counts.items() if not n}
            for name, line in sorted(never):
                text = Path("streamptron", name).read_text("utf-8").splitlines()
                which = "never" if not lines.get((name, line), 1) else "one side"
                # gcov counts on behind the end of a file for what Cython adds
                print(f"    {name}:{line}: {which}: {''.join(text[line - 1 : line]).strip()}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--missing" in sys.argv[2:]))
