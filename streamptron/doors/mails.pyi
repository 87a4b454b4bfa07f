from typing import Any

from typing_extensions import disjoint_base

from streamptron.doors.texts import TextDoor

TEXT_MOST: int

@disjoint_base
class MailDoor(TextDoor):
    headers: Any
    text: Any
    bytes: Any
    fold: Any
    def _configure(  # type: ignore[override]
        self, headers: bool, text: bool, bytes: int, fold: bool
    ) -> None: ...
