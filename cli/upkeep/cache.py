"""`judge cache`: what is kept of earlier replies and vectors."""

from __future__ import annotations

from pathlib import Path

from ..tables import cell, write_text


def cache(*, clear: bool = False, model: str | None = None, folder: Path | None = None) -> None:
    """Show or clear the kept replies and vectors. Example: judge cache --clear

    Args:
        clear: Forget them.
        model: Only the replies of this model.
        folder: Another folder than those in the user's cache directory.
    """
    _replies(folder, clear=clear, model=model)
    if model is None:
        _vectors(folder, clear=clear)


def _replies(folder: Path | None, *, clear: bool, model: str | None) -> None:
    from ...backends.cache import FOLDER, ReplyCache, default_folder

    where = folder or default_folder(FOLDER)
    if not where.is_dir():
        write_text(f"{where}: no replies kept yet\n")
        return
    replies = ReplyCache(where)
    try:
        if clear:
            write_text(f"{replies.clear(model):,} replies forgotten\n")
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
    """What encoders made, where there is any of it."""
    from ...backends.cache import default_folder
    from ...retrieval.encoders import FOLDER, clear_vectors, stored_vectors

    where = folder or default_folder(FOLDER)
    n, size = stored_vectors(where)
    if clear and n:
        clear_vectors(where)
        write_text(f"{n:,} vectors forgotten\n")
    elif n:
        write_text(f"{n:>10,}  vectors, {size / 1e6:.1f} MB in {where}\n")
