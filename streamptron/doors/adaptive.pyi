from collections.abc import Hashable

from typing_extensions import disjoint_base

from streamptron._core import PairModel

@disjoint_base
class AdaptiveModel(PairModel):
    def _columns(self) -> dict[Hashable, list[float]]: ...

class VotedModel(PairModel):
    @property
    def n_kept(self) -> int: ...
