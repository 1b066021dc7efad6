"""Labels that came without the probabilities that were asked for are counted, and said."""

import json

from mock_server import MockServer, Reply

SHARES = {"full": 0.5, "partial": 0.3, "none": 0.2}
WHAT = "labels without probabilities, although asked for"


def test_labels_without_probabilities_are_counted_in_summary_and_manifest(
    judge, tiny, tmp_path, monkeypatch
):
    import mock_api

    tell = mock_api.logprobs_of
    silent = iter([True, False, True, False, False, False])
    monkeypatch.setattr(mock_api, "logprobs_of", lambda *a: None if next(silent) else tell(*a))
    with MockServer(brain=lambda _: Reply('{"verdict": "full"}', probabilities=SHARES)) as server:
        ran = judge(
            *("run", "support", "--topics", tiny / "topics.tsv", "--passages"),
            *(tiny / "passages.jsonl", "--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl"),
            *("--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}"),
            *("--set", "models.default.logprobs=true", "--out", "out"),
        )
    assert ran.code == 0, ran.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"][WHAT] == 2
    assert f"2 {WHAT}" in " ".join((ran.out + ran.err).split())
