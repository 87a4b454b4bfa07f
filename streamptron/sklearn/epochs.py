"""Epochs: learning the same rows again and again, and when to stop.

The settings are a classifier's parameters: max_iter, tol, shuffle, random_state, early_stopping,
validation_fraction and n_iter_no_change. The caller has imported scikit-learn.
"""

from __future__ import annotations

import copy
import math
import typing
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from streamptron.common.names import short_repr
from streamptron.estimator.batches import batch_of
from streamptron.estimator.looking import leads
from streamptron.estimator.passes import Passes
from streamptron.sklearn.wrapper import Named

# The size of the sample that is scored after each epoch to decide whether to continue: about this
# many stored values, but at least this many rows.
JUDGED = 1 << 19
JUDGED_ROWS = 1 << 10
HELD_OUT = 10  # the fewest rows that early_stopping="auto" holds out


def check(settings: Any) -> None:
    """Check the parameters that are not the learner's."""
    for name in ("max_iter", "n_iter_no_change"):
        _checked(name, getattr(settings, name), Integral, 1, "an int of at least 1")
    if settings.tol is not None:
        _checked("tol", settings.tol, Real, 0, "None or a number of at least 0")
    truth("shuffle", settings.shuffle)
    early = settings.early_stopping
    if isinstance(early, str) and early != "auto":
        raise ValueError(f"early_stopping={short_repr(early)}; it must be True, False or 'auto'")
    if early == "auto" or truth("early_stopping", early, "True, False or 'auto'"):
        bound = "a number above 0 and below 1"
        fraction = _checked("validation_fraction", settings.validation_fraction, Real, 0, bound)
        if not 0 < fraction < 1:
            raise ValueError(f"validation_fraction={fraction}; it must be {bound}")


def learned(
    settings: Any,
    decide: Callable[[Any, Any], np.ndarray],
    probable: Callable[[Any, Any], np.ndarray],
    model: Any,
    given: Named,
    labels: list[Any],
    numbers: np.ndarray,
    steps: np.ndarray | None,
) -> tuple[Any, int]:
    """Learn the rows given, epoch by epoch: the model, and the number of epochs.

    `decide` returns a model's decision function for rows: for two classes one number per row, for
    more one per class; `probable` returns the probability of each class.
    """
    rng = check_random_state(settings.random_state)
    rows = np.arange(len(numbers)) if steps is None else np.flatnonzero(steps)
    if not len(rows):
        raise ValueError("every row has the weight zero; there is nothing to learn")
    decides = settings.tol is not None and settings.max_iter > 1
    rows, held = _divided(settings, rng, rows, numbers, decides)
    judged, ask, loss = held, probable, log_loss
    if decides and not len(held):
        n_judged = max(JUDGED_ROWS, given.X.shape[0] * JUDGED // max(1, given.X.size))
        judged = rows if n_judged >= len(rows) else rng.permutation(rows)[:n_judged]
        ask, loss = decide, shortfall
    X_judged = given.taken(judged)
    steps_judged = None if steps is None else steps[judged]
    passes = Passes(batch_of(*given, model.missing), labels, numbers, steps)
    best, least, n_stale, n_epochs = model, math.inf, 0, 0
    while n_epochs < settings.max_iter:
        n_epochs += 1
        passes.learn(model, rng.permutation(rows) if settings.shuffle else rows)
        if not len(judged):
            continue
        found = loss(ask(model, X_judged), numbers[judged], steps_judged)
        n_stale = n_stale + 1 if found > least - (settings.tol or 0.0) else 0
        if found < least:
            least = found
            best = copy.deepcopy(model) if len(held) else model
        if settings.tol is not None and n_stale >= settings.n_iter_no_change:
            break
    else:
        if decides:
            warnings.warn(
                f"fit did not converge in max_iter={settings.max_iter} epochs; raise max_iter or "
                "tol, or give tol=None to do exactly max_iter epochs",
                ConvergenceWarning,
                stacklevel=3,
            )
    if len(held):
        passes.learn(best, rng.permutation(held) if settings.shuffle else held)
    return best, n_epochs


def _divided(
    settings: Any, rng: Any, rows: np.ndarray, numbers: np.ndarray, decides: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The rows to learn, and those that are held out."""
    fraction = settings.validation_fraction
    if settings.early_stopping == "auto":
        if not decides or len(rows) * fraction < HELD_OUT:
            return rows, rows[:0]
    elif not settings.early_stopping:
        return rows, rows[:0]
    rest, held = held_out(rng, rows, numbers, fraction)
    if not len(held):
        raise ValueError(
            f"early_stopping=True, and of {len(rows)} rows none can be held out: each class keeps "
            "one; give more rows, a larger validation_fraction, or early_stopping='auto'"
        )
    return rest, held


def held_out(
    rng: Any, rows: np.ndarray, numbers: np.ndarray, fraction: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rows without a share of each class, and that share; each class keeps at least one row."""
    mixed = rng.permutation(rows)
    mixed = mixed[np.argsort(numbers[mixed], kind="stable")]
    taken = np.diff(np.floor((np.arange(len(mixed) + 1) + rng.random_sample()) * fraction)) > 0
    taken[np.unique(numbers[mixed], return_index=True)[1]] = False
    return np.sort(mixed[~taken]), np.sort(mixed[taken])


def log_loss(said: np.ndarray, numbers: np.ndarray, steps: np.ndarray | None) -> float:
    """The loss of held-out rows: minus the mean logarithm of their class's probability."""
    p = said[np.arange(len(numbers)), numbers]
    return float(-np.average(np.log(np.maximum(p, np.finfo(float).eps)), weights=steps))


def shortfall(said: np.ndarray, numbers: np.ndarray, steps: np.ndarray | None) -> float:
    """The loss of learned rows: the sum of negative leads, divided by that of all leads' sizes."""
    ahead = np.where(numbers, said, -said) if said.ndim == 1 else leads(said, numbers)
    ahead = ahead if steps is None else ahead * steps
    total = np.abs(ahead).sum()
    return float(-ahead[ahead < 0].sum() / total) if total else 0.0


def best_of(decision: np.ndarray) -> np.ndarray:
    """The index of the class that a decision function chooses."""
    if decision.ndim == 1:
        return (decision > 0).astype(np.intp)
    best: np.ndarray = decision.argmax(axis=1)
    return best


def _checked(name: str, value: Any, kind: type, least: float, bound: str) -> Any:
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        raise TypeError(f"{name}={short_repr(value)}; it must be {bound}")
    if not typing.cast("float", value) >= least:
        raise ValueError(f"{name}={short_repr(value)}; it must be {bound}")
    return value


def truth(name: str, value: Any, bound: str = "True or False") -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={short_repr(value)}; it must be {bound}")
    return bool(value)
