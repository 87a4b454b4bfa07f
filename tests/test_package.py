"""What the package says of itself agrees, wherever it is said."""

import ast
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest
from packaging.version import Version

import streamptron
from streamptron.command.cli import main
from streamptron.common.version import RELEASE
from streamptron.estimator.base import Estimator
from streamptron.learners.registry import LEARNERS
from tests.support.processes import environment
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

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
        and re.search(rf"(?<![\d.]){re.escape(RELEASE)}(?![\d.])", file.read_text("utf-8"))
    ]
    assert said == [str(Path("streamptron", "common", "version.py"))]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"streamptron {streamptron.__version__}\n"


def test_installed_version_is_the_release_or_a_commit_before_it():
    assert re.fullmatch(rf"{re.escape(RELEASE)}(\.dev\d+)?", streamptron.__version__)


def test_package_that_is_not_installed_has_a_version_too(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    assert streamptron.__version__ == f"{RELEASE}.dev0"


def test_changelog_opens_with_this_version():
    (first,) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[:1]
    assert first == RELEASE


def repository(folder):
    """A git repository of its own with the files that setup.py asks, and a way to call git."""
    (folder / "streamptron" / "common").mkdir(parents=True)
    (folder / "streamptron" / "a.pyx").touch()
    for name in ("setup.py", "streamptron/common/version.py"):
        shutil.copy(ROOT / name, folder / name)

    def git(*arguments):
        own = ["-c", "user.name=name", "-c", "user.email=name@example.org"]
        subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    return git


def version_in(folder):
    done = setup_py(folder, "--version")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_each_commit_has_a_newer_version_and_the_tagged_one_is_the_release(tmp_path):
    git = repository(tmp_path / "clone")
    found = [Version(version_in(tmp_path / "clone"))]  # no commit yet
    for _ in range(2):
        git("commit", "--quiet", "--allow-empty", "--message", "a commit")
        found.append(Version(version_in(tmp_path / "clone")))
    git("tag", "--annotate", f"v{RELEASE}", "--message", "a release")
    found.append(Version(version_in(tmp_path / "clone")))
    assert found == sorted(set(found))
    assert [str(each).removeprefix(RELEASE) for each in found] == [".dev0", ".dev1", ".dev2", ""]


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_what_is_no_whole_clone_is_built_all_the_same(tmp_path):
    git = repository(tmp_path / "clone")
    for _ in range(3):
        git("commit", "--quiet", "--allow-empty", "--message", "a commit")
    inside = tmp_path / "clone" / "unpacked"  # in a repository of somebody else's
    repository(inside)
    shutil.rmtree(inside / ".git")
    assert version_in(inside) == f"{RELEASE}.dev0"
    (inside / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: streamptron\nVersion: 7.dev3\n")
    assert version_in(inside) == "7.dev3"
    git("add", "setup.py", "streamptron")
    git("commit", "--quiet", "--message", "files")
    shallow = ["git", "clone", "--quiet", "--depth", "1", f"file://{tmp_path / 'clone'}"]
    subprocess.run([*shallow, tmp_path / "shallow"], check=True, capture_output=True)
    assert version_in(tmp_path / "shallow") == f"{RELEASE}.dev0"


def test_extra_all_is_every_other_extra_but_spark_which_is_larger_than_all():
    extras = dict(PROJECT["project"]["optional-dependencies"])
    (all_of_them,) = extras.pop("all")
    del extras["spark"]
    assert re.fullmatch(r"streamptron\[(.*)\]", all_of_them)[1].split(",") == sorted(
        extras, key=all_of_them.index
    )


# Who asks for scipy is River; in a notebook there is IPython; and Python 3.14 has `compression`.
THERE_ANYWAY = {"IPython", "compression", "scipy"}
# what a service shows in a browser
PAGE = ("base.js", "models.html", "models.js", "page.css", "page.js", "page.svg")
INSTALLED_AS = {"sklearn": "scikit-learn", "prometheus_client": "prometheus-client"}


def test_what_is_imported_is_asked_for():
    asked = [
        *PROJECT["project"]["dependencies"],
        *chain.from_iterable(PROJECT["project"]["optional-dependencies"].values()),
    ]
    names = {re.match(r"[\w-]+", one)[0] for one in asked}
    imported = set()
    for path in (ROOT / "streamptron").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.partition(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - THERE_ANYWAY
    assert {"numpy", "river", "sklearn"} <= foreign
    assert {INSTALLED_AS.get(name, name) for name in foreign} - names == set()


def test_every_package_that_is_asked_for_has_an_oldest_version_for_ci_to_try():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *(package for name in extras if name != "all" for package in extras[name]),
    ]
    assert len(asked) > 8
    form = r"[\w-]+>=[\d.]+(,<\d+)?(; .*)?"
    assert [one for one in asked if not re.fullmatch(form, one)] == []
    oldest = {}
    for one in asked:
        oldest.setdefault(one.partition(">=")[0], set()).add(one)
    assert {name: said for name, said in oldest.items() if len(said) > 1} == {}


def test_same_pythons_are_supported_tried_and_built_for():
    supported = [
        found[1]
        for line in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert len(supported) >= 4
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    tags = [f"cp{version.replace('.', '')}" for version in supported]
    assert built == [f"{tag}-*" for tag in [*tags, "cp314t", "cp315t"]]
    assert f"for version in {' '.join(supported)};" in (ROOT / ".ci" / "pythons").read_text("utf-8")


def test_every_learner_that_users_import_is_in_the_list():
    public = {getattr(streamptron, name) for name in streamptron.__all__}
    learners = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Estimator)}
    assert learners == set(LEARNERS.values())


def test_import_loads_nothing_that_it_can_leave_for_later():
    code = (
        "import sys, numpy, river.base; before = set(sys.modules); import streamptron; "
        "later = {'json', *('streamptron.' + name for name in ('keeping.journal', "
        "'keeping.merging', 'keeping.tickets', 'keeping.read', 'learners.ranking', "
        "'learners.voted'))}; "
        "print(later & (set(sys.modules) - before) or 'nothing')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(streamptron.__file__).parents[1],  # not a checkout beside the installed package
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "nothing\n"


def test_all_compiled_modules_lie_in_one_file_and_are_found_there():
    names = [path.relative_to(ROOT) for path in (ROOT / "streamptron").rglob("*.pyx")]
    files = {import_module(".".join(name.with_suffix("").parts)).__file__ for name in names}
    assert len(names) > 10
    assert files == {import_module("streamptron.doors._core").__file__}
    with pytest.raises(ImportError, match="PyInit_nobody"):
        import_module("streamptron.doors.nobody")


def setup_py(folder, *arguments):
    return subprocess.run(
        [sys.executable, "setup.py", "--quiet", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a checkout knows what is its own")
def test_source_package_holds_every_file_of_the_project_and_no_other(tmp_path):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()}
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    done = setup_py(tmp_path, "sdist")
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("dist/*.tar.gz")
    with tarfile.open(archive) as package:
        packed = {file.name.partition("/")[2] for file in package if file.isfile()}
    made = {name for name in packed if name.startswith("streamptron.egg-info/")}
    assert packed - made - {"PKG-INFO", "setup.cfg"} == {
        name for name in files if not name.startswith(".git")
    }


def test_a_wheel_has_stubs_declarations_the_headers_that_they_take_and_no_c(tmp_path):
    done = setup_py(ROOT, "build_py", "--build-lib", str(tmp_path))
    assert done.returncode == 0, done.stderr
    package = tmp_path / "streamptron"
    installed = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
    stubs = {
        path.relative_to(ROOT / "streamptron") for path in (ROOT / "streamptron").rglob("*.pyi")
    }
    declared = {
        path.relative_to(ROOT / "streamptron") for path in (ROOT / "streamptron").rglob("*.pxd")
    }
    headers = {path for path in installed if path.suffix == ".h"}
    page = {Path("service/page", name) for name in ("index.html", *PAGE)}
    assert {path for path in installed if path.suffix != ".py"} == {
        *stubs,
        *declared,
        *headers,
        *page,
        Path("py.typed"),
    }
    included = set()
    for path in (path for path in installed if path.suffix in (".h", ".pxd")):
        code = (package / path).read_text("utf-8")
        for name in re.findall(r'^(?: *# *include|cdef extern from) "(.+)"', code, re.M):
            places = {Path("doors", name), Path("engine", name)}
            included |= places & headers
            assert places & headers or name.startswith(("Python", "pythread")), (path, name)
    assert headers == included
    # `make dist` asks a wheel for the same, after minutes
    runpy.run_path(str(ROOT / ".ci" / "try_installed.py"))["is_complete"](ROOT, package)
    for folder in streamptron.get_include():
        assert Path(folder).is_dir()


def test_setup_stops_where_there_is_nothing_to_compile(tmp_path):
    shutil.copy(ROOT / "setup.py", tmp_path)
    done = setup_py(tmp_path, "--version")
    assert done.returncode == 1
    assert "no .pyx file" in done.stderr
    assert done.stderr.count("\n") == 1


def test_debians_packages_have_this_version_and_every_call_of_the_library():
    folder = ROOT / "packaging" / "debian"
    assert (folder / "changelog").read_text().startswith(f"streamptron ({RELEASE}-")
    calls = (ROOT / "streamptron/engine/library/symbols.txt").read_text().split()
    listed = (folder / "libstreamptron0.symbols").read_text().splitlines()
    assert listed[2:] == [f" {name}@Base 0.1.0" for name in calls]
