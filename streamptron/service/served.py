"""A model as a client sees it: events and labels from JSON in, answers out."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import typing
from array import array
from hashlib import blake2b
from typing import Any, NamedTuple

from streamptron.common.names import short_repr
from streamptron.doors.ranking import RankModel
from streamptron.doors.steps import can_undo
from streamptron.doors.texts import MailDoor, TextDoor
from streamptron.files.fields import event_of, is_union, texts_of
from streamptron.keeping.journal import Journal, journal_of
from streamptron.keeping.read import model_of, read
from streamptron.service.bad import Bad, refused
from streamptron.service.labels import Labels

if typing.TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from streamptron.keeping.layout import Contents

KINDS = ("text", "fields", "x", "mail")  # of events
INTERCEPT = "(intercept)"
FEW = 100  # labels; with more, an answer does not compute all probabilities
JOURNAL = 10_000  # lessons that can be taken back
JOURNAL_OF_MAILS = 500  # each about 100 kB


def is_of_mails(path: str) -> bool:
    """Whether a model reads mails, which may come with large attachments."""
    with contextlib.suppress(OSError, ValueError):
        return isinstance(read(path, mmap=True).tokenizer, MailDoor)
    return False


class Bounds(NamedTuple):
    """The largest number of names in an event, and of labels in the model."""

    features: int = 100_000
    labels: int = 1000


class Event(NamedTuple):
    """An event of a request.

    Attributes
    ----------
    said
        The event as a line of the log has it, ``{"text": ...}``.
    x
        The event as the model takes it.
    seen
        The event as the learner takes it.
    mark
        A text by which the event is recognised.
    """

    said: dict[str, Any]
    x: Any
    seen: Any
    mark: str


class Answer(NamedTuple):
    """An answer: a label or labels, as the learner has them, and probabilities."""

    label: Any
    probability: float | None
    probabilities: dict[Any, float]


class Served:
    """A model that is served.

    Parameters
    ----------
    contents
        The contents of its file.
    learns
        Whether it may be taught.
    journal
        How many lessons can be taken back; None: JOURNAL, or JOURNAL_OF_MAILS.
    bounds
        The limits of events and labels.
    new_label, known_labels
        Which labels may be learned, as for `streamptron learn`.
    """

    def __init__(
        self,
        contents: Contents,
        *,
        learns: bool,
        journal: int | None,
        bounds: Bounds,
        new_label: bool = False,
        known_labels: bool = False,
    ) -> None:
        self.contents = contents
        self.learner: Any = contents.learner
        if contents.wrapper is not None:
            raise ValueError("it holds a classifier for scikit-learn; save its model_ instead")
        if isinstance(self.learner, RankModel):
            raise ValueError("it chooses among candidates, but a request has one event")
        self.pipeline = model_of(contents)
        self.before: Any = contents.tokenizer
        self.teaches = contents.steps is not None
        if contents.steps is not None:
            self.before = contents.steps.before[0]
            if len(contents.steps.before) > 1 or not is_union(self.before):
                from streamptron.common.river import compose

                self.before = compose.Pipeline(*list(self.pipeline.steps.items())[:-1])
        self.kind = self._kind()
        self.fields = self._named_fields()
        self.several: bool = self.learner._can("set")
        self.bounds = bounds
        self.journal: Any = None
        if learns and can_undo(self.learner):
            kept = contents.journal
            most = journal or (JOURNAL_OF_MAILS if self.kind == "mail" else JOURNAL)
            self.journal = (
                Journal(self.pipeline, most) if kept is None else journal_of(self.pipeline, kept)
            )
        self.labels = Labels(
            self.learner,
            contents.lines,
            is_filter=self.kind == "mail",
            most=bounds.labels,
            new=new_label,
            known=known_labels and learns,
        )
        self.name = self.labels.name

    def _kind(self) -> str:
        """Which of KINDS its events are."""
        if isinstance(self.before, MailDoor):
            return "mail"
        if is_union(self.before) or getattr(self.before, "fields", None) is not None:
            return "fields"
        return "text" if self.contents.tokenizer is not None else "x"

    def _named_fields(self) -> dict[str, str] | None:
        """Its fields, each a "text" or a "feature"; None if it has none, or they are unknown."""
        if self.kind != "fields":
            return None
        reading = (self.contents.lines or {}).get("reading", {})
        texts = texts_of(reading) or getattr(self.before, "fields", None)
        if texts is None or "types" in reading:  # dates, for example, become several features
            return None
        features = reading.get("features") or ()
        return dict.fromkeys(texts, "text") | dict.fromkeys(features, "feature")

    # --- Events

    @property
    def wanted(self) -> str:
        """How to give an event, for errors."""
        if self.kind == "mail":
            return "the raw bytes of a mail, as message/rfc822"
        return f'{{"{self.kind}": ...}}'

    def event(self, said: Mapping[str, Any]) -> Event | None:
        """The event of a request; None if it has none."""
        kinds = [kind for kind in KINDS if kind in said]
        if not kinds:
            return None
        if kinds != [self.kind]:
            wrong = next(kind for kind in kinds if kind != self.kind)
            raise Bad(400, f"the model takes {self.wanted}, not {wrong}", wrong)
        value = said[self.kind]
        made = getattr(self, f"_{self.kind}")
        with refused(self.kind):
            event: Event = made(value)
        return event

    def _text(self, value: Any) -> Event:
        if not isinstance(value, str):
            raise Bad(400, f"text={short_repr(value)}: give a string", "text", value)
        seen = self.before.transform_one(value)
        return Event({"text": value}, value, seen, _mark(value.encode(errors="surrogatepass")))

    def _mail(self, value: Any) -> Event:
        from streamptron.common.header import without_ours
        from streamptron.files.mail import identity

        if isinstance(value, str):
            try:
                value = base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                raise Bad(400, "mail is not base64; or send it as message/rfc822", "mail") from None
        if not isinstance(value, bytes):
            raise Bad(400, "mail: give its bytes in base64, or as message/rfc822", "mail", value)
        mail = without_ours(value)
        mark = "\0".join(identity(mail))
        said = {"mail": base64.b64encode(mail).decode()}
        return Event(said, mail, self.before.transform_one(mail), mark)

    def _fields(self, value: Any) -> Event:
        known = self.fields
        if known and isinstance(value, dict) and not value.keys() <= known.keys():
            value = {name: each for name, each in value.items() if name in known}
        return self._of_names("fields", value)

    def check_fields(self, said: Mapping[str, Any]) -> None:
        """Raise an error if a client gives a field that the model does not read."""
        value = said.get("fields")
        if self.fields and isinstance(value, dict) and not value.keys() <= self.fields.keys():
            name = next(each for each in value if each not in self.fields)
            known = ", ".join(map(short_repr, self.fields))
            raise Bad(
                400, f"the model reads no field {short_repr(name)}; give {known}", "fields", name
            )

    def _x(self, value: Any) -> Event:
        return self._of_names("x", value)

    def _of_names(self, kind: str, value: Any) -> Event:
        if not isinstance(value, dict):
            raise Bad(400, f"{kind}={short_repr(value)}: give an object", kind, value)
        if len(value) > self.bounds.features:
            raise Bad(
                413,
                f"{kind} has {len(value)} names, but --max-features-per-event is "
                f"{self.bounds.features}",
                kind,
            )
        seen = value
        if is_union(self.before):
            seen = event_of(self.before, value)
        elif self.before is not None:
            seen = self.before.transform_one(value)
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
        return Event({kind: value}, value, seen, _mark(text.encode()))

    def own_id(self, mark: str) -> str | None:
        """The id of an event that identifies itself, as a mail does; None for others."""
        if self.kind != "mail":
            return None
        return f"mail-{_mark(mark.encode(errors='surrogateescape'))}"

    def key(self, id: str, mark: str) -> Hashable:
        """The journal's id of an event: for a mail its identity, as in the commands."""
        return tuple(mark.rsplit("\0", 1)) if id == self.own_id(mark) else id

    # --- Answers

    def answer(self, seen: Any, top: int = 0) -> Answer:
        """The learner's answer to an event."""
        learner = self.learner
        label = learner.predict_one(seen)
        if label is None:
            return Answer(None, None, {})
        if self.several:
            found = {k: p[True] for k, p in learner.predict_proba_one(seen).items()}
            there = sorted((each for each in label if label[each]), key=lambda each: -found[each])
            return Answer(tuple(there), None, found)
        if len(learner._known_labels) <= FEW:
            found = learner.predict_proba_one(seen)
        else:
            found = learner.predict_proba_one(seen, top=max(top, 5))
            if label not in found:
                found = learner.predict_proba_one(seen)
        return Answer(label, found[label], found)

    def answers(self, rows: Any) -> tuple[list[Any], array[int], array[float]]:
        """Labels as JSON, and for each row the index of its label (or -1) and the probability.

        This uses the engine's door for batches.
        """
        n = len(rows)
        outputs, p = array("q", bytes(8 * n)), array("d", bytes(8 * n))
        done, labels = self.learner._predict_rows(rows, None, outputs, None, None, p)
        if done < n:
            raise MemoryError("there is no memory for the scores")
        return [self.name(label) for label in labels], outputs, p

    @property
    def reads_lines(self) -> bool:
        """Whether the engine reads its events from lines of JSON."""
        return self.kind == "text" and isinstance(self.before, TextDoor) and not self.several

    def likeliest(self, answer: Answer, n: int) -> list[dict[str, Any]]:
        """The answer, then the other labels by falling probability: n in all."""
        first = answer.label if not self.several else None
        order = sorted(answer.probabilities.items(), key=lambda item: -item[1])
        order.sort(key=lambda item: item[0] != first)
        return [{"label": self.name(k), "probability": p} for k, p in order[:n]]

    @property
    def explains(self) -> bool:
        """Whether it can explain answers by the names of features."""
        return self.learner.hash_bits is None and getattr(self.learner, "degree", 1) == 1

    def parts(self, seen: Any, label: Any, n: int | None = None) -> list[tuple[str, float]]:
        """What the features of an event contribute to a label, the largest first."""
        if self.several and label is None:
            return []
        found = self.learner.explain_one(seen, label)
        return [(self.feature(name), part) for name, part in found[:n]]

    def feature(self, name: Any) -> str:
        """A feature as a person reads it."""
        if name is None:
            return INTERCEPT
        if self.kind == "mail":
            from streamptron.common.tokens import described

            return described(name)
        return name if isinstance(name, str) else str(name)


def _mark(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
