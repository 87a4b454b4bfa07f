"""What a state has counted: the engine's texts as numbers, and back."""

import json


def counts_of(text):
    """The numbers of a text, in nested tuples."""
    return _numbers(json.loads(text))


def _numbers(part):
    if isinstance(part, list):
        return tuple(map(_numbers, part))
    return float.fromhex(part) if isinstance(part, str) else part


def counts_text(numbers):
    """The text of such numbers."""
    return json.dumps(_texts(numbers))


def _texts(part):
    if isinstance(part, tuple | list):
        return list(map(_texts, part))
    return part.hex() if isinstance(part, float) else part
