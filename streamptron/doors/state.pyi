SETS: tuple[str, ...]
VOTED: tuple[str, ...]

def header_read(
    beginning: bytes, size: int
) -> tuple[dict[str, tuple[tuple[int, ...], int, int]], int] | tuple[str, bool]: ...
