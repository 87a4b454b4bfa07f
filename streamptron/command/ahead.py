"""Work that is done before its turn comes, by other threads.

What comes out is what ``map(work, items)`` gives, in the same order. It pays where the work gives
up the interpreter's lock.
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
    """work(item) of each item, in order, made by n_threads threads that are a few items ahead.

    The items are taken in a thread of their own. What is raised there or by the work is raised
    here, in its turn.
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
    # a daemon, for nothing wakes one that waits for a pipe
    threading.Thread(target=take, daemon=True).start()
    try:
        while (future := coming.get()) is not None:
            yield future.result()
    finally:
        over.set()
        while not coming.empty():  # one that waits for room may go on, and see that it is over
            coming.get()
        pool.shutdown(cancel_futures=True)
