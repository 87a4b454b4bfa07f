"""Random sequences of calls of every kind, on a model and on its twin; see tests/operations.py.

    python fuzz/operations.py                  # until it finds a difference
    python fuzz/operations.py --n 10000
    python fuzz/operations.py --n 1 --seed 42  # one case again

Every case has a seed of its own. The first that goes wrong is printed with as few operations as
still do, and the exit status is 1. Put its seed into FOUND in tests/operations.py: a test tries
those again.
"""

import argparse
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import operations


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, help="how many cases; without it, no end")
    parser.add_argument("--seed", type=int, default=0, help="the first case's seed")
    arguments = parser.parse_args()
    for i in count() if arguments.n is None else range(arguments.n):
        seed = arguments.seed + i
        if i % 1000 == 0:  # a crash leaves the last seed that was written
            print(f"seed {seed}", flush=True)
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
