"""Learning single mails: each once, corrected if its label changes, and taken back."""

from __future__ import annotations

from typing import Any

from streamptron.doors.texts import MailDoor
from streamptron.files.lines import LineModel
from streamptron.files.mail import identity
from streamptron.keeping.journal import Journal, journal_of
from streamptron.learners.learn_unsure import is_unsure

MOST = 500  # mails in a journal; each takes about 100 kB


def journal_in(model: LineModel) -> Any:
    """The journal of a model of mails, which is saved with it."""
    if not isinstance(model.tokenizer, MailDoor):
        raise ValueError("the model does not learn from mails; train one with --format mail")
    if model.journal is None:
        pipeline = model.tokenizer | model.learner
        kept = model.kept[2]
        model.journal = Journal(pipeline, MOST) if kept is None else journal_of(pipeline, kept)
    return model.journal


def teach(model: LineModel, mail: bytes, name: str) -> str:
    """Learn a mail with a label. Returns "learned", "corrected", "known" or "sure".

    "corrected": the mail was learned with another label, which was taken back if the journal still
    has it. "known": it was learned with this label before. "sure": `learn_unsure` leaves it out. A
    different mail with the same Message-ID is learned as a mail of its own.
    """
    journal, label, id = journal_in(model), model.label(name), identity(mail)
    name = model.name(label)
    if id in journal:
        if journal.label_of(id) == label:
            return "known"
        journal.correct(id, label)
        model.learned.add(id, name, model.names)
        return "corrected"
    if model.learned.has(id, name):
        return "known"
    margin = model.learn_unsure
    if margin is not None and not is_unsure(model.learner, model.event(mail), label, margin):
        return "sure"
    journal.learn_one(id, mail, label)
    model.learned.add(id, name, model.names)
    return "learned"


def unteach(model: LineModel, id: Any) -> bool:
    """Take back what a mail has taught; returns False if the journal does not have it."""
    journal = journal_in(model)
    if id not in journal:
        return False
    journal.undo(id)
    if isinstance(id, tuple):
        model.learned.discard(id, model.names)
    return True


def ids_of(model: LineModel, message_id: str) -> list[Any]:
    """The ids in the journal with this Message-ID: the Message-ID alone, or an `identity`."""
    ids = list(journal_in(model))
    return [id for id in ids if message_id == (id[0] if isinstance(id, tuple) else id)]
