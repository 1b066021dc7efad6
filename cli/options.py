"""Options that several commands share and that are not settings; commands with panels."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ..records.reading.problems import InputError
from ..views.printing import Format, print_view
from ..views.table import Column, Row, Table, View
from ..views.table import Kind as ColumnKind
from .signatures import OptionRules, make_options
from .tables import escape, write_objects

if TYPE_CHECKING:
    from ..records.columns import TableOptions
    from ..views.table import View

NAMES_OF_MODELS = (
    "openai/NAME, hosted_vllm/NAME, preset:NAME, a LiteLLM name, or a name under models: in the "
    "config"
)
Model = Annotated[
    str | None,
    typer.Option(
        help=f"Model that judges: lexical, {NAMES_OF_MODELS}; default: lexical.",
        rich_help_panel="Models",
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="URL of the model's server, ending in /v1; sets models.default.api_base.",
        rich_help_panel="Models",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change any setting, e.g. models.default.temperature=0.5; may be repeated.",
        rich_help_panel="Models",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Estimate calls, tokens and cost; ask no model.",
        rich_help_panel="Spending",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no progress on stderr.", rich_help_panel="Output"),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Also print counts, requests, tokens and time on stderr.",
        rich_help_panel="Output",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON, one object per line.", rich_help_panel="Output"),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random draws.")]
Level = Annotated[
    float, typer.Option(min=0.5, max=0.9999, help="Confidence level of intervals: 0.95 for 95%.")
]
Resamples = Annotated[
    int, typer.Option(min=0, help="Bootstrap samples of topics for intervals; 0: no intervals.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help="Use only human labels with this value; repeat a field to allow several values.",
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field",
        metavar="OURS=THEIRS",
        help="Column of a field, e.g. sentence=Claim; label=Ann,Bo for one column per person.",
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        help="Kind of judgements in folders: nuggets, support, relevance, ratings, keypoints."
    ),
]


@dataclass(frozen=True)
class TableLayout:
    """How to read a table of human labels whose columns have other names.

    Args:
        scale: Human labels from worst to best, e.g. no,partly,yes or 0=none,1=none,2=full.
        missing (WORDS): Words that mean a missing label, with commas; default: n/a, ?, none ...
        sheet: Sheet of a workbook; default: the first sheet with rows.
    """

    _: KW_ONLY
    field: Fields = None
    scale: str | None = None
    missing: str | None = None
    sheet: str | None = None

    def list_given(self) -> list[str]:
        """List the options that the user gave, as on the command line."""
        return [f"--{one.name}" for one in fields(self) if getattr(self, one.name)]

    @property
    def options(self) -> TableOptions:
        """The options for reading. Raises: InputError, see `read_fields` and `read_scale`."""
        from ..records.columns import TableOptions
        from ..records.tables import DEFAULT_MISSING

        words = None if self.missing is None else self.missing.lower().split(",")
        return TableOptions(
            read_fields(self.field or ()),
            read_scale(self.scale.split(",") if self.scale is not None else ()),
            DEFAULT_MISSING if words is None else frozenset(("", *map(str.strip, words))),
            self.sheet,
        )


PANELS = ("Arguments", "Data", "Options", "", "Models", "Spending", "Workers", "Output", "Help")


@dataclass(frozen=True)
class Output:
    """How a command prints its results.

    Output:
        format: How tables are written; json is the same as --json.
    """

    _: KW_ONLY
    format: Format = Format.TABLE
    as_json: AsJson = False

    @property
    def shows_all(self) -> bool:
        """Whether everything is wanted, not only the main tables."""
        return False

    @property
    def is_json(self) -> bool:
        """Whether to print JSON. Raises: InputError, see `choose_format`."""
        return choose_format(self.format, as_json=self.as_json) is Format.JSON

    def print(self, objects: Iterable[Any], view: Callable[[bool], View]) -> None:
        """Print the objects as JSON, or else the view.

        Args:
            view: makes the view; takes whether to show all tables.
        """
        if self.is_json:
            write_objects(objects)
        else:
            print_view(view(self.shows_all), self.format)


@dataclass(frozen=True)
class OutputOfMuch(Output):
    """How a command with more than its main tables prints its results.

    Output:
        has_all: Show all measures and tables, not only the main ones.
        format: How tables are written; json is the same as --json.
    """

    _: KW_ONLY
    has_all: Annotated[bool, OptionRules("--all")] = False

    @property
    def shows_all(self) -> bool:
        """Whether everything is wanted, not only the main tables."""
        return self.has_all


def choose_format(format: Format, *, as_json: bool) -> Format:
    """Return the format; `--json` means JSON. Raises: InputError if both differ."""
    if as_json and format not in (Format.TABLE, Format.JSON):
        raise InputError(f"--json and --format {format.value}: give only one of them")
    return Format.JSON if as_json else format


_KIND = re.compile(r"<(?:list\[(\w+)\]|(\w+) range)>")  # type names of typer
_LONG_CHOICE = re.compile(r"<([\w-]+(?:[|][\w-]+){4,})>")  # too long for a narrow window
_NO_CHOICE = re.compile(r"(?:Value error, )?'(.*)' is not one of ('.*')\.?", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'")


class Command(TyperCommand):
    """A command with its options under panels, and hints for misspelled or removed options."""

    def list_parameters(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Return arguments and options as (names, help), by panel in the order of --help."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            panel = getattr(parameter, "rich_help_panel", None)
            panel = panel or {"argument": "Arguments"}.get(parameter.param_type_name, "Options")
            if record := parameter.get_help_record(ctx):
                panel = "Help" if parameter.name == "help" else panel
                names, text = record
                if match := _LONG_CHOICE.search(names):
                    names = names.replace(match[0], "<name>")
                    text = f"{text} One of {', '.join(match[1].split('|'))}."
                panels.setdefault(panel, []).append((_plain_type(names), text))
        order = sorted(panels, key=lambda name: PANELS.index(name if name in PANELS else ""))
        return {panel: panels[panel] for panel in order}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options by panel, in plain text: importing rich would double the time."""
        for panel, rows in self.list_parameters(ctx).items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the whole first sentence; the list of a group wraps it. See click."""
        return super().get_short_help_str(1000)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Raises: click's usage error, with a hint what to do."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            text = str(getattr(error, "message", ""))
            if match := _NO_CHOICE.fullmatch(text):
                from ..records.reading.problems import did_you_mean

                choices = _QUOTED.findall(match[2])
                text = f"{escape(match[1])!r} is not one of {', '.join(choices)}"
                text += did_you_mean(match[1], choices)
                error.message = text  # type: ignore[attr-defined]
            if text.startswith("No such option"):
                from ..programs.config.renamed import explain_option

                takes = any("--set" in parameter.opts for parameter in self.params)
                name = getattr(error, "option_name", "")
                if instead := explain_option(_get_name(ctx), name, takes_settings=takes):
                    error.message = f"No such option: {escape(name)}. {instead}"  # type: ignore[attr-defined]
                    error.possibilities = None  # type: ignore[attr-defined]
            takes_runs = any("--runs" in parameter.opts for parameter in self.params)
            if "unexpected extra argument" in text and takes_runs:
                hint = "Quote patterns (--runs 'runs/*') or repeat --runs for each file."
                error.message = f"{escape(text)}. {hint}"  # type: ignore[attr-defined]
            raise


def _get_name(context: Any) -> str:
    """Return a command's name after `judge`, such as `build crux`."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(names)


