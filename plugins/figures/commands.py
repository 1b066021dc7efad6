"""The commands that figures bring to `judge`."""

from ...cli.commands import Command

COMMANDS = {
    "figure": Command(
        "look",
        "Draw a figure for a paper: PDF, SVG or PNG.",
        f"{__package__}.command:figure",
        10,
    )
}
