"""`judge verify`: proof that an export replays."""

from __future__ import annotations

import typer

from ....cli.options import AsJson, text_table
from ....cli.signatures import Folder
from ....cli.stopping import GATE_FAILED
from ....cli.tables import write_objects, write_text
from ....views.printing import print_view
from ....views.table import View


def verify(folder: Folder, *, as_json: AsJson = False) -> None:
    """Replay an export from the replies that it holds, with no network; exit 1 if a byte differs.

    Example: judge verify submission

    Args:
        folder (DIR): A folder of judge export autojudge.
    """
    from ..autojudge.verify import verify_folder

    replayed = verify_folder(folder)
    if as_json:
        write_objects([replayed.as_dict()])
    else:
        table = [["file", "lines", "not the same"]]
        table += [[f.name, f"{f.lines:,}", f"{f.differ + f.failed:,}"] for f in replayed.files]
        if replayed.files:
            print_view(View(tables=[text_table(table)]))
        firsts = [f"{file.name}, {file.first}" for file in replayed.files if file.first]
        write_text("".join(f"{line}\n" for line in (*firsts, *replayed.wrong)))
        unused = f" ({replayed.unused:,} were not used)" if replayed.unused else ""
        how = "The same bytes" if replayed.is_same else "Not the same"
        write_text(f"{how}, from {replayed.replies:,} held replies{unused}, with no network.\n")
    if not replayed.is_same:
        raise typer.Exit(GATE_FAILED)
