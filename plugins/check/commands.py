"""The command that this annex brings to `judge`."""

from ...cli.commands import Command

COMMANDS = {
    "check": Command(
        "trust", "Check any judge: a file with its labels and people's.",
        f"{__package__}.command:check", 1,
    )
}  # fmt: skip
