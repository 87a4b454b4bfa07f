"""A service's statistics: errors, calibration, labels, confusions, and words that moved."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

LABELS = 100  # labels that are counted by name; all others count as "other"
POINTS = 240  # points of the curve; when there are more, they are merged in pairs
LATELY = 500  # lessons
PAIRS = 500  # confusions
MISTAKES = 50
WORDS = 400  # words in ten minutes; if there are more, those that moved most
SPANS = 6  # spans of ten minutes
SPAN = 600.0  # seconds
BUCKETS = 10
OTHER = "other"
LEAST = 1e-6  # the least probability in the log-loss, so that one lesson cannot dominate it


class Counted:
    """The counts of one label."""

    __slots__ = ("answered", "asked", "learned", "right")

    def __init__(self, learned: int = 0, answered: int = 0, right: int = 0, asked: int = 0) -> None:
        self.learned, self.answered, self.right, self.asked = learned, answered, right, asked


class Judged(NamedTuple):
    """How a lesson was counted, so that it can be counted again when its label is corrected.

    Attributes
    ----------
    number
        The number of the lesson in the curve.
    answered, probability
        The answer before the lesson.
    """

    number: int
    answered: Any
    probability: float | None


class Curve:
    """Mistakes over lessons, as a bounded number of points."""

    def __init__(self, width: int = 1, points: Iterable[int] = (), last: tuple[int, int] = (0, 0)):
        self.width = width  # lessons per point
        self.points = list(points)  # mistakes of each point
        self.n, self.wrong = last  # lessons and mistakes of the point that is not full yet

    def add(self, wrong: bool) -> None:
        self.n += 1
        self.wrong += wrong
        if self.n == self.width:
            self.points.append(self.wrong)
            self.n = self.wrong = 0
        self._shorten()

    @property
    def lessons(self) -> int:
        """The number of lessons so far."""
        return self.width * len(self.points) + self.n

    def move(self, number: int, by: int) -> None:
        """Change the count of mistakes for a lesson that was counted differently."""
        at = (number - 1) // self.width
        if at < len(self.points):
            self.points[at] += by
        else:
            self.wrong += by

    def _shorten(self) -> None:
        if len(self.points) >= POINTS:
            pairs = zip(self.points[::2], self.points[1::2], strict=True)
            self.points = [sum(pair) for pair in pairs]
            self.width *= 2


def is_wrong(answered: Any, label: Any) -> bool:
    """Whether an answer was not the label, or not exactly these labels."""
    if isinstance(label, list):
        return set(answered or ()) != set(label)
    return bool(answered != label)


class Tally:
    """Statistics of one model, of bounded size, whatever is asked and taught.

    Every lesson is answered before it is learned, so the errors are those of a model that has not
    seen the event.
    """

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        kept = kept or {}
        self.asked: int = 0
        self.lessons: int = kept.get("lessons", 0)  # lessons that were judged
        self.mistakes: int = kept.get("mistakes", 0)
        self.corrected: int = kept.get("corrected", 0)
        self.undone: int = kept.get("undone", 0)
        self.log_loss: float = kept.get("log_loss", 0.0)
        buckets = kept.get("calibration") or [[0, 0, 0.0] for _ in range(BUCKETS)]
        self.calibration = [list(bucket) for bucket in buckets]  # answers, right ones, sum of p
        self.labels = {label: Counted(*rest) for label, *rest in kept.get("labels", [])}
        self.confusions = {(a, b): n for a, b, n in kept.get("confusions", [])}
        self.curve = Curve(*kept.get("curve", ()))
        self.lately: dict[int, bool] = {n: bool(wrong) for n, wrong in kept.get("lately", ())}
        self.wrong_lately = sum(self.lately.values())
        self.wrong: deque[dict[str, Any]] = deque(maxlen=MISTAKES)
        self._moved: deque[tuple[int, dict[tuple[str, str], float]]] = deque(maxlen=SPANS)
        self.started = time.time()

    @property
    def error_lately(self) -> float:
        """The share of mistakes among the last lessons; 0 before the first."""
        return self.wrong_lately / len(self.lately) if self.lately else 0.0

    def kept(self) -> dict[str, Any]:
        """The statistics for a model's file."""
        return {
            "lessons": self.lessons,
            "mistakes": self.mistakes,
            "corrected": self.corrected,
            "undone": self.undone,
            "log_loss": self.log_loss,
            "calibration": [list(bucket) for bucket in self.calibration],
            "labels": [[k, c.learned, c.answered, c.right] for k, c in self.labels.items()],
            "confusions": [[a, b, n] for (a, b), n in self.confusions.items()],
            "curve": [
                self.curve.width,
                list(self.curve.points),
                [self.curve.n, self.curve.wrong],
            ],
            "lately": [[number, int(wrong)] for number, wrong in self.lately.items()],
        }

    def counted(self, label: Any) -> Counted:
        """The counts of a label, by its name."""
        name = str(label)
        found = self.labels.get(name)
        if found is None:
            if len(self.labels) >= LABELS:
                name = OTHER
            found = self.labels.setdefault(name, Counted())
        return found

    def ask(self, label: Any, n: int = 1) -> None:
        """Count answers."""
        self.asked += n
        if label is not None and n:
            for each in label if isinstance(label, list) else (label,):
                self.counted(each).asked += n

    def judge(self, answered: Any, probability: float | None, label: Any) -> Judged:
        """Count a lesson by the answer before it."""
        if answered is None:  # a model without labels cannot answer: not a mistake
            judged = Judged(0, None, None)
            self._count(judged, label, 1)
            return judged
        wrong = is_wrong(answered, label)
        self.curve.add(wrong)
        judged = Judged(self.curve.lessons, answered, probability)
        self._count(judged, label, 1)
        self.lately[judged.number] = wrong
        self.wrong_lately += wrong
        if len(self.lately) > LATELY:
            self.wrong_lately -= self.lately.pop(next(iter(self.lately)))
        return judged

    def correct(self, judged: Judged | None, before: Any, label: Any) -> None:
        """Count a lesson by its right label; None: it was taken back, and no longer counts."""
        if judged is None:  # a command learned it
            return
        self._count(judged, before, -1)
        if label is not None:
            self._count(judged, label, 1)
        if judged.answered is None:
            return
        was = is_wrong(judged.answered, before)
        wrong = label is not None and is_wrong(judged.answered, label)
        self.curve.move(judged.number, wrong - was)
        if judged.number in self.lately:
            self.wrong_lately += wrong - was
            self.lately[judged.number] = wrong
            if label is None:
                del self.lately[judged.number]

    def _count(self, judged: Judged, label: Any, by: int) -> None:
        """Count a lesson (`by` is 1), or no longer count it (-1)."""
        answered, probability = judged.answered, judged.probability
        several = isinstance(label, list)
        for each in label if several else (label,):
            self.counted(each).learned += by
        if answered is None:
            return
        wrong = is_wrong(answered, label)
        right = not wrong
        self.lessons += by
        self.mistakes += wrong * by
        for each in answered if several else (answered,):
            counted = self.counted(each)
            counted.answered += by
            counted.right += by * (each in label if several else right)
        if probability is not None:
            bucket = self.calibration[min(BUCKETS - 1, int(probability * BUCKETS))]
            bucket[0] += by
            bucket[1] += right * by
            bucket[2] += probability * by
            # of the answer only: how good its own probability was
            p = probability if right else 1.0 - probability
            self.log_loss -= by * math.log(max(LEAST, p))
        if wrong and not several:
            self._confuse(str(label), str(answered), by)

    def _confuse(self, label: str, answered: str, by: int) -> None:
        n = self.confusions.get((label, answered), 0) + by
        if n <= 0:  # or it was dropped since
            self.confusions.pop((label, answered), None)
            return
        if len(self.confusions) >= PAIRS and (label, answered) not in self.confusions:
            least = min(self.confusions, key=lambda pair: self.confusions[pair])
            del self.confusions[least]
        self.confusions[label, answered] = n

    def amend(self, id: str, label: Any) -> None:
        """Change the label of a lesson among the last mistakes; None: it was taken back."""
        for each in list(self.wrong):
            if each["id"] == id:
                each["label"] = label
                if label is None or not is_wrong(each["answered"], label):
                    self.wrong.remove(each)

    def move(self, label: Any, before: dict[str, float], after: dict[str, float]) -> None:
        """Note how far a lesson has moved the words' contributions to its label."""
        span = int(time.time() // SPAN)
        if not self._moved or self._moved[-1][0] != span:
            self._moved.append((span, {}))
        words = self._moved[-1][1]
        for name in after:
            by = after[name] - before.get(name, 0.0)
            key = (name, str(label))
            if by:
                words[key] = words.get(key, 0.0) + by
        if len(words) > WORDS:
            rising = sorted(words, key=lambda key: abs(words[key]))
            for key in rising[: -(WORDS // 2)]:
                del words[key]

    def moved(self, n: int = 12) -> list[dict[str, Any]]:
        """The words that moved most in the last hour."""
        now, total = int(time.time() // SPAN), {}  # type: int, dict[tuple[str, str], float]
        for span, words in self._moved:
            if span > now - SPANS:
                for key, by in words.items():
                    total[key] = total.get(key, 0.0) + by
        most = sorted(total, key=lambda key: -abs(total[key]))[:n]
        return [{"word": word, "label": label, "by": total[word, label]} for word, label in most]

    def stats(self) -> dict[str, Any]:
        """All statistics, as JSON."""
        n, lately = self.lessons, len(self.lately)
        labels = sorted(self.labels.items(), key=lambda item: -item[1].learned - item[1].asked)
        pairs = sorted(self.confusions.items(), key=lambda item: -item[1])[:12]
        curve = self.curve
        return {
            "asked": self.asked,
            "lessons": n,
            "mistakes": self.mistakes,
            "corrected": self.corrected,
            "undone": self.undone,
            "error": self.mistakes / n if n else None,
            "error_lately": self.wrong_lately / lately if lately else None,
            "lately": lately,
            "log_loss": self.log_loss / n if n else None,
            "curve": {
                "width": curve.width,
                "mistakes": [*curve.points, *([curve.wrong] if curve.n else [])],
                "last": curve.n or curve.width,
            },
            "calibration": [
                {"answers": a, "right": right / a, "probability": p / a} if a else None
                for a, right, p in self.calibration
            ],
            "labels": [
                {
                    "label": label,
                    "asked": c.asked,
                    "learned": c.learned,
                    "precision": c.right / c.answered if c.answered else None,
                    "recall": c.right / c.learned if c.learned else None,
                }
                for label, c in labels
            ],
            "confusions": [{"label": a, "answered": b, "n": k} for (a, b), k in pairs],
            "moved": self.moved(),
            "wrong": list(self.wrong)[::-1],
            "since": self.started,
        }
