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
        "nuggetjudge.retrieval.lucene_index.start_java",
        "nuggetjudge.retrieval.lucene.Lucene",
    ],
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    module = importlib.import_module(name)
    elsewhere = {name: extra for extra, names in OF_EXTRAS.items() for name in names}
    here = [full_name for full_name in examples(module) if full_name not in elsewhere]
    if not here:
        extras = ", ".join(sorted({elsewhere[full_name] for full_name in examples(module)}))
        pytest.skip(f"needs the extra {extras}: make test-{extras}")
    for full_name in here:
        check_example(full_name, module)


@pytest.mark.parametrize("name", [name for names in OF_EXTRAS.values() for name in names])
def test_an_example_of_an_extra_is_there(name: str) -> None:
    assert name in examples(importlib.import_module(name.rpartition(".")[0]))


def examples(module: ModuleType) -> list[str]:
    """Full names of what has an example."""
    return [example.name for example in doctest.DocTestFinder().find(module) if example.examples]


def check_example(name: str, module: ModuleType) -> None:
    """Run the examples of a function, class or module."""
    runner = doctest.DocTestRunner()
    (test,) = (example for example in doctest.DocTestFinder().find(module) if example.name == name)
    assert runner.run(test).failed == 0
