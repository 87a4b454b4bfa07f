"""A second model that is asked and taught the same, but whose answers no client gets.

It has no log of its own: it learns the lessons of the answering model's log, and its file says up
to which one. That file is written before the log is cut, so that what it lacks after a crash is
still in the log.

Which of the two is better is decided by the lessons that only one of them answered rightly. If both
are equally good, each such lesson is the toss of a fair coin. Let n = a + b be their number, a
answered rightly by one model and b by the other. Then

    e = 2^n a! b! / (n + 1)!

is the mean over all bets on a share of heads: the capital of a gambler who began with 1, and whom a
fair coin cannot make rich. The probability that e ever reaches SURE is at most 1 / SURE, so we may
look at e after each lesson.

References
----------
J. Ville (1939), Étude critique de la notion de collectif, for the bound; A. Ramdas, P. Grünwald, V.
Vovk and G. Shafer (2023), Game-theoretic statistics and safe anytime-valid inference, Statistical
Science 38(4), for tests by betting.
"""

from __future__ import annotations

import base64
import math
import typing
from typing import Any, NamedTuple

from streamptron.common.process import say
from streamptron.keeping.lock import ModelLock
from streamptron.keeping.read import read
from streamptron.service.bad import OF_THE_LIBRARY, Bad
from streamptron.service.learning import goes_back, learn
from streamptron.service.ledger import Rows, of_a_server
from streamptron.service.served import Served
from streamptron.service.tally import Judged, Tally, is_wrong

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

    from streamptron.service.served import Event

KEY = "shadow"  # the key of our part in its file's metadata
SURE = 100
WRONG = (Bad, *OF_THE_LIBRARY, MemoryError)


class Pair(NamedTuple):
    """A lesson with the answers of both models.

    Attributes
    ----------
    label
        The label, as JSON; None: the lesson was taken back.
    n
        The number of the lesson.
    judged
        The shadow's answer.
    answered
        The answering model's answer.
    """

    label: Any
    n: int
    judged: Judged
    answered: Any

    @classmethod
    def of_row(cls, label: Any, n: int, judged: Any, answered: Any) -> Pair:
        """Make a pair from a row."""
        return cls(label, n, Judged(*judged), answered)


