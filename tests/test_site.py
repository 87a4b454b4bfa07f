"""The site as a reader sees it, in a browser: wide and narrow, light and dark.

It needs what the site is made with (`pip install --group docs`) and Chromium. `make docs` runs it
on the site that it has made, of which STREAMPTRON_SITE is the folder.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec

import pytest

import streamptron
from streamptron import MIRA, AdaptiveClassifier, MultiLabelClassifier, Tokenizer, load
from tests.support.browser import CHROMIUM, ask, opened_as_a_file
from tests.support.processes import environment
from tests.support.project import ROOT
from tools import wasm

TOOLS = ("furo", "myst_parser", "sphinx", "sphinx_copybutton", "ziamath")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        None in map(find_spec, TOOLS), reason="the site's tools are missing: pip --group docs"
    ),
]
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"),
    reason="there is no chromium here: apt-get install chromium",
)

WIDTHS = (360, 800, 1100, 1400)  # from a phone on
SOURCES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
BLOCKS = re.compile(r"^```.*?^```", re.M | re.S)
DRAWING = {  # the pages that show pictures, and how many
    page.relative_to(ROOT).with_suffix(".html"): n
    for page in SOURCES
    if (n := "".join(BLOCKS.findall(page.read_text("utf-8"))).count("plt.subplots("))
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if "STREAMPTRON_SITE" in os.environ:
        return ROOT / os.environ["STREAMPTRON_SITE"]
    folder = tmp_path_factory.mktemp("site") / "site"
    make = [str(ROOT / ".ci" / "docs"), sys.executable, str(folder)]
    run = subprocess.run(make, env=environment(), capture_output=True, encoding="utf-8")
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))


def test_there_are_as_many_different_pictures_as_plots(site):
    files = []
    for page, n in DRAWING.items():
        html = (site / page).read_text("utf-8")
        pictures = re.findall(r'<img [^>]*src="([^"]*_images/[^"]+)"', html)  # not the icon
        found = [(site / page).parent / src for src in pictures]
        assert len(found) == n, page
        files += found
    assert len({path.resolve() for path in files}) == len(files) >= 25
    drawn = Counter(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    assert len(drawn) == len(files)


@in_a_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_its_window(site, pages, width):
    # what is wider must lie in a box that scrolls by itself
    script = """
        const found = [];
        const scrolls = (element) => {
            for (let e = element.parentElement; e && e !== page.body; e = e.parentElement)
                if (/auto|scroll/.test(view.getComputedStyle(e).overflowX)
                        && e.getBoundingClientRect().right <= view.innerWidth + 1) return true;
            return false;
        };
        for (const e of page.body.querySelectorAll("article *")) {
            const box = e.getBoundingClientRect();
            if (box.width > 1 && box.right > view.innerWidth + 1 && !scrolls(e))
                found.push(e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60));
        }
        return {width: page.documentElement.scrollWidth, found: found};
    """
    answers = ask(site, pages, script, width)
    wide = {page: it for page, it in answers.items() if it["width"] > width or it["found"]}
    assert not wide


@in_a_browser
@pytest.mark.parametrize("width", WIDTHS[:2])
def test_an_option_stands_in_one_line(site, pages, width):
    script = """
        return [...page.querySelectorAll("article code span.pre")]
            .filter((e) => /^--?[a-z]/.test(e.textContent) && e.getClientRects().length > 1)
            .map((e) => e.textContent);
    """
    answers = ask(site, pages, script, width)
    assert not {page: found for page, found in answers.items() if found}


def test_the_navigation_has_the_headings_of_the_pages_and_no_link_is_a_path(site):
    html = (site / "docs" / "install.html").read_text("utf-8")
    tree = html[html.index('class="sidebar-tree"') :]
    links = re.findall(r'toctree-l1[^"]*"><a [^>]*href="([^"#]+)"[^>]*>([^<]+)</a>', tree)
    assert len(links) > 25
    for target, name in links:
        page = ((site / "docs") / target).read_text("utf-8")
        heading = re.search(r"<h1>(.*?)<a ", page, re.S)[1]
        assert re.sub(r"<[^>]*>", "", heading) == name, target
    readme = (site / "README.html").read_text("utf-8")
    article = readme[readme.index("<article") :]
    texts = [re.sub(r"<[^>]*>", "", text) for text in re.findall(r"<a [^>]*>(.*?)</a>", article)]
    assert "Installing" in texts
    assert not [text for text in texts if text.endswith(".md")]


@in_a_browser
def test_columns_of_numbers_end_on_one_line(site):
    script = """
        return [...page.querySelectorAll("article td")]
            .filter((e) => /^[.\\d]+$/.test(e.textContent.trim()))
            .map((e) => view.getComputedStyle(e.querySelector("p") || e).textAlign);
    """
    (found,) = ask(site, ["docs/choosing.html"], script, 1200).values()
    assert len(found) > 100
    assert found.count("right") > 0.9 * len(found)


def test_the_site_has_a_version_an_icon_and_a_classs_example_before_its_parameters(site):
    html = (site / "docs" / "reference" / "learners.html").read_text("utf-8")
    assert f"streamptron {streamptron.__version__}" in html
    assert '<link rel="shortcut icon" href="../../_static/icon.svg">' in html
    first = html[html.index('id="streamptron.AdaptiveClassifier"') :]
    assert first.index("&gt;&gt;&gt;") < first.index("<strong>eta</strong>")


@in_a_browser
def test_all_formulas_are_drawn_and_are_of_a_readable_size(site, pages):
    # a formula that is an image of its own needs no font; what could not be drawn would be text
    script = """
        return {
            formulas: [...page.querySelectorAll("svg.math")].map((svg) => {
                const box = svg.getBoundingClientRect();
                const em = parseFloat(view.getComputedStyle(svg).fontSize);
                return [svg.getAttribute("aria-label"), box.width / em, box.height / em];
            }),
            raw: page.querySelectorAll("math, merror, .math-error").length,
        };
    """
    answers = ask(site, pages, script, 1200)
    formula = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.S)
    for source in SOURCES:
        page = source.relative_to(ROOT).with_suffix(".html").as_posix()
        text = BLOCKS.sub("", source.read_text("utf-8"))
        text = re.sub(r"^    .*|``.+?``|`[^`]*`", "", text, flags=re.M)
        shown = answers[page]
        assert shown["raw"] == 0
        assert len(shown["formulas"]) == len(formula.findall(text)), page
        for tex, width, height in shown["formulas"]:
            assert 0.2 < width < 60, tex
            assert 0.2 < height < 8, tex
    assert sum(len(shown["formulas"]) for shown in answers.values()) > 40


# How much of each picture is clear, stands out from the page, or is as good as its colour.
DOTS = """
    const ground = view.getComputedStyle(page.body).backgroundColor.match(/\\d+/g).map(Number);
    const found = [];
    for (const img of page.querySelectorAll("article img")) {
        img.loading = "eager";
        await img.decode();
        const canvas = page.createElement("canvas");
        canvas.width = img.naturalWidth;
        canvas.height = img.naturalHeight;
        const pen = canvas.getContext("2d");
        pen.filter = view.getComputedStyle(img).filter;
        pen.drawImage(img, 0, 0);
        const dots = pen.getImageData(0, 0, canvas.width, canvas.height).data;
        let seen = 0, clear = 0, near = 0, inked = 0;
        for (let k = 0; k < dots.length; k += 4) {
            seen += 1;
            if (dots[k + 3] < 8) { clear += 1; continue; }
            if (dots[k + 3] < 200) continue;
            const off = Math.max(...[0, 1, 2].map((c) => Math.abs(dots[k + c] - ground[c])));
            if (off > 150) inked += 1; else if (off < 40) near += 1;
        }
        found.push({src: img.src, clear: clear / seen, inked: inked, near: near / seen});
    }
    return found;
