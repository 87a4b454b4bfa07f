"""The tests as where River is not installed: ``pytest -p tests.support.without_river``."""

import sys


class NotInstalled:
    """Finds no River, wherever it is."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "river":
            raise ModuleNotFoundError("No module named 'river'", name="river")


sys.meta_path.insert(0, NotInstalled)
