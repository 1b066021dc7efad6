"""Of a large run the first item is there before anybody waits."""

import json
import time

import pytest

from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue_files import load_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.reading.problems import Problems

RUNS, TOPICS, NUGGETS = 45, 21, 20  # 18,900 cells


@pytest.mark.slow
def test_of_18_900_items_the_first_is_shown_in_time(tmp_path):
    path = tmp_path / "assignments.jsonl"
    labels = ("support", "partial_support", "not_support")
    with path.open("w", encoding="utf-8") as stream:
        for topic in range(TOPICS):
            for run in range(RUNS):
                nuggets = [
                    {"id": f"n{i}", "text": f"fact {i} " * 6, "importance": "vital"}
                    | {"assignment": labels[(run + i) % 3]}
                    for i in range(NUGGETS)
                ]
                row = {"qid": f"t{topic}", "query": "why", "run_id": f"r{run}", "nuggets": nuggets}
                text = f"answer of {run} " * 130
                stream.write(json.dumps(row | {"answer_text": text, "response_length": 390}) + "\n")
    start = time.process_time()
    task = read_task([path], "nuggets", Problems())
    queue = load_queue(tmp_path, task, "ann", Plan())
    assert len(task.cells) == 18_900
    task.expect(entry.cell for entry in queue)
    assert [text.of for text in task.show_texts(queue[0].cell)] == ["question", "answer", "nugget"]
    assert time.process_time() - start < 2 * 2  # 2 s, doubled for load
    start = time.process_time()
    for entry in queue[:500]:
        task.show_texts(entry.cell)
    assert time.process_time() - start < 2 * 0.05
    assert load_queue(tmp_path, task, "ann", Plan()) == queue
