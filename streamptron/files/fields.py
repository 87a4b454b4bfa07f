"""Events of several texts, or of texts and features: fields of JSON lines, columns of CSV.

River's own classes make events of them, and are saved like the steps of any pipeline:

    Tokenizer(fields=("req", "ua"))                                      texts alone
    Tokenizer(fields=("req", "ua")) + Discard("req", "ua") | learner     texts and features
"""

from __future__ import annotations

from typing import Any


def texts_of(reading: dict[str, Any]) -> tuple[str, ...]:
    """The fields that are texts, if there are several, or features besides; otherwise none."""
    texts = reading.get("text")
    if texts is None or (isinstance(texts, str) and "features" not in reading):
        return ()
    return (texts,) if isinstance(texts, str) else tuple(texts)


def with_features(tokenizer: Any) -> Any:
    """A transformer that makes an event of the texts, and of all other fields."""
    from streamptron.common.river import compose

    # a TransformerUnion's last part comes first in its events
    return compose.Discard(*tokenizer.fields) + tokenizer


def is_union(tokenizer: Any) -> bool:
    """Whether it is what `with_features` makes."""
    return type(tokenizer).__name__ == "TransformerUnion"


def takes_fields(tokenizer: Any) -> bool:
    """Whether it makes an event of fields, not of one text."""
    return is_union(tokenizer) or getattr(tokenizer, "fields", None) is not None


def event_of(tokenizer: Any, x: dict[str, Any]) -> dict[str, float]:
    """The event of a line's fields; an error if a token and a field make the same feature."""
    if not is_union(tokenizer):
        return tokenizer.transform_one(x)  # type: ignore[no-any-return]
    parts = [part.transform_one(x) for part in tokenizer.transformers.values()]
    event: dict[str, float] = tokenizer.transform_one(x)
    if len(event) < sum(map(len, parts)):
        twice = next(name for name in parts[0] if name in parts[1])
        raise ValueError(f"the feature {twice!r} is a token of a text, too; rename the field")
    return event
