"""The site: what Sphinx makes of the pages in docs/ and beside it. `make docs` builds it."""

import base64
import json
import re
import subprocess
import sys
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import ziamath
from docutils import nodes

import streamptron

project = "streamptron"
version = release = streamptron.__version__
project_copyright = "the authors of streamptron"

# The source folder is the project's, so that a link between two pages is the same link here and
# in the repository.
root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "benchmarks/README.md"]
exclude_patterns = [".*", "build", "streamptron", "tests", "fuzz", "examples", "*/_*"]
html_extra_path = ["_site/index.html"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_copybutton",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # docstrings say the types that matter
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [
    "Returns",  # sentences, mostly, and not a type
    ("Attributes", "params_style"),  # as the class says them
]
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"streamptron {release}"
html_favicon = "_site/static/icon.svg"
html_theme_options = {"light_logo": "icon.svg", "dark_logo": "icon.svg"}
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "svg"
highlight_language = "none"

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is shown as at a prompt is copied without it
copybutton_prompt_is_regexp = True

plot_formats = ["svg"]
plot_html_show_source_link = False
plot_html_show_formats = False
# Pictures lie on the page itself, and site.css turns them over for the dark.
plot_rcparams = {"figure.figsize": (5.4, 3.9), "svg.fonttype": "none", "savefig.transparent": True}
plot_apply_rcparams = True

EM = 16  # of a formula's drawing
ziamath.config.math.color = "currentColor"
ziamath.config.svg2 = False  # whose glyphs have ids, which would meet those of other formulas

# Where this was cloned from, if readers can go there.
ROOT = Path(__file__).resolve().parents[1]
asked = ["git", "-C", str(ROOT), "config", "--get", "remote.origin.url"]
try:
    repository = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
except OSError:
    repository = ""
repository = re.sub(r"^git@([^:/]+):", r"https://\1/", repository).removesuffix(".git")
if repository.startswith("https://"):
    html_theme_options["footer_icons"] = [
        {"name": "The repository", "url": repository, "html": "The repository", "class": ""}
    ]

# A link whose text is a path: readers of the site get the page's title.
LINK_OF_PATH = re.compile(r"\[(?:docs/[\w/-]+|[\w/-]+\.md|docs/[\w/-]+\.md)\]\(([\w/.-]+)\)")
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)


def show_pictures(app, page, source):
    """Python on a page with pictures is run, and its pictures stand below it.

    A program is run alone; what is shown as at a prompt goes on from what came before it.
    """

    numbers = count(1)

    def add_picture(found):
        options = f"   :filename-prefix: {Path(page).name}-{next(numbers)}\n"
        if ">>> " in found[1]:
            options += "   :context: close-figs\n"
        if drawn := re.findall(r"\bplot\.\w+(?=\()", found[1]):
            options += f"   :alt: the picture of {drawn[-1]}\n"
        code = re.sub(r"^(?=.)", "   ", found[1], flags=re.M)
        return f"{found[0]}\n```{{eval-rst}}\n.. plot::\n{options}\n{code}```\n"

    source[0] = LINK_OF_PATH.sub(r"[](\1)", source[0])
    if "plt.subplots(" in source[0]:
        source[0] = EXAMPLE.sub(add_picture, source[0])
    source[0] = source[0].replace("\n\n```\n", "\n```\n")  # the blank line is for doctest


def show_math(translator, node):
    """A formula as a drawing in the page: it needs no font of the reader's, and nothing is loaded.

    It grows with the text around it, whose colour it has; readers of a screen get its source.
    """
    tex = " ".join(node.astext().split())
    block = isinstance(node, nodes.math_block)
    svg = ziamath.Latex(tex, size=EM, inline=not block).svgxml()
    _, top, width, height = map(float, svg.get("viewBox").split())
    size = f"width: {width / EM:.3f}em; height: {height / EM:.3f}em"
    below = f"vertical-align: {-(top + height) / EM:.3f}em"  # the line on which letters stand
    svg.attrib |= {"class": "math", "role": "img", "aria-label": tex, "style": f"{size}; {below}"}
    drawn = ElementTree.tostring(svg, encoding="unicode")
    translator.body.append(f'<div class="math">{drawn}</div>' if block else drawn)
    raise nodes.SkipNode


