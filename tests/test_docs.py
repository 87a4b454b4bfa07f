"""What README.md and the pages in docs/ show is what happens."""

import doctest
import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which

import matplotlib.pyplot as plt
import pytest

import streamptron
from tests.support.processes import environment
from tests.support.project import ROOT
from tests.support.stranger import STRANGER

PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
}
EXAMPLES = {  # how many there are at least, so that none is lost unseen
    "README.md": 15,
    **{name: 5 for name in PAGES if Path(name).parent.name == "chapter" and "index" not in name},
    str(Path("docs", "choosing.md")): 5,
    str(Path("docs", "migrating.md")): 20,
    str(Path("docs", "files.md")): 30,
    str(Path("docs", "index.md")): 14,
    str(Path("docs", "labels.md")): 15,
    str(Path("docs", "late-labels.md")): 30,
    str(Path("docs", "learning.md")): 12,
    str(Path("docs", "mail.md")): 10,
    str(Path("docs", "matrices.md")): 14,
    str(Path("docs", "merging.md")): 14,
    str(Path("docs", "parameters.md")): 2,
    str(Path("docs", "ranking.md")): 8,
    str(Path("docs", "recipes.md")): 25,
    str(Path("docs", "study.md")): 25,
    str(Path("docs", "tables.md")): 10,
    str(Path("docs", "text.md")): 20,
}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_of_the_page_give_what_it_shows(name):
    try:
        failures, tests = doctest.testfile(
            str(ROOT / name), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS
        )
    finally:
        plt.close("all")
    assert tests >= EXAMPLES[name]
    assert failures == 0


def blocks_of(text):
    """What the blocks of a text show at a shell's prompt: commands and what they print."""
    return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)


def commands_of(block):
    return [line[2:] for line in block.splitlines() if line[:2] == "$ "]


def assert_prints(blocks, folder):
    """A shell in the folder, given the commands of all blocks, prints what they show."""
    script = "\n".join(
        [
            'streamptron() { "$PYTHON" -m streamptron "$@"; }',
            *(
                f"printf '%s\\n' {shlex.quote('$ ' + line)}\n{line} || exit 1"
                for block in blocks
                for line in commands_of(block)
            ),
        ]
    )
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**environment(), "PYTHON": sys.executable, "MPLBACKEND": "agg"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stdout
    shown, printed = (
        re.sub(r"^(seconds) .*| +$", r"\1", text, flags=re.M)
        for text in ("".join(blocks), run.stdout)
    )
    assert printed == shown


def test_the_first_pages_commands_print_what_it_shows(tmp_path):
    pytest.importorskip("click")
    page = PAGES[str(Path("docs", "index.md"))].partition("## The same")[0]
    blocks = blocks_of(page.partition("## A file")[2])
    assert sum(map(len, map(commands_of, blocks))) == 9
    assert_prints(blocks, tmp_path)
    assert (tmp_path / "weights.png").stat().st_size > 1000
    assert streamptron.load(tmp_path / "mail.model")[-1].n_seen == 5


@pytest.mark.parametrize("peer", ["Vowpal Wabbit", "fastText", "bogofilter"])
def test_the_same_job_done_by_another_program_and_here_gives_what_the_page_shows(peer, tmp_path):
    """The other program's commands run where it is installed."""
    pytest.importorskip("click")
    page = PAGES[str(Path("docs", "migrating.md"))]
    blocks = blocks_of(page.partition(f"## {peer}\n")[2].partition("\n## ")[0])
    assert len(blocks) == 3
    programs = {block: block.split()[1] for block in blocks}
    peers = {"vw", "fasttext", "bogofilter"}
    here = [block for block in blocks if programs[block] not in peers or which(programs[block])]
    assert_prints(here, tmp_path)


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
        there = page.parent / path if path else page
        assert there.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", there.read_text("utf-8"), re.M)
            assert heading in [title.lower().replace(" ", "-") for title in headings]


def test_readme_is_a_few_screens_and_the_architecture_a_page():
    assert PAGES["README.md"].count("\n") <= 150
    assert PAGES["ARCHITECTURE.md"].count("\n") <= 70


def test_a_release_is_read_in_a_minute():
    releases = PAGES["CHANGELOG.md"].split("\n## ")[1:]
    assert releases
    assert max(text.count("\n") for text in releases) <= 60


def test_every_page_is_listed_in_the_readme_or_in_its_folders_index():
    for name in PAGES:
        page = Path(name)
        if page.parent.parent == Path("docs"):
            index, link = PAGES[str(page.parent / "index.md")], page.name
        else:
            index, link = PAGES["README.md"], page.as_posix()
        assert page.name == "index.md" or name == "README.md" or f"({link})" in index, name


def test_every_page_of_the_docs_has_a_place_in_the_sites_contents():
    listed = {Path("docs", "index.md")}
    for name, text in PAGES.items():
        for toctree in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
            entries = re.findall(r"^(?:.*<)?([\w./-]+)>?$", toctree, re.M)
            listed |= {Path(name).parent / f"{entry}.md" for entry in entries}
    assert {Path(name) for name in PAGES if name.startswith("docs")} <= listed


@pytest.mark.parametrize(
    "module", ["", ".files", ".metrics", ".plot", ".sklearn", ".sqlite", ".study"]
)
def test_the_reference_has_every_public_name(module):
    reference = "".join(text for name, text in PAGES.items() if "reference" in name)
    shown = re.findall(r"^\.\. auto\w+:: (\S+)$", reference, re.M)
    names = importlib.import_module(f"streamptron{module}").__all__
    assert {f"streamptron{module}.{name}" for name in names} <= {*shown}


def test_a_link_of_the_site_that_leads_nowhere_is_found(tmp_path):
    def complaints(html):
        (tmp_path / "page.html").write_text(f'<p id="here">{html}</p>', encoding="utf-8")
        check = [sys.executable, str(ROOT / ".ci" / "check_links.py"), str(tmp_path)]
        run = subprocess.run(check, capture_output=True, encoding="utf-8")
        assert (run.returncode == 0) == (run.stderr == "")
        return [line.rsplit(": ", 1)[1] for line in run.stderr.splitlines()]

    assert complaints('<a href="#here"><a href="page.html"><a href="https://riverml.xyz/x">') == []
    assert complaints('<a href="#there">') == ["no such place"]
    assert complaints('<a href="page.html#there"><img src="a.svg">') == [
        "no such file",
        "no such place",
    ]


def test_every_page_of_the_chapter_has_a_formula_and_a_picture():
    chapter = [text for name, text in PAGES.items() if (ROOT / name).parent.name == "chapter"]
    assert len(chapter) == 16
    for text in chapter:
        if "{toctree}" not in text:
            assert text.count("$$") >= 2
            assert re.search(r"^>>> _ = plot\.", text, re.M)
