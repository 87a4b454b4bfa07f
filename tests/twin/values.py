"""What an event's texts and gaps stand for, the obvious way."""


def numbers(x):
    """[(feature, number)] of an event: a text is a category, nothing and an empty text are gaps."""
    entries = []
    for name, value in x.items():
        if value is None or (isinstance(value, str) and value == ""):
            continue
        entries.append((f"{name}={value}", 1.0) if isinstance(value, str) else (name, value))
    return entries
