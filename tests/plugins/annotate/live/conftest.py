"""Judged nuggets of three runs, and people who label them in blocks of a topic."""

import random
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from json_lines import write_rows

from nuggetjudge.plugins.annotate.live.judged import read_judged
from nuggetjudge.plugins.annotate.store.events import Label, Skip, Verdict
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.records.reading.problems import Problems

SCALE = ("not_support", "partial_support", "support")
RUNS = ("one", "two", "three")
START = datetime(2026, 11, 23, tzinfo=UTC)


class World:
    """What people would say of every cell, what the judge said, and the order of a draw."""

    def __init__(self, folder, n_topics=6, runs=RUNS, n_nuggets=12):
        topics = [f"t{i}" for i in range(n_topics)]
        rng = random.Random(3)
        self.path = folder / "judged.jsonl"
        self.human, rows = {}, []
        for topic in topics:
            for run in runs:
                nuggets = []
                for i in range(n_nuggets):
                    label = rng.choice(SCALE)
                    judged = label if rng.random() < 0.8 else rng.choice(SCALE)
                    self.human[topic, run, f"n{i}"] = label
                    nuggets.append(
                        {
                            "id": f"n{i}", "text": f"fact {i}",
                            "importance": "vital" if i < 8 else "okay", "assignment": judged,
                        }
                    )  # fmt: skip
                rows.append(
                    {
                        "qid": topic, "query": "q", "run_id": run, "answer_text": "a",
                        "response_length": 1, "nuggets": nuggets,
                    }
                )  # fmt: skip
        write_rows(self.path, rows)
        by_topic = {topic: [c for c in self.human if c[0] == topic] for topic in topics}
        for cells in by_topic.values():
            rng.shuffle(cells)
        blocks = range(0, n_nuggets * len(runs), 6)
        self.order = [c for at in blocks for cells in by_topic.values() for c in cells[at : at + 6]]
        self.folder, self._numbers = folder, count(1)

    def judged(self):
        return read_judged(self.path, "nuggets", Problems())

    def label(self, state, cell, label=..., *, at=None, **more):
        """One label into a state; by default what people would say."""
        given = {"chosen_by": "random", "probability": 0.5, "active_ms": 6_000, **more}
        value = self.human[cell] if label is ... else label
        state.add(Label(**self._known(state, cell, at), label=value, **given))

    def skip(self, state, cell, at=None):
        state.add(Skip(**self._known(state, cell, at)))

    def verdict(self, state, cell, label, **more):
        known = self._known(state, cell, None) | more
        state.add(Verdict(**known, label=label, order=("ann", "bob")))

    def labelled(self, n):
        state = State()
        for cell in self.order[:n]:
            self.label(state, cell)
        return state

    def _known(self, state, cell, at):
        number = next(self._numbers)
        when = START + timedelta(seconds=number if at is None else at)
        ids = {"id": f"event-{number:06}", "seq": state.n + 1, "at": when}
        return {**ids, "kind": "nuggets", "cell": cell}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def large(tmp_path):
    """45 runs of 21 topics with 20 nuggets each: 18,900 cells."""
    return World(tmp_path, 21, [f"r{i}" for i in range(45)], 20)
