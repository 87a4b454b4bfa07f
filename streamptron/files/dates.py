"""A date or time as categories. Time stamps themselves would be useless: each occurs once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from streamptron.common.cells import category
from streamptron.common.names import short_repr
from streamptron.files.tokens import BadLine

WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def date_features(column: str, cell: str) -> Iterator[str]:
    """The features of a date: its month and weekday, and the hour if it has a time of day.

    The hour is taken as written, whatever the time zone.

    Examples
    --------
    >>> list(date_features("when", "2026-01-31T09:30:00Z"))
    ['when.month=Jan', 'when.weekday=Sat', 'when.hour=9']
    """
    cell = cell.strip()
    try:
        time = datetime.fromisoformat(cell)
    except ValueError:
        raise BadLine(
            f"{column}: the cell {short_repr(cell)} is not a date; write it as 2026-01-31, or as "
            "2026-01-31 09:30:00"
        ) from None
    yield category(f"{column}.month", MONTHS[time.month - 1])
    yield category(f"{column}.weekday", WEEKDAYS[time.weekday()])
    if len(cell) > 10:  # a date alone is shorter
        yield category(f"{column}.hour", str(time.hour))
