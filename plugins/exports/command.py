"""`judge export`: write results for other tools. `judge verify`: recompute stored results."""

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
_MAX_LEAKS = 5  # remaining names to print


def autojudge(
    context: typer.Context,
    results: Results,
    out: Path,
    *,
    name: str | None = None,
    pseudonyms: NewFile | None = None,
) -> None:
    """Write an AutoJudge submission: leaderboard, banks, qrels, workflow, inputs and replies.

    No model is called. `judge verify DIR` recomputes every file offline.

    Example: judge export autojudge results/demo submission --pseudonyms key.json

    Args:
        out (DIR): New or empty folder to write.

    Output:
        name: Prefix of the table names; default: the names of the tasks.
        pseudonyms (KEY): Replace the names of runs and teams by pseudonyms, using this key file. A
            missing key file is created. It must be outside DIR.
    """
    from ...records.reading.problems import InputError
    from .autojudge import write_autojudge

    if open_results(context, [results])[0] != results:
        raise InputError(f"{results}: the run is not finished; continue it, then export")
    written = write_autojudge(results, out, name=name, pseudonyms=pseudonyms)
    replies = ", ".join(f"{alias} {n:,}" for alias, n in written.replies.items()) or "none"
    sizes = ", ".join(f"{part} {size:,}" for part, size in sorted(written.sizes.items()))
    lines = [f"Tables: {', '.join(written.tables)}", f"Replies by endpoint: {replies}"]
    lines.append(f"Bytes: {sizes}, all {sum(written.sizes.values()):,}")
    if written.unjudged:
        lines.append(f"Failed judgements, also in the export: {written.unjudged:,}")
    if written.dropped:
        dropped = ", ".join(f"{field} {n:,}" for field, n in sorted(written.dropped.items()))
        lines.append(f"Dropped fields that may contain names: {dropped}")
    for leak in written.leaks[:_MAX_LEAKS]:
        lines.append(f"Warning: a name remains: {leak}")
    if len(written.leaks) > _MAX_LEAKS:
        lines.append(f"... and {len(written.leaks) - _MAX_LEAKS:,} more")
    if pseudonyms is not None:
        lines.append(f"Key file, keep it private: {pseudonyms}")
    write_note("".join(f"{line}\n" for line in [*lines, f"Written: {out}"]))


def verify(folder: Folder, *, as_json: AsJson = False) -> None:
    """Recompute results or an export from stored replies, without a model; exit 1 if they differ.

    An export is recomputed offline, and must be equal byte by byte.

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
        table = [["file", "lines", "different"]]
        table += [[f.name, f"{f.lines:,}", f"{f.differ + f.failed:,}"] for f in replayed.files]
        if replayed.files:
            print_view(View(tables=[make_text_table(table)]))
        firsts = [f"{file.name}, {file.first}" for file in replayed.files if file.first]
        write_text("".join(f"{line}\n" for line in (*firsts, *replayed.wrong)))
        unused = f" ({replayed.unused:,} not used)" if replayed.unused else ""
        how = "Identical" if replayed.is_same else "Different"
        write_text(f"{how}: recomputed offline from {replayed.replies:,} stored replies{unused}.\n")
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
            Column(name, Kind.COUNT) for name in ("lines", "different", "other reason of failure")
        ]
        rows = [Row([file.name, file.lines, file.differ, file.failed]) for file in replayed.files]
        print_view(View(tables=[Table("", columns, rows)]))
        firsts = [f"{file.name}, {file.first}" for file in replayed.files if file.first]
        write_text("".join(f"{line}\n" for line in (*firsts, *replayed.other)))
        how = "The results match" if replayed.is_same else "The results do not match"
        write_text(f"{how} the {replayed.replies:,} stored replies.\n")
    if not replayed.is_same:
        raise typer.Exit(GATE_FAILED)


def mlflow(
    results: Folder,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
) -> None:
    """Log results to MLflow: a parent run with the report, and a child run for each system.

    Data goes only to the tracking store. Logging the same results again changes nothing.

    Example: judge export mlflow results/demo --experiment rag

    Args:
        results: A results folder.

    Output:
        experiment: Name of the experiment, created if missing; default: MLflow's default.
        tracking_uri (URI): Where MLflow keeps runs, e.g. sqlite:///mlflow.db or
            http://127.0.0.1:5000; default: MLFLOW_TRACKING_URI, or MLflow's default.
    """
    from ...records.reading.problems import need
    from .mlflow_runs import log

    if tracking_uri is not None:
        need("mlflow", "mlflow").set_tracking_uri(tracking_uri)
    logged = log(results, experiment=experiment)
    messages = {
        "new": "Logged",
        "updated": "Updated the existing runs",
        "unchanged": "Already logged; nothing written",
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
    """Write relevance grades as qrels with a confidence, six columns, for the TREC RAG track.

    Example: judge export qrels results/relevance --out grades.tsv --run-id my-judge

    Args:
        results: A results folder of judge run relevance.
        run_id: Name of these judgements, in the last column.

    Output:
        out: The file.
    """
    from .tools import write_qrels

    written = write_qrels(_read_finished(context, results), out, run_id)
    counts = (
        f"{written.n:,} grades, {written.n_sure:,} with a confidence of the judge; the others get 1"
    )
    missing = (
        f"; {written.n_unjudged:,} unjudged passages are left out" if written.n_unjudged else ""
    )
    write_note(f"{counts}{missing}. Written: {out}\n")


def missed(context: typer.Context, results: Folder, *, out: NewFile) -> None:
    """Write the key points or nuggets that answers miss, for a judge that says why.

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
    """Write the runs with suggested citations placed before the old ones.

    The new runs get names of their own, so that their scores are not mistaken for the systems'.

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
    """Write nuggets, support, relevance and other judgements in RAGDoll's formats.

    Example: judge export ragdoll results/demo for-ragdoll
    """
    from ...records.reading.problems import Problems
    from .tools import write_ragdoll

    problems = Problems()
    _say(write_ragdoll(_read_finished(context, results), out, problems), out)
    list_problems(problems)


def nuggetizer(context: typer.Context, results: Results, out: Out) -> None:
    """Write nuggets, assignments and metrics in nuggetizer's formats.

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
    """Add the export command of a tool that a task names in `Program.tools`."""

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
    """Read results; for a stopped run, what is judged so far, with a note."""
    from ...programs.scoring.result import Result

    return Result(open_results(context, [path])[0])


def _say(counts: Mapping[str, int], out: Path) -> None:
    """Print to stderr how many rows were written, and how many judgements `failed`."""
    rows = ", ".join(f"{name} {n:,}" for name, n in counts.items() if name != "failed")
    text = f"Rows: {rows}\n"
    if n := counts.get("failed"):
        text += (
            f"{n:,} judgements failed; the files mark them failed or -1, and the tool's metrics "
            "count them as 0\n"
        )
    write_note(f"{text}Written: {out}\n")
