"""What docs/c.md shows compiles without a warning and runs, also before anything was learned."""

import re
import subprocess

import pytest

from tests.support.library import needs_compiler, program
from tests.support.project import ROOT

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

SNIPPETS = re.findall(
    r"^```c\n(.*?)^```$", (ROOT / "docs" / "c.md").read_text("utf-8"), re.M | re.S
)
LEARNERS = ["adaptive", "multilabel", "ranking", "adaptive", "adaptive", "adaptive"]

SAID = {
    (0, "untrained"): "it has learned nothing yet\n",
    (0, "trained"): "ham\n",
}

# What the page takes as there: each snippet is a function.
BEFORE = """
#include "streamptron.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spt_error error = SPT_ERROR;
static spt_model *model, *since, *base, *one, *other, *merged;
static spt_event *event;
static const char *text = "a prize", *links[] = {"a prize", "the meeting"}, *path = "saved";
static const void *deltas[1];
static size_t n = 7, n_links = 2, clicked = 1, lengths[1], n_deltas = 1;
static unsigned long worker = 3;

void log_it(const char *words)
{
    printf("error: %s\\n", words);
}

static void need(int code)
{
    if (code == SPT_OK)
        return;
    log_it(error.words);
    exit(1);
}

void send_it(const void *delta, size_t length)
{
    void *kept = malloc(length + 1);
    memcpy(kept, delta, length);
    deltas[0] = kept;
    lengths[0] = length;
}

static spt_model *copied(const spt_model *from)
{
    spt_model *to;
    void *p;
    size_t length;
    need(spt_save_memory(from, &p, &length, &error));
    need(spt_open_memory(p, length, 0, &to, &error));
    spt_free(p);
    return to;
}

static void teach(spt_model *it, const char *label)
{
    spt_event *its;
    need(spt_event_new(it, &its, &error));
    if (spt_is_ranking(it))
        need(spt_event_candidate(its, &error));
    need(spt_event_text(its, text, strlen(text), &error));
    size_t length = strlen(label);
    if (spt_is_ranking(it))
        need(spt_learn(it, its, 0, 1.0, &error));
    else if (spt_is_multilabel(it))
        need(spt_learn_set_as(it, its, &label, &length, NULL, 1, 1.0, &error));
    else
        need(spt_learn_as(it, its, label, length, 1.0, &error));
    spt_event_free(its);
}

static void snippet(void);

int main(int argc, char **argv)
{
    need(spt_new(argv[1], "{}", "{}", &model, &error));
    for (int i = 0; argc > 2 && i < 4; i++)
        teach(model, i % 2 ? "ham" : "spam");
    need(spt_save(model, "spam.model", &error));
    since = copied(model);
    base = copied(model);
    if (argc > 2 && !spt_is_ranking(model))
        teach(model, "ham");
    one = copied(model);
    other = copied(base);
    need(spt_event_new(model, &event, &error));
    snippet();
    spt_event_free(event);
    spt_model *made[] = {model, since, base, one, other, merged};
    for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
        spt_close(made[i]);
    (void)links, (void)path, (void)n, (void)n_links, (void)clicked, (void)worker, (void)n_deltas;
    free((void *)(unsigned long)deltas[0]);
    return 0;
}

static void use(void *p)
{
    (void)p;
}
"""


def ended(snippet):
    """What the page leaves to its reader: what was made is freed, what was asked is not read."""
    end = ""
    if "spt_model *model;" in snippet:
        end += "spt_event_free(event); spt_close(model);"
    if "best[3]" in snippet:
        end += "use(best);"
    return snippet + end


@pytest.mark.parametrize("kind", ["untrained", "trained"])
@pytest.mark.parametrize("i", range(len(SNIPPETS)))
def test_what_the_page_shows_runs(i, kind, tmp_path):
    lines = ended(SNIPPETS[i]).replace('#include "streamptron.h"\n', "")
    source = tmp_path / "page.c"
    source.write_text(f"{BEFORE}\nstatic void snippet(void)\n{{\n{lines}\nuse(NULL);\n}}\n")
    made = program(f"page-{i}", source=source)
    words = [made, LEARNERS[i], *["yes"] * (kind == "trained")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == SAID.get((i, kind), "")  # no error
