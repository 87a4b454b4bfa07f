"""What README.md and the pages in docs/ show is what happens."""

import doctest
import re
from pathlib import Path

import pytest

from tests.support.project import ROOT
from tests.support.stranger import STRANGER

PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
}
EXAMPLES = {  # how many there are at least, so that none is lost unseen
    "README.md": 15,
    str(Path("docs", "files.md")): 30,
    str(Path("docs", "learning.md")): 12,
    str(Path("docs", "matrices.md")): 14,
    str(Path("docs", "merging.md")): 14,
    str(Path("docs", "study.md")): 25,
    str(Path("docs", "text.md")): 20,
}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_of_the_page_give_what_it_shows(name):
    failures, tests = doctest.testfile(
        str(ROOT / name), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS
    )
    assert tests >= EXAMPLES[name]
    assert failures == 0


def test_every_page_with_examples_is_tested():
    shown = {name for name, text in PAGES.items() if re.search(r"^ *>>> ", text, re.M)}
    assert shown == set(EXAMPLES)


def test_cython_of_the_docs_is_the_one_that_the_tests_compile():
    assert STRANGER in PAGES[str(Path("docs", "threads.md"))]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_of_the_page_lead_somewhere(name):
    page = ROOT / name
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[name]):
        path, _, heading = target.partition("#")
        if "://" in target:
            continue
        assert (page.parent / path).exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", (page.parent / path).read_text("utf-8"), re.M)
            assert heading in [title.lower().replace(" ", "-") for title in headings]


def test_readme_is_a_few_screens_and_the_architecture_a_page():
    assert PAGES["README.md"].count("\n") <= 150
    assert PAGES["ARCHITECTURE.md"].count("\n") <= 120


def test_every_page_of_the_docs_is_listed_in_the_readme():
    for name in PAGES:
        assert name == "README.md" or f"({Path(name).as_posix()})" in PAGES["README.md"]
