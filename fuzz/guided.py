"""The same targets as the other fuzzers', but guided by the code that each input reaches.

For Linux: pip install atheris. Arguments after the target are for libFuzzer, which writes inputs
that reach new code into the first folder:

    python -m fuzz.guided model_file fuzz/corpus/model_file -max_total_time=60
    python -m fuzz.guided tokenizer crash-0123...            runs a failing input again

The Python code guides it. To be guided by the compiled core as well, compile that with clang:

    CC=clang CFLAGS="-fsanitize=fuzzer-no-link" python setup.py build_ext --inplace --force
    export LD_PRELOAD="$(python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so"

fuzz/corpus/ holds inputs that reach code which no other input reaches. tests/test_fuzz.py tries all
of them; put failing inputs there, too. To keep it small, merge all into an empty folder:

    python -m fuzz.guided tokenizer -merge=1 NEW fuzz/corpus/tokenizer
"""

import shlex
import sys

import atheris

with atheris.instrument_imports(include=["streamptron"]):
    from tests.support.targets import TARGETS


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else None
    if name not in TARGETS:
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    # to merge, libFuzzer runs its own name as a command
    command = shlex.join([sys.executable, "-m", "fuzz.guided", name])
    atheris.Setup([command, *sys.argv[2:]], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
