"""What the package says of itself agrees, wherever it is said."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import streamptron
from streamptron.cli import main
from streamptron.estimator.base import Estimator
from streamptron.learners import LEARNERS, OWN
from tests.support.processes import environment
from tests.support.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_version_is_written_in_one_place(capsys):
    files = [
        *ROOT.glob("streamptron/**/*.p*"),
        *ROOT.glob("docs/*.md"),
        *(ROOT / name for name in ("pyproject.toml", "setup.py", "README.md", "Makefile")),
    ]
    assert len(files) > 40
    said = [
        str(file.relative_to(ROOT))
        for file in files
        if file.suffix not in (".pyc", ".pyd")
        and streamptron.__version__ in file.read_text("utf-8")
    ]
    assert said == [str(Path("streamptron", "__init__.py"))]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"streamptron {streamptron.__version__}\n"


def test_changelog_opens_with_this_version():
    (first,) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[:1]
    assert first == streamptron.__version__


def test_extra_all_is_every_other_extra_but_spark_which_is_larger_than_all():
    extras = dict(PROJECT["project"]["optional-dependencies"])
    (all_of_them,) = extras.pop("all")
    del extras["spark"]
    assert re.fullmatch(r"streamptron\[(.*)\]", all_of_them)[1].split(",") == sorted(
        extras, key=all_of_them.index
    )


def test_same_pythons_are_supported_tried_and_built_for():
    supported = [
        found[1]
        for line in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert len(supported) >= 4
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp{version.replace('.', '')}-*" for version in supported]
    assert f"for version in {' '.join(supported)};" in (ROOT / ".ci" / "pythons").read_text("utf-8")


def test_every_learner_that_users_import_is_in_the_list_with_its_own_parameters():
    public = {getattr(streamptron, name) for name in streamptron.__all__}
    learners = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Estimator)}
    assert learners == set(LEARNERS.values())
    parameters = [set(kind()._get_params()) for kind in LEARNERS.values()]
    # AROW keeps no average; what that needs is said by options of its own. All but one pair
    # features, and all but one take any labels: these options say themselves who does not.
    shared = set.intersection(*parameters) | {"max_labels", "interactions", "max_pairs"}
    assert set.union(*parameters) - shared == set(OWN)


def test_import_loads_nothing_that_it_can_leave_for_later():
    code = (
        "import sys, numpy, river.base; before = set(sys.modules); import streamptron; "
        "later = {'json', 'streamptron.journal', 'streamptron.merging', 'streamptron.ranking', "
        "'streamptron.tickets', 'streamptron.voted', 'streamptron.modelfile.read'}; "
        "print(later & (set(sys.modules) - before) or 'nothing')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "nothing\n"
