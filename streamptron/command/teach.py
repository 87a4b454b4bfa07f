"""What single mails teach a model, by their ids: learned once, corrected, taken back."""

from __future__ import annotations

import typing
from typing import Any

from streamptron.doors.texts import MailDoor
from streamptron.journal import Journal, journal_of
from streamptron.thick import is_unsure

if typing.TYPE_CHECKING:
    from streamptron.command.lines import LineModel

MOST = 500  # mails that a journal remembers, each about 100 kB


def journal_in(model: LineModel) -> Any:
    """The journal of a model of mails, which is saved with it."""
    if not isinstance(model.tokenizer, MailDoor):
        raise ValueError("the model learns no mails; train one with --format mail")
    if model.journal is None:
        pipeline = model.tokenizer | model.learner
        kept = model.kept[2]
        model.journal = Journal(pipeline, MOST) if kept is None else journal_of(pipeline, kept)
    return model.journal


def teach(model: LineModel, id: str, mail: bytes, name: str) -> str:
    """Learn a mail by the name of its label: "learned", "corrected", "known" or "sure".

    A mail that was learned with another label is learned anew. One that was learned with this label
    is left as it is, and so is one that thick training leaves out.
    """
    journal, label = journal_in(model), model.label(name)
    if id in journal:
        if journal.label_of(id) == label:
            return "known"
        journal.correct(id, label)
        return "corrected"
    event = model.event(mail)
    if model.learn_unsure is not None and not is_unsure(
        model.learner, event, label, model.learn_unsure
    ):
        return "sure"
    journal.learn_one(id, mail, label)
    return "learned"
