"""Refusals: a status, and one sentence that names the field and says what to do."""

from __future__ import annotations

import math
from typing import Any

from streamptron.common.names import short_repr

# What the library raises if its input is invalid.
OF_THE_LIBRARY = (TypeError, ValueError, KeyError, OverflowError, LookupError)


class Bad(Exception):
    """The refusal of a request.

    Parameters
    ----------
    status
        The HTTP status of the answer.
    message
        A sentence that says what is wrong, and what to do.
    field, value
        The field that is wrong, and its value, if it is one field.
    """

    def __init__(
        self, status: int, message: str, field: str | None = None, value: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.field, self.value = status, message, field, value

    def said(self) -> dict[str, Any]:
        """The refusal as JSON."""
        value = self.value
        is_json = value is None or isinstance(value, int)
        if not is_json and not (isinstance(value, float) and math.isfinite(value)):
            value = short_repr(value) if not isinstance(value, str) else value[:100]
        return {"error": {"field": self.field, "value": value, "message": self.message}}


class refused:  # a class: a generator would take longer than an answer
    """Turn errors of the library into refusals of the request."""

    __slots__ = ("_field", "_value")

    def __init__(self, field: str | None = None, value: Any = None) -> None:
        self._field, self._value = field, value

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: Any
    ) -> None:
        if isinstance(error, OF_THE_LIBRARY):
            message = error.args[0] if isinstance(error, KeyError) and error.args else str(error)
            raise Bad(400, str(message), self._field, self._value) from None
        if isinstance(error, MemoryError):
            message = str(error) or "there is no memory for that"
            raise Bad(507, message, self._field) from None
