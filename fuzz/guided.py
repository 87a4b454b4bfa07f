"""The same targets as the other fuzzers', but guided by what each input makes the code do.

For Linux: pip install atheris. What follows the target is for libFuzzer; new inputs that do
something new are written into its first folder:

    python -m fuzz.guided model_file fuzz/corpus/model_file -max_total_time=60
    python -m fuzz.guided tokenizer crash-0123...            once more what has gone wrong

Python's code guides it. To be guided by the core's as well, compile that with clang:

    CC=clang CFLAGS="-fsanitize=fuzzer-no-link" python setup.py build_ext --inplace --force
    export LD_PRELOAD="$(python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so"

fuzz/corpus/ holds what has been found to do something of its own. tests/test_fuzz.py tries all of
it; put there what has gone wrong, too. To keep it small, merge the new into an empty folder:

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
    # libFuzzer starts its own name as a command, when it merges
    command = shlex.join([sys.executable, "-m", "fuzz.guided", name])
    atheris.Setup([command, *sys.argv[2:]], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
