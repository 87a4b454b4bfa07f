"""The library as strangers embed it: examples/embed/, its header, its symbols, its threads."""

import re
import shutil
import subprocess
import sys

import pytest

from streamptron import AdaptiveClassifier, MultiLabelClassifier, Tokenizer, load
from tests.support.library import (
    COMPILER,
    ENGINE,
    SANITIZED,
    called,
    folder,
    needs_compiler,
    program,
)
from tests.support.project import ROOT

TABLES = ("sp_letters_", "sp_folding_")  # hidden, but known to more than one file

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

EMBED = ROOT / "examples" / "embed"
TEXTS = ["win a free prize now", "see you at the meeting", "a prize, free", "écris-moi", ""]


def needs(tool):
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"there is no {tool}")


@pytest.fixture
def model(tmp_path):
    """A pipeline, and its file."""
    pipeline = Tokenizer(ngram_range=(1, 2)) | AdaptiveClassifier(hash_seed=1)
    for _ in range(3):
        for text, label in zip(TEXTS, ("spam", "ham", "spam", "ham"), strict=False):
            pipeline.learn_one(text, label)
    pipeline.save(tmp_path / "model")
    return pipeline, tmp_path / "model"


def answers(pipeline):
    """What the filters print of TEXTS."""
    for text in TEXTS:
        label = pipeline.predict_one(text)
        yield f"{label}\t{pipeline.predict_proba_one(text)[label]:.4f}"


def filtered(command, lines=TEXTS):
    text = "".join(f"{line}\n" for line in lines)
    return called(*map(str, command), input=text, encoding="utf-8").splitlines()


def in_c(name):
    return program(f"embed-{name}", source=EMBED / f"{name}.c")


def test_the_line_filter_in_c_answers_and_learns(model, tmp_path):
    pipeline, path = model
    assert filtered([in_c("filter"), path]) == list(answers(pipeline))
    saved = tmp_path / "saved"
    labelled = ["ham\tfree lunch at the meeting", "news\telections today"]
    filtered([in_c("filter"), path, saved], labelled)
    for line in labelled:
        label, text = line.split("\t")
        pipeline.learn_one(text, label)
    pipeline.save(tmp_path / "mine")
    assert saved.read_bytes() == (tmp_path / "mine").read_bytes()
    assert load(saved)[-1].labels == ["spam", "ham", "news"]


def test_a_mail_filters_exit_code(model, tmp_path):
    path = model[1]
    for text, label, code in ((TEXTS[0], "spam", 0), (TEXTS[1], "spam", 1), (TEXTS[1], "ham", 0)):
        command = [in_c("mail"), path, label]
        assert subprocess.run(command, input=text, text=True).returncode == code
    command = [in_c("mail"), tmp_path / "none", "spam"]
    assert subprocess.run(command, input="x", text=True, stderr=subprocess.DEVNULL).returncode == 75


def test_a_tagger_learns_from_corrections(tmp_path):
    pipeline = Tokenizer() | MultiLabelClassifier(hash_seed=1)
    lines = {"oil prices rose": ["oil"], "wheat by ship": ["wheat", "ship"], "no news": []}
    for text, tags in list(lines.items()) * 40:
        pipeline.learn_one(text, tags)
    pipeline.save(tmp_path / "model")
    answers = [
        ",".join(tag for tag in pipeline[-1].labels if pipeline.predict_one(text)[tag])
        for text in lines
    ]
    assert answers == ["oil", "wheat,ship", ""]
    assert filtered([in_c("tags"), tmp_path / "model"], lines) == answers
    taught = ["oil\toil at sea", "!oil,ship", "\tno oil", "!", "ship,gold\tgold at sea", "no news"]
    command = [in_c("tags"), tmp_path / "model", tmp_path / "saved"]
    assert len(filtered(command, taught)) == 4
    learner, event = pipeline[-1], pipeline[0].transform_one
    for text, wrong, right in (("oil at sea", ["oil"], ["oil", "ship"]), ("no oil", [], [])):
        step = learner.learn_one(event(text), wrong, undo=True)
        learner.undo(step)
        learner.learn_one(event(text), right)
    pipeline.learn_one("gold at sea", ["ship", "gold"])
    saved = load(tmp_path / "saved")
    assert saved[-1].labels == learner.labels == ["oil", "wheat", "ship", "gold"]
    for text in (*lines, "gold at sea", "oil at sea"):
        assert saved.predict_proba_one(text) == pipeline.predict_proba_one(text)


@needs("c++")
def test_the_filter_in_cpp(model, tmp_path):
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{folder()}"]
    library, made = folder() / "libstreamptron.a", tmp_path / "filter"
    called("c++", *flags, str(EMBED / "filter.cpp"), str(library), "-lm", "-o", str(made))
    found = filtered([made, model[1]])
    assert found == [line.split("\t")[0] for line in answers(model[0])]
    done = subprocess.run([made, tmp_path / "none"], capture_output=True, text=True)
    assert (done.returncode, "cannot be opened" in done.stderr) == (1, True)


