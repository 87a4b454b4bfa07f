"""The site: what Sphinx makes of the pages in docs/ and beside it. `make docs` builds it."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

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
html_title = "streamptron"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
highlight_language = "none"

plot_formats = ["svg"]
plot_html_show_source_link = False
plot_html_show_formats = False
plot_rcparams = {"figure.figsize": (6.4, 4.4), "svg.fonttype": "none"}
plot_apply_rcparams = True

EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)


def show_pictures(app, page, source):
    """Python on a page with pictures is run, and its pictures stand below it.

    A program is run alone; what is shown as at a prompt goes on from what came before it.
    """

    def add_picture(found):
        options = "   :context: close-figs\n" if ">>> " in found[1] else ""
        if drawn := re.findall(r"\bplot\.\w+(?=\()", found[1]):
            options += f"   :alt: the picture of {drawn[-1]}\n"
        code = re.sub(r"^(?=.)", "   ", found[1], flags=re.M)
        return f"{found[0]}\n```{{eval-rst}}\n.. plot::\n{options}\n{code}```\n"

    if "plt.subplots(" in source[0]:
        source[0] = EXAMPLE.sub(add_picture, source[0])
    source[0] = source[0].replace("\n\n```\n", "\n```\n")  # the blank line is for doctest


def show_math(translator, node):
    """A formula as MathML, which browsers show by themselves: nothing is loaded for it."""
    block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def setup(app):
    app.connect("source-read", show_pictures)
    app.add_html_math_renderer("mathml", (show_math, None), (show_math, None))
