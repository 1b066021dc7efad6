"""Whatever write a run ends at, the same command goes on, repeats nothing and changes no byte."""

import json
from collections import Counter
from pathlib import Path

import pytest
from crash_points import crash_at
from mock_batches import MockBatches

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.reading.problems import InputError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
POINTS = 8  # of all writes, spread over the run


def files_of(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
    }


def judged(folder, **settings):
    given = {"run.out": folder, "run.limit": 1, "program": ["support", "nuggets"]}
    judge_collection(load_config(DEMO, given | settings))


def built(folder):
    from nuggetjudge.plugins.collections.crux import build_crux

    build_crux(EXAMPLES / "summaries" / "summaries.jsonl", load_config(None, {"run.out": folder}))


@pytest.mark.parametrize("work", [judged, pytest.param(built, marks=pytest.mark.whole)])
def test_a_run_or_build_goes_on_from_any_write(work, tmp_path, monkeypatch):
    with crash_at(None, tmp_path / "whole", monkeypatch) as writes:
        work(tmp_path / "whole")
    n = len(writes)
    for number in sorted({1, 2, n - 1, n, *range(1, n, max(1, n // POINTS))}):
        folder = tmp_path / f"crashed-{number}"
        with (
            pytest.raises(InputError, match="cannot be written"),
            crash_at(number, folder, monkeypatch),
        ):
            work(folder)
        assert not (folder / "manifest.json").exists()
        with crash_at(None, folder, monkeypatch) as again:
            work(folder)
        assert len(again) == n - (number - 1)  # nothing that was finished is judged again
        assert files_of(folder) == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_a_run_by_batches_goes_on_from_any_write_to_its_ledger(tmp_path, monkeypatch):
    def run(server, folder):
        given = {"run.cache": tmp_path / f"cache-{folder.name}", "run.executor": "batch"}
        given |= {"run.batch.quiet_s": 0.1, "run.batch.poll_s": 0.02, "program": ["support"]}
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        judged(folder, **given | {"models.default": model})

    with MockBatches() as server, crash_at(None, tmp_path / "whole", monkeypatch) as writes:
        run(server, tmp_path / "whole")
    steps = [number for number, path in enumerate(writes, 1) if "batches-" in path]
    assert len(steps) >= 4  # planned, uploaded, asked, made, taken
    for number in steps:
        folder = tmp_path / f"crashed-{number}"
        with MockBatches() as server:
            with (
                pytest.raises(InputError, match="cannot be written"),
                crash_at(number, folder, monkeypatch),
            ):
                run(server, folder)
            run(server, folder)
            times = Counter(json.dumps(request.body) for request in server.requests)
        assert max(times.values()) == 1  # asked once
        assert files_of(folder) == files_of(tmp_path / "whole")
