"""Which mails were learned, so that those learned by commands are not learned again by a server.

A mail is recognised by its identity (files/mail.py), not by a client's id: whether it was taught by
`streamptron learn`, spamc or HTTP, it is the same lesson, and each of them can correct it.
"""

from __future__ import annotations

import typing
from typing import Any

from streamptron.keeping.known import Known
from streamptron.service.ledger import Taught

if typing.TYPE_CHECKING:
    from streamptron.service.ledger import Ledger
    from streamptron.service.served import Served


class Mails:
    """The mails that a model of the command line has learned.

    Parameters
    ----------
    model
        The model that was loaded.
    ledger
        The lessons that the service has recorded; it is updated with what commands have changed
        since.
    n
        The number of the last lesson in the file.
    """

    def __init__(self, model: Served, ledger: Ledger, n: int) -> None:
        self._model = model
        self._lines: dict[str, Any] = model.contents.lines or {}
        self._known = Known((self._lines.get("mails") or {}).get("known", ""))
        for id in list(ledger.taught):
            taught = typing.cast("Taught", ledger.taught.get(id))
            key: Any = model.key(id, taught.mark)
            is_named = taught.label is not None and isinstance(key, tuple)
            if is_named and not self._known.has(key, str(taught.label)):
                ledger.taught.drop(id)
        for key, step in [] if model.journal is None else model.journal._steps.items():
            if isinstance(key, tuple):
                mark, label = "\0".join(key), model.name(step.label)
                id = typing.cast("str", model.own_id(mark))
                taught_so = ledger.taught.get(id)
                if taught_so is None or taught_so.label != label:
                    ledger.teach(id, Taught(mark, label, step.w, n))

    def has(self, id: str, mark: str, label: Any) -> bool:
        """Whether a mail was learned with this label, and with no other label since."""
        key = self._model.key(id, mark)
        return isinstance(key, tuple) and self._known.has(key, str(label))

    def count(self, lesson: dict[str, Any]) -> None:
        """Record a mail from its lesson."""
        key = self._model.key(lesson["id"], lesson["mark"])
        if isinstance(key, tuple):
            names = [str(name) for name in self._model.labels.names]
            if lesson["label"] is None:
                self._known.discard(key, names)
            else:
                self._known.add(key, str(lesson["label"]), names)

    def lines(self) -> dict[str, Any]:
        """The command line's part of the model's file."""
        return {**self._lines, "mails": {"known": self._known.kept()}}
