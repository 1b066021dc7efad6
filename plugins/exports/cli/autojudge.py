"""`judge export autojudge`: a folder for TREC AutoJudge that replays without an endpoint."""

from __future__ import annotations

from pathlib import Path

import typer

from ....cli.signatures import NewFile
from ....cli.tables import write_note
from ....cli.views.partial import opened
from .results import Results

_MOST = 5  # names left that are shown


def autojudge(
    context: typer.Context,
    results: Results,
    out: Path,
    *,
    name: str | None = None,
    veil: NewFile | None = None,
) -> None:
    """Write leaderboard, banks, qrels and workflow, with inputs and replies to replay them.

    Nothing is asked. `judge verify DIR` proves it, with no network.

    Example: judge export autojudge results/demo submission --veil key.json

    Args:
        out (DIR): Folder to write: new, or empty.

    Output:
        name: What the names of its tables begin with; default: the programs.
        veil (KEY): Write names of runs and teams as pseudonyms, by this key file: made where there
            is none, kept apart from DIR.
    """
    from ....records.reading.problems import InputError
    from ..autojudge.folder import write_folder

    if opened(context, [results])[0] != results:
        raise InputError(f"{results}: its run was stopped; an export is of a finished one")
    written = write_folder(results, out, name=name, veil=veil)
    replies = ", ".join(f"{alias} {n:,}" for alias, n in written.replies.items()) or "none"
    sizes = ", ".join(f"{part} {size:,}" for part, size in sorted(written.sizes.items()))
    lines = [f"Tables: {', '.join(written.tables)}", f"Replies by endpoint: {replies}"]
    lines.append(f"Bytes: {sizes}, all {sum(written.sizes.values()):,}")
    if written.unjudged:
        lines.append(f"Not judged, here too: {written.unjudged:,}")
    if written.dropped:
        dropped = ", ".join(f"{field} {n:,}" for field, n in sorted(written.dropped.items()))
        lines.append(f"Left out under the veil: {dropped}")
    for leak in written.leaks[:_MOST]:
        lines.append(f"Beware, a name is left: {leak}")
    if len(written.leaks) > _MOST:
        lines.append(f"... and {len(written.leaks) - _MOST:,} more")
    if veil is not None:
        lines.append(f"Key, not to be sent: {veil}")
    write_note("".join(f"{line}\n" for line in [*lines, f"Written: {out}"]))
