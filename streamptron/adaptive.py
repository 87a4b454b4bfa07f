"""AdaptiveClassifier: the learner that errs least."""

from __future__ import annotations

import typing

from streamptron.doors.adaptive import AdaptiveModel
from streamptron.doors.model import RULES
from streamptron.estimator.base import Estimator, Weights
from streamptron.estimator.names import shown

if typing.TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Any


class AdaptiveClassifier(AdaptiveModel, Estimator):  # type: ignore[misc]  # no **kwargs
    """Fewest errors."""

    def __init__(
        self,
        eta: float = 1.0,
        forget: float = 2**-10,
        naive_bayes: bool = True,
        intercept: bool = True,
        class_weight: Mapping[Hashable, float] | None = None,
        max_features: int | None = None,
        max_labels: int | None = None,
        hash_bits: int | None = None,
        hash_seed: int | None = None,
    ) -> None:
        self._configure(
            RULES.ADAPTIVE,
            eta=eta,
            forget=forget,
            naive_bayes=naive_bayes,
            intercept=intercept,
            class_weight=class_weight,
            max_features=max_features,
            max_labels=max_labels,
            hash_bits=hash_bits,
            hash_seed=hash_seed,
        )

    @property
    def eta(self) -> float:
        """How far a step goes."""
        return self._param("eta")  # type: ignore[no-any-return]

    @property
    def forget(self) -> float:
        """How fast the size of past steps is forgotten."""
        return self._param("forget")  # type: ignore[no-any-return]

    @property
    def naive_bayes(self) -> bool:
        """Whether the naive Bayes log-odds are one more feature."""
        return self._param("naive_bayes")  # type: ignore[no-any-return]

    @property
    def _known_labels(self) -> list[Any]:
        return self.labels

    @property
    def _multiclass(self) -> bool:
        return self._positive is None

    @property
    def weights(self) -> Weights | dict[Hashable, Weights]:
        """``{feature: weight}`` of two labels, of more ``{label: {feature: weight}}``."""
        return self._by_output(*self._weights("current"))

    @property
    def intercept_(self) -> float | dict[Hashable, float]:
        """The intercept; of more than two labels ``{label: intercept}``."""
        return self._by_output(*self._intercepts("current"))

    @staticmethod
    def _by_output(labels: list[Any] | None, values: list[Any]) -> Any:
        if len(labels or ()) <= 2:
            return values[0]
        return dict(zip(labels or (), values, strict=True))

    def _explained(self, label: Hashable) -> tuple[int, float]:
        known, positive = self.labels, self._positive
        if not known:
            raise ValueError("the model has seen no label yet: there is nothing to explain")
        if label is not None and label not in known:
            raise ValueError(
                f"label={shown(label)} has not been seen; the model knows {shown(known, 200)}"
            )
        if positive is None:
            return (-1 if label is None else known.index(label)), 1.0
        return 0, 1.0 if label is None or known.index(label) == positive else -1.0
