"""What holds for the whole run."""

import gc


def pytest_collection_finish():
    """Thousands of collected tests are of no interest to a collection of garbage in one of them.

    Several tests ask for one, River's checks eight times each; each would look at all of them.
    """
    gc.collect()
    gc.freeze()
