"""Prompt templates of nuggetizer and UMBRELA, read without changes (docs/instruments.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import StrictStr

from ...judges.instruments.files import Definition, Dialect, ReplyForm, Text
from ...records.reading.problems import InputError
from ...records.reading.settings import Keys, check_settings
from ...records.rows import Row


class ToolTemplate(Row):
    """A template file of nuggetizer or UMBRELA.

    Attributes:
        prefix_user: the text of the user's message.
        system_message: the text of the system's message; "" if there is none.
        method: a field of the file that is not used.
    """

    prefix_user: Text
    system_message: StrictStr = ""
    method: StrictStr = ""


# The places of a grade in replies to UMBRELA's prompts, by the names of umbrela's own reader.
GRADE_NAMES = ("o", "overall_score", "overall", "overall score", "final score", "final_score",
               "score", "o_score")  # fmt: skip


def read_template(
    path: Path, text: str, settings: Mapping[str, Any], lines: Mapping[Keys, int]
) -> Definition | None:
    """Read a template: a `.txt` file of UMBRELA, or YAML with `prefix_user` of either tool.

    A `.txt` file is the text alone, without white space around it, as umbrela reads it. For the
    arguments see Dialect.
    """
    if path.suffix == ".txt":
        if not text.strip():
            raise InputError(f"{path}: the file is empty, wanted a template")
        template = ToolTemplate(prefix_user=text.strip())
    elif "prefix_user" in settings:
        template = check_settings(ToolTemplate, dict(settings), path, lines)
    else:
        return None
    system = template.system_message or None
    return Definition.model_construct(system=system, user=template.prefix_user)


TEMPLATES = Dialect(
    read=read_template,
    keys={"user": "prefix_user", "system": "system_message"},
    aliases={
        "query": ("question",),
        "context": ("answer", "passages", "passage"),
        "passage": ("passage", "context"),
        "num_nuggets": ("n_nuggets",),
        "nuggets_length": ("n_nuggets",),
        "creator_max_nuggets": ("limit",),
    },
    lists={"passages": "bracketed"},
    label_reply=ReplyForm(
        form="label",
        after=(
            *(f"{mark}{name}{mark}:" for name in GRADE_NAMES for mark in ('"', "'")),
            *("o:", "(o):", "final score:", "relevance category:", "relevance category is"),
        ),
        last_line=True,
    ),
    list_reply=ReplyForm(form="list"),
)
