VOTED: tuple[str, ...]
