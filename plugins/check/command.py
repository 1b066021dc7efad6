"""`judge check`: compare any judge with labels of people, from one file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli.options import Level, Output, Where, read_scale, read_where
from ...cli.signatures import ExistingPath, File, Folder, NewFile, OptionRules
from ...cli.stopping import GATE_FAILED, list_problems
from ...cli.tables import write_note
from ...records.reading.problems import InputError, Problems

DEMO = Path(__file__).parent / "demo.csv"


@dataclass(frozen=True)
class Certifying:
    """The requirements of a certificate, and the judge that it is for.

    Output:
        certify (FIGURES): Write a certificate. Its requirements are bounds for the lower ends of
            intervals, such as "sensitivity>=.8,specificity>=.8"; also accuracy, kappa, recall and
            recall:LABEL. Exit 1 if the judge misses one.
        out: Where to write the certificate, for `judge gate --certificate`.

    Models:
        results: Read the judge and its labels from this results folder; FILE then has labels of
            people for the same items.
        model (NAME): The model of a judge that is not from nuggetjudge.
        prompt: The file with the prompt of that judge.
        version (TEXT): The version of that judge.
        setting (NAME=VALUE): A setting of that judge, such as temperature=0; may be repeated.
        name: Name of the judge in the output.
        fitted_on: Labels that the judge or its prompt was fitted on. They are left out. May be
            repeated.
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
    """Check any judge against labels of people: one file, two columns, a verdict.

    Examples: judge check labels.csv --human human --judge judge
    / judge check labels.xlsx --human ann,bob --judge score --by length
    / judge check --demo

    FILE is a CSV, a spreadsheet, JSONL, Parquet, or results of Inspect, DeepEval, promptfoo or
    MLflow. Columns that you do not name are guessed, and the guess is printed as a command.

    Exit: 0 complete, 1 a certificate was refused, 2 usage or input.

    Args:
        file: Labels of people and of the judge.
        human (COLUMN): Labels of people. For several annotators give A,B, or repeat the option.
        judge (COLUMN): The judge's labels or scores.
        annotator (COLUMN): Who labelled a row, if each annotator has rows.
        topic (COLUMN): Rows with the same value are not independent (a topic, document or run);
            intervals treat them as one group. none: rows are independent.
        item (COLUMN): The id of an item, if an item has several rows; may be repeated.
        repeat (COLUMN): The number of a repeated judgement; shows how noisy the judge is.
        relabel (OLD=NEW): Read a label as another one; may be repeated.
        scale (WORST,...,BEST): All labels, from worst to best; with --results, THEIRS=OURS,...
            translates labels of people.
        cut (LABEL): Turn labels into yes or no: this label or number and above is yes. Give
            HUMAN,JUDGE for a cut each.
        missing (WORD): Another word that means no label, besides n/a, ?, none and similar ones;
            may be repeated.
        sheet (NAME): Sheet of a spreadsheet.
        by (COLUMNS): Show where the judge is worse: by length (words of the answer) or any column.
        demo: Check a recorded judge on labels that come with nuggetjudge.
    """
    from ...records.columns import TableOptions
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
        what = "FILE and --demo exclude each other" if demo else "needs FILE; --demo has an example"
        raise InputError(f"judge check: {what}")
    path = DEMO if file is None else file
    if path.is_dir():
        what = (
            "is a folder; FILE is a file with labels of people, and --results names the folder of "
            "the judge"
        )
        raise InputError(f"{path}: {what}")
    asked = certifying
    if asked.certify is not None and asked.out is None:
        raise InputError("--certify writes a certificate: name it with --out judge.cert.json")
    if asked.certify is None and asked.out is not None:
        raise InputError(f"--out {asked.out}: a certificate needs requirements (--certify)")
    problems, identity = Problems(), None
    by_names = [name for name in by.split(",") if name]
    if asked.results is not None:
        given = {"--human": human, "--judge": judge, "--annotator": annotator, "--topic": topic,
                 "--item": item, "--by": by, "--cut": cut, "--map": relabel,
                 "--model": asked.model, "--prompt": asked.prompt}  # fmt: skip
        if wrong := [name for name, value in given.items() if value]:
            hint = "; `judge bias` shows where it errs" if "--by" in wrong else ""
            raise InputError(
                f"{wrong[0]} and --results exclude each other: the folder has the ids and labels"
                f"{hint}"
            )
        from ...cli.stopping import open_results

        (folder,) = open_results(context, [asked.results])
        how = TableOptions(scale=read_scale(scale.split(",") if scale else ()))
        items, identity = read_judged_items(path, folder, problems, read_where(where or ()), how)
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
            notes.append(f"Left out: {n:,} rows that the judge was fitted on.")
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
            "This is a demo: the lexical judge (word overlap), checked on labels by the authors of "
            "whether a passage supports a sentence. Check your judge: judge check FILE"
        )
    output.print([found], lambda _: found.view())
    list_problems(problems)
    if certificate is not None:
        _report(certificate)


def _report(certificate: Any) -> None:
    """Print whether the certificate was issued; exit with 1 if it was refused."""
    sys.stdout.flush()
    if certificate.is_passed:
        write_note(f"Certificate: {certificate.path}\n")
        return
    write_note(f"Refused: {certificate.path} says why, and `judge gate` does not accept it\n")
    raise typer.Exit(GATE_FAILED)


def _split(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Columns given one by one, or separated by commas."""
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
    """The options besides the columns, for the command that repeats a guess."""
    several = {"--map": relabel, "--missing": missing, "--where": where}
    one = {"--scale": scale, "--cut": cut, "--sheet": sheet, "--by": by}
    words = [word for name, values in several.items() for v in values or () for word in (name, v)]
    return words + [word for name, value in one.items() if value for word in (name, value)]
