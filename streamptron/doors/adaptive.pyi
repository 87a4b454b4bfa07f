from collections.abc import Hashable

from streamptron.doors._core import PairModel

class AdaptiveModel(PairModel):
    def _columns(self) -> dict[Hashable, tuple[float, float, float]]: ...
    def _shapes(
        self,
    ) -> tuple[list[tuple[Hashable, Hashable, float, list[float]]], list[float]]: ...

class VotedModel(PairModel):
    @property
    def n_kept(self) -> int: ...
