"""Build the compiled modules. Everything else about the package is in pyproject.toml."""

import os
import re
import sys
from pathlib import Path
from zlib import crc32

from Cython.Build import cythonize
from setuptools import Distribution, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
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
    link_args.append("-Wl,-s,-z,noseparate-code")
    # nor tables for unwinding the stack: no exception of C++ passes through
    compile_args.append("-fno-asynchronous-unwind-tables")


# gcov is to know lines of .pyx files, not of what Cython makes of them (.ci/coverage).
covered = "--coverage" in asked

# The engine and the desk, which reads each event, are compiled for speed at any size, the other
# doors that an event passes through for speed, the rest for size.
OPTIMISE = {**dict.fromkeys(["api", "desk"], "-O3"), **dict.fromkeys(["_core", "texts"], "-O2")}
# What Cython would otherwise write out at each call of a method, and for each class.
SMALL = [("CYTHON_UNPACK_METHODS", "0"), ("CYTHON_VECTORCALL_TPNEW", "0")]


# The engine needs no Python. It is compiled as one file, and once: into the module that others call
# it through. Pythons whose compilers are called alike share what comes of it.
ENGINE = "streamptron/engine/streamptron.c"
# Loops that gcc doubles for each condition in them are a fifteenth of it: no time was measured that
# they save.
ONCE = ["-fno-unswitch-loops"] if sys.platform == "linux" else []
FOLDERS = ["streamptron/engine", "streamptron/doors"]


def extension(path):
    optimise = [] if sys.platform == "win32" else [OPTIMISE.get(path.stem, "-Os")]
    return Extension(
        ".".join(path.with_suffix("").parts),
        [path.as_posix()],
        define_macros=[] if path.stem in OPTIMISE else SMALL,
        include_dirs=FOLDERS,
        extra_compile_args=[*compile_args, *optimise, *asked],
        extra_link_args=link_args,
    )


def included(source, found):
    """Add to `found` what a C file includes of ours, and is to be compiled anew with."""
    for name in re.findall(r'^ *# *include "(.+)"', Path(source).read_text(), re.MULTILINE):
        for path in (Path(folder, name) for folder in FOLDERS):
            if path.is_file() and path.as_posix() not in found:
                found.add(path.as_posix())
                included(path, found)
    return found


class BuildExtensions(build_ext):
    """Cython writes C only when modules are built: a source package or a version needs none.

    It writes under build/, so that C that lies among the sources is always written by hand.
    """

    def finalize_options(self):
        """What a wheel was made of is not compiled again for an installation in place.

        setuptools would compile that in a folder of its own, all of it each time, and on one core.
        A Cython that was installed since then writes the C again, and all is compiled.
        """
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count() or 1
        if self.editable_mode:
            usual = build(Distribution())
            usual.ensure_finalized()
            self.build_lib, self.build_temp = usual.build_platlib, usual.build_temp

    def run(self):
        beside = "build/coverage" if covered else "build/cython"
        written = cythonize(
            self.extensions,
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
        # Cython lays copies of the headers there, which would be taken instead of ours, old as they
        # may be
        for copy in Path(beside).rglob("*.h"):
            copy.unlink()
        for module, in_c in zip(self.extensions, written, strict=True):
            module.sources = in_c.sources
            headers = set()
            for source in in_c.sources:
                included(source, headers)
            module.depends = sorted({*in_c.depends, *headers})
        super().run()

    def build_extension(self, module):
        if module.name == "streamptron.engine.api":
            module.extra_objects = [self.engine(module)]
            module.depends += module.extra_objects
        super().build_extension(module)

    def engine(self, module):
        """The engine's object, compiled anew if a file of it has changed."""
        options = [*module.extra_compile_args, *ONCE]
        call = [*getattr(self.compiler, "compiler_so", []), *options]
        # gcov finds its notes beside the other modules'
        folder = Path(self.build_temp)
        if not covered:
            folder = folder.parent / f"temp.engine-{crc32(' '.join(call).encode()):08x}"
        path = self.compiler.object_filenames([ENGINE], output_dir=str(folder))[0]
        if self.force or newer_group([ENGINE, *included(ENGINE, set())], path):
            self.compiler.compile(
                [ENGINE],
                output_dir=str(folder),
                include_dirs=module.include_dirs,
                extra_postargs=options,
            )
        return path


# The engine takes longest, so it is compiled first: at the end one core would wait for it.
paths = sorted(Path("streamptron").rglob("*.pyx"), key=lambda path: (path.stem != "api", path))
modules = [extension(path) for path in paths]
if not modules:
    sys.exit(
        "setup.py: there is no .pyx file under streamptron/, so the package would be installed "
        "without its core; take a complete source package or checkout, and start setup.py in its "
        "folder"
    )

setup(
    ext_modules=modules,
    cmdclass={"build_ext": BuildExtensions},
)
