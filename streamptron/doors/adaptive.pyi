from typing_extensions import disjoint_base

from streamptron._core import PairModel

@disjoint_base
class AdaptiveModel(PairModel): ...
