"""The commands that exports bring to `judge`."""

from ...cli.commands import Command

COMMANDS = {
    "export": Command(
        "connect", "Export results to other tools.", f"{__package__}.command:export", 10
    ),
    "verify": Command(
        "connect",
        "Check results or an export by stored replies.",
        f"{__package__}.command:verify",
        20,
    ),
}
