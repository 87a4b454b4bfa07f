"""The tab key: bash, zsh and fish ask the command what may come next."""

import shutil
import subprocess

import pytest

from tests.support.library import needs_compiler
from tests.support.programs import spt
from tests.support.project import ROOT

BASH = """
eval "$(_STREAMPTRON_COMPLETE=bash_source streamptron)"
complete -p streamptron
compopt() { COMPREPLY=("files by $2"); }   # which bash has only while a person types
while read -r -a COMP_WORDS; do
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _streamptron_completion streamptron
    echo "${COMPREPLY[*]}"
    COMPREPLY=()
done
"""
TYPED = {
    "streamptron tr": "train",
    "streamptron train --lea": "--learner --learn-unsure",
    "streamptron train --learner m": "multiclass mira multilabel",
    "streamptron train mai": "files by default",
    "streamptron predict --model mai": "files by default",
    "streamptron plot weights -o pict": "files by default",
    "streamptron plot conf": "confusion",
}


def answers(words, shell, typed=""):
    done = subprocess.run(
        words, input=typed, capture_output=True, text=True, timeout=60, check=False, **shell
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.splitlines()


def test_bash_completes_commands_options_their_words_and_files(shell):
    first, *found = answers(["bash", "-c", BASH], shell, "".join(f"{line}\n" for line in TYPED))
    assert first == "complete -o nosort -F _streamptron_completion streamptron"
    assert found == list(TYPED.values())


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes_them_too(shell):
    (shell["cwd"] / "mail.tsv").touch()
    ask = "_STREAMPTRON_COMPLETE=fish_source streamptron | source; complete -C "
    (command,) = answers(["fish", "-c", ask + "'streamptron tr'"], shell)
    assert command.startswith("train\tLearn from files")
    assert answers(["fish", "-c", ask + "'streamptron train --model mai'"], shell) == ["mail.tsv"]


def test_zsh_is_given_its_functions(told, monkeypatch):
    monkeypatch.setenv("_STREAMPTRON_COMPLETE", "zsh_source")
    code, out, _ = told()
    assert code == 0
    assert out.startswith("#compdef streamptron\n")


def test_a_shell_that_is_not_known_is_told_of_those_that_are(told, monkeypatch):
    monkeypatch.setenv("_STREAMPTRON_COMPLETE", "tcsh_source")
    assert told() == (
        2,
        "",
        "streamptron: error: _STREAMPTRON_COMPLETE=tcsh_source: give bash_source, zsh_source or "
        "fish_source\n",
    )


SPT = ROOT / "program" / "completion"
SPT_TYPED = {
    "spt fi": "filter",
    "spt filter --p": "--pass --positive",
    "spt predict --format j": "jsonl",
    "spt predict --corrections pro": "",
    "spt predict mai": "",
}


@pytest.fixture
def with_spt(shell):
    (shell["cwd"] / "bin" / "spt").symlink_to(spt())
    return shell


@needs_compiler
def test_bash_completes_what_spt_has(with_spt):
    script = BASH.replace("streamptron", "spt").split("\n")
    script[1:3] = [f". {SPT}/bash/spt"]
    script = "\n".join(script).replace(
        "_spt_completion spt", '_spt spt "${COMP_WORDS[-1]}" \\\n        "${COMP_WORDS[-2]}"'
    )
    found = answers(["bash", "-c", script], with_spt, "".join(f"{line}\n" for line in SPT_TYPED))
    assert found == list(SPT_TYPED.values())


@needs_compiler
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes_what_spt_has(with_spt):
    (with_spt["cwd"] / "mail.tsv").touch()
    ask = f"source {SPT}/fish/spt.fish; complete -C "
    (command,) = answers(["fish", "-c", f"{ask} 'spt fi'"], with_spt)
    assert command.startswith("filter\tClassify a mail")
    assert answers(["fish", "-c", f"{ask} 'spt filter --p'"], with_spt) == ["--pass", "--positive"]
    assert answers(["fish", "-c", f"{ask} 'spt predict mai'"], with_spt) == ["mail.tsv"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_can_read_the_function_for_spt():
    subprocess.run(["zsh", "-n", str(SPT / "zsh" / "_spt")], check=True)
