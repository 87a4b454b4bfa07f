"""How a lesson is learned: in the same way now and when the log is read again."""

from __future__ import annotations

import typing
from typing import Any

from streamptron.common.names import short_repr
from streamptron.learners.learn_unsure import is_unsure
from streamptron.service.lessons import ticket_of

if typing.TYPE_CHECKING:
    from streamptron.service.served import Event, Served

LATE = 10  # lessons; perceptrons do not take back what is corrected later, see late-labels.md


def learn(model: Served, lesson: dict[str, Any], event: Event | None) -> None:
    """Learn, correct or take back a lesson of the log; an error if it does not fit the model."""
    journal, key = model.journal, model.key(lesson["id"], lesson["mark"])
    there = journal is not None and key in journal
    if lesson["do"] == "undo":
        if not there:
            raise ValueError(f"there is no lesson {short_repr(lesson['id'])} to take back")
        journal.undo(key)
        return
    with model.labels.all_allowed():  # the label was allowed when the lesson came
        label = model.labels.label(lesson["label"])
    weight = lesson["weight"]
    if there:
        journal.correct(key, label, weight, undo=lesson.get("back", True))
    elif (ticket := ticket_of(lesson)) is not None:
        if journal is not None:
            journal.learn_ticket(key, ticket, label, weight)
        else:
            model.learner.learn_ticket(ticket, label, weight)
    elif event is None:
        raise ValueError("the lesson has no event")
    elif journal is not None:
        journal.learn_one(key, event.x, label, weight)
    else:
        if model.teaches:
            model.before.learn_one(event.x)
        model.learner.learn_one(event.seen, label, weight)


def goes_back(model: Served, n: int) -> bool:
    """Whether a correction that comes n lessons later takes back what was learned."""
    return n <= LATE or model.several or hasattr(model.learner, "forget")


def is_sure(model: Served, seen: Any, label: Any, margin: float | None) -> bool:
    """Whether an event is left out because the answer is sure; `margin` None: never."""
    return margin is not None and not is_unsure(model.learner, seen, label, margin)
