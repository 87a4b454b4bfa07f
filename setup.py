"""Build the compiled modules. Everything else about the package is in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# No -march and no -ffast-math: a wheel runs on the next machine, and gives the same bits there.
# fp-contract is off because on some machines a compiler would otherwise fuse w * x + s into one
# rounding, and the same model would learn differently on them. What a debugger wants would be most
# of a wheel, so it is left out (-g0); STREAMPTRON_CFLAGS=-g brings it back.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    compile_args = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"]
link_args = os.environ.get("STREAMPTRON_LDFLAGS", "").split()
asked = os.environ.get("STREAMPTRON_CFLAGS", "").split()
if not asked and sys.platform == "linux":
    # nor the names of functions, nor pages between sections that are filled with nothing
    link_args.append("-Wl,-s,-z,noseparate-code")


# gcov is to know lines of .pxd files, not of what Cython makes of them (.ci/coverage).
covered = "--coverage" in asked

# The engine's loops are compiled for speed at any size, what an event passes through for speed, the
# rest for size.
#
# What is said of api.pyx holds for merge.pyx, which compiles what merges: in one file with the path
# of an event it would change what the compiler inlines there, at 5 % of an event's time.
OPTIMISE = {
    **{"api": "-O3", "merge": "-O3"},
    **dict.fromkeys(["_core", "desk", "names", "texts"], "-O2"),
}


def extension(path):
    optimise = [] if sys.platform == "win32" else [OPTIMISE.get(path.stem, "-Os")]
    return Extension(
        ".".join(path.with_suffix("").parts),
        [path.as_posix()],
        include_dirs=["streamptron/engine", "streamptron/doors"],
        extra_compile_args=[*compile_args, *optimise, *asked],
        extra_link_args=link_args,
    )


setup(
    ext_modules=cythonize(
        [extension(path) for path in sorted(Path("streamptron").rglob("*.pyx"))],
        nthreads=os.cpu_count() or 1,
        emit_linenums=covered,
        build_dir="build/coverage" if covered else None,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "binding": True,
            "auto_pickle": False,
            "autotestdict": False,
        },
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
