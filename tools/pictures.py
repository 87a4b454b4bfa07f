"""Draw the pictures of docs/serving.md: the service's pages in Chromium without a window.

python -m tools.pictures            # the three that the page shows
python -m tools.pictures FOLDER     # each in light and dark, wide and on a phone, to look at

What is taught are the docstrings of this Python's standard library: which package is one from?
"""

import io
import random
import runpy
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from streamptron import MIRA, AdaptiveClassifier, Tokenizer
from tests.service.test_guard import PortLink, at_a_port
from tests.support.devtools import page
from tools.options import options

ROOT = Path(__file__).parents[1]
PACKAGES = ("asyncio", "email", "importlib", "logging", "tkinter", "xml")
LIVE = "document.getElementById('state').textContent === 'live'"


def stream() -> list[tuple[str, str]]:
    """Docstrings and their packages."""
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="demo")
    found = demo["docstring_stream"](Path(sysconfig.get_path("stdlib")))
    pairs = [(text, package) for text, package in found if package in PACKAGES]
    random.Random(1).shuffle(pairs)
    return pairs


def shot(tab, box: str | None = None) -> Image.Image:
    """The page, or what elements of it take up."""
    given = {}
    if box is not None:
        given["clip"] = tab.ask(
            "(() => { scrollTo(0, 0); "
            f"const all = [...document.querySelectorAll('{box}')].map((each) => "
            "each.getBoundingClientRect()); "
            "const x = Math.min(...all.map((r) => r.left)) - 16; "
            "const y = Math.min(...all.map((r) => r.top)) - 16; return {x, y, scale: 1, "
            "width: Math.max(...all.map((r) => r.right)) + 16 - x, "
            "height: Math.max(...all.map((r) => r.bottom)) + 16 - y}; })()"
        )
    return Image.open(io.BytesIO(tab.picture(**given))).convert("RGB")


def beside(light: Image.Image, dark: Image.Image) -> Image.Image:
    """Both in one."""
    whole = Image.new("RGB", (light.width, light.height + dark.height), "white")
    whole.paste(light, (0, 0))
    whole.paste(dark, (0, light.height))
    return whole


def looks(tab, port: int, height: int, ready: str) -> Iterator[str]:
    """The page as it is opened in light and dark, wide and on a phone; which of them."""
    for name, width in (("wide", 1000), ("phone", 360)):
        for dark in (False, True):
            tab.open(f"http://127.0.0.1:{port}/", width, height, dark)
            tab.until(f"{LIVE} && {ready}")
            yield f"{name}-{'dark' if dark else 'light'}"


def one(tab, pairs: list[tuple[str, str]], work: Path) -> Iterator[tuple[str, Image.Image]]:
    """A model with a shadow: the whole page, and the comparison."""
    path, other = work / "docstrings.model", work / "other.model"
    (Tokenizer() | MIRA()).save(path)
    (Tokenizer() | AdaptiveClassifier()).save(other)
    words = ("--learn", "--keep-texts", "1000", "--sync", "never")
    with at_a_port(path, *words, "--shadow", other) as port:
        link = PortLink(port)
        link.lines("/learn", [{"text": text, "label": label} for text, label in pairs[:-40]])
        link.lines("/predict", [{"text": text} for text, _ in pairs[-40:]])
        for look in looks(tab, port, 900, "document.querySelector('#item .text') !== null"):
            tab.ask("document.getElementById('text').focus()")
            tab.type("Parse the header of a message")
            tab.ask("document.getElementById('ask').requestSubmit()")
            tab.until("document.querySelectorAll('#answer .meter').length > 0")
            tab.ask("document.activeElement.blur()")
            yield f"page-{look}", shot(tab)
            yield f"shadow-{look}", shot(tab, "#figures, #shadow")


def many(tab, pairs: list[tuple[str, str]], work: Path) -> Iterator[tuple[str, Image.Image]]:
    """A folder of models, some of them open."""
    models = work / "models"
    models.mkdir()
    names = ("alerts", "docstrings", "invoices", "news", "spam", "tickets")
    for number, name in enumerate(names):
        learner = AdaptiveClassifier() if number % 3 else MIRA()
        (Tokenizer() | learner).save(models / f"{name}.model")
    with at_a_port(models, "--learn", "--sync", "never") as port:
        link = PortLink(port)
        for number, name in enumerate(names[:4]):
            part = pairs[number * 250 : number * 250 + 400 - 90 * number]
            link.lines(f"/m/{name}/learn", [{"text": t, "label": y} for t, y in part])
            link.lines(f"/m/{name}/predict", [{"text": t} for t, _ in part[: 30 * number + 10]])
        for look in looks(tab, port, 410, "document.querySelectorAll('#models a').length === 6"):
            yield f"models-{look}", shot(tab)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path)
    folder = parser.parse_args().folder
    pairs = stream()
    with tempfile.TemporaryDirectory() as work, page() as tab:
        found = dict([*one(tab, pairs, Path(work)), *many(tab, pairs, Path(work))])
    if folder is None:
        folder = ROOT / "docs"
        found = {
            "serving": found["page-wide-light"],
            "serving-shadow": beside(found["shadow-wide-light"], found["shadow-wide-dark"]),
            "serving-models": beside(found["models-wide-light"], found["models-wide-dark"]),
        }
    for name, image in found.items():
        image.quantize(128, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
