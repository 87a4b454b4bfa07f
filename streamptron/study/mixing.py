"""A pass shared among threads: copies of the model learn a share each, and are merged.

    model -> copy, copy, ...     each learns every n-th event of a round, all at the same time
          <- merge               of the copies since the model: the next round's model

Rounds are parts of the pass, in its order.
"""

from __future__ import annotations

import copy
import typing
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from streamptron.keeping.merging import merge

if typing.TYPE_CHECKING:
    from numpy.typing import NDArray

    from streamptron.estimator.finite import Lessons


def learned_by_several(
    model: Any, lessons: Lessons, order: NDArray[np.intp] | None, n_jobs: int, mixes: int
) -> Any:
    """What n_jobs copies of a model make of a pass, merged `mixes` times; the model stays.

    The same order, n_jobs and mixes give the same bits, whichever thread is done first.
    """

    def learn(share: NDArray[np.intp]) -> Any:
        shard = copy.deepcopy(model)
        lessons.learn(shard, share)
        return shard

    events = np.arange(len(lessons), dtype=np.intp) if order is None else order
    with ThreadPoolExecutor(n_jobs) as pool:
        for part in np.array_split(events, mixes):
            shares = [np.ascontiguousarray(part[k::n_jobs]) for k in range(min(n_jobs, len(part)))]
            if shares:
                model = merge(list(pool.map(learn, shares)), since=model)
    return model
