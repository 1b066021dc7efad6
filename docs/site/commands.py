"""A page for each command of `judge`, an overview, and links to them, as the site is built.

A hook of mkdocs.yml, before pages.py, which puts the pages into the navigation. Help texts are the
docstrings of the commands; an option has the anchor of its name, as in judge-score.html#--by.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import click
import typer
from mkdocs.structure.files import File, Files

from nuggetjudge.cli.app import app
from nuggetjudge.cli.commands import all_commands

FOLDER = "reference/cli"
EXITS = "../../results.md#exit-codes"
WIDTH = 90  # of examples, in characters
MANY = 40  # pages that name a command: then none of them explains it
HEAD = "---\nsearch: {boost: 0.5}\n---\n"  # the page that explains a thing comes first
_OTHER = re.compile("^(learn|decisions|benchmarks|reference)/|/index.md|of-the-papers|architecture")
_OPTION = re.compile(r"(?<![\w`-])--[a-z][\w-]*")
_EXAMPLE = re.compile(r"(?:^|\s)Examples?: ")
_NEXT = re.compile(r"\s(?:/|Then:)\s+(?=judge )")
_CODE = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|``.*?``|`judge ([a-z][^`]*)`")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    texts = {
        file.src_uri: file.content_string
        for file in files.documentation_pages()
        if not _OTHER.search(file.src_uri) and file.abs_src_path
    }
    pages = {slug(name): page(name, texts) for name in contexts() if name}
    pages["index"] = overview()
    for name, text in pages.items():
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=HEAD + text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The first mention of each command, or of an option of one, is a link to its page."""
    name = page.file.src_uri
    return markdown if name.startswith(FOLDER) else linked(markdown, name)


def overview() -> str:
    """One line for each command, in the groups of `judge --help`."""
    parts = [
        f"# Command line\n\n{contexts()[''].command.help}",
        "Every command prints its options with `--help`. `judge --version` prints the version. "
        f"Results go to stdout, everything else to stderr ([exit codes]({EXITS})).",
    ]
    for title, group in groupby(all_commands().items(), key=lambda item: item[1].group):
        rows = []
        for name, command in group:
            rows += [_row(name, command.line), *map(_row, _under(name))]
        parts.append(f"## {title.capitalize()}\n\n" + _table("command", rows))
    return "\n\n".join(parts)


def page(name: str, texts: Mapping[str, str] = MappingProxyType({})) -> str:
    """A command's usage, examples, options by panel, exit codes, and pages that explain it.

    Args:
        texts: pages of docs/ by their paths there.
    """
    context = contexts()[name]
    text, examples, exits = read_help(context.command.help or "")
    below = _under(name)
    panels = {} if below else context.command.list_parameters(context)
    shown = " ".join(names for rows in panels.values() for names, _ in rows)
    own = set(_OPTION.findall(shown))
    parts = [f"# judge {name}", *(_prose(each, own) for each in text)]
    if pages := find_explaining(name, texts):
        parts.append("Explained in: " + " · ".join(pages))
    parts.append(f"```text\n{context.command.get_usage(context).removeprefix('Usage: ')}\n```")
    if examples:
        parts.append("## Examples\n\n```bash\n" + "\n".join(map(_broken, examples)) + "\n```")
    if below:
        parts.append("## Commands\n\n" + _table("command", [*map(_row, below)]))
    if default := getattr(context.command, "default", None):
        parts.append(f"`judge {name}` alone is `judge {name} {default}`.")
    for title, rows in panels.items():
        if title != "Help":
            head = "argument" if title == "Arguments" else "option"
            cells = [
                f"| {_named(names)} | {_prose(help, own, cell=True)} |" for names, help in rows
            ]
            parts.append(f"## {title}\n\n" + _table(head, cells))
    codes = "".join(f"- {each}\n" for each in exits)
    parts.append(f"## Exit codes\n\n{codes}\nAll commands have the same [exit codes]({EXITS}).\n")
    return "\n\n".join(parts)


def _broken(line: str) -> str:
    """A command in lines of at most WIDTH characters, broken before options."""
    first, *more = line.split(" --")
    lines = [first]
    for part in more:
        if len(lines[-1]) + len(part) + 3 > WIDTH:
            lines.append("   ")
        lines[-1] += f" --{part}"
    return " \\\n".join(lines)


