"""Options are made of the settings, and mean the same in every command."""

import json
import re
import signal
import sys
from dataclasses import KW_ONLY, dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated

import pytest
import typer

from nuggetjudge import __version__
from nuggetjudge.cli import commands
from nuggetjudge.cli.app import main
from nuggetjudge.cli.commands import all_commands
from nuggetjudge.cli.flags import ParsedSettings, settings
from nuggetjudge.cli.options import Command, add_command
from nuggetjudge.cli.signatures import File, OptionRules, Positive, make_options
from nuggetjudge.programs.config import renamed
from nuggetjudge.programs.config.reading import config_before, load_config
from nuggetjudge.programs.config.renamed import (
    REMOVED_OPTIONS,
    REMOVED_SETTINGS,
    RENAMED_SETTINGS,
    in_new_words,
)
from nuggetjudge.programs.config.sections import Config, GenerateConfig, RunSection
from nuggetjudge.records.reading.problems import InputError


@pytest.fixture
def flags_judge(monkeypatch, capsys):
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
def given(flags_judge, monkeypatch):
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


def test_help_of_a_setting_is_that_of_its_field(flags_judge):
    code, out, _ = flags_judge("generate", "--help")
    text = " ".join(out.split())
    fields = {"--words": GenerateConfig.model_fields["words"]}
    fields |= {"--max-cost": RunSection.model_fields["max_cost"]}
    for flag, field in fields.items():
        about = text[text.index(f"{flag} ") :]
        assert field.description[1:] in about[: about.index(". ")]
    assert (code, "topic's reference context; default: 400." in text) == (0, True)


def test_options_stand_under_panels(flags_judge):
    _, out, _ = flags_judge("run", "-h")
    heads = re.findall(r"^(\S.*):$", out, re.M)
    wanted = [
        "Arguments", "Data", "Items", "Models", "Spending", "Output",
    ]  # fmt: skip
    assert heads == [*wanted, "Help"]
    panels = dict(zip(heads, re.split(r"^\S.*:$", out, flags=re.M)[1:], strict=True))
    assert "--topics <path>" in panels["Data"]
    assert "--dry-run" in panels["Spending"]
    assert "--json" in panels["Output"]


def test_every_command_has_a_line_and_a_page(flags_judge):
    _, out, _ = flags_judge("--help")
    for name, command in all_commands().items():
        assert re.search(rf"^ .* {name} +{re.escape(command.line)}$", out, re.M), name
        assert flags_judge(name, "-h")[0] == 0


@pytest.mark.whole
def test_the_list_of_commands_fits_a_screen_and_begins_with_the_most_used(flags_judge):
    _, out, _ = flags_judge("--help")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    names = [line[13:].split()[0] for line in lines if line[13:27].strip() in all_commands()]
    first = ["run", "report", "show", "compare", "agree", "calibrate", "gate", "init"]
    assert names[:8] == first
    assert sorted(names) == sorted(all_commands())


def test_the_version_is_that_of_the_package(flags_judge):
    assert flags_judge("--version") == (0, f"judge {__version__}\n", "")


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


# A command's options are its parameters, told by its docstring.
def tides(
    port: File,
    harbour: str | None = None,
    *,
    moons: list[Positive] | None = None,
    folder: Annotated[Path, OptionRules("--dir")] = Path("tides"),
    is_low: bool = False,
    salt: bool = True,
) -> None:
    """Show when the water is there.

    Example: tides Brest

    Args:
        port: Where ships
            lie.
        harbour: Of it.
        moons (N): Their number.
        is_low: Low ones alone.
        salt: Of the sea.

    Output:
        folder: Where it is written.
    """
    signatures_given.append((port, harbour, moons, folder, is_low, salt))


signatures_given = []


@pytest.fixture
def command():
    signatures_given.clear()
    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_command(group, tides)
    return typer.main.get_command(group)


def parsed(command, *words):
    command(list(words), standalone_mode=False)
    return signatures_given[-1]


