from streamptron.doors.desk import Desk
from streamptron.doors.texts import Texts

UNSORTED: int
NEW_LABELS: int

def write_ahead(desk: Desk, X: Texts) -> None: ...
