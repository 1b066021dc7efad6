"""The package as a whole: light to import, layered, and free of this machine's traces."""

import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from glob import glob
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("dspy", "litellm", "torch", "scipy", "sklearn", "numpy", "aiohttp")
ROWS = "nuggetjudge.records.rows"  # types of all rows, which no page of help needs
HELP_STARTS = 16


def python(code, **options):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)


def loaded_after(code, names=HEAVY):
    """Which of these, or of the heavy packages, stand in sys.modules after running some code."""
    program = f"{code}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"
    return set(python(program).stderr.split()) & set(names)


def cpu_s(*arguments):
    """The least CPU time of five starts of Python with these arguments."""
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def test_judge_help_costs_a_few_bare_starts_of_python():
    # A ratio, since a busy machine slows both; a bare start takes about 0.02 s.
    assert cpu_s("-m", "nuggetjudge", "--help") < HELP_STARTS * cpu_s("-c", "pass")


HELP = (
    ["--help"], ["run", "--help"], ["agree", "--help"],
    pytest.param(["build", "crux", "--help"], marks=pytest.mark.whole),
)  # fmt: skip


@pytest.mark.parametrize("arguments", HELP)
def test_help_loads_nothing_heavy(arguments):
    code = f"""
import sys
from nuggetjudge.cli import main
sys.argv = ["judge", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert loaded_after(code, {*HEAVY, ROWS}) == set()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import nuggetjudge") == set()


def test_reading_and_writing_records_needs_no_model_library():
    loaded = loaded_after("from nuggetjudge.records import *")
    assert not loaded & {"dspy", "litellm", "torch", "scipy", "sklearn", "aiohttp"}


@pytest.mark.whole
def test_people_label_without_waiting_for_what_asks_models():
    """DSPy alone takes a second, of the two in which the first item is to be there."""
    code = """
from nuggetjudge.plugins.annotate.server import labelling, serving, watching
from nuggetjudge.plugins.annotate.work import task
from nuggetjudge.programs.protocols.table import programs
programs()
"""
    assert loaded_after(code) <= {"numpy"}


def test_importing_everything_configures_nothing(tmp_path):
    (tmp_path / ".env").write_text("TIDE_PLANTED=1\n", encoding="utf-8")
    code = """
import logging, os
before = dict(os.environ), list(logging.getLogger().handlers), logging.getLogger().level
import nuggetjudge.programs.run, nuggetjudge.cli, nuggetjudge.judges, nuggetjudge.metrics
import dspy
after = dict(os.environ), list(logging.getLogger().handlers), logging.getLogger().level
assert "TIDE_PLANTED" not in os.environ
assert before[1:] == after[1:], (before[1:], after[1:])
assert dspy.settings.lm is None
"""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    python(code, cwd=tmp_path, env=env)


def test_public_names_are_what_they_say():
    code = """
import nuggetjudge as nj
for name in nj.__all__:
    getattr(nj, name)
assert callable(nj.run)
try:
    nj.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError
"""
    python(code)


@pytest.mark.parametrize("folder", ["judges", "retrieval"])
def test_names_that_load_when_they_are_used_are_there(folder):
    module = importlib.import_module(f"nuggetjudge.{folder}")
    assert all(getattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


def test_folders_import_each_other_only_along_the_arrows():
    tool = Path(sys.executable).with_name("lint-imports")
    if not tool.exists():
        pytest.skip("import-linter is not installed here")
    ran = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 kept, 0 broken" in ran.stdout


@pytest.fixture(scope="module")
def tracked():
    """The project's own text files by their names."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8", "replace")
        for path in paths
        if path.is_file() and not path.is_symlink()
    }


def test_no_file_names_a_path_of_some_machine(tracked):
    home = re.compile(r"(?<![\w.~/-])/(?:home|root|Users|work|tmp|mnt|opt|var/folders)/\w")
    named = {
        name: line
        for name, text in tracked.items()
        for line in text.splitlines()
        if home.search(line) and name != "tests/test_package.py"
    }
    assert named == {}


def test_no_file_names_a_package_index(tracked):
    setting = r"(?:--(?:extra-)?index-url|\b(?:PIP|UV)_\w*INDEX\w*)[ =]+\S*//"
    index = re.compile(rf"{setting}|pypi\.org/simple|/simple/?\b")
    named = {
        name: line
        for name, text in tracked.items()
        for line in text.splitlines()
        if index.search(line) and name != "tests/test_package.py"
    }
    assert named == {}


def test_the_constraints_are_names_and_versions_only():
    line = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+( ; [^/]+)?")
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 30
    assert [text for text in lines if not line.fullmatch(text)] == []


def _matching(root, pattern):
    """As setuptools finds package data: `**` is any folders, links among them."""
    return {str(Path(path).relative_to(root)) for path in glob(f"{root}/{pattern}", recursive=True)}


@pytest.mark.whole
def test_every_data_file_beside_the_code_ships_with_it(tracked):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = {
        path
        for package, names in settings["tool"]["setuptools"]["package-data"].items()
        for name in names
        for path in _matching(ROOT / "src", f"{package.replace('.', '/')}/{name}")
    }
    linked = {p.name for p in (ROOT / "src" / "nuggetjudge").iterdir() if p.is_symlink()}
    folders = tuple(f"{name}/" for name in linked - {"examples"})
    beside = {name for name in tracked if name.startswith(folders) and not name.endswith(".py")}
    assert {"plugins/lab/probe/payloads.jsonl", "records/__init__.pyi"} <= beside
    assert {f"nuggetjudge/{name}" for name in beside} <= shipped


def test_every_folder_of_code_is_linked_into_the_package():
    package = ROOT / "src" / "nuggetjudge"
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"benchmarks"}
    linked = {path.name for path in package.iterdir() if path.is_symlink()}
    assert folders <= linked
    for name in linked:
        assert (package / name).resolve() == ROOT / name
        assert os.readlink(package / name) == f"../../{name}"


@pytest.mark.parametrize("broken", ["plain file", "missing", "dangling"])
@pytest.mark.parametrize("folder", ["agents", "records", "views"])
def test_a_source_that_lost_its_links_says_so_and_how_to_get_them(folder, broken, tmp_path):
    package = ROOT / "src" / "nuggetjudge"
    for name in (path.name for path in package.iterdir() if path.is_dir() and path.name != folder):
        (tmp_path / name).mkdir()
    if broken == "plain file":  # as zip files and Git on Windows unpack a link
        (tmp_path / folder).write_text(f"../../{folder}", encoding="utf-8")
    elif broken == "dangling":
        (tmp_path / folder).symlink_to(tmp_path / "nowhere")
    for name in ("__init__.py", "__init__.pyi"):
        shutil.copy(package / name, tmp_path)
    with pytest.raises(
        ImportError, match=rf"{folder} is not a folder: .* git checkout -f"
    ) as raised:
        import_from(tmp_path)
    assert "\n" not in str(raised.value)
    (tmp_path / folder).unlink(missing_ok=True)
    (tmp_path / folder).mkdir()
    if (tmp_path / "plugins").exists():
        (tmp_path / "plugins").rmdir()  # nothing that is not core is needed
    assert import_from(tmp_path).__version__


def test_every_folder_of_the_core_has_to_be_there():
    import nuggetjudge

    package = ROOT / "src" / "nuggetjudge"
    linked = {path.name for path in package.iterdir() if path.is_symlink()}
    assert set(nuggetjudge._CORE) == linked - {"examples", "plugins"}


def import_from(folder):
    """The package of a folder, under a name of its own."""
    spec = importlib.util.spec_from_file_location("linkless", folder / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
