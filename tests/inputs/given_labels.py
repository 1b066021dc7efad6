"""Events of people in a folder, as the app writes them: through their journals."""

from itertools import count

from nuggetjudge.plugins.annotate.store.events import Clear, Flag, Label, Undo, Verdict
from nuggetjudge.plugins.annotate.store.journal import Journal

_ids = count(1)


def new_id():
    return f"event-{next(_ids):>06}"


def cell(n, topic="t1"):
    """A citation of the first run."""
    return (topic, "run1", str(n), "p1")


def label(value, of, kind="support", chosen_by="random", **more):
    return Label(id=new_id(), kind=kind, cell=of, label=value, chosen_by=chosen_by, **more)


def clear(of, kind="support", **more):
    return Clear(id=new_id(), kind=kind, cell=of, **more)


def flag(why, of, kind="support"):
    return Flag(id=new_id(), kind=kind, cell=of, why=why)


def verdict(value, of, kind="support", **more):
    return Verdict(id=new_id(), kind=kind, cell=of, label=value, order=("ann", "bo"), **more)


def undo():
    return Undo(id=new_id())


def keep(folder, name, *events):
    journal = Journal(folder, name)
    for event in events:
        assert journal.add(event) is not None
    journal.close()
