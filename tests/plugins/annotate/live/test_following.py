"""The figures keep up with journals, from the disk alone, and at the size of TREC 2024."""

import time

import pytest

from nuggetjudge.plugins.annotate.live.figures import figures
from nuggetjudge.plugins.annotate.live.settings import LiveSettings
from nuggetjudge.plugins.annotate.server.labelling import open_labelling
from nuggetjudge.plugins.annotate.server.watching import watch
from nuggetjudge.plugins.annotate.store.events import Flag, Label, Skip, Verdict
from nuggetjudge.plugins.annotate.store.journal import Journal
from nuggetjudge.plugins.annotate.store.people import list_people
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.reading.problems import Problems


def until(work, **wanted):
    """The figures, once those of ann are as wanted; ten seconds at most."""
    for _ in range(1000):
        figures = work.progress()
        ann = next((one for one in figures.get("people", ()) if one["annotator"] == "ann"), {})
        if {name: ann.get(name) for name in wanted} == wanted:
            return figures
        time.sleep(0.01)
    raise AssertionError(f"{figures}, wanted {wanted} of ann")


def test_the_coordinator_sees_what_is_on_the_disk_flags_and_skips_too_and_not_half_a_line(world):
    (world.folder / "bob.events.jsonl").write_text('{"seq":1,"id":"torn')
    task = read_task([world.path], "nuggets", Problems())
    work = open_labelling(task, world.folder, ["ann"], Plan(), adjudicators=["judy"])
    session, about = (
        work.sessions["ann"],
        {"kind": "nuggets", "chosen_by": "random", "probability": 0.5},
    )
    with watch(work, LiveSettings("nuggets"), quiet_s=0.05):

        def do(event):
            session.take(event)
            work.changed()

        for n, cell in enumerate(world.order[:30]):
            do(Label(id=f"label-{n:04}", cell=cell, label=world.human[cell], **about))
        shown = until(work, labels=30, flagged=0, skipped=0)
        assert [one["annotator"] for one in shown["people"]] == ["ann", "bob", "judy"]
        assert shown["measures"]
        last, later = world.order[29:31]
        do(Flag(id="flag-flag", kind="nuggets", cell=last))
        do(Skip(id="skip-0001", kind="nuggets", cell=last))  # it has a label: not left for later
        do(Skip(id="skip-0002", kind="nuggets", cell=later))
        until(work, labels=30, flagged=1, skipped=1)
        do(Label(id="label-late", cell=later, label=world.human[later], **about))
        do(Flag(id="flag-gone", kind="nuggets", cell=last, on=False))
        until(work, labels=31, flagged=0, skipped=0)
    work.close()


def test_a_verdict_takes_the_place_of_labels_that_differ(world):
    """Of journals as they are on the disk: what a person decided counts, and not labels alone."""
    cell = world.order[0]
    about = {"kind": "nuggets", "cell": cell}
    for name, label in (("ann", "support"), ("bob", "not_support")):
        journal = Journal(world.folder, name)
        journal.add(Label(id=f"label-{name}", label=label, chosen_by="random", **about))
        journal.close()
    journal = Journal(world.folder, "judy")
    journal.add(Verdict(id="verdict-1", label="support", order=("ann", "bob"), **about))
    journal.close()
    states = {person.name: person.state() for person in list_people(world.folder)}
    assert figures(world.judged(), states, LiveSettings("nuggets"))["n_disputed"] == 0


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
