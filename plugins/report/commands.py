"""The command `judge report`."""

from ...cli.commands import Command

COMMANDS = {
    "report": Command(
        "most used",
        "Write a web page that shows the results.",
        f"{__package__}.command:report",
        15,
    )
}
