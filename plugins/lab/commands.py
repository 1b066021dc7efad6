"""The commands that test a judge, and `judge trace`."""

from ...cli.commands import Command

COMMANDS = {
    "trace": Command(
        "look", "Show what agents did, step by step.", f"{__package__}.trace:trace", 30
    )
} | {
    name: Command("trust", line, f"{__package__}.{home}:{name}", place)
    for name, line, home, place in (
        ("audit", "Check the order of runs with another judge.", "cli", 2),
        ("probe", "Change one thing about a judge and see what changes.", "probe.command", 4),
        ("bias", "Show what a judge is biased by, using human labels.", "cli", 6),
        ("drift", "Separate judge drift from system changes.", "cli", 20),
        ("evidence", "Check how far to trust suggested citations.", "cli", 30),
    )
}
