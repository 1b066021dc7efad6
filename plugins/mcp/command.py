"""`judge mcp`: the judges as tools for a coding agent."""

from __future__ import annotations

from pathlib import Path

from ...cli.flags import ParsedSettings, settings
from ...cli.signatures import Folder


@settings("run.max_cost")
def mcp(given: ParsedSettings, *, folder: Folder = Path(".")) -> None:
    """Serve the judges to a coding agent, over stdin and stdout (MCP).

    You set the model and the limits here, for the whole session; the agent cannot change them.

    Example: judge mcp --folder ~/rag --model openai/gpt-4o-mini --max-cost 2

    Input:
        folder: The only folder that the tools may read; results go to its folder results/.
    """
    from ...records.reading.problems import need

    need("mcp", "mcp")
    from ...backends.budget import notes_on
    from ...cli.tables import write_note
    from .server import make_server
    from .session import Session

    config = given.config(given.path and given.path.absolute())
    session = Session(config, folder)
    if not config.models:
        write_note("No model named: the lexical judge answers (word overlap, no LLM).\n")
    for line in notes_on(session.config.models.items()):
        write_note(f"{line}\n")
    make_server(session).run("stdio")  # prints of other code go to stderr meanwhile
