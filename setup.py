"""Build the compiled modules. Everything else about the package is in pyproject.toml."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from email import message_from_string
from functools import cache
from pathlib import Path
from zlib import crc32

import Cython
from setuptools import Distribution, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError
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
    # nor functions that are never called, nor tables for unwinding the stack, as no exception of
    # C++ passes through
    compile_args += ["-ffunction-sections", "-fno-asynchronous-unwind-tables"]


# gcov is to know lines of .pyx files, not of what Cython makes of them (.ci/coverage).
covered = "--coverage" in asked

# All that is compiled lies in one file, the module _core's, where common/compiled.py finds the
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
FAST |= dict.fromkeys(["_core", "texts", "shared"], "-O2")
# Passes of gcc that take it a fifth of its time, and that were not found to save an event any.
IDLE = ["-fno-schedule-insns2", "-fno-tree-pre", "-fno-code-hoisting", "-fno-tree-pta"]
IDLE += ["-fno-tree-dominator-opts"]
# Nor do, where it compiles for speed: copies of loops and functions for each condition in them,
# gaps before the targets of jumps, and what values can be.
ONCE = ["-fno-unswitch-loops", "-fno-split-loops", "-fno-version-loops-for-strides"]
ONCE += ["-fno-tree-loop-distribution", "-fno-ipa-cp-clone", "-fno-align-jumps"]
ONCE += ["-fno-align-labels", "-fno-tree-vrp"]
# Where it compiles for size, these make code larger.
QUICK = ["-fno-gcse", "-fno-thread-jumps"]
# What a door that is compiled for size includes first.
SMALL = "streamptron/doors/size_flags.h"

# Where Cython writes doors as C, so that C that lies among the sources is always written by hand.
WRITTEN = Path("build/coverage" if covered else "build/cython")
# What Cython has of its own in each module, to read arguments, raise errors and import, is once for
# all doors, in a module of theirs. None of them has memoryviews or makes pickles.
SHARED = WRITTEN / "shared.c"
SHARING = ["generate-shared", "--exclude", "AutoPickle,MemoryView", SHARED]
# A signature is there to be asked for, as River does. A function that becomes a method of a Python
# class says itself that it is bound.
DIRECTIVES = (
    "boundscheck=False,wraparound=False,cdivision=True,initializedcheck=False,binding=False,"
    "embedsignature=True,embedsignature.format=clinic,auto_pickle=False,autotestdict=False,"
    "freethreading_compatible=True"
)
WRITING = ["-3", "--directive", DIRECTIVES, "--shared", "streamptron.doors.shared"]
WRITING += ["--line-directives"] if covered else []
WRITING += ["--output-file", WRITTEN]

# How a file of C or Cython takes another one.
TAKING = re.compile(
    r'^(?: *# *include|cdef extern from) "(.+)"|^(?:from|cimport) (streamptron\S+)', re.MULTILINE
)


@cache
def taken(source):
    """What a file of C or Cython includes or cimports of ours; of a door its declarations too."""
    found = [source.with_suffix(".pxd")] if source.suffix == ".pyx" else []
    for header, module in TAKING.findall(source.read_text("utf-8")):
        if header:
            found += [Path(folder, header) for folder in FOLDERS]
        else:
            found.append(Path(f"{module.replace('.', '/')}.pxd"))
    return [path for path in found if path.is_file()]


def needed(*sources):
    """These files, and what they include or cimport of ours, directly or not."""
    found = dict.fromkeys(sources)
    left = list(sources)
    while left:
        new = [path for path in taken(left.pop()) if path not in found]
        found |= dict.fromkeys(new)
        left += new
    return list(found)


def in_c(door):
    """Where a door lies as C."""
    return WRITTEN / f"{door.stem}.c"


def cython(arguments):
    """Cython, in a process of its own.

    It warns of every attribute of a Python object in a critical section, which is not to protect
    it: what the section protects is the model.
    """
    call = [sys.executable, "-m", "cython", *arguments]
    done = subprocess.run(call, stderr=subprocess.PIPE, text=True, check=False)
    for line in done.stderr.splitlines():
        if "is not usefully protected by critical_section" not in line:
            print(line, file=sys.stderr)
    if done.returncode:
        raise CompileError("Cython could not write the doors as C")


class BuildExtensions(build_ext):
    """Cython writes C only when modules are built: a source package or a version needs none.

    It is given the doors that have changed: to find that out takes it a second.
    """

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

    def run(self):
        """And the SQLite extension beside it, if it is asked for: not everybody has the headers."""
        super().run()
        if os.environ.get("STREAMPTRON_SQLITE"):
            folder = Path(self.build_temp, "sqlite").absolute()
            subprocess.check_call([".ci/sqlite", sys.executable, folder])
            self.copy_file(
                str(folder / "streamptron.so"),
                "streamptron" if self.inplace else str(Path(self.build_lib, "streamptron")),
            )

    def build_extension(self, core):
        """Each file by itself, with options of its own, on all cores; the longest first."""
        self.is_gcc = sys.platform == "linux" and "clang" not in subprocess.check_output(
            [self.compiler.compiler_so[0], "--version"], text=True
        )
        WRITTEN.mkdir(parents=True, exist_ok=True)
        n = self.parallel or os.cpu_count() or 1
        doors = sorted(DOORS, key=lambda path: -path.stat().st_size)
        changed = [door for door in doors if self.is_to_be_written(door)]
        calls = [[*WRITING, *changed[i::n]] for i in range(min(n, len(changed)))]
        if self.is_outdated(SHARED):
            calls.append(SHARING)
        with ThreadPoolExecutor(n) as pool:
            list(pool.map(cython, calls))
            objects = list(pool.map(self.compiled, [*PARTS, *doors, SHARED]))
        core.sources, core.extra_objects, core.depends = [], objects, objects
        super().build_extension(core)

    def is_to_be_written(self, door):
        """Whether a door as C is older than the door, or than something that it cimports."""
        sources = [path for path in needed(door) if path.suffix != ".h"]
        return self.is_outdated(in_c(door), sources)

    def is_outdated(self, made, sources=()):
        """Whether C that Cython has written is older than its sources or than Cython itself."""
        return self.force or newer_group([*sources, Cython.__file__], made)

    def compiled(self, path):
        """The object of a part, a door or SHARED, compiled anew if something has changed."""
        options = list(compile_args)
        if sys.platform != "win32":
            options.append(FAST.get(path.stem, "-Os"))
        if self.is_gcc:
            options += IDLE + (ONCE if path.stem in FAST else QUICK)
        options += asked
        sources = needed(path)
        if path not in PARTS:
            sources[0] = in_c(path)
        if path not in PARTS and path.stem not in FAST:
            options += ["/FI" if sys.platform == "win32" else "-include", SMALL]
            sources.append(Path(SMALL))
        folder = Path(self.build_temp)
        if path in PARTS and not covered:  # gcov finds its notes beside the other files'
            call = " ".join([*getattr(self.compiler, "compiler_so", []), *options])
            folder = folder.parent / f"temp.engine-{crc32(call.encode()):08x}"
        first = [sources[0].as_posix()]
        (made,) = self.compiler.object_filenames(first, output_dir=str(folder))
        if self.force or newer_group(sources, made):
            self.compiler.compile(
                first,
                output_dir=str(folder),
                include_dirs=FOLDERS,
                extra_postargs=options,
            )
        return made


class BuildPackage(build_py):
    """A wheel has all declarations, for Cython code of others, and the headers that they take."""

    def find_data_files(self, package, folder):
        shown = needed(*Path("streamptron").rglob("*.pxd"))
        found = map(Path, super().find_data_files(package, folder))
        return [str(path) for path in found if path.suffix != ".h" or path in shown]


def version():
    """The release that is being worked on, and which commit of it this is: pip knows by it what is
    newer. A source package knows its own; what is neither that nor a whole clone is .dev0.
    """
    package = Path("PKG-INFO")
    if package.is_file():
        return message_from_string(package.read_text("utf-8"))["Version"]
    code = Path("streamptron", "common", "version.py").read_text("utf-8")
    release = re.search(r'^RELEASE = "(.+)"', code, re.MULTILINE)[1]
    if git("describe", "--exact-match", "--match", f"v{release}") is not None:
        return release
    is_whole = git("rev-parse", "--is-shallow-repository") == "false"
    commits = git("rev-list", "--count", "HEAD") if is_whole else None
    return f"{release}.dev{commits or 0}"


def git(*arguments):
    """What git says of this folder, or None: there may be no git, and no repository of its own."""
    if not Path(".git").exists():
        return None
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()


core = Extension(
    "streamptron.doors._core",
    [path.as_posix() for path in [*DOORS, *PARTS]],
    extra_link_args=link_args,
)
setup(
    version=version(),
    ext_modules=[core],
    cmdclass={"build_ext": BuildExtensions, "build_py": BuildPackage},
)
