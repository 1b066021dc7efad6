"""Commands for models and their replies: `judge models`, `doctor`, `cache`."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...cli.flags import ParsedSettings, settings
from ...cli.options import NAMES_OF_MODELS, AsJson
from ...cli.stopping import INCOMPLETE, INPUT
from ...cli.tables import cell, fit_hint, write_note, write_objects, write_text
from ...views.printing import print_view
from ...views.table import Column, Kind, Row, Table, View

if TYPE_CHECKING:
    from ...backends.presets import Preset


def models(
    name: str | None = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List open models that can judge, or print the config lines of one.

    Example: judge run judge.yaml --model preset:qwen3-8b --api-base http://127.0.0.1:8000/v1

    Args:
        name: The preset to print as config lines.
    """
    from ...backends.presets import PRESETS, get_preset
    from ...records.reading.problems import InputError

    try:
        chosen = PRESETS if name is None else {name: get_preset(name)}
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
    """Two tables, so that 80 columns hold whole names."""
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
    """The config entry that equals the preset, with notes on the model."""
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


@settings(
    config=False, helps={"model": f"Model to check: {NAMES_OF_MODELS}; default: those of the file."}
)
def doctor(given: ParsedSettings, what: str | None = None, *, as_json: AsJson = False) -> None:
    """Call each model once to check its key, its endpoint and the features it supports.

    Example: judge doctor --model hosted_vllm/qwen --api-base http://127.0.0.1:8000/v1

    Exit: 0 ready, 2 unusable, 3 usable if you change settings of the config.

    Args:
        what: A config file. Without one, give --model.
    """
    from ...views.printing import print_view
    from .doctor import examine_all

    is_bare = what is None and given.path is None
    reports = examine_all(given.read_config("support" if is_bare else what))
    if as_json:
        write_objects(report.as_dict() for report in reports)
    else:
        for i, report in enumerate(reports):
            sys.stdout.write("\n" if i else "")
            fitted = replace(report, trouble=list(map(fit_hint, report.trouble)))
            print_view(fitted.as_view(as_flags=is_bare))
    if any(report.unusable for report in reports):
        raise typer.Exit(INPUT)
    if not all(report.is_ready for report in reports):
        raise typer.Exit(INCOMPLETE)


def cache(*, clear: bool = False, model: str | None = None, folder: Path | None = None) -> None:
    """Show or clear cached replies and vectors. Example: judge cache --clear

    Args:
        clear: Delete them.
        model: Only the replies of this model.
        folder: Cache folder; default: the folders in the user's cache directory.
    """
    _replies(folder, clear=clear, model=model)
    if model is None:
        _vectors(folder, clear=clear)


def _replies(folder: Path | None, *, clear: bool, model: str | None) -> None:
    from ...backends.cache import FOLDER, ReplyCache, default_folder

    where = folder or default_folder(FOLDER)
    if not where.is_dir():
        write_text(f"{where}: no cached replies yet\n")
        return
    replies = ReplyCache(where)
    try:
        if clear:
            write_text(f"{replies.clear(model):,} replies deleted\n")
            return
        counts = replies.counts()
        chosen = {name: n for name, n in counts.items() if model in (None, name)}
        for name, n in chosen.items():
            write_text(f"{n:>10,}  {cell(name)}\n")
        total, size = sum(chosen.values()), replies.volume() / 1e6
        write_text(f"{total:>10,}  replies, {size:.1f} MB in {where}\n")
    finally:
        replies.close()


def _vectors(folder: Path | None, *, clear: bool) -> None:
    """Show or clear cached vectors, if there are any."""
    from ...backends.cache import default_folder
    from ...retrieval.encoders import FOLDER, clear_vectors, count_vectors

    where = folder or default_folder(FOLDER)
    n, size = count_vectors(where)
    if clear and n:
        clear_vectors(where)
        write_text(f"{n:,} vectors deleted\n")
    elif n:
        write_text(f"{n:>10,}  vectors, {size / 1e6:.1f} MB in {where}\n")
