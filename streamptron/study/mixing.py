"""A pass shared among threads: copies of the model each learn a share, and are merged.

    model -> copy, copy, ...     each learns every n-th event of a round, at the same time
          <- merge               of what the copies learned: the next round's model

Rounds are consecutive parts of the pass.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.estimator.finite import Lessons
from streamptron.keeping.merging import merge


def learned_by_several(
    model: Any, lessons: Lessons, order: NDArray[np.intp] | None, n_jobs: int, mixes: int
) -> Any:
    """A model of n_jobs copies that learn a pass, merged `mixes` times; `model` is unchanged.

    The same order, n_jobs and mixes give the same bits, whichever thread finishes first.
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
