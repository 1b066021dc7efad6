"""`judge annotate disagreements`: who is right where a judge and people differ."""

from __future__ import annotations

from ....cli.options import Kind, Level, Output, Resamples, Seed
from ....cli.signatures import ExistingPath, NewFolder, Positive
from ....cli.stopping import list_problems
from ....cli.tables import write_note, write_text
from ....records.reading.problems import InputError, Problems


def disagreements(
    human: ExistingPath,
    judged: ExistingPath | None = None,
    *,
    out: NewFolder | None = None,
    n: Positive = 15,
    seed: Seed = 0,
    kind: Kind = None,
    resamples: Resamples = 1000,
    level: Level = 0.95,
    output: Output,
) -> None:
    """Draw items where a judge and people differ, and ask judges who see neither label.

    Examples: judge annotate disagreements human.jsonl results/demo --out study
    / judge annotate disagreements study

    Args:
        human: People's labels; or a study, whose tables are printed.
        judged: The judge's labels, or a results folder.
        n: Items of each topic.

    Output:
        out: Folder of the study, with a sheet that has no labels.
    """
    problems = Problems()
    if judged is None:
        if out is not None:
            raise InputError(f"--out {out}: wanted two files of labels to draw from")
        from ..out.disagreements import compare_disagreements, make_view, read_study, write_labels

        drawn = read_study(human, problems)
        rows = compare_disagreements(drawn, {"resamples": resamples, "level": level})
        written = write_labels(drawn, human)
        output.print(rows, lambda _: make_view(drawn, rows, level))
        list_problems(problems)
        write_note(f"All labels: {written}\n")
        return
    from ..work.disagreements import SHEET, draw_disagreements

    if out is None:
        raise InputError("name a folder for the study (--out)")
    study = draw_disagreements(human, judged, out, problems, n=n, seed=seed, kind=kind)
    list_problems(problems)
    total = sum(1 for _ in (out / SHEET).open("rb"))
    lines = [
        f"{total:,} items of {study.n_topics:,} topics, of {study.n_differ:,} that differ: {out}",
        "Have them labelled, by people and by another model; neither sees a label:",
        f"  judge annotate {out / SHEET} --kind {study.kind} --dir {out / 'people'}",
        f"  judge run items --items {out / SHEET} --judge NAME --model M --out {out / 'model'}",
        f"  judge annotate disagreements {out}",
    ]
    write_text("\n".join(lines) + "\n")
