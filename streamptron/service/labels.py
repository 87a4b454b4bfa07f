"""Labels from JSON to a learner's and back, and which of them may be learned."""

from __future__ import annotations

import contextlib
import math
import typing
from collections.abc import Hashable, Iterator
from typing import Any

from streamptron.common.names import short_repr
from streamptron.doors._core import BinaryModel
from streamptron.keeping.journal import check_label
from streamptron.keeping.known import TRUTHS, truth_names
from streamptron.keeping.known import Labels as Allowed
from streamptron.service.bad import Bad, refused


class Labels:
    """The labels of a model.

    Parameters
    ----------
    learner
        The learner that has them.
    lines
        How the command line writes them, if it made the model.
    is_filter
        Whether the model reads mails, where a third label is usually a typing error.
    most
        The largest number of labels.
    new, known
        Whether all labels may be learned, or only those that the model has.
    """

    def __init__(
        self,
        learner: Any,
        lines: dict[str, Any] | None,
        *,
        is_filter: bool,
        most: int,
        new: bool = False,
        known: bool = False,
    ) -> None:
        self._learner, self._lines, self._most = learner, lines, most
        self._binary = isinstance(learner, BinaryModel)
        self._several: bool = learner._can("set")
        self._names = self._binary_names()
        self._allowed = self._allowed_labels(is_filter and not self._several, new, known)

    def _binary_names(self) -> tuple[str, str] | None:
        """How a model of the command line writes False and True."""
        lines = self._lines
        if lines is None or not self._binary:
            return None
        return truth_names(lines["positive"], lines["names"])

    def _allowed_labels(self, is_filter: bool, new: bool, known: bool) -> Allowed | None:
        """Which labels may be learned; a filter of mails accepts no third one by accident."""
        if self._binary:
            return None
        names = [str(label) for label in self._learner.labels]
        asked = known or ((self._lines or {}).get("labels") or {}).get("known", False)
        if known and not names:
            raise ValueError("--known-labels: the model knows no label yet; leave it out")
        if new or not ((asked and names) or is_filter):
            return None
        return Allowed(names, 0 if asked else 2)

    def label(self, value: Any) -> Hashable:
        """A label from JSON as the learner takes it; a tuple if there are several labels."""
        if self._several:
            if not isinstance(value, list):
                raise Bad(400, "labels must be a list of labels", "labels", value)
            return tuple(self._one_label(each) for each in value)
        return self._one_label(value)

    def _one_label(self, value: Any) -> Hashable:
        if value is None or isinstance(value, list | dict):
            raise Bad(400, f"label={short_repr(value)}: give a text or a number", "label", value)
        if isinstance(value, float) and not math.isfinite(value):
            raise Bad(
                400,
                f"label={short_repr(value)}: the number is too large for a label",
                "label",
                value,
            )
        if self._binary:
            return self._truth(value)
        if self._lines is not None and not isinstance(value, str):
            value = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, str) and ("\n" in value or "\r" in value):
            raise Bad(400, f"the label {short_repr(value)} has a line end", "label", value)
        if self._allowed is not None:
            with refused("label", value):
                self._allowed.check(str(value))
        known = self._learner.labels
        if len(known) >= self._most and value not in known:
            raise Bad(
                400,
                f"the label {short_repr(value)} is one more than --max-labels {self._most} allows",
                "label",
                value,
            )
        return typing.cast("Hashable", value)

    def _truth(self, value: Any) -> bool:
        if self._names is None:
            if isinstance(value, bool):
                return value
            raise Bad(400, f"label={short_repr(value)}: give true or false", "label", value)
        if value in self._names:
            return bool(self._names.index(value))
        truth = TRUTHS.get(str(value).lower()) if self._names == ("0", "1") else None
        if truth is None:
            known = " or ".join(map(short_repr, self._names))
            raise Bad(400, f"label={short_repr(value)}: give {known}", "label", value)
        return truth

    def name(self, label: Any) -> Any:
        """A label of the learner as JSON."""
        if isinstance(label, tuple) and self._several:
            return [self.name(each) for each in label]
        if self._names is not None and isinstance(label, bool):
            return self._names[label]
        if isinstance(label, float) and not math.isfinite(label):
            return str(label)  # JSON has no such numbers
        return label if label is None or isinstance(label, str | bool | int | float) else str(label)

    @contextlib.contextmanager
    def all_allowed(self) -> Iterator[None]:
        """Allow all labels in the block: for lessons that were allowed when they came."""
        allowed, self._allowed = self._allowed, None
        try:
            yield
        finally:
            self._allowed = allowed

    @property
    def known(self) -> list[Any]:
        """The labels as the learner has them."""
        return list(self._learner._known_labels)

    @property
    def names(self) -> list[Any]:
        """The labels as JSON."""
        return [self.name(label) for label in self.known]

    def check(self, label: Any, weight: float) -> None:
        """Raise an error if learning this label would fail."""
        with refused("label", self.name(label)):
            check_label(self._learner, label, weight)
