"""Names made by somebody who knows the code but not the seed, beside random ones.

The seed decides where a name goes. An attacker can choose names that are alike in every way that a
weak hash would mind, or that do collide for another seed (here: seed 0, the upper 10 bits of the
hash). They must be no slower to learn and to find than random names of the same length; asked are
at most 2 times. Every model has a secret seed of its own, as it comes. Times are ns a name, of
names new to the model (learned), then of names it has (answered): the medians over models, which
take turns.
"""

import pickle
import random
import time
from itertools import islice, product

import streamptron
from benchmarks import common

EVENT = 100  # names


def random_names(n, length, seed=0):
    rng = random.Random(seed)
    return [f"{rng.getrandbits(4 * length):0{length}x}" for _ in range(n)]


def colliding_for_seed_0(n):
    """Names whose hashes share their upper 10 bits for the seed 0, found by trying them."""
    model = streamptron.Perceptron(hash_bits=10, hash_seed=0, intercept=False)
    model.learn_one({"a name": 1}, True)
    names = []
    block = 1 << 16
    first = 0
    while len(names) < n:
        rows = model.decision_function_many(
            streamptron.Tokenizer().transform_many([f"n{i:x}" for i in range(first, first + block)])
        )
        names += [f"n{first + i:x}" for i in rows.nonzero()[0].tolist()]
        first += block
    return names[:n]


def shifted_ints(n):
    """Ints that differ in their upper bits only."""
    return [i << 40 for i in range(n)]


def floats_a_bit_apart(n):
    return [1.0 + i * 2.0**-52 for i in range(1, n + 1)]


def alike_in(n, place):
    """Names of 24 bytes that differ in one half or other only."""
    some = random_names(n, 8)
    fixed = "0123456789abcdef"
    return [name + fixed if place == "front" else fixed + name for name in some]


def few_characters(n, length):
    """Names of two characters, one bit apart."""
    return ["".join(some) for some in islice(product("\0\1", repeat=length), n)]


def zeros(n):
    """Texts of nothing but zeros."""
    return ["0" * i for i in range(1, n + 1)]


def kinds(n):
    """(title, names, random names of that kind)."""
    ints = random.Random(1).sample(range(1 << 60), n)
    short, long = random_names(n, 8), random_names(n, 24)
    few = min(n // 10, 5000)  # as many as can be found in a while
    return [
        ("collide for seed 0", colliding_for_seed_0(few), random_names(few, 6)),
        ("ints from 0", list(range(n)), ints),
        ("ints, the low 40 bits 0", shifted_ints(n), ints),
        ("floats a bit apart", floats_a_bit_apart(n), [1 + i / 2**60 + 1e-9 for i in ints]),
        ("15 bytes, two characters", few_characters(n, 15), random_names(n, 15)),
        ("24 bytes, one end the same", alike_in(n, "front"), long),
        ("24 bytes, one start the same", alike_in(n, "back"), long),
        ("32 bytes, two characters", few_characters(n, 32), random_names(n, 32)),
        ("zeros, up to 2000 of them", zeros(min(n, 2000)), random_names(min(n, 2000), 1000)),
        ("8 bytes, counted", [f"{i:08d}" for i in range(n)], short),
    ]


def times(names):
    """Seconds to learn and to answer names, by a model with a seed of its own."""
    model = streamptron.Perceptron(intercept=False, average="none", serve="current")
    events = [dict.fromkeys(names[i : i + EVENT], 1) for i in range(0, len(names), EVENT)]
    start = time.perf_counter()
    for x in events:
        model.learn_one(x, True)
    learned = time.perf_counter()
    for x in events:
        model.predict_one(x)
    return learned - start, time.perf_counter() - learned


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--names", type=int, help="of each kind (default 200000)")
    parser.add_argument("--models", type=int, help="how many seeds are tried (default 15)")
    args = parser.parse_args()
    args.names = args.names or (2000 if args.quick else 200_000)
    args.models = args.models or (2 if args.quick else 15)
    common.header(args, "made up: see above")

    rows = []
    for title, crafted, plain in kinds(args.names):
        # As they would be read from somewhere: an int that comes of a shift, for one, takes another
        # size of memory, and reading objects that lie here and there takes twice the time.
        crafted, plain = pickle.loads(pickle.dumps((crafted, plain)))
        turns = [[times(names) for names in (crafted, plain)] for _ in range(args.models)]
        row = [title, f"{len(crafted):,}"]
        for what in (0, 1):
            ns = [
                common.median([turn[who][what] for turn in turns]) * 1e9 / len(names)
                for who, names in enumerate((crafted, plain))
            ]
            row += [*(f"{each:.0f}" for each in ns), f"{ns[0] / ns[1]:.2f}"]
        rows.append(row)
    common.section("ns a name")
    headings = ["names", "how many", "learned", "random ones", "ratio"]
    common.table([*headings, "answered", "random ones", "ratio"], rows)


if __name__ == "__main__":
    main()
