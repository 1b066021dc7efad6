"""The command `judge check`."""

from ...cli.commands import Command

COMMANDS = {
    "check": Command(
        "trust", "Check any judge against labels of people.",
        f"{__package__}.command:check", 1,
    )
}  # fmt: skip
