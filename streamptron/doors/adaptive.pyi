from collections.abc import Mapping
from typing import Any

from streamptron._core import LabelModel

class AdaptiveModel(LabelModel):
    @property
    def _positive(self) -> int | None: ...
    def decision_function_one(  # type: ignore[override]
        self, x: Mapping[Any, Any]
    ) -> float | dict[Any, float]: ...
