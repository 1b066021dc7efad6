"""`judge mcp`: the judges as tools of a coding agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..flags import Given, settings

EXTRA = 'judge mcp needs the MCP SDK: pip install "nuggetjudge[mcp]"'


@settings("run.max_cost run.max_calls run.max_tokens")
def mcp(
    given: Given,
    folder: Annotated[
        Path,
        typer.Option(
            exists=True,
            file_okay=False,
            help="The only folder that the agent may have read; results go to results/ in it.",
            rich_help_panel="Input",
        ),
    ] = Path("."),
) -> None:
    """Serve the judges to a coding agent, over stdin and stdout (MCP).

    The model and the limits are set here, for the whole session; no agent can change them.

    Example: judge mcp --folder ~/rag --model openai/gpt-4o-mini --max-cost 2
    """
    from ...backends.spending.notes import notes_on
    from ...mcp_server.session import Session
    from ...records.reading.problems import InputError

    try:
        import mcp as _  # noqa: F401
    except ImportError:
        raise InputError(EXTRA) from None
    config = given.config(None if given.path is None else given.path.absolute())
    session = Session(config, folder)
    for line in notes_on(session.config.models.items()):
        sys.stderr.write(f"{line}\n")
    from ...mcp_server.stdio import serve

    serve(session)
