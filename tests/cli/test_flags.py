"""Options are made of the settings, and mean the same in every command."""

import re
import signal
import sys

import pytest
import typer

from nuggetjudge import __version__
from nuggetjudge.cli.app import main
from nuggetjudge.cli.commands import all_commands
from nuggetjudge.cli.flags import ParsedSettings, settings
from nuggetjudge.cli.options import Command
from nuggetjudge.programs.config.sections import GenerateConfig, RunSection
from nuggetjudge.records.reading.problems import InputError


@pytest.fixture
def judge(monkeypatch, capsys):
    """`judge("run", "--help")` in this process: the exit code, stdout and stderr."""

    def run(*arguments):
        before = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(sys, "argv", ["judge", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            signal.signal(signal.SIGTERM, before)
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def given(judge, monkeypatch):
    """What a command with these settings is handed for a command line."""

    def parse(names, *arguments):
        settings_of_call = []

        def tides(given: ParsedSettings) -> None:
            settings_of_call.append(given)

        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cls=Command)(settings(names)(tides))
        typer.main.get_command(alone)(list(map(str, arguments)), standalone_mode=False)
        return settings_of_call[0]

    return parse


def test_help_of_a_setting_is_that_of_its_field(judge):
    code, out, _ = judge("generate", "--help")
    text = " ".join(out.split())
    fields = {"--words": GenerateConfig.model_fields["words"]}
    fields |= {"--max-cost": RunSection.model_fields["max_cost"]}
    for flag, field in fields.items():
        about = text[text.index(f"{flag} ") :]
        assert field.description[1:] in about[: about.index(". ")]
    assert (code, "at most; default: 400." in text) == (0, True)


def test_options_stand_under_panels(judge):
    _, out, _ = judge("run", "-h")
    heads = re.findall(r"^(\S.*):$", out, re.M)
    wanted = [
        "Arguments",
        "Data",
        "Items",
        "Models",
        "Spending",
        "Output",
    ]
    assert heads == [*wanted, "Help"]
    panels = dict(zip(heads, re.split(r"^\S.*:$", out, flags=re.M)[1:], strict=True))
    assert "--topics <path>" in panels["Data"]
    assert "--dry-run" in panels["Spending"]
    assert "--json" in panels["Output"]


def test_every_command_has_a_line_and_a_page(judge):
    _, out, _ = judge("--help")
    for name, command in all_commands().items():
        assert re.search(rf"^ .* {name} +{re.escape(command.line)}$", out, re.M), name
        assert judge(name, "-h")[0] == 0


@pytest.mark.whole
def test_the_list_of_commands_fits_a_screen_and_begins_with_the_most_used(judge):
    _, out, _ = judge("--help")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    names = [line[13:].split()[0] for line in lines if line[13:27].strip() in all_commands()]
    first = ["run", "report", "show", "compare", "agree", "calibrate", "gate", "init"]
    assert names[:8] == first
    assert sorted(names) == sorted(all_commands())


def test_the_version_is_that_of_the_package(judge):
    assert judge("--version") == (0, f"judge {__version__}\n", "")


@pytest.mark.parametrize(
    ("flags", "name", "value"),
    [
        (["--k", "required"], "coverage.k", "required"),
        (["--k", "7"], "coverage.k", 7),
        (["--allow-missing", "2%"], "run.allow_missing", 0.02),
        (["--allow-missing", "0.5"], "run.allow_missing", 0.5),
        (["--set", "items.fields.id=key", "--set", "items.fields.claim=text"], "items.fields",
         {"id": "key", "claim": "text"}),
        (["--judge", "support"], "items.judge", "support"),
        (["--judge", "own.yaml"], "items.judge", "own.yaml"),
        (["--runs", "a*", "--runs", "b"], "data.runs", ("a*", "b")),
        (["--offline"], "run.offline", True),
        (["--limit", "3"], "run.limit", 3),
        (["--set", "run.limit=4"], "run.limit", 4),
        ([], "run.limit", None),
    ],
)  # fmt: skip
def test_a_flag_sets_its_setting(flags, name, value, given):
    names = "coverage.k items.judge data.runs run.allow_missing run.limit "
    config = given(names + "run.offline", *flags).config()
    section, last = name.split(".")
    assert getattr(getattr(config, section), last) == value


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--max-calls", "0"], "--max-calls 0: run.max_calls: "),
        (["--max-cost", "nan"], "--max-cost nan: run.max_cost: "),
        (["--allow-missing", "few"], "--allow-missing few: run.allow_missing: wanted a share"),
        (["--k", "10001"], "--k 10001: coverage.k: wanted 1 to 10,000, or required"),
        (["--executor", "cloud"], "--executor cloud: run.executor: "),
        (["--executor", ""], "--executor : run.executor: "),
    ],
)
def test_a_wrong_value_is_told_with_its_flag(flags, message, given):
    names = "run.max_calls run.max_cost run.allow_missing coverage.k run.executor"
    with pytest.raises(InputError) as error:
        given(names, *flags).config()
    assert str(error.value).startswith(message)


def test_what_was_not_given_leaves_the_config_file_alone(given, tmp_path):
    path = tmp_path / "judge.yaml"
    path.write_text("run: {offline: true, limit: 5}\ndata: {topics: t.tsv}\n", encoding="utf-8")
    parsed = given("run.offline run.limit data.topics", "--config", path, "--topics", "own.tsv")
    config = parsed.config()
    assert (config.run.offline, config.run.limit) == (True, 5)
    assert str(config.data.topics) == "own.tsv"
    assert given("run.offline").is_empty
    for flags in (["--offline"], ["--set", "run.limit=1"], ["--model", "x"], ["--config", path]):
        assert not given("run.offline", *flags).is_empty


def test_only_settings_that_there_are_can_become_options():
    with pytest.raises(KeyError):
        settings("run.nothing")
