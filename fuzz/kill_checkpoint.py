"""kill -9 a daemon that checkpoints, at random moments; see tests/support/killed.py.

After each kill the newest checkpoint must load. It must be exactly the model of its moment, and
contain all that the last finished save contained.
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
