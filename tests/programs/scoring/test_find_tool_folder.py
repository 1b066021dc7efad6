"""Which folders of other tools are read follows from the programs that there are."""

import json
from types import SimpleNamespace

from nuggetjudge.programs.scoring import tool_folders


def test_a_folder_is_found_by_what_a_program_of_another_package_takes(tmp_path, monkeypatch):
    row = {"run_id": "r", "topic_id": "t", "references": [], "answer": [{"text": "It is so."}]}
    (tmp_path / "theirs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert tool_folders.find_tool_folder(tmp_path) is None
    other = SimpleNamespace(takes="answers", takes_with=())
    monkeypatch.setattr(tool_folders, "programs", lambda: [other])
    assert tool_folders.find_tool_folder(tmp_path).judged == ["answers"]
