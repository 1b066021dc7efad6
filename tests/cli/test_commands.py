"""Commands that other packages bring: what `judge` shows of them, and what it refuses to lose."""

from importlib.metadata import EntryPoint

import pytest

from nuggetjudge.cli import commands
from nuggetjudge.cli.app import main


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Entry points, as if packages with them were installed."""
    (tmp_path / "strange_commands.py").write_text(
        "from nuggetjudge.cli.commands import Command\n"
        "COMMANDS = {\n"
        "    'greet': Command('look', 'Say good day.', 'strange_commands:greet', 15),\n"
        "    'run': Command('look', 'Something else.', 'strange_commands:greet'),\n"
        "}\n"
        "def greet(name: str, *, loud: bool = False) -> None:\n"
        '    """Say good day to somebody.\n\n'
        "    Args:\n        name: Who.\n\n"
        "    Output:\n        loud: In capitals.\n"
        '    """\n'
        "    print(name.upper() if loud else name)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def install(*values):
        found = [EntryPoint(f"p{i}", value, commands.GROUP) for i, value in enumerate(values)]
        monkeypatch.setattr(commands, "entry_points", lambda group: found)
        commands._all_commands.cache_clear()

    yield install
    commands._all_commands.cache_clear()


def run(capsys, monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["judge", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, capsys.readouterr().out


def test_a_command_of_another_package_is_listed_in_its_place_and_runs(
    installed, capsys, monkeypatch
):
    installed("strange_commands:COMMANDS")
    lines = run(capsys, monkeypatch, "--help")[1].splitlines()
    (at,) = (i for i, line in enumerate(lines) if "Say good day." in line)
    assert "coverage" in lines[at + 1]
    assert run(capsys, monkeypatch, "greet", "ada", "--loud") == (0, "ADA\n")


def test_no_package_can_take_the_place_of_a_core_command(installed):
    installed("strange_commands:COMMANDS")
    assert commands.find_command("run").home.startswith("nuggetjudge.cli")
    assert commands.all_commands()["run"].line == "Judge runs and print a leaderboard."


def test_the_core_works_where_an_annex_was_taken_out(installed, capsys, monkeypatch):
    installed("nuggetjudge.plugins.taken_out.commands:COMMANDS", "no_such_package.a:COMMANDS")
    code, out = run(capsys, monkeypatch, "--help")
    assert code == 0
    assert "run   " in out
    assert "report " not in out
    assert commands.find_command("report") is None
