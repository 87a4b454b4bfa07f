"""Random texts and parameters: the tokenizer against its plain-Python twin.

    python -m fuzz.tokenizer                  # until it finds a difference
    python -m fuzz.tokenizer --n 10000
    python -m fuzz.tokenizer --n 1 --seed 42  # one case again

Every case has a seed of its own. The first case that differs is reduced to the smallest input that
still differs, and printed, and the exit status is 1.
"""

import random
import sys

from fuzz.seeds import seeds
from tests.support.texts import difference, random_parameters, random_x


def smallest(differs, text):
    """A shorter text that still differs, made by cutting out smaller and smaller pieces."""
    size = len(text)
    while size:
        i = 0
        while i < len(text):
            shorter = text[:i] + text[i + size :]
            if differs(shorter):
                text = shorter
            else:
                i += size
        size //= 2
    return text


def smallest_x(params, x):
    if isinstance(x, dict):
        for name in x:
            rest = {k: v for k, v in x.items() if k != name}
            text = smallest(lambda v, r=rest, n=name: difference(params, {**r, n: v}), x[name])
            x = {**x, name: text}
        return x
    return smallest(lambda text: difference(params, text), x)


def main():
    for seed in seeds(__doc__):
        rng = random.Random(seed)
        params = random_parameters(rng)
        x = random_x(rng, params["fields"], size=rng.choice((3, 10, 60)))
        if difference(params, x):
            x = smallest_x(params, x)
            print(f"seed {seed}\nTokenizer(**{params})\nx = {x!r}\n{difference(params, x)}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
