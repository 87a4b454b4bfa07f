from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamptron.doors.model import Model
from streamptron.doors.rows import Rows

# Features by id, or a list of features, whose ids are 0, 1, ...
_Candidates = Mapping[Any, Any] | Sequence[Any]

class RankModel(Model):
    def learn_one(
        self, candidates: _Candidates, chosen: Any, w: float = 1.0, undo: Literal[False] = False
    ) -> None: ...
    def predict_one(self, candidates: _Candidates) -> Any: ...
    def rank_one(self, candidates: _Candidates) -> list[Any]: ...
    def decision_function_one(self, candidates: _Candidates) -> dict[Any, float] | list[float]: ...
    def predict_proba_one(self, candidates: _Candidates) -> dict[Any, float] | list[float]: ...
    def _explain_lead(
        self, candidates: _Candidates, chosen: Any
    ) -> tuple[list[tuple[Hashable, float]], float]: ...
    def _score_queries(
        self,
        X: Rows,
        names: Sequence[Hashable] | None,
        decisions: NDArray[np.float64],
        ends: NDArray[np.intp],
        n_jobs: int,
    ) -> tuple[int, list[Any]]: ...
    def _learn_queries(
        self,
        X: Rows,
        names: Sequence[Hashable] | None,
        grades: NDArray[np.intp],
        steps: NDArray[np.float64] | None,
        ends: NDArray[np.intp],
        order: NDArray[np.intp] | None = None,
    ) -> tuple[int, list[Any]]: ...
