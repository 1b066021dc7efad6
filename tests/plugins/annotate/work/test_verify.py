"""What people say of key points is a sheet that `judge build long2rag --verified` reads."""

import csv

from nuggetjudge.plugins.annotate.store.events import Label
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.verify import verification_rows
from nuggetjudge.plugins.collections.verification import fate, read_verification
from nuggetjudge.records.reading.problems import Problems


def test_answers_become_the_sheet_that_a_build_reads(folder, tmp_path):
    task = read_task([folder], "verify", Problems())
    one, other, third = list(task.points)[:3]

    def answered(cell, part, label, **more):
        name = f"{'-'.join(cell)}-{part}"[-60:]
        return Label(id=name, kind="verify", cell=(*cell, part), label=label, **more)

    labels = {
        "ann": [
            answered(one, "grounded", "yes"),
            answered(one, "key_point", "no", rationale="beside it"),
            answered(other, "grounded", "yes"),
            answered(other, "key_point", "yes"),
            answered(third, "grounded", None),
            answered(third, "key_point", "no", repeat=1),
        ],
        "bob": [answered(other, "grounded", "yes")],
    }
    rows = list(verification_rows(task.points, labels))
    path = tmp_path / "verification.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    problems = Problems()
    verified = read_verification([path], task.points, problems)
    assert problems.rows == []
    fates = {cell: fate(verified, cell) for cell in (one, other, third)}
    assert fates == {one: "rejected", other: "kept", third: "open"}
    assert verified["grounded"].annotations[other] == {"ann": "yes", "bob": "yes"}
    assert verified["key_point"].rationales[one] == "beside it"
