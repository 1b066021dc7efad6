"""`judge cache`: what is kept of earlier replies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .terminal import cell


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Forget the replies.")] = False,
    model: Annotated[str | None, typer.Option(help="Only those of this model.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Another folder than the user's cache directory.")
    ] = None,
) -> None:
    """Show or clear the reply cache. Example: judge cache --clear --model openai/gpt-4o"""
    from ..backends.cache import ReplyCache, default_folder

    where = folder or default_folder()
    if not where.is_dir():
        sys.stdout.write(f"{where}: no replies kept yet\n")
        return
    replies = ReplyCache(where)
    try:
        if clear:
            sys.stdout.write(f"{replies.clear(model):,} replies forgotten\n")
            return
        counts = replies.counts()
        chosen = {name: n for name, n in counts.items() if model in (None, name)}
        for name, n in chosen.items():
            sys.stdout.write(f"{n:>10,}  {cell(name)}\n")
        total, size = sum(chosen.values()), replies.volume() / 1e6
        sys.stdout.write(f"{total:>10,}  replies, {size:.1f} MB in {where}\n")
    finally:
        replies.close()