def find_explaining(name: str, texts: Mapping[str, str]) -> list[str]:
    """Links to the pages that name a command most often, at most three; none if most pages do."""
    counts = Counter({at: len(re.findall(rf"judge {name}\b", texts[at])) for at in texts})
    if sum(n > 0 for n in counts.values()) > MANY:
        return []
    [(_, most), *_] = counts.most_common(1) or [("", 0)]
    found = [(at, n) for at, n in counts.most_common(3) if n and n >= most / 2]
    kept = [at for i, (at, n) in enumerate(found) if n > 1 or i == 0]
    titles = [texts[at].splitlines()[0].lstrip("# ").split(": ")[0] for at in kept]
    return [f"[{title}](../../{at})" for title, at in zip(titles, kept, strict=True)]


def read_help(text: str) -> tuple[list[str], list[str], list[str]]:
    """The paragraphs of a help text, its examples, and its exit codes with their meanings."""
    prose: list[str] = []
    examples: list[str] = []
    exits: list[str] = []
    for block in text.split("\n\n"):
        block = " ".join(block.split())
        if block.startswith("Exit: "):
            found = re.split(r", (?=\d+ )", block.removeprefix("Exit: ").removesuffix("."))
            exits += [re.sub(r"^(\d+)", r"`\1`", each) for each in found]
            continue
        before, *after = _EXAMPLE.split(block, maxsplit=1)
        prose += [before] if before else []
        examples += _NEXT.split(after[0]) if after else []
    return prose, examples, exits


def linked(text: str, name: str) -> str:
    """Text of a page, with links; what is a link, a heading or a block of code stays."""
    seen: set[str] = set()
    folder = os.path.relpath(FOLDER, PurePosixPath(name).parent)

    def link(found: re.Match[str]) -> str:
        goal = _goal(found[1]) if found[1] else None
        if goal is None or goal in seen:
            return found[0]
        seen.add(goal)
        return f"[{found[0]}]({folder}/{goal})"

    lines, is_code = [], False
    for line in text.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        lines.append(line if is_code or line.startswith("#") else _CODE.sub(link, line))
    return "\n".join(lines)


def _goal(words: str) -> str | None:
    """The page, with the anchor of the first option; None for what is no command."""
    known = contexts()
    first, *more = words.split()
    name = " ".join([first, *more[:1]])
    name = name if name in known else first
    if name not in known:
        return None
    options = {opt for param in known[name].command.params for opt in param.opts}
    anchor = next((option for option in _OPTION.findall(words) if option in options), "")
    return f"{slug(name)}.md" + (f"#{anchor}" if anchor else "")


def slug(name: str) -> str:
    """The page of a command, as judge-build-crux; index is the overview."""
    return "judge-" + name.replace(" ", "-")


@cache
def contexts() -> Mapping[str, click.Context]:
    """A context of each command by its name behind `judge`; `judge` itself is ""."""
    return {each.command_path.removeprefix("judge").strip(): each for each in _walk()}


def _walk() -> Iterator[click.Context]:
    waiting = [(typer.main.get_command(app), "judge", None)]
    while waiting:
        command, name, parent = waiting.pop(0)
        context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
        yield context
        if hasattr(command, "list_commands"):
            below = [(command.get_command(context, n), n) for n in command.list_commands(context)]
            waiting[:0] = [(each, name, context) for each, name in below]


def _under(name: str) -> list[str]:
    return [each for each in contexts() if each.startswith(f"{name} ")]


def _row(name: str, line: str = "") -> str:
    line = line or contexts()[name].command.get_short_help_str(1000)
    return f"| [`judge {name}`]({slug(name)}.md) | {_prose(line, cell=True)} |"


def _table(head: str, rows: list[str]) -> str:
    return "\n".join([f"| {head} | meaning |", "|---|---|", *rows])


def _named(names: str) -> str:
    """An option as its own anchor; an argument as it is."""
    code = names.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    if found := _OPTION.findall(names):
        return f'<a id="{found[0]}" href="#{found[0]}"><code>{code}</code></a>'
    return f"<code>{code}</code>"


def _prose(text: str, own: Container[str] = (), *, cell: bool = False) -> str:
    """Help as Markdown: options as code, those of the page and pages of docs/ as links."""

    def option(found: re.Match[str]) -> str:
        code = f"`{found[0]}`"
        return f"[{code}](#{found[0]})" if found[0] in own else code

    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):  # what is no code yet
        part = parts[i].replace("*", "\\*").replace("<", "&lt;")
        part = re.sub(r"docs/((?:\w+/)*([\w-]+))\.md", r"[\2](../../\1.md)", part)
        parts[i] = _OPTION.sub(option, part)
    return "".join(parts).replace("|", "\\|") if cell else "".join(parts)