def test_parameters_by_position_are_arguments_and_the_others_options(command, tmp_path):
    port = tmp_path / "brest"
    port.touch()
    assert parsed(command, str(port)) == (port, None, None, Path("tides"), False, True)
    words = ["--moons", "2", "--moons", "3", "--dir", "x", "--is-low", "--no-salt", str(port), "a"]
    assert parsed(command, *words) == (port, "a", [2, 3], Path("x"), True, False)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "(?i)missing"),
        (["nowhere"], "does not exist"),
        (["."], "directory"),
        (["--moons", "0", __file__], "greater than or equal to 1"),
        (["--no-is-low", __file__], "No such option"),
        (["--folder", "x", __file__], "No such option"),
    ],
)
def test_what_a_parameter_does_not_take_is_refused(command, words, why):
    with pytest.raises(Exception, match=why):
        parsed(command, *words)


def test_the_docstring_tells_of_each_under_its_judge_set(command):
    text = command.get_help(command.context_class(command, info_name="tides"))
    judge_sets = {block.partition(":\n")[0]: block for block in text.split("\n\n")}
    assert "port <file>" in judge_sets["Arguments"]
    assert "Where ships lie." in judge_sets["Arguments"]
    assert "--moons N" in judge_sets["Options"]
    assert "--dir <path>" in judge_sets["Output"]
    assert "Args" not in text
    assert "Example: tides Brest" in text


def undescribed(*, port: str = "") -> None:
    """Nothing of it."""


def too_much() -> None:
    """Of one that is not there.

    Args:
        port: Where ships lie.
    """


@pytest.mark.parametrize("command", [undescribed, too_much])
def test_a_docstring_that_tells_of_other_parameters_is_an_error(command):
    with pytest.raises(TypeError, match="port"):
        make_options(command)


@dataclass(frozen=True)
class Moon:
    """What several commands ask of a moon.

    Args:
        phase: How much of it is lit.
    """

    phase: Positive
    _: KW_ONLY
    color: Annotated[str, typer.Option(help="Of its light.")] = "white"


def test_a_dataclass_is_a_group_of_arguments_and_options(tmp_path):
    def eclipse(year: int, moon: Moon, *, is_total: bool = False) -> None:
        """Show the shadow.

        Args:
            year: Of it.
            is_total: Nothing is lit.
        """
        signatures_given.append((year, moon, is_total))

    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_command(group, eclipse)
    command = typer.main.get_command(group)
    words = ["1999", "3", "--color", "red", "--is-total"]
    assert parsed(command, *words) == (1999, Moon(3, color="red"), True)
    assert parsed(command, "1999", "3") == (1999, Moon(3), False)


