"""Random sequences of calls of every kind, on a model and on its twin; see tests/operations.py.

    python fuzz/operations.py                  # until it finds a difference
    python fuzz/operations.py --n 10000
    python fuzz/operations.py --n 1 --seed 42  # one case again

Every case has a seed of its own. The first that goes wrong is printed with as few operations as
still do, and the exit status is 1. Put its seed into FOUND in tests/operations.py: a test tries
those again.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import operations
from seeds import seeds


def main():
    for seed in seeds(__doc__):
        rule, params, calls = operations.made(seed)
        if operations.difference(rule, params, calls):
            calls = operations.smallest(rule, params, calls)
            print(f"seed {seed}\n{rule}, {params}")
            print(*calls, sep="\n")
            print(operations.difference(rule, params, calls))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
