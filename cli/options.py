"""Options of several commands that are not settings, and commands whose help has panels."""

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

Model = Annotated[
    str | None,
    typer.Option(
        help="Who judges: lexical, openai/NAME, hosted_vllm/NAME, preset:NAME, a LiteLLM name, "
        "or a name under models: in the config; default: lexical.",
        rich_help_panel="Models",
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where that model is served, ends in /v1; as models.default.api_base.",
        rich_help_panel="Models",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any setting, e.g. models.default.temperature=0.5.",
        rich_help_panel="Models",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print calls, tokens and cost; ask nothing.",
        rich_help_panel="Spending",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress on stderr.", rich_help_panel="Output"),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Also print counts, requests, tokens and time.",
        rich_help_panel="Output",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="JSON, one object a line, for machines.", rich_help_panel="Output"),
]
Seed = Annotated[int, typer.Option(min=0, help="Of what is drawn at random.")]
Level = Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of the intervals: 0.95 for 95%.")]
Resamples = Annotated[
    int, typer.Option(min=0, help="Samples of topics behind the intervals; 0: no intervals.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help="What rows of people's labels must have; of one field repeated, either.",
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field",
        metavar="OURS=THEIRS",
        help="The column of a field, e.g. sentence=Claim; label=Ann,Bo: a column each.",
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(help="Judgements of folders: nuggets, support, relevance, ratings or keypoints."),
]


@dataclass(frozen=True)
class TableLayout:
    """How a table of people's labels is to be read, where its names do not say it.

    Args:
        scale: Labels of people, worst to best, e.g. no,partly,yes or 0=none,1=none,2=full.
        missing (WORDS): Words for a label that is missing, with commas; default: n/a, ?, none ...
        sheet: Sheet of a workbook; default: the first with rows.
    """

    _: KW_ONLY
    field: Fields = None
    scale: str | None = None
    missing: str | None = None
    sheet: str | None = None

    def list_given(self) -> list[str]:
        """The options that the user gave, as on the command line."""
        return [f"--{one.name}" for one in fields(self) if getattr(self, one.name)]

    @property
    def options(self) -> TableOptions:
        """What is said of the table. Raises: InputError, see `read_fields` and `read_scale`."""
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
    """How a command prints what it found.

    Output:
        format: How tables are written; json is what --json prints.
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
        """Whether machines read it. Raises: InputError, see `choose_format`."""
        return choose_format(self.format, as_json=self.as_json) is Format.JSON

    def print(self, objects: Iterable[Any], view: Callable[[bool], View]) -> None:
        """Print the objects for machines, else the view, which is made when it is wanted.

        Args:
            view: what to show; takes whether all of it is wanted.
        """
        if self.is_json:
            write_objects(objects)
        else:
            print_view(view(self.shows_all), self.format)


@dataclass(frozen=True)
class OutputOfMuch(Output):
    """How a command prints what it found, where it has more than its main tables.

    Output:
        has_all: Show all measures and tables, not only the main ones.
        format: How tables are written; json is what --json prints.
    """

    _: KW_ONLY
    has_all: Annotated[bool, OptionRules("--all")] = False

    @property
    def shows_all(self) -> bool:
        """Whether everything is wanted, not only the main tables."""
        return self.has_all


def choose_format(format: Format, *, as_json: bool) -> Format:
    """The format; JSON by `--json`. Raises: InputError where both are given and differ."""
    if as_json and format not in (Format.TABLE, Format.JSON):
        raise InputError(f"--json and --format {format.value}: wanted one of them")
    return Format.JSON if as_json else format


_KIND = re.compile(r"<(?:list\[(\w+)\]|(\w+) range)>")  # typer's names of types
_LONG_CHOICE = re.compile(r"<([\w-]+(?:[|][\w-]+){4,})>")  # that a narrow window has no room for
_NO_CHOICE = re.compile(r"(?:Value error, )?'(.*)' is not one of ('.*')\.?", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'")


class Command(TyperCommand):
    """A command whose options stand under panels, and which knows what shells do to patterns."""

    def list_parameters(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments and options as (names, help), by panel in the order of the help."""
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
        """See click; the whole first sentence, which the list of a group wraps."""
        return super().get_short_help_str(1000)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click. Raises: its usage error, with a hint where a shell made files of a pattern."""
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
    """A command's name behind `judge`, as `build crux`."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(names)


def add_command(group: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Give a group a command, whose options its signature makes (`signatures.py`)."""
    group.command(name, cls=Command)(make_options(command))


def _plain_type(names: str) -> str:
    return _KIND.sub(lambda kind: f"<{kind[1] or kind[2]}>".lower(), names)


def read_fields(texts: Sequence[str]) -> dict[str, str]:
    """`--field OURS=THEIRS`, repeated, as a map. Raises: InputError for another form."""

    fields: dict[str, str] = {}
    for text in texts:
        ours, _, theirs = text.partition("=")
        if not (ours and theirs):
            raise InputError(f"--field {text}: wanted OURS=THEIRS, such as claim=sentence")
        if ours in fields and ours != "label":
            raise InputError(f"--field {text}: {ours} is {fields[ours]} before, wanted it once")
        fields[ours] = f"{fields[ours]},{theirs}" if ours in fields else theirs
    return fields


def read_scale(texts: Sequence[str]) -> dict[str, str] | None:
    """`["0=none", "1=none", "2=full"]`, worst to best, as a map; without `=` the name is kept.

    Raises: InputError for an empty or repeated label.
    """
    if not texts:
        return None
    scale: dict[str, str] = {}
    for text in texts:
        name, equals, ours = (part.strip().lower() for part in text.partition("="))
        if not name or (equals and not ours) or name in scale:
            raise InputError(f"--scale {','.join(texts)}: wanted LABEL or LABEL=OURS, each once")
        scale[name] = ours or name
    return scale


def read_where(texts: Sequence[str]) -> dict[str, list[str]]:
    """`--where FIELD=VALUE`, repeated, as the values wanted of each field. Raises: InputError."""
    return read_pairs("--where", texts)


def read_pairs(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """The values of each field in repeated FIELD=VALUE. Raises: InputError for another form."""
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
    """Print results: the objects for machines, else the table, and what is to say below it."""
    if as_json:
        write_objects(objects)
    else:
        print_view(View(tables=[make_text_table(table)], notes=[more] if more else []))


def make_text_table(rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """A table of texts, the first row its heads: names, then numbers."""
    head, *others = rows
    columns = [
        Column(name, ColumnKind.COUNT if i else ColumnKind.NAME, optional=i)
        for i, name in enumerate(head)
    ]
    return Table(title, columns, [Row(list(row)) for row in others], has_all=True)


def print_result(objects: Iterable[Any], text: Callable[[], str], *, as_json: bool) -> None:
    """Print results: the objects for machines, else the text, which is made when it is wanted."""
    if as_json:
        write_objects(objects)
    else:
        sys.stdout.write(text())
