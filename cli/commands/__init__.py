"""The list of commands: the core's, each in the file with its name here, and those of installed
packages. Plugins may import the list; only this file imports the commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import NamedTuple

GROUP = "nuggetjudge.commands"  # entry points: NAME = "module:COMMANDS", {command: Command}
_CLI = __name__.rpartition(".")[0]
GROUPS = ("most used", "judge", "look", "trust", "label", "connect", "upkeep")


class Command(NamedTuple):
    """A command of `judge`; its module is imported when the command is used.

    Attributes:
        group: its group in `judge --help`, one of GROUPS.
        line: its line in `judge --help`, at most 60 characters.
        home: `module:function`, or `module:typer app` for a command with subcommands.
        place: its position in its group; smaller numbers come first.
    """

    group: str
    line: str
    home: str
    place: int = 50


def _ours(group: str, first: int = 10, **commands: tuple[str, str]) -> dict[str, Command]:
    """Return commands of the core in order; places are ten apart to leave room for others."""
    found = {}
    for at, (name, (home, line)) in enumerate(commands.items()):
        name = name.rstrip("_").replace("_", "-")
        home = f"{_CLI}.{home}:{name.replace('-', '_')}"
        found[name] = Command(group, line, home, first + 10 * at)
    return found


CORE: Mapping[str, Command] = {
    **_ours(
        "most used",
        run=("commands.run", "Judge runs and print a leaderboard."),
        show=("commands.show", "Read a judged answer, or see where a run fails."),
        compare=("commands.compare", "Test whether runs, or judges, differ."),
        agree=("commands.agree", "Measure agreement with human labels or scores."),
        calibrate=("commands.calibrate", "Fit a judge to human labels and test the effect."),
        gate=("commands.gate", "Check results against bounds or a baseline, for CI."),
    ),
    **_ours(
        "judge",
        score=("commands.score", "Recompute scores, or correct them with labels."),
        cascade=("commands.cascade", "Ask a better judge where a cheap one is uncertain."),
        watch=("commands.watch", "Judge again when files change, and show what moved."),
        index=("commands.retrieve", "Build the indexes that retrieval searches."),
        retrieve=("commands.retrieve", "Retrieve passages for topics, as TREC runs."),
        generate=("commands.generate", "Write answers with citations from retrieval runs."),
    ),
    **_ours(
        "trust",
        jury=("commands.jury", "Compare a jury with its members."),
    ),
}


def find_command(name: str) -> Command | None:
    """Return the command of this name. The core comes first, because entry points are slow."""
    return CORE.get(name) or all_commands().get(name)


def all_commands() -> dict[str, Command]:
    """Return all commands in the order of `judge --help`. Packages cannot replace core commands."""
    return dict(_all_commands(tuple(sys.path)))


@cache
def _all_commands(path: tuple[str, ...]) -> list[tuple[str, Command]]:
    found: dict[str, Command] = {}
    for entry in entry_points(group=GROUP):
        if _is_there(entry):
            found |= entry.load()
    found |= CORE
    return sorted(found.items(), key=lambda item: (GROUPS.index(item[1].group), item[1].place))


def _is_there(entry: EntryPoint) -> bool:
    """Return whether the module exists; part of an installed package may have been deleted."""
    try:
        return find_spec(entry.module) is not None
    except ModuleNotFoundError:  # the package above it
        return False
