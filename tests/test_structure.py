"""The house: no import runs in a circle, and each folder is small and says what lives there."""

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAX_FILES = 20
OTHERS = (".git", ".venv", "build", "dist", "node_modules", "__pycache__")


def files(*suffixes):
    """The project's files of these kinds, each once, though the package links to the folders."""
    for folder, folders, names in ROOT.walk() if hasattr(ROOT, "walk") else _walk(ROOT):
        folders[:] = [name for name in folders if not _is_other(name)]
        yield from (folder / name for name in names if name.endswith(suffixes))


def _walk(root):  # Path.walk comes with Python 3.12
    import os

    return ((Path(folder), folders, names) for folder, folders, names in os.walk(root))


def _is_other(name):
    if name.startswith((".", "_")) or name.endswith(("_cache", ".egg-info")):
        return True
    return name in OTHERS


def circle(graph):
    """The modules of a circle, the first again at the end; None: there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def imports(package, **options):
    """Who imports whom in a package, in functions too, but not what only type checkers read."""
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def test_no_import_runs_in_a_circle():
    imported = imports("nuggetjudge")
    package = ROOT / "src" / "nuggetjudge"
    parts = [part for part in package.iterdir() if part.name != "examples"]
    n_files = sum(len([*part.resolve().rglob("*.py")]) for part in parts if part.is_dir())
    assert len(imported) == n_files + len([*package.glob("*.py")])
    assert circle(imported) is None


def test_a_circle_is_seen_though_one_of_its_imports_is_in_a_function(tmp_path, monkeypatch):
    code = {
        "__init__": "", "one": "from .two import a\n", "two": "def f():\n    from . import one\n",
        "typed": "import typing\nif typing.TYPE_CHECKING:\n    from .two import f\n",
    }  # fmt: skip
    (tmp_path / "circled").mkdir()
    for name, text in code.items():
        (tmp_path / "circled" / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    imported = imports("circled")
    assert imported["circled.typed"] == set()
    assert set(circle(imported)) == {"circled.one", "circled.two"}


def test_no_folder_has_more_than_twenty_files():
    sizes = Counter(path.parent.relative_to(ROOT) for path in files(""))
    assert min(sizes[Path(folder)] for folder in ("docs", "programs/config", "tests/cli")) > 5
    del sizes[Path()]  # where the customer's and the tools' files have to be
    assert {str(folder): n for folder, n in sizes.items() if n > MAX_FILES} == {}


def test_every_folder_of_the_package_says_what_lives_there_and_who_may_import_it():
    package = ROOT / "src" / "nuggetjudge"
    tops = [path.resolve() for path in package.iterdir() if path.is_symlink()]
    modules = [path for path in files(".py") if any(top in path.parents for top in tops)]
    folders = {path.parent for path in modules if ROOT / "examples" not in path.parents}
    assert len(folders) > 25
    for folder in folders:
        about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
        assert "import" in about, folder


def test_no_file_of_code_is_longer_than_600_lines():
    counts = {path: len(path.read_text("utf-8").splitlines()) for path in files(".py")}
    ours = {str(p.relative_to(ROOT)): n for p, n in counts.items() if p.parts[-2] != "examples"}
    assert {name: n for name, n in ours.items() if n > 600} == {}
