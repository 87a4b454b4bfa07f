"""Build the compiled modules. Everything else about the package is in pyproject.toml."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zlib import crc32

from Cython.Build import cythonize
from setuptools import Distribution, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.modified import newer_group

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
    link_args.append("-Wl,-s,-z,noseparate-code,--gc-sections")
    # nor functions that nobody calls, nor tables for unwinding the stack, as no exception of C++
    # passes through
    compile_args += ["-ffunction-sections", "-fno-asynchronous-unwind-tables"]


# gcov is to know lines of .pyx files, not of what Cython makes of them (.ci/coverage).
covered = "--coverage" in asked

# All that is compiled lies in one file, the module _core's, where streamptron/compiled.py finds the
# other modules. One has no gaps and tables of its own, as a small file has. The engine needs no
# Python: it is five parts, so that an edit compiles one. Pythons whose compilers are called alike
# share what comes of them.
FOLDERS = ["streamptron/engine", "streamptron/doors"]
DOORS = sorted(Path("streamptron").rglob("*.pyx"))
PARTS = sorted(Path("streamptron/engine").glob("part_*.c"))
if not DOORS:
    sys.exit(
        "setup.py: there is no .pyx file under streamptron/, so the package would be installed "
        "without its core; take a complete source package or checkout, and start setup.py in its "
        "folder"
    )

# What is compiled for speed: the rooms of the engine that an event or a merge passes through and
# the desk, which reads each event, at any size; the other doors that it passes through. The rest is
# small.
FAST = dict.fromkeys(["part_events", "part_path", "part_machines", "part_merge", "desk"], "-O3")
FAST |= dict.fromkeys(["_core", "texts"], "-O2")
# Loops that gcc doubles for each condition in them are a fifteenth of the engine, and gaps before
# the targets of jumps a fortieth of what is fast: no time was measured that they save.
ONCE = ["-fno-unswitch-loops", "-fno-align-jumps", "-fno-align-labels"]
# What takes gcc a third of its time where it compiles for size, and makes code larger.
QUICK = ["-fno-gcse", "-fno-tree-pre", "-fno-code-hoisting", "-fno-tree-pta", "-fno-thread-jumps"]
QUICK += ["-fno-tree-dominator-opts", "-fno-schedule-insns2"]
# What a door that is compiled for size includes first.
SMALL = "streamptron/doors/small.h"


def included(source, found):
    """Add to `found` what a file of C or Cython includes of ours, directly or not."""
    including = r'^(?: *# *include|cdef extern from) "(.+)"'
    for name in re.findall(including, Path(source).read_text(), re.MULTILINE):
        for path in (Path(folder, name) for folder in FOLDERS):
            if path.is_file() and path.as_posix() not in found:
                found.add(path.as_posix())
                included(path, found)
    return found


def in_c(beside):
    """The doors as C, which Cython writes in the folder `beside` if something has changed.

    So C that lies among the sources is always written by hand.
    """
    written = cythonize(
        [Extension(".".join(path.with_suffix("").parts), [path.as_posix()]) for path in DOORS],
        nthreads=os.cpu_count() or 1,
        emit_linenums=covered,
        build_dir=beside,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            # a function that becomes a method of a Python class says so itself; a signature is
            # there to be asked for, as River does
            "binding": False,
            "embedsignature": True,
            "embedsignature.format": "clinic",
            "auto_pickle": False,
            "autotestdict": False,
        },
    )
    # Cython lays copies of the headers there, which would be taken instead of ours, old as they may
    # be
    for copy in Path(beside).rglob("*.h"):
        copy.unlink()
    return [Path(door.sources[0]) for door in written]


class BuildExtensions(build_ext):
    """Cython writes C only when modules are built: a source package or a version needs none."""

    def finalize_options(self):
        """What a wheel was made of is not compiled again for an installation in place.

        setuptools would compile that in a folder of its own, all of it each time.
        A Cython that was installed since then writes the C again, and all is compiled.
        """
        super().finalize_options()
        if self.editable_mode:
            usual = build(Distribution())
            usual.ensure_finalized()
            self.build_lib, self.build_temp = usual.build_platlib, usual.build_temp

    def build_extension(self, core):
        """Each file by itself, with options of its own, on all cores; the longest first."""
        self.is_gcc = sys.platform == "linux" and "clang" not in subprocess.check_output(
            [self.compiler.compiler_so[0], "--version"], text=True
        )
        doors = in_c("build/coverage" if covered else "build/cython")
        doors.sort(key=lambda path: -path.stat().st_size)
        with ThreadPoolExecutor(self.parallel or os.cpu_count()) as pool:
            objects = list(pool.map(self.compiled, [*PARTS, *doors]))
        core.sources, core.extra_objects, core.depends = [], objects, objects
        super().build_extension(core)

    def compiled(self, path):
        """The object of a C file, compiled anew if something of it has changed."""
        options = list(compile_args)
        if sys.platform != "win32":
            options.append(FAST.get(path.stem, "-Os"))
        if self.is_gcc:
            options += ONCE if path.stem in FAST else QUICK
        options += asked
        sources = [path.as_posix(), *included(path, set())]
        if path not in PARTS and path.stem not in FAST:
            options += ["/FI" if sys.platform == "win32" else "-include", SMALL]
            sources.append(SMALL)
        folder = Path(self.build_temp)
        if path in PARTS and not covered:  # gcov finds its notes beside the other files'
            call = " ".join([*getattr(self.compiler, "compiler_so", []), *options])
            folder = folder.parent / f"temp.engine-{crc32(call.encode()):08x}"
        (made,) = self.compiler.object_filenames(sources[:1], output_dir=str(folder))
        if self.force or newer_group(sources, made):
            self.compiler.compile(
                sources[:1],
                output_dir=str(folder),
                include_dirs=FOLDERS,
                extra_postargs=options,
            )
        return made


class BuildPackage(build_py):
    """Of the headers a wheel has those that Cython code of others includes."""

    def find_data_files(self, package, folder):
        found = super().find_data_files(package, folder)
        return [name for name in found if not name.endswith(".h") or Path(name).as_posix() in SHOWN]


SHOWN = set()
for declarations in Path("streamptron").rglob("*.pxd"):
    included(declarations, SHOWN)
core = Extension(
    "streamptron._core", [path.as_posix() for path in [*DOORS, *PARTS]], extra_link_args=link_args
)
setup(ext_modules=[core], cmdclass={"build_ext": BuildExtensions, "build_py": BuildPackage})
