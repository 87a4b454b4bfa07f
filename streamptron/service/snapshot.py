"""Everything for a model's file, at one moment, to be written in another thread."""

from __future__ import annotations

import json
import typing
from typing import Any

from streamptron.common.values import JsonText
from streamptron.keeping.journal import packed_steps
from streamptron.keeping.write import contents_of, write
from streamptron.service.ledger import kept

if typing.TYPE_CHECKING:
    from streamptron.service.ledger import Rows
    from streamptron.service.served import Served


class Snapshot:
    """A model and its service's data, as they are now.

    Parameters
    ----------
    model
        The model of the file.
    key, ours
        The key of our part of the metadata, and that part.
    known
        Lessons that are remembered by their ids, which are added to our part.
    lines
        The command line's part of the file.
    """

    def __init__(
        self, model: Served, key: str, ours: dict[str, Any], known: Rows[Any], lines: Any
    ) -> None:
        self._model = model
        self._state = model.learner._file_state()
        self._steps = None if model.journal is None else dict(model.journal._steps)
        self._key, self._ours, self._known = key, ours, known.packed()
        self._before = contents_of(model.pipeline).steps if model.teaches else None
        self._lines = lines

    def _file_state(self, learner: Any) -> tuple[Any, bytes | None]:
        """What `Journal._file_state` returns."""
        if self._steps is None:
            return self._state, None
        return self._state, packed_steps(self._model.journal.most, self._steps.items())

    def save(self, path: str) -> None:
        contents = self._model.contents
        others = dict(contents.metadata or {})
        others.pop(self._key, None)
        text = json.dumps({**others, self._key: self._ours}, allow_nan=False).removesuffix("}}")
        metadata = JsonText(f'{text}, "known": "{kept(self._known)}"}}}}')  # the encoder is slow
        before = self._before if self._before is not None else contents.steps
        parts = {"metadata": metadata, "journal": self, "steps": before, "lines": self._lines}
        write(path, contents._replace(**parts))
