"""kill -9 a daemon that checkpoints, at random moments; see tests/support/killed.py.

Each time the newest checkpoint must load, be the model of its moment to the last bit, and hold all
that the last finished save held.
"""

import argparse
import tempfile

from tests.support import killed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=500, help="kills")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        within, n_seen = killed.kill(args.n, args.seed, folder)
    print(f"{args.n} kills, {within} of them within a save: nothing lost in {n_seen} events")


if __name__ == "__main__":
    main()
