"""The size of the code, and the part that one judgement, one command or one task touches.

`python -m benchmarks.house` prints its own checkout, part by part; `--against COMMIT` adds the
sizes of that commit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, Union, get_args, get_origin

import typer
from pydantic import BaseModel

from nuggetjudge.cli.app import app
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.views.printing import Format, print_view
from nuggetjudge.views.table import Column, Kind, Row, Table, View

ROOT = Path(__file__).resolve().parents[1]
APART = ("tests", "benchmarks", "docs", "examples")  # no part of what is installed
SHORT = 50  # lines of a file that may be too small for a subject

# What runs in a process of its own: every file of the package in which a function is called.
_ENTERED = """
import sys, threading
from pathlib import Path
package = str(Path(sys.argv.pop(1)).resolve())
seen = set()
def note(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        seen.add(frame.f_code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
from nuggetjudge.cli import main
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
found = {str(Path(name).resolve()) for name in seen if name.startswith("/")}
names = sorted(
    name.removeprefix(package + "/")
    for name in found
    if name.startswith(package) and ".venv" not in name
)
sys.stdout.write("\\n" + "ENTERED " + " ".join(names) + "\\n")
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables. Returns: the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", help="sizes of then beside those of now")
    parser.add_argument("--format", type=Format, default=Format.TABLE, choices=list(Format))
    options = parser.parse_args(arguments)
    view = View(tables=[_sizes(options.against), _measures()])
    print_view(view, options.format)
    return 0


def part_of(path: str) -> str:
    """The part of the house that a file of Python belongs to; "": none."""
    first, *rest = PurePosixPath(path).parts
    if first == "plugins":
        return f"plugins/{rest[0]}" if len(rest) > 1 else "core"
    return first if first in APART else "core"


def _sizes(against: str | None) -> Table:
    columns = [Column("part", Kind.NAME), Column("files", Kind.COUNT), Column("lines", Kind.COUNT)]
    columns += [Column("short", Kind.COUNT, f"under {SHORT} lines")]
    now = _count(_lines_of("git", "ls-files", "*.py"), lambda path: (ROOT / path).read_bytes())
    then = {}
    if against:
        columns += [Column("files_then", Kind.COUNT, f"files {against}")]
        columns += [Column("lines_then", Kind.COUNT, f"lines {against}")]
        names = _lines_of("git", "ls-tree", "-r", "--name-only", against)
        then = _count((n for n in names if n.endswith(".py")), partial(_content, against))
    parts = sorted({*now, *then} - {"docs", "examples"}, key=lambda part: (part != "core", part))
    rows = []
    for part in parts:
        files, lines, short = now.get(part, (0, 0, 0))
        before = then.get(part, (0, 0, 0))[:2] if against else ()
        rows.append(Row([part, files, lines, short, *before]))
    return Table("Python by part", columns, rows)


def _count(paths: Any, read: Callable[[str], bytes]) -> dict[str, tuple[int, int, int]]:
    """By part: files, lines, and files that are short, `__init__` apart."""
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    short: Counter[str] = Counter()
    for path in paths:
        if (part := part_of(path)) and not path.startswith("src/"):
            n = read(path).count(b"\n")
            files[part] += 1
            lines[part] += n
            short[part] += n < SHORT and not path.endswith("__init__.py")
    return {part: (files[part], lines[part], short[part]) for part in files}


def _content(commit: str, path: str) -> bytes:
    return subprocess.check_output(["git", "show", f"{commit}:{path}"], cwd=ROOT)


def _lines_of(*command: str) -> list[str]:
    return subprocess.check_output(command, cwd=ROOT, text=True).splitlines()


def _measures() -> Table:
    entered = files_entered()
    folders = {PurePosixPath(path).parent for path in entered}
    settings = list(_settings(Config, set()))
    rows: list[tuple[str, int]] = [
        ("commands", len(list(_commands(typer.main.get_command(app))))),
        ("options of all commands, --help apart", _n_options()),
        ("settings of a config, each section once", len(settings)),
        ("files in which `judge run support` calls a function", len(entered)),
        ("folders of these", len(folders)),
    ]
    columns = [Column("measure", Kind.TEXT), Column("n", Kind.COUNT)]
    return Table("What one touches", columns, [Row(row) for row in rows])


def _commands(command: Any) -> Iterator[Any]:
    """This command if it can be run, and those below it."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    if not names:
        yield command
    for name in names:
        yield from _commands(command.get_command(None, name))


def _n_options() -> int:
    commands = _commands(typer.main.get_command(app))
    return sum(param.param_type_name == "option" for each in commands for param in each.params)


def _settings(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    seen.add(model)
    for name, field in model.model_fields.items():
        sections = [each for each in _types(field.annotation) if issubclass(each, BaseModel)]
        if not sections:
            yield f"{model.__name__}.{name}"
        for section in sections:
            if section not in seen:
                yield from _settings(section, seen)


def _types(annotation: Any) -> Iterator[type]:
    """The classes in an annotation, unions and lists opened."""
    if get_origin(annotation) in (Union, UnionType) or get_args(annotation):
        for each in get_args(annotation):
            yield from _types(each)
    elif isinstance(annotation, type):
        yield annotation


def files_entered() -> list[str]:
    """The files of the package in which `judge run support` on the example calls a function."""
    with TemporaryDirectory() as out:
        config = ROOT / "examples" / "demo" / "judge.yaml"
        arguments = ["run", "support", "--config", str(config), "--out", f"{out}/results"]
        ran = subprocess.run(
            [sys.executable, "-c", _ENTERED, str(ROOT), *arguments],
            capture_output=True,
            text=True,
            check=True,
            cwd=out,
        )
    return ran.stdout.rpartition("ENTERED ")[2].split()


if __name__ == "__main__":
    sys.exit(main())