"""


@in_a_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_stands_out_from_its_page_and_is_no_card_on_it(site, theme):
    script = f'page.body.dataset.theme = "{theme}"; {DOTS}'
    answers = ask(site, [page.as_posix() for page in DRAWING], script, 1200)
    for found in answers.values():
        assert found
        for picture in found:
            assert picture["clear"] > 0.2, picture  # the page is seen through it
            assert picture["inked"] > 500, picture  # axes and text
            assert picture["near"] < 0.7, picture


@in_a_browser
def test_the_first_page_shows_output_a_picture_and_how_to_copy_the_commands(site):
    script = """
        await new Promise((done) => setTimeout(done, 500));     // the buttons come by script
        return {
            pictures: [...page.querySelectorAll("article img")].map((img) => img.naturalWidth),
            copied: [...page.querySelectorAll("button.copybtn")].length,
            blocks: page.querySelectorAll("div.highlight pre").length,
            text: page.querySelector("article").textContent,
        };
    """
    (shown,) = ask(site, ["docs/index.html"], script, 1200).values()
    assert shown["pictures"]
    assert min(shown["pictures"]) > 100
    assert shown["copied"] == shown["blocks"] > 8
    assert "progressive error" in shown["text"]


@in_a_browser
def test_search_shows_where_the_words_stand(site):
    script = """
        for (let k = 0; k < 100 && !page.querySelector("p.context"); k++)
            await new Promise((done) => setTimeout(done, 50));
        return [...page.querySelectorAll("#search-results li")].map((li) => li.textContent);
    """
    served = ask(site, ["search.html?q=pocket"], script, 1200)["search.html?q=pocket"]
    filed = opened_as_a_file(site / "search.html", "?q=pocket")
    assert any("Gallant (1990) keeps a copy of the best one" in text for text in served)
    assert "Gallant (1990) keeps a copy of the best one" in re.sub(r"<[^>]*>", "", filed)
    # pages that explain come before the many properties of that name
    assert served[0].startswith("The pocket")


@in_a_browser
def test_nothing_is_loaded_from_elsewhere(site, pages):
    script = """
        const here = (url) => url.startsWith(location.origin) || url.startsWith("data:");
        const loaded = view.performance.getEntriesByType("resource").map((entry) => entry.name);
        const broken = [...page.images].filter((img) => img.complete && !img.naturalWidth);
        return [...loaded.filter((url) => !here(url)), ...broken.map((img) => img.src)];
    """
    answers = ask(site, pages, script, 1200)
    assert not {page: found for page, found in answers.items() if found}


TRAINED = [
    ("win a free prize now", "spam"),
    ("see you at the meeting tomorrow", "ham"),
    ("Écris-moi demain", "ham"),
    ("free money, click here", "spam"),
    ("lunch at noon?", "ham"),
    ("10.0.0.1 refused", "log line"),
    ("a prize, a prize", "spam"),
    ("minutes of the meeting", "ham"),
    ("10.0.0.2 refused", "log line"),
    ("", "ham"),
]
# What the page Try it does when a reader types, and the file that it gives.
TRYING = """
    const at = (name) => page.getElementById(`try-${name}`);
    for (let k = 0; k < 200 && page.getElementById("try").hidden; k++)
        await new Promise((done) => setTimeout(done, 50));
    const events = async (element, name) => {
        element.dispatchEvent(new view.Event(name, {bubbles: true, cancelable: true}));
        await new Promise((done) => setTimeout(done, 20));
    };
    const type = async (text) => { at("text").value = text; await events(at("text"), "input"); };
    const learn = async (text, label) => {
        await type(text);
        at("label").value = label;
        await events(page.querySelector("#try form"), "submit");
    };
    const open = async (digits) => {
        const data = Uint8Array.from(atob(digits), (digit) => digit.charCodeAt(0));
        const files = new view.DataTransfer();
        files.items.add(new view.File([data], "some.model"));
        at("open").files = files.files;
        const before = JSON.stringify(shown());
        await events(at("open"), "change");
        for (let k = 0; k < 200 && JSON.stringify(shown()) === before; k++)
            await new Promise((done) => setTimeout(done, 50));
    };
    const saved = async () => {
        let blob;
        view.URL.createObjectURL = (given) => { blob = given; return "#"; };
        await events(at("save"), "click");
        const data = new Uint8Array(await blob.arrayBuffer());
        return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
    };
    const shown = () => ({
        fault: at("fault").textContent,
        answer: [...at("answer").children].map((line) => line.textContent),
        words: [...at("words").children].map((line) => line.querySelector("span").textContent),
        counts: at("counts").textContent,
    });
