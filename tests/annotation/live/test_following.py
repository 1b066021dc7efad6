"""The figures keep up with journals, from the disk alone, and at the size of TREC 2024."""

import time

import pytest

from nuggetjudge.annotation.live.figures import figures
from nuggetjudge.annotation.live.following import follow
from nuggetjudge.annotation.live.settings import LiveSettings
from nuggetjudge.annotation.store.events import Label
from nuggetjudge.annotation.store.journal import Journal


def until_of(worker, n):
    for _ in range(1000):
        if worker.figures().get("of_labels") == n:
            return worker.figures()
        time.sleep(0.01)
    raise AssertionError(f"{worker.figures()}, wanted figures of {n} labels")


def test_it_reads_what_is_on_the_disk_and_not_half_a_line(world):
    journal = Journal(world.folder, "ann")
    try:
        for n, cell in enumerate(world.order[:30]):
            label = {"kind": "nuggets", "cell": cell, "label": world.human[cell]}
            journal.add(Label(id=f"label-{n:04}", chosen_by="random", probability=0.5, **label))
        with (world.folder / "bob.events.jsonl").open("w") as torn:
            torn.write('{"seq":1,"id":"torn')
        worker = follow(world.path, world.folder, LiveSettings("nuggets"), quiet_s=0.05)
        shown = until_of(worker, 30)
        assert [one["annotator"] for one in shown["people"]] == ["ann", "bob"]
        assert shown["measures"]
        cell = world.order[30]
        label = {"kind": "nuggets", "cell": cell, "label": world.human[cell]}
        journal.add(Label(id="label-late", chosen_by="random", probability=0.5, **label))
        worker.changed()
        until_of(worker, 31)
        worker.close()
    finally:
        journal.close()


@pytest.mark.slow
def test_6_000_labels_of_18_900_cells_take_less_than_two_seconds(large):
    state, judged = large.labelled(6_000), large.judged()
    spent = []
    while not spent or (min(spent) >= 4 and len(spent) < 3):  # twice the budget: a loaded machine
        start = time.process_time()
        shown = figures(judged, {"ann": state}, LiveSettings("nuggets"))
        spent.append(time.process_time() - start)
    assert len(shown["measures"]) == 46 * 6
    assert min(spent) < 4
