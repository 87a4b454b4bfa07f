"""Fitting finite data, pass after pass, until nothing is left to learn."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.common.bars import bar_of
from streamptron.common.checks import at_least_one, jobs_of
from streamptron.common.history import History, Pass
from streamptron.common.names import short_repr
from streamptron.estimator.base import BinaryEstimator, PairEstimator
from streamptron.estimator.finite import Lessons, data_of
from streamptron.estimator.grades import GradedData, ranked_of
from streamptron.estimator.looking import Before, learner_of, ranks
from streamptron.estimator.passes import check_learns
from streamptron.keeping.mergeable import check_alike
from streamptron.study.mixing import learned_by_several

ORDERS = ("permute", "fixed", "random-mistake")
LOOKED_AT = 64  # rows in the first search for a mistake; each further search takes twice as many


def fit(
    model: Any,
    data: Any,
    epochs: int = 10,
    shuffle: bool = True,
    seed: int | np.random.Generator | None = None,
    validation: Any = None,
    patience: int | None = None,
    order: str | None = None,
    init: str | None = None,
    progress: bool | str = "auto",
    n_jobs: int | None = 1,
    mixes: int = 10,
) -> History:
    """Learn finite data in several passes.

    A pass predicts each event and then learns it. Fitting ends after a pass without an update, when
    the validation error no longer falls, or after `epochs` passes. The model continues from what it
    has learned before, and changes only once, at the end: until then other threads see the old
    weights, and after an error or Ctrl-C the model is unchanged.

    Parameters
    ----------
    model
        A learner of streamptron, or ``Tokenizer() | learner`` for texts. For a RankingPerceptron,
        the data are pairs (candidates, chosen), or documents with grades: (X, grades, qid) as for
        its ``learn_many``, or an svmlight file with a qid in each line. With grades, whole queries
        are permuted, and an event is a row whose query has rows of a higher grade.
    data
        A list of pairs (x, y); a tuple (X, y), where X is a list of texts or dicts or anything else
        that ``learn_many`` takes; or what ``streamptron.files.read`` returns, which is read to its
        end, and whose weights count too. Matrices and arrays are read in place and must not change
        during the call.
    epochs
        The largest number of passes.
    shuffle
        Whether to permute the events before each pass.
    seed
        The seed of everything random: an int or a ``numpy.random.Generator``. None: a new seed each
        time.
    validation
        Events that are not learned, in any form that `data` may have. They are answered after each
        pass (with "random-mistake", by the current weights). At the end the model has the weights
        of the pass with the fewest errors, and of the first one if there are several.
    patience
        End after this many passes in a row that were no better than the best one before.
    order
        "permute", "fixed" or "random-mistake"; None: "permute" if `shuffle`, else "fixed".
        "random-mistake" learns, again and again, one event picked at random among those that the
        current weights answer wrongly, until there is none. Then a pass has as many picks as there
        are events.
    init
        "random": start from weights and intercepts drawn at random from -1 to 1. The model must be
        untrained. With ``order="random-mistake"`` this is Kowalczyk's perceptron learning
        algorithm. None: start from the weights that the model has.
    progress
        Whether to show a progress bar, which needs tqdm. "auto": show one if tqdm is installed and
        standard error is a terminal.
    n_jobs
        How many threads share each pass; None is 1, and -1 is one for each core that this process
        may use. With more than one, an event is no longer learned after all that came before it:
        copies of the model each learn a share, and are merged by ``streamptron.merge``, `mixes`
        times per pass. The result differs from that of ``learn_one``, but is always the same for
        the same `n_jobs`, `mixes` and `seed`. With eight copies, the test error after one pass was
        within 0.5 percentage points of that of one thread with 10 mixes, and within 3.7 with 1
        (docs/merging.md). Rows and texts are learned faster; dicts and candidates are not, since
        Python reads them one at a time.
    mixes
        How often the copies are merged in each pass, if `n_jobs` is above 1. There should be at
        least 100 events per copy between two merges.

    Returns
    -------
    History
        What happened in each pass.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid. The message names it; the model has not changed.
    ImportError
        If ``progress=True`` and tqdm is missing.
    RuntimeError
        If the model was opened read-only, or if another thread taught it during the call; then it
        keeps what that thread taught it.

    Examples
    --------
    >>> from streamptron import Perceptron, Tokenizer
    >>> from streamptron.study import fit
    >>> xor = [({"x": x, "y": y, "both": x * y}, x != y) for x in (0, 1) for y in (0, 1)]
    >>> model = Perceptron()
    >>> history = fit(model, xor, epochs=50, seed=1)
    >>> history.stopped
    'converged'
    >>> [model.predict_one(x) for x, _ in xor]
    [False, True, True, False]

    >>> mail = Tokenizer() | Perceptron()
    >>> texts, labels = ["win a prize", "see you", "a prize for you"], [True, False, True]
    >>> fit(mail, (texts, labels), shuffle=False).stopped
    'converged'
    """
    at_least_one("epochs", epochs)
    order = _order(shuffle, order)
    if patience is not None:
        at_least_one("patience", patience)
        if validation is None:
            raise ValueError(f"patience={patience}, but there is no validation; give it events")
    if init not in (None, "random"):
        raise ValueError(f'init={short_repr(init)}; give "random" or None')
    jobs = jobs_of(n_jobs)
    at_least_one("mixes", mixes)
    rng = _generator(seed)
    tokenizer, learner = learner_of(model)
    tokenizer = copy.deepcopy(tokenizer)  # so that after an error the model's own is unchanged
    check_learns(learner)
    if learner._can("set"):
        raise TypeError(
            "fit is for learners with one label per event; teach a MultiLabelClassifier by "
            "learn_many, once per pass"
        )
    picking = order == "random-mistake"
    if picking and learner._can("vote"):
        raise ValueError(
            'order="random-mistake" needs the answers of the current weights, but a '
            "VotedPerceptron answers by all weights that it has had; take a Perceptron"
        )
    if jobs > 1:
        check_alike([learner], ["model"])
        if picking:
            raise ValueError(
                f'n_jobs={n_jobs}, but order="random-mistake" picks each event after the one '
                "before has been learned; leave out n_jobs, or take another order"
            )
    checked: Lessons | None = None
    lessons: Lessons
    if ranks(learner):
        lessons = ranked_of(data, learner, tokenizer)
        if picking and isinstance(lessons, GradedData):
            raise ValueError(
                'order="random-mistake" picks single events, but rows with grades are learned by '
                'query; take order="permute" or "fixed"'
            )
        if validation is not None:
            checked = ranked_of(validation, learner, tokenizer, "validation")
    else:
        lessons = data_of(
            data, tokenizer, learner._checked_label, missing=learner.missing, teach=True
        )
        if validation is not None:
            checked = data_of(
                validation, tokenizer, learner._checked_label, "validation", learner.missing
            )
            _known("validation", checked, {*learner._known_labels, *lessons.labels})
    lessons.weigh(learner)
    seen = learner.n_seen
    twin = _twin(learner, current=picking)
    if init is not None:
        _start(learner, twin, lessons, rng)
    permuting = rng if order == "permute" else None
    learn = _picks(rng) if picking else _whole_passes(permuting, jobs, mixes)
    with _bar(progress, epochs) as advance:
        twin, history = _run(twin, lessons, epochs, checked, patience, advance, learn)
    if learner.n_seen != seen:
        raise RuntimeError(
            "another thread taught the model during fit, so the result of fit is discarded; let "
            "only one thread learn"
        )
    learner.__setstate__(_state(twin, learner._get_params()))
    if isinstance(tokenizer, Before):
        tokenizer.put_into(model)
    return history


# --- Passes

# A function that learns one pass. It returns the model after it, and the share of events that are
# then wrong, if it knows.
Learn = Callable[[Any, Lessons], tuple[Any, float | None]]


def _whole_passes(rng: np.random.Generator | None, n_jobs: int, mixes: int) -> Learn:
    """Passes over all events, permuted or in their own order."""

    def learn(twin: Any, lessons: Lessons) -> tuple[Any, None]:
        order = None if rng is None else rng.permutation(len(lessons))
        if n_jobs > 1:
            return learned_by_several(twin, lessons, order, n_jobs, mixes), None
        lessons.learn(twin, order)
        return twin, None

    return learn


def _picks(rng: np.random.Generator) -> Learn:
    """Passes of random mistakes."""

    def learn(twin: Any, lessons: Lessons) -> tuple[Any, float]:
        for _ in range(len(lessons)):
            row = _mistake(twin, lessons, rng)
            if row is None:
                return twin, 0.0
            lessons.learn(twin, row)
        return twin, float(lessons.wrong(twin).mean())

    return learn


def _mistake(twin: Any, lessons: Lessons, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """An event picked at random among those answered wrongly: the first in a random order."""
    order = rng.permutation(len(lessons))
    first, n = 0, LOOKED_AT
    while first < len(order):
        part = order[first : first + n]
        wrong = np.flatnonzero(lessons.wrong(twin, part))
        if len(wrong):
            return part[wrong[:1]]
        first, n = first + n, 2 * n
    return None


def _run(
    twin: Any,
    lessons: Lessons,
    epochs: int,
    checked: Lessons | None,
    patience: int | None,
    advance: Callable[[Pass], object],
    learn: Learn,
) -> tuple[Any, History]:
    """Do the passes. Returns the model of the best one, and the history."""
    passes: list[Pass] = []
    best, least, at = twin, np.inf, 1
    stopped = "epochs"
    for number in range(1, epochs + 1):
        mistakes, updates, began = twin.n_mistakes, twin.n_updates, perf_counter()
        twin, left = learn(twin, lessons)
        seconds = perf_counter() - began
        mistakes, updates = twin.n_mistakes - mistakes, twin.n_updates - updates
        error = mistakes / lessons.n_events if left is None else left
        found = None if checked is None else float(checked.wrong(twin).mean())
        passes.append(Pass(number, mistakes, updates, error, found, seconds))
        advance(passes[-1])
        if found is None:
            best, at = twin, number
        elif found < least:
            least, at = found, number
            best = copy.deepcopy(twin)
        if left == 0.0 or (left is None and not updates):
            stopped = "converged"
            break
        if patience is not None and number - at >= patience:
            stopped = "patience"
            break
    return best, History(passes, at, stopped)


# --- The model, and its twin, which learns in its place


def _state(model: Any, params: dict[str, Any]) -> dict[str, Any]:
    """A model's state with other parameters, and without attributes that the user added."""
    return {**model.__getstate__(), "params": params, "dict": {}}


