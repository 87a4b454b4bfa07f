"""The command line of fuzzers whose cases have a seed each."""

import argparse
from itertools import count


def seeds(doc):
    """The seeds that --n and --seed ask for, one after the other; `doc` is the script's."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--n", type=int, help="how many cases; without it, no end")
    parser.add_argument("--seed", type=int, default=0, help="the first case's seed")
    arguments = parser.parse_args()
    for i in count() if arguments.n is None else range(arguments.n):
        if i % 1000 == 0:  # after a crash the last seed printed says where it was
            print(f"seed {arguments.seed + i}", flush=True)
        yield arguments.seed + i
