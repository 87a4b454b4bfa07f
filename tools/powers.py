"""Write streamptron/engine/math/powers_table.h: 2^(i / 128) for i from 0 to 127.

Each is the nearest double, and what it is short of the power as a share of it, also the nearest.
"""

from fractions import Fraction
from math import isqrt
from pathlib import Path

from options import options

TABLE = Path(__file__).parents[1] / "streamptron" / "engine" / "linear" / "powers_table.h"
BITS = 1 << 10  # of the power that is kept after the point


def power(i):
    """2^(i / 128), by seven square roots; far more exact than two doubles."""
    number = 1 << (i + 128 * BITS)
    for _ in range(7):
        number = isqrt(number)
    return Fraction(number, 1 << BITS)


def rows():
    for i in range(128):
        exact = power(i)
        near = float(exact)
        yield f"    {{{near.hex()}, {float(exact / Fraction(near) - 1).hex()}}},\n"


def main():
    head = "/* Written by tools/powers.py: 2^(i / 128), and what the double lacks, as a share. */\n"
    TABLE.write_text(
        f"{head}\nstatic const double sp_powers[128][2] = {{\n{''.join(rows())}}};\n", "utf-8"
    )


if __name__ == "__main__":
    options(__doc__).parse_args()
    main()
