"""Random sequences of calls of every kind, on a model and on its twin.

    python -m fuzz.operations                  # until it finds a difference
    python -m fuzz.operations --n 10000
    python -m fuzz.operations --n 1 --seed 42  # one case again

Every case has a seed of its own. The first case that fails is reduced to the fewest operations that
still fail, and printed, and the exit status is 1. Put its seed into FOUND in
tests/support/operations.py, which makes the calls: a test tries those seeds again.
"""

import sys

from fuzz.seeds import seeds
from tests.support import operations


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
