"""`judge annotate disagreements`: who is right if a judge and people differ?"""

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
    """Draw items on which a judge and people differ, for others to label without seeing labels.

    Examples: judge annotate disagreements human.jsonl results/demo --out study
    / judge annotate disagreements study

    Args:
        human: Labels of people; or the folder of a study, to print its tables.
        judged: The judge's labels, or a results folder.
        n: Most items of each topic.

    Output:
        out: Folder of the study; its sheet shows no labels.
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
        f"Drew {total:,} of {study.n_differ:,} items, in {study.n_topics:,} topics: {out}",
        "Next, people and another model label them; neither sees a label:",
        f"  judge annotate {out / SHEET} --kind {study.kind} --dir {out / 'people'}",
        f"  judge run items --items {out / SHEET} --judge NAME --model M --out {out / 'model'}",
        f"  judge annotate disagreements {out}",
    ]
    write_text("\n".join(lines) + "\n")