def _twin(learner: Any, current: bool) -> Any:
    """A model with the same state; `current`: it answers by its current weights."""
    params = learner._get_params()
    if current and "serve" in params:
        params = {**params, "serve": "current"}
    return learner._of_state(_state(learner, params))


def _start(learner: Any, twin: Any, lessons: Lessons, rng: np.random.Generator) -> None:
    """Give an untrained model random weights."""
    kind = type(learner).__name__
    if not learner._can("start"):
        raise TypeError(f'init="random" is not for {kind}, which cannot start from weights')
    known = getattr(learner, "_known_labels", [])
    if learner.n_seen or learner.n_features or known not in ([], [False, True]):
        raise ValueError(
            f'init="random", but the {kind} has learned something; give an untrained one'
        )
    features = lessons.features()
    biased = learner._get_params().get("intercept", False)
    if learner.max_features is not None and len(features) > learner.max_features:
        raise ValueError(
            f'init="random", but data has {len(features)} features and the {kind} keeps '
            f"max_features={learner.max_features}; raise that, or start without init"
        )
    alone = ranks(learner) or isinstance(learner, BinaryEstimator)
    alone = alone or (isinstance(learner, PairEstimator) and len(lessons.labels) <= 2)
    if not alone:
        twin._expect_labels(lessons.labels)
    for output in range(1 if alone else len(lessons.labels)):
        weights = rng.uniform(-1.0, 1.0, len(features) + 1).tolist()
        intercept = weights.pop() if biased else 0.0
        twin._set_weights(dict(zip(features, weights, strict=False)), intercept, output)


