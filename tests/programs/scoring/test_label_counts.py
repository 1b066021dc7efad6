"""How often each label was given, by the values of a field."""

import json

from nuggetjudge.programs.scoring.score import label_counts
from nuggetjudge.records.reading.problems import Problems


def test_labels_stand_best_first_and_all_rows_after_their_parts(tmp_path):
    path = tmp_path / "support.jsonl"
    labels = {"old": ["full", "none"], "new": ["none", None]}
    with path.open("w", encoding="utf-8") as stream:
        for run, of_run in labels.items():
            cited = [{"docid": f"d{i}", "label": label} for i, label in enumerate(of_run)]
            sentences = [{"text": "s", "citations": cited}]
            row = {"topic_id": "t", "run_id": run, "age": run, "sentences": sentences}
            stream.write(json.dumps(row) + "\n")
    counts = [one for one in label_counts(path, "age", Problems()) if one.of == "citations"]
    assert [(one.value, one.n_unjudged) for one in counts] == [("old", 0), ("new", 1), (None, 1)]
    assert list(counts[-1].labels.items()) == [("full", 1), ("partial", 0), ("none", 2)]