# Commands that other packages bring: what `judge` shows of them, and what it refuses to lose.
@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Entry points, as if packages with them were installed."""
    (tmp_path / "strange_commands.py").write_text(
        "from nuggetjudge.cli.commands import Command\n"
        "COMMANDS = {\n"
        "    'greet': Command('trust', 'Say good day.', 'strange_commands:greet', 5),\n"
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
    assert "jury" in lines[at + 1]
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


# Options and settings of before: the error names the new one, and a page says the same.
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
RENAMED = Path(__file__).resolve().parents[2] / "docs" / "reference" / "renamed.md"


def test_the_page_of_renamed_names_has_the_tables_that_errors_read():
    text = RENAMED.read_text(encoding="utf-8").split("\n## Commands")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", text, re.M)
    wanted = {f"judge {old}": new for old, new in REMOVED_OPTIONS.items()}
    wanted |= {old: f"`{new}`" for old, new in RENAMED_SETTINGS.items()}
    assert dict(rows) == {**wanted, **REMOVED_SETTINGS}


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("run --retrieval x.run", "--set data.retrieval=VALUE"),
        ("run --explain", "--set run.explain=true"),
        ("run --temperature 0.5", "--set models.default.temperature=VALUE"),
        ("generate --citations 2", "--set generate.citations=VALUE"),
        ("retrieve --hits 10", "--pipeline 'bm25 100, cut 10'"),
        pytest.param("build crux --n-questions 4", "--set coverage.n=N", marks=pytest.mark.whole),
        ("cascade fit --seed 1", "1,000 resamples with a fixed seed"),
    ],
)
def test_an_option_of_before_ends_with_the_way_that_there_is(judge, line, instead):
    ran = judge(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert instead in " ".join(ran.err.split())


def test_an_option_that_never_was_is_told_as_ever(judge):
    ran = judge("run", "--tides", "x")
    assert (ran.code, "setting" in ran.err) == (2, False)
    assert "--tides" in ran.err
    assert "setting" not in judge("score", "--retrieval", "x").err  # it takes no --set


def test_settings_of_before_are_told_with_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(renamed, "RENAMED_SETTINGS", {"pipelines.*.*.deep": "pipelines.*.*.depth"})
    path = tmp_path / "judge.yaml"
    path.write_text(
        "models:\n  mine: {model: lexical, tokens_per_s: {prompt: 1, reply: 2}}\n"
        "pipelines:\n  a:\n  - {step: bm25}\n  - {step: mmr, deep: 5}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as error:
        load_config(path, {})
    first, second = str(error.value).splitlines()
    assert first == f"{path}:6: pipelines.a.1.deep: is now pipelines.a.1.depth"
    assert second.startswith(f"{path}:2: models.mine.tokens_per_s: was removed: ")


def test_a_finished_folder_of_before_is_read_in_new_words(monkeypatch):
    monkeypatch.setattr(renamed, "RENAMED_SETTINGS", {"pipelines.*.*.deep": "pipelines.*.*.depth"})
    data = Config().model_dump(mode="json", by_alias=True)
    steps = [{"step": "bm25", "hits": 9}, {"step": "mmr", "deep": 5}]
    data |= {"pipelines": {"a": steps}, "models": {"m": {"model": "lexical", "tokens_per_s": None}}}
    config = config_before(data)
    assert config.pipelines["a"][1].depth == 5
    assert "deep" in steps[1]  # what was read is as it was
    assert in_new_words({"run": {"limit": 3}}) == {"run": {"limit": 3}}


def test_the_whole_config_of_a_folder_of_before_is_read():
    """Every setting at its default, as version 0.1.0 of 24 November 2026 wrote it."""
    written = json.loads((GOLDEN / "config_before.json").read_bytes())
    config = config_before(written)
    assert config.program == ("nuggets", "support", "coverage", "keypoints")
    assert config.coverage.alpha == written["coverage"]["alpha"]
    assert config.models["default"].concurrency == written["models"]["default"]["concurrency"]


def test_a_search_that_was_called_hunt_is_read_and_named(tmp_path):
    """The whole section, its removed settings, and `nuggets.method`."""
    old = {"nuggets": {"how": "hunt"}, "hunt": {"rounds": 7, "facets": 8}}
    config = config_before(old)
    assert (config.nuggets.method, config.nugget_search.rounds) == ("search", 7)
    path = tmp_path / "judge.yaml"
    path.write_text("nuggets: {method: hunt}\nhunt: {rounds: 7}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_config(path, {})
    assert f"{path}:1: nuggets.method: hunt is now search" in str(error.value)
    assert f"{path}:2: hunt: is now nugget_search" in str(error.value)


# A value that is none is told which there are, and which was meant.
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("figure", "leaderbord", ".", "--out", "x.svg"),
            "; did you mean leaderboard?",
            marks=pytest.mark.whole,
        ),
        pytest.param(
            *(("annotate", ".", "--kind", "nugget"), "bank, verify; did you mean nuggets?"),
            marks=pytest.mark.whole,
        ),
        (
            ("run", "demo/judge.yaml", "--set", "models.default.engine=litelm"),
            "or 'trained', got 'litelm'; did you mean litellm?",
        ),
    ],
)
def test_a_mistyped_value_is_told_which_was_meant(arguments, message, judge, example):
    ran = judge(*arguments)
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
    assert "Value error" not in ran.err
