"""The commands `judge export` and `judge verify`."""

from ...cli.commands import Command

COMMANDS = {
    "export": Command(
        "connect", "Export results to other tools.", f"{__package__}.command:export", 10
    ),
    "verify": Command(
        "connect",
        "Recompute results or an export from stored replies.",
        f"{__package__}.command:verify",
        20,
    ),
}
