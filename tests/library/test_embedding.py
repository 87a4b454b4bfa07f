"""The library as strangers embed it: examples/embed/, its header, its symbols, its threads."""

import functools
import json
import re
import shutil
import subprocess
import sys
import time

import pytest

from streamptron import AdaptiveClassifier, MultiLabelClassifier, Tokenizer, load
from tests.support.library import (
    COMPILER,
    ENGINE,
    SANITIZED,
    alone,
    called,
    folder,
    needs_compiler,
    program,
)
from tests.support.project import ROOT, TESTS

# hidden, but known to more than one file
TABLES = (
    *("sp_letters_", "sp_folding_", "sp_charset_", "sp_hangul_", "sp_entity_"),
    *("sp_html_tags", "sp_tag_rules"),
    *("sp_linear_machine", "sp_wide_machine", "sp_adaptive_machine", "sp_many_machine"),
    *("sp_voted_machine", "sp_multilabel_machine"),
    *("sp_linear_seldom", "sp_wide_seldom", "sp_adaptive_seldom", "sp_many_seldom"),
    *("sp_multilabel_seldom", "sp_seldoms"),
)

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


@functools.cache
def in_cpp():
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{folder()}"]
    library, made = folder() / "libstreamptron.a", folder() / "embed-filter-cpp"
    with alone(made.name) as first:
        if first:
            called("c++", *flags, str(EMBED / "filter.cpp"), str(library), "-lm", "-o", str(made))
    return made


def in_lua():
    return ["luajit", EMBED / "filter.lua", folder() / "libstreamptron.so"]


def by_ctypes():
    return [sys.executable, EMBED / "filter.py", folder() / "libstreamptron.so"]


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
    found = filtered([in_cpp(), model[1]])
    assert found == [line.split("\t")[0] for line in answers(model[0])]
    done = subprocess.run([in_cpp(), tmp_path / "none"], capture_output=True, text=True)
    assert (done.returncode, "cannot be opened" in done.stderr) == (1, True)


@needs("luajit")
def test_the_filter_in_lua(model):
    assert filtered([*in_lua(), model[1]]) == list(answers(model[0]))


def test_the_filter_by_ctypes(model):
    assert filtered([*by_ctypes(), model[1]]) == list(answers(model[0]))
    (line,) = filtered([*by_ctypes(), model[1]], [json.dumps({"message": TEXTS[0], "host": "a"})])
    p = model[0].predict_proba_one(TEXTS[0])["spam"]
    assert json.loads(line) == {"message": TEXTS[0], "host": "a", "label": "spam", "probability": p}


PROGRAMS = {
    "filter.c": lambda: [in_c("filter")],
    "tags.c": lambda: [in_c("tags")],
    "mail.c": lambda: [in_c("mail")],
    "filter.cpp": lambda: [in_cpp()],
    "filter.lua": lambda: in_lua(),
    "filter.py": lambda: by_ctypes(),
}


@pytest.fixture(params=PROGRAMS)
def example(request):
    """A program of examples/embed/, and the command that runs it."""
    tool = {"cpp": "c++", "lua": "luajit"}.get(request.param.partition(".")[2])
    if tool and shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    return request.param, PROGRAMS[request.param]()


def test_every_program_of_the_embed_folder_is_tried():
    assert {path.name for path in EMBED.iterdir() if path.suffix != ".hpp"} == set(PROGRAMS)


def test_a_program_called_wrongly_says_how_it_is_used(example):
    name, command = example
    for words in ([], ["a", "b", "c", "d"]):
        done = subprocess.run(
            [*command, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == (75 if name == "mail.c" else 2)
        assert (done.stdout, done.stderr[:7]) == ("", "usage: ")


def test_a_line_is_answered_before_the_next_one_is_waited_for(example, model, tmp_path):
    name, command = example
    if name == "mail.c":
        return  # a mail is all lines until they end
    path = model[1]
    if name == "tags.c":
        path = tmp_path / "tags"
        (Tokenizer() | MultiLabelClassifier()).save(path)
    with subprocess.Popen(
        [*command, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        for text in TEXTS[:3]:
            process.stdin.write(text + "\n")
            assert process.stdout.readline().endswith("\n")
        process.stdin.close()
    assert process.returncode == 0


def test_the_filter_in_c_takes_a_newer_model_and_keeps_the_old_one_if_that_is_damaged(
    model, tmp_path
):
    pipeline, path = model
    said = tmp_path / "said"
    with (
        open(said, "w") as errors,
        subprocess.Popen(
            [in_c("filter"), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            bufsize=1,
        ) as process,
    ):

        def answer_when(looks_right):
            deadline = time.monotonic() + 60
            while True:
                process.stdin.write("a prize\n")
                label = process.stdout.readline().partition("\t")[0]
                if looks_right(label) or time.monotonic() > deadline:
                    return label
                time.sleep(0.05)

        assert answer_when(lambda label: True) == "spam"  # it is open
        (tmp_path / "new").write_bytes(b"no model")
        (tmp_path / "new").replace(path)
        assert answer_when(lambda label: said.read_text()) == "spam"
        for _ in range(20):
            pipeline.learn_one("a prize", "ham")
        pipeline.save(path)
        assert answer_when(lambda label: label == "ham") == "ham"
        process.stdin.close()
    assert process.returncode == 0
    assert "is not a model file" in said.read_text()


def test_the_filter_in_c_saves_what_it_has_learned_while_lines_come(model, tmp_path):
    saved = tmp_path / "saved"
    with subprocess.Popen(
        [in_c("filter"), model[1], saved], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        process.stdin.write(b"ham\ta prize\n" * 1000)
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not saved.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    assert load(saved)[-1].n_seen == model[0][-1].n_seen + 1000


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
    assert (folder() / "libstreamptron.so.0").stat().st_size < 417_000
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
def test_and_threadsanitizer_sees_nothing_of_it():
    made = program("threads", "-O0", "-g1", "-fsanitize=thread")
    done = subprocess.run([made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


@needs("gcc")  # clang compiles nothing twice
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    "flags",
    [
        "-fsanitize=thread",
        "-fsanitize=address,undefined",
        "-fsanitize=undefined",
        "-fsanitize-coverage=trace-pc -DCOUNTING",
        "-finstrument-functions -DCOUNTING -static",
        "-fstack-protector-all -static",
        "-fstack-protector-all -static-pie -fPIE",
        "-fsplit-stack",
        "-pg",
        "-pg -static",
        "--coverage",
        "-fprofile-generate -static",
        "-flto -Wl,-z,now",
    ],
)
def test_a_program_with_it_starts_under_every_sanitizer_and_profiler(flags, level, tmp_path):
    command = ["gcc", "-std=c11", level, *flags.split(), f"-I{ENGINE}", "-o", tmp_path / "start"]
    command += [TESTS / "library" / "start.c", "-lm"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "cannot find" in made.stderr:  # the library of a sanitizer, or the C library as an archive
        pytest.skip(made.stderr)
    assert made.returncode == 0, made.stderr
    assert called(str(tmp_path / "start"), cwd=tmp_path) == "6 10\n"


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