class Shadow:
    """The second model.

    Parameters
    ----------
    path
        Its file.
    most
        The number of lessons to remember by their ids.
    given
        Arguments for Served.
    """

    def __init__(self, path: str, most: int, **given: Any) -> None:
        self.path, self.most, self._given = path, most, given
        self.lock = ModelLock(path)
        self.skipped = 0  # lessons that did not fit this model
        self._said = False

    def open(self, kind: str, several: bool) -> None:
        """Take the lock and load the file; an error if its events or labels are of another kind."""
        self.lock.__enter__()
        try:
            contents = read(self.path)
            self.model = Served(contents, learns=True, **self._given)
            wanted = self.model.kind, self.model.several
            if wanted != (kind, several):
                what = "labels" if wanted[0] == kind else "events"
                raise ValueError(f"--shadow {self.path}: it takes other {what} than the model")
            with of_a_server(self.path, KEY):
                self._remember((contents.metadata or {}).get(KEY) or {})
        except BaseException:
            self.close()
            raise

    def _remember(self, ours: dict[str, Any]) -> None:
        """Restore what its file says about earlier lessons."""
        self.lineage, self.n = ours.get("of"), int(ours.get("n", 0))
        self.lacks = int(ours.get("lacks", 0))  # lessons that were no longer in the log
        self.only = list(ours.get("only", (0, 0)))  # right only by the answering model, by this
        self.tally = Tally(ours.get("tally"))
        self.known = Rows(Pair.of_row, ours.get("known", ""))

    def close(self) -> None:
        """Release the lock of the file."""
        self.lock.__exit__(None, None, None)

    def catch_up(self, log: Iterable[dict[str, Any]], lineage: str, n: int) -> None:
        """Learn what the log has and its file lacks, up to lesson `n`, the model's last one."""
        for lesson in log:
            if lesson["of"] == lineage and lesson["n"] > self.n:
                self.lacks += lesson["n"] - self.n - 1
                self.learn(lesson)
        self.lacks += max(0, n - self.n)
        self.n = n

    def follow(self, lineage: str, n: int) -> None:
        """Follow another model from now on."""
        self.lineage, self.n = lineage, n

    # --- Asked and taught

    def ask(self, said: dict[str, Any]) -> dict[str, Any]:
        """Its answer to an event, as for the log; {} if the event does not fit this model."""
        try:
            event = typing.cast("Event", self.model.event(said))
            ticket = bytes(self.model.learner.predict_ticket(event.seen))
            return {"ticket": base64.b64encode(ticket).decode(), **self._answer(event)}
        except WRONG:
            return {}

    def _answer(self, event: Event) -> dict[str, Any]:
        answer = self.model.answer(event.seen)
        return {"answered": self.model.name(answer.label), "p": answer.probability}

    def learn(self, lesson: dict[str, Any]) -> None:
        """Learn a lesson of the log, or skip it if it does not fit."""
        self.n = lesson["n"]
        mine, known = dict(lesson.get("shadow") or {}), self.known.get(lesson["id"])
        own = {name: lesson[name] for name in ("do", "id", "mark", "label", "weight")}
        if known is not None:
            own["back"] = goes_back(self.model, lesson["n"] - known.n)
        try:
            event = self.model.event(lesson)
            if event is None and "ticket" in mine:
                own["ticket"] = mine["ticket"]
            elif event is not None and "answered" not in mine and lesson["do"] == "learn":
                mine |= self._answer(event)
            learn(self.model, own, event)
        except WRONG as error:
            self.skipped += 1
            if not self._said:
                self._said = True
                say(f"streamptron: a lesson does not fit the shadow, and is left out: {error}")
            return
        self._count(lesson, mine, known)

    def _count(self, lesson: dict[str, Any], mine: dict[str, Any], known: Pair | None) -> None:
        label, n = lesson["label"], lesson["n"]
        if lesson["do"] == "learn":
            judged = self.tally.judge(mine.get("answered"), mine.get("p"), label)
            pair = Pair(label, n, judged, lesson["answered"])
        elif known is None:
            return
        else:
            self.tally.correct(known.judged, known.label, label)
            self._compare(known, -1)
            pair = known._replace(label=label, n=n)
        self._compare(pair, 1)
        self.known.put(lesson["id"], pair, self.most)

    def _compare(self, pair: Pair, by: int) -> None:
        """Count a lesson if only one of the two models answered it rightly."""
        mine = pair.judged.answered
        if pair.label is None or mine is None or pair.answered is None:
            return
        wrong = is_wrong(mine, pair.label)
        if is_wrong(pair.answered, pair.label) != wrong:
            self.only[not wrong] += by

    # --- Looked at

    def kept(self) -> dict[str, Any]:
        """The data for its file, without the lessons that are remembered."""
        return {
            "of": self.lineage,
            "n": self.n,
            "lacks": self.lacks,
            "only": list(self.only),
            "tally": self.tally.kept(),
        }

    def stats(self) -> dict[str, Any]:
        """Its statistics as JSON."""
        tally = self.tally.stats()
        names = ("lessons", "mistakes", "error", "error_lately", "lately", "log_loss", "curve")
        a, b = self.only
        return {
            "file": self.path,
            "class": type(self.model.learner).__name__,
            **{name: tally[name] for name in names},
            "only_answering_right": a,
            "only_shadow_right": b,
            "evidence": math.exp(min(700.0, log_evidence(a, b))),
            "sentence": sentence(a, b),
            "left_out": self.skipped,
            "lacks": self.lacks,
        }


def log_evidence(a: int, b: int) -> float:
    """The logarithm of e, for a and b lessons that only one of the models answered rightly.

    Examples
    --------
    >>> round(log_evidence(0, 0), 9), log_evidence(20, 2) > 4
    (0.0, True)
    """
    n = a + b
    return n * math.log(2) + math.lgamma(a + 1) + math.lgamma(b + 1) - math.lgamma(n + 2)


def sentence(a: int, b: int) -> str | None:
    """A sentence about a difference that is more than chance; None if there is none yet."""
    if log_evidence(a, b) < math.log(SURE):
        return None
    name = "The shadow" if b > a else "The answering model"
    return (
        f"{name} makes fewer mistakes: of {a + b:,} lessons that only one of the two answered "
        f"rightly, it did {max(a, b):,}. If they were equally good, the probability of ever seeing "
        f"this would be at most 1 in {SURE}."
    )
