"""Candidates as they are given: their ids and features, and which one is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from streamptron.common.names import is_numpy, short_repr, type_shown


def candidates_of(candidates: Any) -> tuple[list[Any], list[Any], bool]:
    """The ids of candidates, the features of each, and whether they have ids of their own."""
    if type(candidates) is dict:
        return list(candidates), list(candidates.values()), True
    if type(candidates) is list:
        return list(range(len(candidates))), candidates[:], False
    if isinstance(candidates, Mapping):
        items = list(candidates.items())
        names = [name for name, _ in items]
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise ValueError(f"candidates has the id {short_repr(twice)} twice; give each its own")
        return names, [x for _, x in items], True
    if isinstance(candidates, Sequence) and not isinstance(candidates, str | bytes | bytearray):
        return list(range(len(candidates))), list(candidates), False
    raise TypeError(
        f"candidates is {short_repr(candidates)}, {type_shown(candidates)}; it must be a dict "
        "{id: features} or a list of features"
    )


def place_of(chosen: Any, names: list[Any], own: bool) -> int:
    """The index of the chosen candidate."""
    if not own:
        if type(chosen) is int and 0 <= chosen < len(names):
            return chosen
        if isinstance(chosen, bool) or not (isinstance(chosen, int) or is_numpy(chosen, "integer")):
            raise TypeError(
                f"chosen={short_repr(chosen)}, {type_shown(chosen)}; for a list of candidates it "
                "must be the index of the right one, an int"
            )
        if 0 <= index(chosen) < len(names):
            return index(chosen)
        raise ValueError(
            f"chosen={short_repr(chosen)} is not one of the {len(names)} candidates; it must be "
            "the index of one in the list, from 0"
        )
    places: dict[Any, int] = dict(zip(names, range(len(names)), strict=True))
    try:
        place = places.get(chosen)
    except TypeError:
        raise TypeError(
            f"chosen is {short_repr(chosen)}, {type_shown(chosen)}; it must be the id of one of "
            "the candidates, which is hashable"
        ) from None
    if place is None:
        raise ValueError(
            f"chosen={short_repr(chosen)} is not one of the candidates, whose ids are "
            f"{short_repr(names, 200)}"
        )
    return place