NUMBER = re.compile(r"[-+±~<≈]?\.?\d[\d.,]*([ x%]|$)|-?$")  # how a cell with one begins


def set_numbers_right(app, doctree, page):
    """Columns of numbers end on one line, their headings too."""
    for table in doctree.findall(nodes.tgroup):
        head = [row for part in table.findall(nodes.thead) for row in part.children]
        body = [row for part in table.findall(nodes.tbody) for row in part.children]
        for cells in zip(*body, strict=False):
            texts = [cell.astext().strip() for cell in cells]
            if any(texts) and all(NUMBER.match(text) and len(text) < 20 for text in texts):
                column = cells[0].parent.index(cells[0])
                for row in (*head, *body):
                    row[column]["classes"].append("number")


def set_example_first(app, what, name, thing, options, lines):
    """A class's example comes after the first sentence: readers look for it first."""
    heads = [k for k in range(len(lines) - 1) if re.fullmatch("-{3,}", lines[k + 1].strip())]
    names = [lines[k].strip() for k in heads]
    if what != "class" or "Examples" not in names[1:]:
        return
    at = names.index("Examples")
    end = heads[at + 1] if at + 1 < len(heads) else len(lines)
    example = lines[heads[at] : end]
    lines[heads[at] : end] = []
    first = lines.index("") + 1
    lines[first:first] = [*example, ""]


TEXTS = {}  # the pages, as search.js gives them to a search without a server


OPTION = re.compile(r'<span class="pre">(?=--?[a-z])')


def mark_options(app, page, template, context, doctree):
    """Options as they are typed, which no line may break."""
    if doctree is not None:
        context["body"] = OPTION.sub('<span class="pre option">', context["body"])


def note_text(app, page, template, context, doctree):
    if doctree is not None:
        TEXTS[page] = re.sub(r"<svg.*?</svg>", "", context["body"], flags=re.S)
    if page == "search":
        app.add_js_file("search.js", priority=100)  # before Sphinx's own


def write_texts(app, error):
    if error is None:
        path = Path(app.outdir, "_static", "texts.js")
        path.write_text(f"const TEXTS = {json.dumps(TEXTS)};", encoding="utf-8")


TRY = "docs/try"


def add_model(app, page, template, context, doctree):
    if page == TRY:
        app.add_js_file("try_wasm.js")
        app.add_js_file("try.js")


def write_model(app, error):
    """The model of Try it, as text: a page that was opened as a file may read no other file."""
    if error is not None:
        return
    made = Path(app.doctreedir, "streamptron.wasm")
    tool = [sys.executable, str(Path(app.confdir).parent / "tools" / "wasm.py")]
    text = "null"
    if not subprocess.run([*tool, "--missing"], check=True, capture_output=True).stdout.strip():
        subprocess.run([*tool, str(made)], check=True)
        text = f'"{base64.b64encode(made.read_bytes()).decode()}"'
    path = Path(app.outdir, "_static", "try_wasm.js")
    path.write_text(f"const TRY_WASM = {text};\n", encoding="utf-8")


def setup(app):
    app.connect("source-read", show_pictures)
    app.connect("doctree-resolved", set_numbers_right)
    app.connect("autodoc-process-docstring", set_example_first, priority=100)  # before napoleon
    app.connect("html-page-context", mark_options)
    app.connect("html-page-context", note_text)
    app.connect("build-finished", write_texts)
    app.connect("html-page-context", add_model)
    app.connect("build-finished", write_model)
    app.add_html_math_renderer("svg", (show_math, None), (show_math, None))