"""
made_here = pytest.mark.skipif(
    bool(wasm.missing()), reason=f"the model of Try it cannot be built: no {wasm.missing()}"
)


def saved_file(digits, path):
    path.write_bytes(base64.b64decode(digits))
    return path


def said(model, text):
    """The lines of the page's answer, from Python's probabilities."""
    p = sorted(model.predict_proba_one(text).items(), key=lambda pair: -pair[1])
    return [f"{label}{100 * share:.1f} %" for label, share in p]


@in_a_browser
@made_here
def test_a_model_of_several_labels_answers_and_learns_in_a_page(site, tmp_path):
    model = Tokenizer() | MultiLabelClassifier()
    for text, labels in [("x y", ["a", "b"]), ("y z", ["b"]), ("x z", ["a"]), ("w", [])] * 3:
        model.learn_one(text, labels)
    model.save(tmp_path / "before.model")
    digits = base64.b64encode((tmp_path / "before.model").read_bytes()).decode()
    script = f"{TRYING} await open({json.dumps(digits)}); await type('x y'); const first = shown();"
    script += 'await learn("x v", "a, c"); await learn("v", ""); const file = await saved();'
    script += "return {first, file, last: shown()};"
    (found,) = ask(site, ["docs/try.html"], script, 1100).values()
    p = {label: each[True] for label, each in model.predict_proba_one("x y").items()}
    lines = [f"{label}{100 * p[label]:.1f} %" for label in sorted(p, key=lambda y: -p[y])]
    assert found["first"]["answer"] == lines
    assert found["first"]["fault"] == found["last"]["fault"] == ""
    assert set(found["first"]["words"]) == {"x", "y"}
    model.learn_one("x v", ["a", "c"])
    model.learn_one("v", [])
    loaded = load(saved_file(found["file"], tmp_path / "mine.model"))
    assert loaded[-1].labels == ["a", "b", "c"]
    assert loaded[-1]._file_state()[1] == model[-1]._file_state()[1]  # all arrays


@in_a_browser
@made_here
def test_a_model_that_is_trained_in_a_page_has_pythons_bits(site, tmp_path):
    learned = "".join(f"await learn({json.dumps(x)}, {json.dumps(y)});" for x, y in TRAINED)
    asked = "a free prize at noon"
    script = f"{TRYING} {learned} await type({json.dumps(asked)}); const first = shown();"
    script += 'const file = await saved(); await learn("x", "");'
    script += "return {first, file, last: shown()};"
    (found,) = ask(site, ["docs/try.html"], script, 1100).values()
    loaded = load(saved_file(found["file"], tmp_path / "mine.model"))
    model = Tokenizer() | AdaptiveClassifier(hash_seed=loaded[-1]._file_state()[0]["seed"])
    for x, y in TRAINED:
        model.learn_one(x, y)
    mistakes = model[-1].n_mistakes
    for x in (*(x for x, _ in TRAINED), asked):
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
        assert loaded.explain_one(x) == model.explain_one(x)
    assert loaded[-1]._file_state()[1] == model[-1]._file_state()[1]  # all arrays
    assert found["first"]["answer"] == said(model, asked)
    assert set(found["first"]["words"]) <= {"a", "free", "prize", "at", "noon"}
    assert found["first"]["counts"].startswith(f"10 learned, {mistakes} of them answered wrong")
    assert found["last"]["fault"] == "give the text a label, such as spam"


@in_a_browser
@made_here
def test_a_page_opens_a_readers_own_model_and_says_what_it_cannot(site, tmp_path):
    model = Tokenizer(ngram_range=(1, 2)) | MIRA(hash_seed=1)
    for x, y in TRAINED:
        model.learn_one(x, y)
    model.save(tmp_path / "mine.model")
    mine = base64.b64encode((tmp_path / "mine.model").read_bytes()).decode()
    script = f"""{TRYING}
        await open("{mine}");
        await type("a free prize");
        const opened = shown();
        await open(btoa("no model"));
        const refused = shown();
        await learn("a free lunch", "ham");
        return {{opened, refused, file: await saved()}};
    """
    (found,) = ask(site, ["docs/try.html"], script, 360).values()
    assert found["opened"]["answer"] == said(model, "a free prize")
    assert "is not a model file" in found["refused"]["fault"]
    assert found["refused"]["answer"] == found["opened"]["answer"]
    model.learn_one("a free lunch", "ham")
    model.save(tmp_path / "after")
    assert saved_file(found["file"], tmp_path / "theirs").read_bytes() == (
        (tmp_path / "after").read_bytes()
    )


@in_a_browser
@made_here
def test_the_model_runs_in_a_page_that_was_opened_as_a_file(site):
    html = opened_as_a_file(site / "docs" / "try.html")
    assert "none yet: it has learned no label" in html


def test_without_scripts_the_page_says_what_it_needs(site):
    html = (site / "docs" / "try.html").read_text("utf-8")
    assert '<div id="try" hidden>' in html
    assert "This page needs JavaScript and WebAssembly" in html


@made_here
def test_the_librarys_webassembly_is_small(tmp_path):
    wasm.build(tmp_path / "streamptron.wasm")
    assert (tmp_path / "streamptron.wasm").stat().st_size < 292_000
