"""What is refused: a status, and one sentence that names the field and says what to do."""

from __future__ import annotations

import contextlib
import math
import typing
from typing import Any

from streamptron.common.names import shown

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

# What the library raises at what it is given.
OF_THE_LIBRARY = (TypeError, ValueError, KeyError, OverflowError, LookupError)


class Bad(Exception):
    """A request that is refused.

    Parameters
    ----------
    status
        Of the answer.
    message
        A sentence.
    field, value
        What is wrong, if it is one field.
    """

    def __init__(
        self, status: int, message: str, field: str | None = None, value: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.field, self.value = status, message, field, value

    def said(self) -> dict[str, Any]:
        """As JSON."""
        value = self.value
        is_json = value is None or isinstance(value, int)
        if not is_json and not (isinstance(value, float) and math.isfinite(value)):
            value = shown(value) if not isinstance(value, str) else value[:100]
        return {"error": {"field": self.field, "value": value, "message": self.message}}


@contextlib.contextmanager
def refused(field: str | None = None, value: Any = None) -> Iterator[None]:
    """Let an error of the library be one of the request."""
    try:
        yield
    except OF_THE_LIBRARY as error:
        message = error.args[0] if isinstance(error, KeyError) and error.args else str(error)
        raise Bad(400, str(message), field, value) from None
    except MemoryError as error:
        raise Bad(507, str(error) or "there is no memory for that", field) from None
