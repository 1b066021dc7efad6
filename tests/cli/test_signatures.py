"""A command's options are its parameters, told by its docstring."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer

from nuggetjudge.cli.options import add_command
from nuggetjudge.cli.signatures import File, OptionRules, Positive, make_options


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
    given.append((port, harbour, moons, folder, is_low, salt))


given = []


@pytest.fixture
def command():
    given.clear()
    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_command(group, tides)
    return typer.main.get_command(group)


def parsed(command, *words):
    command(list(words), standalone_mode=False)
    return given[-1]


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
        given.append((year, moon, is_total))

    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_command(group, eclipse)
    command = typer.main.get_command(group)
    words = ["1999", "3", "--color", "red", "--is-total"]
    assert parsed(command, *words) == (1999, Moon(3, color="red"), True)
    assert parsed(command, "1999", "3") == (1999, Moon(3), False)
