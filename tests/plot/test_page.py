"""Every example of docs/plots.md is a whole program that makes its picture."""

import re

import matplotlib.pyplot as plt
import pytest

from streamptron import plot
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

PAGE = (ROOT / "docs" / "plots.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def shown(code):
    return re.findall(r"^plot\.(\w+)\(", code, re.M)


def test_every_function_has_an_example_and_a_line_in_the_table():
    assert {name for code in EXAMPLES for name in shown(code)} == set(plot.__all__)
    for name in plot.__all__:
        assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: shown(code)[-1])
def test_an_example_makes_one_picture(code):
    try:
        exec(code, {"__name__": "example"})
        (number,) = plt.get_fignums()
        assert plt.figure(number).axes[0].has_data()
    finally:
        plt.close("all")
