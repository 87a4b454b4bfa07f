"""What the ledger packs is what it was given."""

import gc
import random

import pytest

pytest.importorskip("starlette")

from streamptron.service import ledger as room
from streamptron.service.ledger import ROWS, Asked, Ledger, Taught, kept
from streamptron.service.tally import Judged

LABELS = ("spam", "a\nb", "\ud800", ["a", "b"], 1.5, 7, True, None)


def lesson(rng, n):
    judged = rng.choice((None, Judged(n, rng.choice(LABELS), rng.random())))
    return Taught(f"{rng.getrandbits(64):016x}", rng.choice(LABELS), rng.random(), n, judged)


@pytest.mark.parametrize("seed", [1])
def test_lessons_come_back_from_a_file_as_they_were_in_their_order(seed):
    rng, ledger, twin = random.Random(seed), Ledger(2 * ROWS, 10**9), {}
    for n in range(3 * ROWS):
        id = f"{rng.randrange(4 * ROWS)} ]\n,\u20ac"
        taught = lesson(rng, n)
        ledger.teach(id, taught)
        twin.pop(id, None)
        twin[id] = taught
        if len(twin) > 2 * ROWS:
            del twin[next(iter(twin))]
    again = Ledger(2 * ROWS, 10**9, kept(ledger.taught.packed()))
    for each in ledger, again:
        assert [(id, each.taught.get(id)) for id in each.taught] == list(twin.items())


def test_a_ledger_without_lessons_keeps_nothing():
    ledger = Ledger(10, 1000)
    assert kept(ledger.taught.packed()) == ""
    assert not len(Ledger(10, 1000, "").taught)


@pytest.mark.parametrize("label", LABELS)
def test_an_answer_waits_as_it_was_given(label):
    ledger, asked = Ledger(10, 1000), Asked("f0", b"\0\xff", label, 0.1, {"p": None, "ticket": ""})
    ledger.ask("a", asked)
    assert ledger.waiting("a") == asked
    assert ledger.waiting("b") is None
    ledger.teach("a", Taught("f0", "spam", 1.0, 1))
    assert ledger.waiting("a") is None
    assert ledger.asked_bytes == 0


def test_nothing_that_is_remembered_is_looked_through_for_garbage():
    ledger = Ledger(10, 10_000)
    ledger.ask("a", Asked("f0", b"", "spam", 0.5, {"p": 0.5}))
    ledger.teach("b", Taught("f0", "spam", 1.0, 1, Judged(1, "spam", 0.5)))
    rows = [*ledger.asked.values(), *ledger.taught.packed()]
    assert len(rows) == 2
    assert not any(map(gc.is_tracked, rows))


def test_a_forged_file_does_not_unpack_to_more_than_a_bound(monkeypatch):
    ledger = Ledger(100, 1000)
    for n in range(100):
        ledger.teach(str(n), Taught("f0", "spam", 1.0, n))
    packed = kept(ledger.taught.packed())
    assert len(Ledger(100, 1000, packed).taught) == 100
    monkeypatch.setattr(room, "KEPT_MOST", 1000)
    with pytest.raises(ValueError, match="take more than 1000 bytes"):
        Ledger(100, 1000, packed)
