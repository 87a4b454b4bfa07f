SETS: tuple[str, ...]
VOTED: tuple[str, ...]

def parts_check(beginning: bytes, size: int) -> tuple[str, bool] | None: ...
def header_read(
    beginning: bytes, size: int
) -> tuple[dict[str, tuple[tuple[int, ...], int, int]], int] | tuple[str, bool]: ...
