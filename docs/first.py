"""Draw the README's picture, of the demo's first stream: the docstrings of this Python.

python docs/first.py        # writes docs/first.svg
"""

import runpy
import sysconfig
from pathlib import Path

import matplotlib.pyplot as plt

from streamptron import AdaptiveClassifier, plot
from streamptron.study import Recorder

HERE = Path(__file__).parent


def main() -> None:
    demo = runpy.run_path(str(HERE.parent / "examples" / "demo.py"), run_name="demo")
    model, recorder = AdaptiveClassifier(), Recorder(window=250)
    for text, package in demo["docstring_stream"](Path(sysconfig.get_path("stdlib"))):
        x = demo["words"](text)
        recorder.update(package, model.predict_one(x))
        model.learn_one(x, package)

    # text stays text, and the same model makes the same bytes
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "streamptron"})
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.2), layout="constrained")
    plot.errors(recorder, ax=left)
    left.set_title("Docstrings: which of 30 packages?")
    plot.top_weights(model, n=6, label="email", ax=right)
    right.set_title("Words for and against the package email")
    fig.savefig(HERE / "first.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
