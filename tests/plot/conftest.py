"""Pictures without a display."""

import matplotlib
import pytest
from matplotlib.figure import Figure

matplotlib.use("Agg")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()
