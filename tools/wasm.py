"""Build the C library for browsers: wasm.py FILE makes streamptron.wasm, below 292 kB.

`wasm.py --missing` prints which tools are not there, and nothing if all are.

It needs clang, wasm-ld, and the C library and compiler's functions of WASI (Debian: clang lld
wasi-libc libclang-rt-14-dev-wasm32). Its imports are WASI's; a page gives it random numbers, and
says of all else that there is none.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SYSTEM = Path(os.environ.get("WASI_SYSROOT", "/usr"))
PAGE = ROOT.joinpath("docs", "_site", "static", "try.js")  # what it does not call is left out
LIBC = SYSTEM / "lib" / "wasm32-wasi" / "libc.a"
FLAGS = ["--target=wasm32-wasi", f"--sysroot={SYSTEM}", "-mexec-model=reactor"]
FLAGS += ["-Oz", "-DSTREAMPTRON_PLAIN"]  # one loop for all learners; no bit changes
FLAGS += ["-mllvm", "-inline-threshold=-100"]  # a call is smaller than most of what it calls
FLAGS += ["-Wl,--compress-relocations"]  # else each address in the code takes five bytes


def missing():
    """What is not there, in words; empty: it can be built."""
    found = [tool for tool in ("clang", "wasm-ld") if shutil.which(tool) is None]
    return found + ([] if LIBC.is_file() else [str(LIBC)])


def build(path):
    symbols = ROOT / "streamptron" / "engine" / "library" / "symbols.txt"
    called = set(re.findall(r"\bspt_\w+", PAGE.read_text("utf-8")))
    names = [*(name for name in symbols.read_text("utf-8").split() if name in called)]
    names += ["malloc", "free"]
    exports = [f"-Wl,--export={name}" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        amalgamate = [sys.executable, str(ROOT / "tools" / "amalgamate.py"), folder]
        subprocess.run(amalgamate, check=True)
        command = ["clang", *FLAGS, "-Wl,--strip-all", "-Wl,--gc-sections", *exports]
        command += [str(Path(folder, "streamptron.c")), "-lm", "-o", str(path)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    from options import options  # not where tests import this file: then it is in no one's path

    parser = options(__doc__)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("file", nargs="?", metavar="FILE")
    given.add_argument("--missing", action="store_true")
    given = parser.parse_args()
    if given.missing:
        print(*missing())
    elif absent := missing():
        sys.exit(f"not built: there is no {' and no '.join(absent)}")
    else:
        build(given.file)
