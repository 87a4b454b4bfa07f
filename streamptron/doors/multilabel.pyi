from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from streamptron.doors._core import LabelModel
from streamptron.doors.rows import Rows

class LabelSet(dict[Any, bool]):
    def __missing__(self, label: object) -> bool: ...

@disjoint_base
class Targets:
    named: list[Any]
    there: list[int]
    open: bool

class MultiLabelModel(LabelModel):
    def _targets_of(self, y: Any) -> Targets: ...
    def _target(self, y: Any) -> Any: ...
    def _labels_above(self, found: list[float], best: float) -> tuple[Any, ...]: ...
    def _learn_sets(
        self,
        X: Rows,
        names: Sequence[Hashable] | None,
        labels: list[Any],
        named: NDArray[np.intp],
        ends: NDArray[np.intp],
        there: NDArray[np.intp],
        open: NDArray[np.intp],
        steps: NDArray[np.float64] | None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[int, list[Any]]: ...
    def _weight(self, w: Any) -> float: ...
    def _probabilities(self, x: Mapping[Any, Any]) -> tuple[list[Any], list[float]]: ...
    def _answered(self, labels: list[Any], found: list[float]) -> dict[Hashable, bool]: ...
    def predict_proba_one(  # type: ignore[override]
        self, x: Mapping[Any, Any], top: int | None = None
    ) -> dict[Any, dict[bool, float]]: ...
    def predict_one(self, x: Mapping[Any, Any]) -> dict[Any, bool]: ...
    @property
    def best_threshold(self) -> float: ...
