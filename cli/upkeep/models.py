"""`judge models`: presets of open models, and the lines that each stands for."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...views.printing import print_view
from ...views.table import Column, Kind, Row, Table, View
from ..options import AsJson
from ..tables import write_note, write_objects

if TYPE_CHECKING:
    from ...backends.presets import Preset


def models(
    name: str | None = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List open models that judge, or print the config lines of one.

    Example: judge run judge.yaml --model preset:qwen3-8b --api-base http://127.0.0.1:8000/v1

    Args:
        name: A preset, to print as config lines.
    """
    from ...backends.presets import PRESETS, preset_of
    from ...records.reading.problems import InputError

    try:
        chosen = PRESETS if name is None else {name: preset_of(name)}
    except ValueError as error:
        raise InputError(str(error)) from None
    if as_json:
        write_objects({"name": each, **vars(one)} for each, one in chosen.items())
    elif name is not None:
        sys.stdout.write(_lines(name))
    else:
        print_view(View(tables=list(_tables(PRESETS))))
        write_note("Use: --model preset:NAME --api-base URL\n")
        write_note("Config lines and sources: judge models NAME\n")


def _tables(presets: Mapping[str, Preset]) -> Iterator[Table]:
    """Two, so that 80 columns hold whole names."""
    preset = Column("preset", Kind.NAME)
    columns = [preset, Column("model", Kind.NAME), Column("tokens", Kind.COUNT)]
    rows = [Row([name, one.model, one.context_length]) for name, one in presets.items()]
    yield Table("", columns, rows)
    texts = [Column(head, Kind.TEXT) for head in ("licence", "prompt", "known as a judge")]
    rows = []
    for name, one in presets.items():
        prompt = "its own" if one.own_prompt else "any"
        rows.append(Row([name, one.licence or "see its card", prompt, one.used or None]))
    yield Table("", [preset, *texts], rows)


def _lines(name: str) -> str:
    """An entry of a config that says the same as the preset, with what to know of the model."""
    import yaml

    from ...backends.presets import PRESETS, SERVED

    preset = PRESETS[name]
    notes = [
        f"preset:{name} stands for these lines; vllm serve {preset.model}",
        f"licence: {preset.licence or 'not clear, see its card'}; {preset.source}",
    ]
    if preset.used:
        notes.append(f"known as a judge: {preset.used}")
    notes.append(preset.note)
    entry = {"api_base": SERVED, **preset.entry()}
    text = yaml.safe_dump({"models": {"default": entry}}, sort_keys=False)
    comment = textwrap.TextWrapper(
        60, initial_indent="# ", subsequent_indent="# ", break_long_words=False
    )
    return "".join(f"{comment.fill(line)}\n" for line in notes) + text
