"""The commands `judge figure` and `judge coverage`."""

from ...cli.commands import Command

COMMANDS = {
    "figure": Command(
        "look",
        "Draw a figure for a paper: PDF, SVG or PNG.",
        f"{__package__}.command:figure",
        10,
    ),
    "coverage": Command(
        "look",
        "Compare contexts with reports, and both with bounds.",
        f"{__package__}.coverage.command:coverage",
        20,
    ),
}