def add_command(group: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Add a command to a group, with options from its signature (`signatures.py`)."""
    group.command(name, cls=Command)(make_options(command))


def _plain_type(names: str) -> str:
    return _KIND.sub(lambda kind: f"<{kind[1] or kind[2]}>".lower(), names)


def read_fields(texts: Sequence[str]) -> dict[str, str]:
    """Read repeated `--field OURS=THEIRS` as a map. Raises: InputError for another form."""

    fields: dict[str, str] = {}
    for text in texts:
        ours, _, theirs = text.partition("=")
        if not (ours and theirs):
            raise InputError(f"--field {text}: wanted OURS=THEIRS, such as claim=sentence")
        if ours in fields and ours != "label":
            raise InputError(f"--field {text}: {ours} is already {fields[ours]}; give it once")
        fields[ours] = f"{fields[ours]},{theirs}" if ours in fields else theirs
    return fields


def read_scale(texts: Sequence[str]) -> dict[str, str] | None:
    """Read `["0=none", "1=none", "2=full"]`, worst to best, as a map; names without `=` are kept.

    Raises: InputError for an empty or repeated label.
    """
    if not texts:
        return None
    scale: dict[str, str] = {}
    for text in texts:
        name, equals, ours = (part.strip().lower() for part in text.partition("="))
        if not name or (equals and not ours) or name in scale:
            raise InputError(
                f"--scale {','.join(texts)}: wanted LABEL or LABEL=OURS, each label once"
            )
        scale[name] = ours or name
    return scale


def read_where(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read repeated `--where FIELD=VALUE` as allowed values by field. Raises: InputError."""
    return read_pairs("--where", texts)


def read_pairs(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """Read repeated FIELD=VALUE as values by field. Raises: InputError for another form."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"{option} {text}: wanted FIELD=VALUE, such as topic=t1")
        values.setdefault(name, []).append(value)
    return values


def print_table(
    objects: Iterable[Any], table: Sequence[Sequence[str]], more: str = "", *, as_json: bool
) -> None:
    """Print results: the objects as JSON, or else the table with `more` below it."""
    if as_json:
        write_objects(objects)
    else:
        print_view(View(tables=[make_text_table(table)], notes=[more] if more else []))


def make_text_table(rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Make a table from texts; the first row has the heads, the first column names."""
    head, *others = rows
    columns = [
        Column(name, ColumnKind.COUNT if i else ColumnKind.NAME, optional=i)
        for i, name in enumerate(head)
    ]
    return Table(title, columns, [Row(list(row)) for row in others], has_all=True)


def print_result(objects: Iterable[Any], text: Callable[[], str], *, as_json: bool) -> None:
    """Print results: the objects as JSON, or else the text."""
    if as_json:
        write_objects(objects)
    else:
        sys.stdout.write(text())
