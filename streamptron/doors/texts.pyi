from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, overload

from typing_extensions import disjoint_base

from streamptron.doors.rows import Rows

TEXT_MOST: int

@disjoint_base
class TextDoor:
    _unicode: str
    analyzer: Any
    ngram_range: Any
    lowercase: Any
    separators: Any
    min_length: Any
    max_length: Any
    fold_numbers: Any
    value: Any
    normalize: Any
    fields: Any
    def _configure(
        self,
        analyzer: str,
        ngram_range: tuple[int, int],
        lowercase: bool,
        separators: str | None,
        min_length: int,
        max_length: int | None,
        fold_numbers: bool,
        value: str,
        normalize: str | None,
        fields: str | tuple[str, ...] | None,
    ) -> None: ...
    def transform_one(self, x: Any) -> TextEvent: ...
    def transform_many(self, X: Iterable[Any]) -> Texts: ...

def text_learn_one(self: Any, x: Any, y: Any = None, **params: Any) -> Any: ...
def text_predict_one(self: Any, x: Any, **params: Any) -> Any: ...
def text_predict_proba_one(self: Any, x: Any, **params: Any) -> Any: ...

@disjoint_base
class TextEvent(Mapping[str, float]):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str, /) -> float: ...
    def get(self, key: str, default: Any = None) -> Any: ...
    def copy(self) -> dict[str, float]: ...

@disjoint_base
class Texts(Rows, Sequence[TextEvent]):
    source: Any
    def __new__(cls, door: TextDoor, texts: Any, *more: Any) -> Self: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> TextEvent: ...
    @overload
    def __getitem__(self, at: slice, /) -> Texts: ...
    def index(self, value: Any, *bounds: Any) -> int: ...
    def count(self, value: Any) -> int: ...

@disjoint_base
class MailDoor(TextDoor):
    headers: Any
    text: Any
    bytes: Any
    fold: Any
    def _configure(  # type: ignore[override]
        self, headers: bool, text: bool, bytes: int, fold: bool
    ) -> None: ...
