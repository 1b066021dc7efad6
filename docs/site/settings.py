"""docs/reference/settings.md from the fields of the config: `python docs/site/settings.py`."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.programs.config.judge_sections import JudgeConfig
from nuggetjudge.programs.config.sections import Config

PAGE = Path(__file__).resolve().parents[1] / "reference" / "settings.md"
HEAD = """# All settings

Every setting of a [config](../config.md). On the command line: `--set SECTION.NAME=VALUE`.
`python docs/site/settings.py` writes this page.
"""
MAPS: Mapping[str, type[BaseModel]] = {"models": ModelConfig, "judges": JudgeConfig}
Rows = Iterator[tuple[str, FieldInfo]]
LARGE = 2**31  # bounds of 64 bits say nothing to a reader


def page() -> str:
    """The page as Markdown: a table for each section."""
    fields = Config.model_fields
    sections = {n: f for n, f in fields.items() if n not in MAPS and _model(f) is not None}
    alone = {n: f for n, f in fields.items() if n not in MAPS and _model(f) is None}
    parts = [HEAD, _table("At the top", "", iter(alone.items()))]
    parts += [_table("models", "", _rows(ModelConfig))]
    parts += [_table("judges", "", _rows(JudgeConfig))]
    parts += [_table(name, f"{name}.", _rows(_model(f))) for name, f in sections.items()]
    return "\n".join(parts)


def _table(title: str, prefix: str, rows: Rows) -> str:
    lines = [f"## {title}", "| setting | values | default | meaning |", "|---|---|---|---|"]
    for name, field in rows:
        cells = (f"`{prefix}{name}`", _values(field), _default(field), field.description or "")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _rows(model: type[BaseModel] | None, prefix: str = "") -> Rows:
    """Names as a config has them, and fields, those of a section inside it too."""
    for name, field in model.model_fields.items() if model else ():
        own = f"{prefix}{field.alias or name}"
        if (inner := _model(field)) is None or inner is model:
            yield own, field
        else:
            yield from _rows(inner, f"{own}.")


def _model(field: FieldInfo) -> type[BaseModel] | None:
    kinds = [kind for kind in _leaves(field.annotation) if isinstance(kind, type)]
    return next((kind for kind in kinds if issubclass(kind, BaseModel)), None)


def _leaves(kind: Any) -> list[Any]:
    if get_origin(kind) in (Union, types.UnionType):
        return [leaf for each in get_args(kind) for leaf in _leaves(each)]
    return _leaves(get_args(kind)[0]) if hasattr(kind, "__metadata__") else [kind]


def _values(field: FieldInfo) -> str:
    leaves = _leaves(field.annotation)
    chosen = [f"`{v}`" for leaf in leaves if get_origin(leaf) is Literal for v in get_args(leaf)]
    if bool in leaves:
        chosen += ["`true`", "`false`"]
    bounds = {
        name: value
        for bound in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if abs(value := getattr(bound, name, LARGE)) < LARGE
    }
    number = "whole number" if int in leaves else "number" if float in leaves else ""
    if number:
        words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
        chosen.append(
            " ".join([number, *(f"{words[name]} {value:g}" for name, value in bounds.items())])
        )
    return ", ".join(chosen)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value is None or value == "" or (not isinstance(value, bool | int | float) and not value):
        return ""
    return ", ".join(
        f"`{_shown(each)}`" for each in (value if isinstance(value, tuple) else (value,))
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    step = value.model_dump() if isinstance(value, BaseModel) else value
    if isinstance(step, Mapping):
        return f"{step['step']} {step['hits']}"
    return str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
