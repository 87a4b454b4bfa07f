"""Damaged model files must either load, as a model that works, or be refused.

tests/support/mutations.py damages them. At the end the numbers of both are printed. A crash or an
error ends the run, with the seed of the file at fault. The same seed gives the same file again:
--n 1 --seed SEED.
"""

import argparse
import multiprocessing
import sys
import tempfile
from pathlib import Path

from tests.support import mutations


def run(first, n, last_seed, loaded):
    """Try n seeds; `last_seed` is the one being tried."""
    bases = [mutations.base(name) for name in mutations.BASES]
    # in memory if possible: each file is saved again, and would wait for the disk
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for seed in range(first, first + n):
            last_seed.value = seed
            loaded.value += mutations.try_one(seed, bases, Path(folder, "model"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="files")
    parser.add_argument("--seed", type=int, default=0, help="of the first file")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    jobs = []
    for job in range(args.jobs):
        first = args.n * job // args.jobs
        last = args.n * (job + 1) // args.jobs
        shared = spawn.Value("q", -1), spawn.Value("q", 0)
        process = spawn.Process(target=run, args=(args.seed + first, last - first, *shared))
        process.start()
        jobs.append((process, *shared))
    failed = False
    for process, last_seed, _ in jobs:
        process.join()
        if process.exitcode:
            failed = True
            print(f"seed {last_seed.value}: the process ended with {process.exitcode}")
    loaded = sum(loaded.value for _, _, loaded in jobs)
    print(f"{args.n} files: {loaded} loaded in one way or both, {args.n - loaded} refused")
    sys.exit(failed)


if __name__ == "__main__":
    main()
