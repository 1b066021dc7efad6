"""Every example in a docstring is true: one list of all modules that have one."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "nuggetjudge"
FOLDERS = sorted(p for p in PACKAGE.iterdir() if (p / "__init__.py").is_file())
MODULES = [
    "nuggetjudge." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted(folder.resolve().rglob("*.py"))
    for path in [folder / path.relative_to(folder.resolve())]
    if ">>> " in path.read_text(encoding="utf-8")
]


# Examples that an extra must be there for, which tests/dense and tests/lucene run.
OF_EXTRAS = {
    "dense": ["nuggetjudge.retrieval.encoders.SentenceEncoder"],
    "lucene": [
        "nuggetjudge.retrieval.lucene.java.start_java",
        "nuggetjudge.retrieval.lucene.lucene.Lucene",
    ],
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    module = importlib.import_module(name)
    elsewhere = {name: extra for extra, names in OF_EXTRAS.items() for name in names}
    here = [found for found in examples(module) if found not in elsewhere]
    if not here:
        extras = ", ".join(sorted({elsewhere[found] for found in examples(module)}))
        pytest.skip(f"needs the extra {extras}: make test-{extras}")
    for found in here:
        check_example(found, module)


@pytest.mark.parametrize("name", [name for names in OF_EXTRAS.values() for name in names])
def test_an_example_of_an_extra_is_there(name: str) -> None:
    assert name in examples(importlib.import_module(name.rpartition(".")[0]))


def examples(module: ModuleType) -> list[str]:
    """Full names of what has an example."""
    return [found.name for found in doctest.DocTestFinder().find(module) if found.examples]


def check_example(name: str, module: ModuleType) -> None:
    """Run the examples of a function, class or module."""
    runner = doctest.DocTestRunner()
    (test,) = (found for found in doctest.DocTestFinder().find(module) if found.name == name)
    assert runner.run(test).failed == 0
