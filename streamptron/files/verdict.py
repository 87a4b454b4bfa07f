"""The verdict on a mail: its label, how sure that is, and the words that counted most."""

from __future__ import annotations

from typing import Any, NamedTuple

from streamptron.common.header import HAM, SPAM, UNSURE
from streamptron.files.lines import LineModel

WORDS = 5  # in the header, those that counted most
WORD_MOST = 40  # characters per word


class Verdict(NamedTuple):
    """The verdict on a mail.

    Attributes
    ----------
    said
        The label, or `unsure`.
    label
        The model's answer; None: it knows no label yet.
    probability
        The probability of the label; None: the model knows no label yet.
    words
        The words that counted most.
    code
        SPAM, HAM or UNSURE.
    score, threshold
        The probability of spam, and the probability from which a mail is spam, in percent.
    """

    said: str
    label: str | None
    probability: float | None
    words: list[str]
    code: int
    score: str
    threshold: str

    @property
    def is_spam(self) -> bool:
        return self.code == SPAM

    @property
    def field(self) -> str:
        """The text of the field in the mail's header."""
        words = f" ({', '.join(self.words)})" if self.words else ""
        number = "" if self.probability is None else f" {self.probability:.4f}"
        return f"{self.said}{number}{words}"


def check_positive(model: LineModel, positive: str) -> None:
    """Check that the model has the label for spam. If it has one label, it may still learn it."""
    if len(model.names) > 1 and positive not in model.names:
        raise ValueError(f"--positive {positive} is not a label of the model: {model.names}")


def judged(
    model: LineModel, mail: bytes, positive: str, least: float, explain: bool = True
) -> Verdict:
    """A model's verdict on a mail; with words only if `explain`."""
    event = model.event(mail)
    label, probability = model.answer(event)
    threshold = max(0.5, least)
    if label is None or probability is None:
        return Verdict("unsure", None, None, [], UNSURE, "0.00", f"{100 * threshold:.2f}")
    check_positive(model, positive)
    unsure = probability < least
    score = probability if label == positive else 1 - probability
    if getattr(model.learner, "false_positive_rate", None):
        # the answer does not depend on the probability alone, but must agree with the score
        threshold = min(threshold, score) if label == positive else max(threshold, score)
    return Verdict(
        "unsure" if unsure else label,
        label,
        probability,
        _spoke_most(model, event) if explain else [],
        UNSURE if unsure else SPAM if label == positive else HAM,
        f"{100 * score:.2f}",
        f"{100 * threshold:.2f}",
    )


def _spoke_most(model: LineModel, event: Any) -> list[str]:
    """The words that contributed most to the answer, as a header can hold them."""
    from streamptron.common.tokens import described

    learner = model.learner
    if learner.hash_bits is not None:  # it has no names
        return []
    parts, _, _ = learner._explanation(event, learner.predict_one(event))
    parts = [(name, part) for name, part in parts if isinstance(name, str) and part > 0]
    parts.sort(key=lambda item: -item[1])
    words = [described(name).encode("ascii", "backslashreplace") for name, _ in parts[:WORDS]]
    return [word[:WORD_MOST].decode() for word in words]
