"""Work that other threads do ahead of time.

The results are those of ``map(work, items)``, in the same order. This helps if the work releases
the interpreter's lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def made_ahead(
    work: Callable[[Item], Made], items: Iterable[Item], n_threads: int
) -> Iterator[Made]:
    """work(item) for each item, in order, made by n_threads threads that are a few items ahead.

    Another thread iterates over the items. Exceptions from it and from the work are raised here, in
    the order of the items.
    """
    coming: Queue[Future[Made] | None] = Queue(2 * n_threads)
    over = threading.Event()

    def take() -> None:
        end: Future[Made] | None = None
        try:
            for item in items:
                coming.put(pool.submit(work, item))
                if over.is_set():
                    return
        except BaseException as error:
            end = Future()
            end.set_exception(error)
        coming.put(end)

    pool = ThreadPoolExecutor(n_threads)
    # a daemon, since a thread that waits for a pipe cannot be woken
    threading.Thread(target=take, daemon=True).start()
    try:
        while (future := coming.get()) is not None:
            yield future.result()
    finally:
        over.set()
        while not coming.empty():  # so that the thread that fills the queue goes on, and ends
            coming.get()
        pool.shutdown(cancel_futures=True)