# --- Arguments


def _order(shuffle: Any, order: Any) -> str:
    if not isinstance(shuffle, bool | np.bool_):
        raise TypeError(f"shuffle={short_repr(shuffle)}; it must be True or False")
    if order is None:
        return "permute" if shuffle else "fixed"
    if order not in ORDERS:
        raise ValueError(f"order={short_repr(order)}; give one of {', '.join(map(repr, ORDERS))}")
    if not shuffle and order != "fixed":
        raise ValueError(
            f"shuffle=False and order={short_repr(order)} contradict each other; leave out shuffle"
        )
    return str(order)


def _generator(seed: Any) -> np.random.Generator:
    wanted = seed is None or isinstance(seed, int | np.integer | np.random.Generator)
    if not wanted or isinstance(seed, bool):
        raise TypeError(f"seed={short_repr(seed)}; give an int, a numpy.random.Generator or None")
    if isinstance(seed, int | np.integer) and seed < 0:
        raise ValueError(f"seed={seed}; it must be at least 0")
    return np.random.default_rng(seed)


def _known(name: str, checked: Lessons, known: set[Any]) -> None:
    """Raise an error if a label is never learned."""
    if strange := [label for label in checked.labels if label not in known]:
        raise ValueError(
            f"{name} has the label{'s'[: len(strange) > 1]} {short_repr(strange)}, which data "
            "does not have, so no model could answer it: leave those events out, or learn some of "
            "them"
        )


@contextlib.contextmanager
def _bar(progress: Any, epochs: int) -> Iterator[Callable[[Pass], object]]:
    """A function to call after each pass, which updates the progress bar."""
    tqdm = bar_of(progress)
    if tqdm is None:
        yield lambda row: None
        return
    with tqdm(total=epochs, unit="pass") as bar:

        def advance(row: Pass) -> None:
            said = {"error": f"{row.error:.4f}"}
            if row.validation_error is not None:
                said["validation"] = f"{row.validation_error:.4f}"
            bar.set_postfix(said, refresh=False)
            bar.update()

        yield advance
