"""The command `judge mcp`."""

from ...cli.commands import Command

COMMANDS = {
    "mcp": Command(
        "connect", "Serve the judges to a coding agent.", f"{__package__}.command:mcp", 30
    )
}
