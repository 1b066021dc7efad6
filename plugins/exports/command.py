"""`judge export`: results as other tools read them; `judge verify`: a check by replay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...cli.options import AsJson, add_command, make_text_table
from ...cli.signatures import ExistingPath, Folder, NewFile
from ...cli.stopping import GATE_FAILED, list_problems, open_results
from ...cli.tables import write_note, write_objects, write_text
from ...programs.engine.results import MANIFEST
from ...programs.protocols.table import programs
from ...views.printing import print_view
from ...views.table import Column, Kind, Row, Table, View

if TYPE_CHECKING:
    from ...programs.scoring.result import Result

Results = Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A results folder.")]
Out = Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the files.")]
_MAX_LEAKS = 5  # names left that are shown


def autojudge(
    context: typer.Context,
    results: Results,
    out: Path,
    *,
    name: str | None = None,
    pseudonyms: NewFile | None = None,
) -> None:
    """Write leaderboard, banks, qrels and workflow, with inputs and replies to replay them.

    Nothing is asked. `judge verify DIR` proves it, with no network.

    Example: judge export autojudge results/demo submission --pseudonyms key.json

    Args:
        out (DIR): Folder to write: new, or empty.

    Output:
        name: What the names of its tables begin with; default: the programs.
        pseudonyms (KEY): Write pseudonyms for names of runs and teams, by this key file. It is made
            where there is none, and has to be outside of DIR.
    """
    from ...records.reading.problems import InputError
    from .autojudge import write_autojudge

    if open_results(context, [results])[0] != results:
        raise InputError(f"{results}: its run was stopped; an export is of a finished one")
    written = write_autojudge(results, out, name=name, pseudonyms=pseudonyms)
    replies = ", ".join(f"{alias} {n:,}" for alias, n in written.replies.items()) or "none"
    sizes = ", ".join(f"{part} {size:,}" for part, size in sorted(written.sizes.items()))
    lines = [f"Tables: {', '.join(written.tables)}", f"Replies by endpoint: {replies}"]
    lines.append(f"Bytes: {sizes}, all {sum(written.sizes.values()):,}")
    if written.unjudged:
        lines.append(f"Not judged, here too: {written.unjudged:,}")
    if written.dropped:
        dropped = ", ".join(f"{field} {n:,}" for field, n in sorted(written.dropped.items()))
        lines.append(f"Dropped, since they may hold names: {dropped}")
    for leak in written.leaks[:_MAX_LEAKS]:
        lines.append(f"Beware, a name is left: {leak}")
    if len(written.leaks) > _MAX_LEAKS:
        lines.append(f"... and {len(written.leaks) - _MAX_LEAKS:,} more")
    if pseudonyms is not None:
        lines.append(f"Key, not to be sent: {pseudonyms}")
    write_note("".join(f"{line}\n" for line in [*lines, f"Written: {out}"]))


def verify(folder: Folder, *, as_json: AsJson = False) -> None:
    """Run results or an export again from its stored replies, without a model; exit 1 if not equal.

    An export is replayed with no network, and each byte has to be the same.

    Examples: judge verify results/demo / judge verify submission

    Args:
        folder (DIR): A results folder, or a folder of judge export autojudge.
    """
    from .replay import ABOUT, verify_folder

    if not (folder / ABOUT).is_file() and (folder / MANIFEST).is_file():
        _verify_results(folder, as_json=as_json)
        return
    replayed = verify_folder(folder)
    if as_json:
        write_objects([replayed.as_dict()])
    else:
        table = [["file", "lines", "not the same"]]
        table += [[f.name, f"{f.lines:,}", f"{f.differ + f.failed:,}"] for f in replayed.files]
        if replayed.files:
            print_view(View(tables=[make_text_table(table)]))
        firsts = [f"{file.name}, {file.first}" for file in replayed.files if file.first]
        write_text("".join(f"{line}\n" for line in (*firsts, *replayed.wrong)))
        unused = f" ({replayed.unused:,} were not used)" if replayed.unused else ""
        how = "The same bytes" if replayed.is_same else "Not the same"
        write_text(f"{how}, from {replayed.replies:,} held replies{unused}, with no network.\n")
    if not replayed.is_same:
        raise typer.Exit(GATE_FAILED)


def _verify_results(folder: Path, *, as_json: bool) -> None:
    from .rerun import verify_results

    replayed = verify_results(folder)
    if as_json:
        about = {name: getattr(replayed, name) for name in ("is_same", "replies", "other")}
        write_objects([{**about, "files": [file.as_dict() for file in replayed.files]}])
    else:
        columns = [Column("file", Kind.NAME)]
        columns += [
            Column(name, Kind.COUNT)
            for name in ("lines", "not the same", "the same but for why it failed")
        ]
        rows = [Row([file.name, file.lines, file.differ, file.failed]) for file in replayed.files]
        print_view(View(tables=[Table("", columns, rows)]))
        firsts = [f"{file.name}, {file.first}" for file in replayed.files if file.first]
        write_text("".join(f"{line}\n" for line in (*firsts, *replayed.other)))
        how = "follow" if replayed.is_same else "do not follow"
        write_text(f"The results {how} from {replayed.replies:,} kept replies.\n")
    if not replayed.is_same:
        raise typer.Exit(GATE_FAILED)


def mlflow(
    results: Folder,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
) -> None:
    """Log results to MLflow: a run a system, with its intervals, under one with the report.

    Nothing is sent but to the tracking store. Logged again, the same results change nothing.

    Example: judge export mlflow results/demo --experiment rag

    Args:
        results: A results folder.

    Output:
        experiment: Its name, made where there is none; default: MLflow's own.
        tracking_uri (URI): Where MLflow keeps runs, e.g. sqlite:///mlflow.db or
            http://127.0.0.1:5000; default: MLflow's own, or MLFLOW_TRACKING_URI.
    """
    from ...records.reading.problems import need
    from .mlflow_runs import log

    if tracking_uri is not None:
        need("mlflow", "mlflow").set_tracking_uri(tracking_uri)
    logged = log(results, experiment=experiment)
    messages = {
        "new": "Logged",
        "updated": "Updated: the runs that were there have what is new",
        "unchanged": "Already there, nothing was written",
    }
    below = {name: run_id for name, run_id in logged.systems.items() if run_id != logged.run_id}
    lines = [f"{logged.run_id}  {results}", *(f"{run}  {name}" for name, run in below.items())]
    write_text("".join(f"{line}\n" for line in lines))
    write_note(f"{messages[logged.how]}.\n")


def qrels(
    context: typer.Context,
    results: Folder,
    *,
    out: Path,
    run_id: str = "nuggetjudge",
) -> None:
    """Write grades as qrels of six columns, with a confidence, as the TREC RAG track takes them.

    Example: judge export qrels results/relevance --out grades.tsv --run-id my-judge

    Args:
        results: A results folder of relevance.
        run_id: What the judgments are called, in the last column.

    Output:
        out: The file.
    """
    from .tools import write_qrels

    written = write_qrels(_read_finished(context, results), out, run_id)
    counts = (
        f"{written.n:,} grades, {written.n_sure:,} with a confidence of the judge, the others 1"
    )
    missing = (
        f"; {written.n_unjudged:,} passages not judged are left out" if written.n_unjudged else ""
    )
    write_note(f"{counts}{missing}. Written: {out}\n")


def missed(context: typer.Context, results: Folder, *, out: NewFile) -> None:
    """Write the key points or nuggets that answers miss, as items for a judge that says why.

    Example: judge export missed results/keypoints --out missed.jsonl
    Then: judge run items --items missed.jsonl --judge missed_point --out results/why

    Args:
        results: A results folder of keypoints or nuggets.

    Output:
        out: The file, JSONL.
    """
    from ...records.reading.problems import Problems
    from .missed import write_missed

    problems = Problems()
    (folder,) = open_results(context, [results])
    n = write_missed(folder, out, problems)
    list_problems(problems)
    write_note(f"{n:,} items that answers do not state in full. Written: {out}\n")


def repaired(results: ExistingPath, *, out: Path) -> None:
    """Write the runs with the suggestions that are used as first citations, the old ones beside.

    They get names of their own, so that nobody takes their scores for those of the systems.

    Example: judge export repaired results/evidence --out repaired

    Args:
        results: A results folder of judge run evidence.

    Output:
        out: Folder for the run files.
    """
    from ...programs.protocols.evidence import export_repaired

    counts = export_repaired(results, out)
    write_note(
        f"{counts['changed_sentences']:,} sentences of {counts['changed_answers']:,} of "
        f"{counts['answers']:,} answers have a new first citation. Written: {out}\n"
    )


def ragdoll(context: typer.Context, results: Results, out: Out) -> None:
    """Write nuggets, support, relevance and so on as RAGDoll does, for its metrics and arena.

    Example: judge export ragdoll results/demo for-ragdoll
    """
    from ...records.reading.problems import Problems
    from .tools import write_ragdoll

    problems = Problems()
    _say(write_ragdoll(_read_finished(context, results), out, problems), out)
    list_problems(problems)


def nuggetizer(context: typer.Context, results: Results, out: Out) -> None:
    """Write nuggets, assignments and metrics as nuggetizer does.

    Example: judge export nuggetizer results/demo for-nuggetizer
    """
    from .tools import write_nuggetizer

    _say(write_nuggetizer(_read_finished(context, results), out), out)


export = typer.Typer(
    help="Write results for other tools, and answers with suggested citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@export.callback()
def _export() -> None:
    """Write results for other tools, and answers with suggested citations."""


for _command in (mlflow, repaired, ragdoll, nuggetizer, autojudge, qrels, missed):
    add_command(export, _command)


def _add_tool(name: str, what: str) -> None:
    """Add the command that writes for a tool which a program names (`Program.tools`)."""

    def command(context: typer.Context, results: Results, out: Out) -> None:
        from ...records.reading.problems import Problems
        from .tools import write_for

        problems = Problems()
        _say(write_for(name, _read_finished(context, results), out, problems), out)
        list_problems(problems)

    command.__name__ = name
    command.__doc__ = f"{what}\n\nExample: judge export {name} results/run for-{name}\n"
    add_command(export, command)


for _program in programs():
    for _name, _what in _program.tools.items():
        if _name != "ragdoll":
            _add_tool(_name, _what)


def _read_finished(context: typer.Context, path: Path) -> Result:
    """The results, of a stopped run what was judged by now, which is said."""
    from ...programs.scoring.result import Result

    return Result(open_results(context, [path])[0])


def _say(counts: Mapping[str, int], out: Path) -> None:
    """Say on stderr how many rows were written, and how many judgements `failed`, as 0 there."""
    rows = ", ".join(f"{name} {n:,}" for name, n in counts.items() if name != "failed")
    text = f"Rows: {rows}\n"
    if n := counts.get("failed"):
        text += (
            f"{n:,} judgements did not arrive: failed or -1 there, which its metrics take for 0\n"
        )
    write_note(f"{text}Written: {out}\n")
