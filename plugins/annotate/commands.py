"""The commands for labelling: `judge annotate` and `judge next`."""

from ...cli.commands import Command

COMMANDS = {
    "annotate": Command(
        "label",
        "Have people label judged items in a web page.",
        f"{__package__}.cli.group:annotate",
        10,
    ),
    "next": Command(
        "label",
        "Choose the items that people should label next.",
        f"{__package__}.cli.next:next",
        20,
    ),
}
