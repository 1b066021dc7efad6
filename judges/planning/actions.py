"""What an agent may do in one turn: the objects that a model chooses between, and what is wrong."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from annotated_types import MaxLen, MinLen
from typing_extensions import TypedDict

Tool = Literal["search", "read", "judge"]
MOST_JUDGED = 20  # passages of one turn

Judged = Annotated[list[str], MinLen(1), MaxLen(MOST_JUDGED)]

Action = Mapping[str, Any]  # one of the objects below
Turn = Mapping[str, Any]  # an action that was carried out, under `action`, and what it `found`


class Search(TypedDict):
    """Passages for a query."""

    tool: Literal["search"]
    query: str


class Read(TypedDict):
    """A passage's text from a character on."""

    tool: Literal["read"]
    passage: str
    start: int


class AskAbout(TypedDict):
    """How far each of these passages backs up a statement of one's own."""

    tool: Literal["judge"]
    statement: str
    passages: Judged


class Ask(TypedDict):
    """How far each of these passages backs up the sentence at hand."""

    tool: Literal["judge"]
    passages: Judged


def actions_of(tools: Sequence[Tool], asks: Any, result: Mapping[str, Any]) -> Any:
    """The type of an action: one object a tool, told apart by `tool`, and `finish`.

    Args:
        asks: AskAbout or Ask. result: the fields of `finish`, by name, each with its type.
    """
    actions = {"search": Search, "read": Read, "judge": asks}
    new: Any = TypedDict  # which type checkers want to read, not to run
    finish = new("Finish", {"tool": Literal["finish"], **result})
    return typing.Union[(*(actions[tool] for tool in tools), finish)]


def fault_in(action: Action, turns: Sequence[Turn], known: Sequence[str] = ()) -> str:
    """What is wrong with an action in this turn, in words that a model may be told; "": nothing.

    Args:
        turns: those before. known: passages that may be read or judged without a search.
    """
    match action["tool"]:
        case "search":
            return "" if action["query"].strip() else "the query is blank"
        case "read":
            if action["passage"] not in {*passages_found(turns), *known}:
                return "it reads a passage that no search found"
            return "" if action["start"] >= 0 else "start must be 0 or more"
        case "judge":
            passages = action["passages"]
            if not 1 <= len(passages) <= MOST_JUDGED or len({*passages}) < len(passages):
                return f"wanted 1 to {MOST_JUDGED} passages, each once"
            if not {*passages_found(turns), *known}.issuperset(passages):
                return "it judges a passage that no search found"
            return "" if action.get("statement", "-").strip() else "the statement is blank"
    steps = range(1, len(turns) + 1)
    if any(number not in steps for number in action.get("because", ())):
        return "it refers to a turn that does not exist"
    return ""


def passages_found(turns: Sequence[Turn]) -> list[str]:
    """The passages that searches found, in their order."""
    names_of = (turn["found"] for turn in turns if turn["action"]["tool"] == "search")
    return list(dict.fromkeys(name for names in names_of for name in names))


def labels_in(turns: Sequence[Turn]) -> dict[str, str]:
    """What passages were judged, the last label of each."""
    rows_of = (turn["found"] for turn in turns if turn["action"]["tool"] == "judge")
    return {row["passage"]: row["label"] for rows in rows_of for row in rows}
