"""`judge check`: how far a judge can be trusted, from one file with its labels and people's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli.options import Level, Output, Where, read_where
from ...cli.signatures import ExistingPath, File, Folder, NewFile, OptionRules
from ...cli.stopping import GATE_FAILED, list_problems
from ...cli.tables import write_note
from ...records.reading.problems import InputError, Problems

DEMO = Path(__file__).parent / "demo.csv"


@dataclass(frozen=True)
class Certifying:
    """What a certificate is asked for, and of which judge.

    Output:
        certify (FIGURES): What the lower ends of intervals must reach, as
            "sensitivity>=.8,specificity>=.8"; also accuracy, kappa, recall and recall:LABEL. Exit
            1 if one does not.
        out: The certificate to write, for `judge gate --certificate`.

    Models:
        results: Take the judge's labels, and which judge it is, from this results folder; FILE
            has people's labels of it.
        model (NAME): The model of the judge, where it is none of nuggetjudge.
        prompt: The file with its prompt.
        version (TEXT): Its version.
        setting (NAME=VALUE): A setting of it, as temperature=0; may be repeated.
        name: What to call the judge.
        fitted_on: Labels that the judge or its prompt was fitted on; they do not count here. May
            be repeated.
    """

    _: KW_ONLY
    certify: str | None = None
    out: NewFile | None = None
    results: Folder | None = None
    model: str | None = None
    prompt: File | None = None
    version: str | None = None
    setting: list[str] | None = None
    name: str = ""
    fitted_on: list[ExistingPath] | None = None


def check(
    context: typer.Context,
    file: ExistingPath | None = None,
    *,
    human: list[str] | None = None,
    judge: str = "",
    annotator: str = "",
    topic: str = "",
    item: list[str] | None = None,
    repeat: str = "",
    where: Where = None,
    relabel: Annotated[list[str] | None, OptionRules("--map")] = None,
    scale: str = "",
    cut: str | None = None,
    missing: list[str] | None = None,
    sheet: str | None = None,
    by: str = "",
    level: Level = 0.95,
    demo: bool = False,
    certifying: Certifying,
    output: Output,
) -> None:
    """Check any judge against people's labels: one file, two columns, a verdict.

    Examples: judge check labels.csv --human human --judge judge
    / judge check labels.xlsx --human ann,bob --judge score --by length
    / judge check --demo

    FILE is a CSV, a spreadsheet, JSONL, Parquet, or results of Inspect, DeepEval, promptfoo or
    MLflow. Columns that you do not name are guessed, and the guess is printed as a command.

    Exit: 0 complete, 1 a certificate was refused, 2 usage or input.

    Args:
        file: Labels of people and of the judge.
        human (COLUMN): People's labels; of several annotators A,B or again for each.
        judge (COLUMN): The judge's labels or scores.
        annotator (COLUMN): Who labelled a row, where each annotator has rows.
        topic (COLUMN): Rows that share it are not independent, as of a topic, document or run;
            intervals go by it. none: by row.
        item (COLUMN): What names an item, where several rows are of one; may be repeated.
        repeat (COLUMN): Numbers repeated judgements of an item: how noisy is the judge?
        relabel (OLD=NEW): Read a label as another one; may be repeated.
        scale (WORST,...,BEST): All labels in their order.
        cut (LABEL): Yes or no: positive from this label or number on; HUMAN,JUDGE has one for each.
        missing (WORD): A word that means no label, beside n/a, ?, none and the like; may be
            repeated.
        sheet (NAME): Of a spreadsheet.
        by (COLUMNS): Where is the judge worse? length (words of the answer) or any column.
        demo: Check a recorded judge on labels that come with nuggetjudge.
    """
    from .certifying import Identity, certify, describe_uses, make_identity
    from .checking import (
        check_items,
        check_results,
        leave_out_fitted_rows,
        list_missing,
        read_cuts,
        read_data,
    )
    from .columns import Columns
    from .items import Reading
    from .results import read_judged_items

    if demo == (file is not None):
        what = "wanted FILE or --demo, not both" if demo else "wanted FILE; --demo shows one"
        raise InputError(f"judge check: {what}")
    path = DEMO if file is None else file
    if path.is_dir():
        what = (
            "is a folder; FILE has people's labels, and --results takes the judge's from a folder"
        )
        raise InputError(f"{path}: {what}")
    asked = certifying
    if asked.certify is not None and asked.out is None:
        raise InputError("--certify: writes a certificate; name it with --out judge.cert.json")
    if asked.certify is None and asked.out is not None:
        raise InputError(f"--out {asked.out}: is the certificate; say with --certify what it needs")
    problems, identity = Problems(), None
    by_names = [name for name in by.split(",") if name]
    if asked.results is not None:
        given = {"--human": human, "--judge": judge, "--annotator": annotator, "--topic": topic,
                 "--item": item, "--by": by, "--cut": cut, "--map": relabel, "--scale": scale,
                 "--model": asked.model, "--prompt": asked.prompt}  # fmt: skip
        if wrong := [name for name, value in given.items() if value]:
            hint = "; `judge bias` shows what its errors go with" if "--by" in wrong else ""
            raise InputError(f"{wrong[0]}: not with --results, whose ids and labels count{hint}")
        from ...cli.stopping import open_results

        (folder,) = open_results(context, [asked.results])
        items, identity = read_judged_items(path, folder, problems, read_where(where or ()))
        found = check_items(items, path, require=asked.certify, level=level)
    else:
        if asked.certify is not None:
            identity = make_identity(
                asked.name, asked.model, asked.prompt, asked.version, asked.setting or []
            )
        columns = Columns(
            _split(path, human or ()), judge, annotator, topic, tuple(item or ()), repeat
        )
        reading = Reading(
            _read_map(relabel or ()), tuple(label.strip() for label in scale.split(",") if scale),
            read_cuts([] if cut is None else cut.split(",")), list_missing(missing or ()), by_names,
        )  # fmt: skip
        results = read_data(path, problems, sheet)
        notes = []
        if asked.fitted_on:
            others = [read_data(other, problems) for other in asked.fitted_on]
            results, n = leave_out_fitted_rows(results, others, columns, reading)
            notes.append(f"{n:,} rows that the judge was fitted on are left out.")
        found = check_results(
            results, columns, reading, read_where(where or ()), require=asked.certify, level=level,
            others=_list_others(relabel, scale, cut, missing, sheet, by, where), notes=notes,
        )  # fmt: skip
    certificate = None
    if asked.certify is not None and asked.out is not None and isinstance(identity, Identity):
        certificate = certify(found, identity, path, asked.out)
        found["notes"].append(describe_uses(certificate))
        found["certificate"] = str(asked.out)
    if demo:
        found["notes"][-1] = (
            "This is a demo: the lexical judge, which goes by word overlap, on our own labels of "
            "whether a passage supports a sentence. Yours: judge check FILE"
        )
    output.print([found], lambda _: found.view())
    list_problems(problems)
    if certificate is not None:
        _report(certificate)


def _report(certificate: Any) -> None:
    """Say what became of a certificate; exit with 1 if it was refused."""
    sys.stdout.flush()
    if certificate.is_passed:
        write_note(f"Certificate: {certificate.path}\n")
        return
    write_note(f"Refused: {certificate.path} says why, and `judge gate` takes it for none\n")
    raise typer.Exit(GATE_FAILED)


def _split(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Columns given one by one, or with commas between."""
    return tuple(part.strip() for name in names for part in name.split(",") if part.strip())


def _read_map(texts: Sequence[str]) -> dict[str, str]:
    labels = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not (old.strip() and equals and new.strip()):
            raise InputError(f"--map {text}: wanted OLD=NEW, such as pass=support")
        labels[old.strip()] = new.strip()
    return labels


def _list_others(
    relabel: Sequence[str] | None, scale: str, cut: str | None, missing: Sequence[str] | None,
    sheet: str | None, by: str, where: Sequence[str] | None,
) -> list[str]:  # fmt: skip
    """The options that were given beside the columns, for the command that repeats a guess."""
    several = {"--map": relabel, "--missing": missing, "--where": where}
    one = {"--scale": scale, "--cut": cut, "--sheet": sheet, "--by": by}
    words = [word for name, values in several.items() for v in values or () for word in (name, v)]
    return words + [word for name, value in one.items() if value for word in (name, value)]
