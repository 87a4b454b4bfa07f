"""The plain-Python twin of what a merge makes of counts: they add up, and undo makes them smaller.

What several models have gained since the base is added. What they have less than the base, they
took back. Of one feature the same row in several models is the same step taken back, and counts
once; rows that differ are different steps, and all of them count, down to 0. Of what is kept once,
where rows cannot tell, the largest loss counts, once. A feature that a ceiling has dropped and that
came back has begun anew, and gains all that it has.
"""

SHARED = 16.0  # how often one event may count in a slot, at most, where hashed names share it


def counted(base, numbers):
    """A number that is kept once, of a model or of a label."""
    total, loss = base, 0
    for number in numbers:
        if number < base:
            loss = min(loss, number - base)
        else:
            total += number - base
    return total + loss


def unhalved(cnt, base, gained, least):
    """By what a count was halved since the base: undone, so that gains can be added.

    A count that was halved is not below `least`, and its model has learned what it has gained:
    `gained` is by how much the sum of all sample weights, which is never halved, has grown. Any
    other count below the base's has lost steps.
    """
    times = 1.0
    if not least <= cnt < base:
        return 1.0
    while cnt * times < base:
        times *= 2.0
    return times if cnt * times - base <= SHARED * gained else 1.0


def told_apart(rows, lost):
    """The places of the rows that count. `lost`: whether a row has gained nothing."""
    kept = []
    for i, row in enumerate(rows):
        if not (lost[i] and any(rows[j] == row for j in kept)):
            kept.append(i)
    return kept


def summed(base, numbers, goes_on):
    """A sum of differences, and the same without those that are losses."""
    total = most = base if any(goes_on) else 0.0
    for number, on in zip(numbers, goes_on, strict=True):
        gain = number - (base if on else 0.0)
        total += gain
        most += max(gain, 0.0)
    return total, most


def floored(c, cnt, most, negative):
    """Counts by label, none below 0, and the feature's, which has lost no more than they had.

    `most`: what the feature's would be, had nothing been taken back.
    """
    over = 0.0
    for k in sorted(c) if not negative else ():
        if c[k] < 0:
            over += 0.0 - c[k]
            c[k] = 0.0
    return min(max(cnt, 0.0) + over, most) if over > 0 or cnt < 0 else cnt


def within(c, cnt):
    """A label's count: a value counts 8 at most."""
    return min(max(c, -8.0 * cnt), 8.0 * cnt)
