"""The tasks here come to the core by entry points alone: no other code knows their names."""

import re
from pathlib import Path

import pytest

import nuggetjudge

ROOT = Path(nuggetjudge.__file__).parent
OWN = ROOT / "plugins" / "trec"
# Names of their judges, ids, files and settings, as code has them.
NAMES = {
    "rubric": r"rubric|criterion_|[\"']criteri|[Cc]riterionJ",
}


def code():
    """Each line of the core and of the other annexes, with where it stands."""
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        for path in sorted(folder.resolve().rglob("*")):
            if path.suffix in (".py", ".pyi", ".js", ".css", ".toml", ".html"):
                name = folder.name / path.relative_to(folder.resolve())
                if not (ROOT / name).is_relative_to(OWN) and folder.name != "examples":
                    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                        yield f"{name}:{number}: {line.strip()}", line


@pytest.mark.parametrize("task", NAMES)
def test_a_task_is_named_nowhere_outside_its_folder(task):
    assert [at for at, line in code() if re.search(NAMES[task], line, re.IGNORECASE)] == []