@needs("luajit")
def test_the_filter_in_lua(model):
    command = ["luajit", EMBED / "filter.lua", folder() / "libstreamptron.so", model[1]]
    assert filtered(command) == list(answers(model[0]))


def test_the_filter_by_ctypes(model):
    command = [sys.executable, EMBED / "filter.py", folder() / "libstreamptron.so", model[1]]
    assert filtered(command) == list(answers(model[0]))


@pytest.mark.parametrize("standard", ["c99", "c11", "c++17"])
def test_the_header_is_clean(standard):
    language = "c++" if standard.startswith("c++") else "c"
    compiler = ["c++"] if language == "c++" else COMPILER
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"there is no {compiler[0]}")
    flags = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-fsyntax-only"]
    called(
        *compiler,
        f"-std={standard}",
        *flags,
        "-x",
        language,
        "-",
        input="""
        #include "streamptron.h"
        int main(void) { return spt_interface() == SPT_INTERFACE ? 0 : 1; }
    """,
        cwd=folder(),
    )


@needs("nm")
def test_the_shared_library_has_the_listed_symbols_and_no_others():
    listed = (ENGINE / "library" / "symbols.txt").read_text("utf-8").split()
    printed = called("nm", "-D", "--defined-only", str(folder() / "libstreamptron.so.0"))
    assert sorted(line.split()[-1] for line in printed.splitlines()) == listed == sorted(listed)
    declared = re.findall(r"^SPT_API [^(]*?(\w+)\(", (folder() / "streamptron.h").read_text(), re.M)
    assert sorted(declared) == listed
    printed = called("nm", "-g", "--defined-only", str(folder() / "libstreamptron.a"))
    seen = {line.split()[-1] for line in printed.splitlines() if " " in line}
    assert {name for name in seen - set(listed) if not name.startswith(TABLES)} == set()


def test_it_is_small_and_needs_nothing_but_the_c_library():
    assert (folder() / "libstreamptron.so.0").stat().st_size < 400_000
    if shutil.which("readelf"):
        printed = called("readelf", "-d", str(folder() / "libstreamptron.so.0"))
        needed = re.findall(r"NEEDED.*\[(.*?)\]", printed)
        assert {name.split(".")[0] for name in needed} <= {"libc", "libm", "ld-linux-x86-64"}
        assert "libstreamptron.so.0" in printed


def test_pkg_config_says_how_to_link():
    text = (folder() / "streamptron.pc").read_text("utf-8")
    assert re.search(r"^Version: \d+\.\d+", text, re.M)
    assert "-lstreamptron" in text


def test_every_call_is_on_the_page():
    page = (ROOT / "docs" / "c.md").read_text("utf-8")
    listed = (ENGINE / "library" / "symbols.txt").read_text("utf-8").split()
    assert [name for name in listed if f"`{name}" not in page] == []


def test_many_readers_of_one_model_and_learners_of_their_own():
    assert subprocess.run([program("threads")]).returncode == 0


@pytest.mark.slow
@needs("clang")  # under gcc 12 a program with two versions of a function ends at its start
def test_and_threadsanitizer_sees_nothing_of_it():
    made = program("threads", "-O0", "-g1", "-fsanitize=thread", compiler=("clang",))
    done = subprocess.run([made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_calls_that_cannot_be_say_why_and_change_nothing():
    done = subprocess.run([program("calls", *SANITIZED)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


@pytest.mark.slow
def test_a_file_is_shared_by_processes_and_replaced_meanwhile(tmp_path):
    (Tokenizer() | AdaptiveClassifier(hash_seed=1)).save(tmp_path / "model")
    shared = called(program("files", *SANITIZED), "model", cwd=tmp_path)
    assert shared == "a file in use is replaced"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.slow
def test_memory_may_run_out_at_any_call():
    (folder() / "failing.h").write_text(FAILING)
    done = subprocess.run(
        [program("memory", *SANITIZED, "-include", "failing.h")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


# An allocator of the caller's own, which can be made to fail: what STREAMPTRON_MALLOC is for.
FAILING = """
#ifndef FAILING_H
#define FAILING_H
#include <stddef.h>
void *my_malloc(size_t n);
void *my_calloc(size_t n, size_t size);
void *my_realloc(void *p, size_t n);
void my_free(void *p);
#define STREAMPTRON_MALLOC my_malloc
#define STREAMPTRON_CALLOC my_calloc
#define STREAMPTRON_REALLOC my_realloc
#define STREAMPTRON_FREE my_free
#endif
"""
