"""Items that an agent labels: rows, trace and calls of a run, and what its file may not say."""

import json
from pathlib import Path
from typing import Any

import pytest
from mock_server import MockServer, input_of

import nuggetjudge as nj
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.probe.probe import probing_conditions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import plan
from nuggetjudge.records.reading.problems import InputError, Problems

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "tests" / "collection"
CLAIMS = ["Bees form a cluster in winter.", "Tides follow the moon."]
AGENT = """\
name: checked
question: Do passages carry the claim? yes or no.
inputs: {claim: a statement}
labels: [no, yes]
tools: [search, judge]
steps: 3
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    rows = {
        "items": [{"topic_id": f"t{i}", "claim": text} for i, text in enumerate(CLAIMS)],
        "human": [{"topic_id": f"t{i}", "label": "yes"} for i in range(2)],
        "passages": [{"docid": f"p{i}", "text": text} for i, text in enumerate(CLAIMS)],
    }
    for name, given in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in given)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return {path.stem: path for path in tmp_path.iterdir()}


def brain(body: dict[str, Any]) -> dict[str, Any]:
    """Searches, has the first passage judged, and says yes if that is full."""
    asked = input_of(body)
    if "turns" not in asked:
        return {"verdict": "full" if asked["sentence"] in asked["passage"] else "none"}
    turns, claim = asked["turns"], asked["claim"]
    if not turns:
        return {"action": {"tool": "search", "query": claim}}
    if len(turns) == 1:
        first = turns[0]["found"][:1]
        return {"action": {"tool": "judge", "statement": claim, "passages": first}}
    label = "yes" if turns[1]["found"][0]["label"] == "full" else "no"
    return {"action": {"tool": "finish", "label": label, "because": [2]}}


def run_with(server: MockServer, files: dict[str, Path], out: Path, **more: Any) -> Any:
    model = {"model": "hosted_vllm/mock", "api_base": server.base_url, "reasks": 0}
    given = {"items": files["items"], "judge": files["agent"], "passages": files["passages"]}
    cache = out.parent / "cache"
    return nj.run(program="items", out=out, model=model, cache=cache, **given, **more)


def test_a_run_writes_labels_a_trace_and_its_calls_and_replays_to_the_same_bytes(
    files: dict[str, Path], tmp_path: Path
) -> None:
    with MockServer(brain) as server:
        result = run_with(server, files, tmp_path / "out")
        assert [row["label"] for row in result.judgements["labels"]] == ["yes", "yes"]
        assert len(server.requests) == 2 * 4
        run_with(server, files, tmp_path / "again", **{"run.offline": True})
        assert len(server.requests) == 2 * 4
    agreement = agree(files["human"], tmp_path / "out", Problems(), resamples=0)
    assert agreement["calls"] == {"calls": 8, "judgements": 2}
    trace = (tmp_path / "out" / "trace.jsonl").read_bytes()
    assert trace.count(b'"kind":"turn"') == 2 * 3
    assert (tmp_path / "again" / "trace.jsonl").read_bytes() == trace


def test_an_item_whose_turns_end_is_listed_and_never_a_label(
    files: dict[str, Path], tmp_path: Path
) -> None:
    files["agent"].write_text(AGENT.replace("steps: 3", "steps: 2"), encoding="utf-8")
    with MockServer(brain) as server:
        result = run_with(server, files, tmp_path / "out")
    assert {row["label"] for row in result.judgements["labels"]} == {None}
    assert {row["reason"] for row in result.unjudged} == {"steps"}


def test_the_example_runs_without_a_model_and_its_calls_are_known_before(tmp_path: Path) -> None:
    settings = {
        "program": "items",
        "data.items": str(DEMO / "labels" / "grounded.jsonl"),
        "data.passages": str(DEMO / "passages.jsonl"),
        "items.judge": str(DEMO / "checked.yaml"),
        "run.limit": 1,
        "run.out": str(tmp_path / "out"),
    }
    estimates = {each.judge: each.calls for each in plan(load_config(None, settings))}
    assert nj.run(load_config(None, settings)).is_complete
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["calls"]["items"] == sum(estimates.values()) > 0
    assert set(estimates) == {"item", "support"}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("tools: [search, judge]", "tools: [judge]"), "wanted search"),
        (("tools: [search, judge]", "tools: [search, delete]"), "agent.yaml:5"),
        (("steps: 3", "steps: 1"), "agent.yaml:6"),
        (("tools: [search, judge]\n", ""), "only a judge with tools takes turns"),
        (("steps: 3", "pipeline: [bm25 5, listwise]"), "asks a model"),
        (("steps: 3", "evidence: {of: [claim]}"), "says why by its trace"),
        (("steps: 3", "lexical: {look_for: claim, in: claim, cuts: [1]}"), "wanted passages"),
    ],
)
def test_a_file_that_is_no_agent_is_refused_with_its_place_before_anything_is_asked(
    change: tuple[str, str], what: str, files: dict[str, Path], tmp_path: Path
) -> None:
    files["agent"].write_text(AGENT.replace(*change), encoding="utf-8")
    with MockServer(brain) as server:
        with pytest.raises(InputError, match=what):
            run_with(server, files, tmp_path / "out")
        assert not server.requests


def test_settings_and_commands_that_agents_have_not_are_refused(
    files: dict[str, Path], tmp_path: Path
) -> None:
    with MockServer(brain) as server:
        with pytest.raises(InputError, match=r"judges\.item\.evidence"):
            run_with(server, files, tmp_path / "out", **{"judges.item.evidence": True})
        with pytest.raises(InputError, match=r"passages"):
            run_with(server, {**files, "passages": ()}, tmp_path / "out")  # type: ignore[dict-item]
    config = load_config(None, {"models.default.model": "openai/mock", "run.cache": False})
    with pytest.raises(InputError, match="wanted a judge that is asked once"):
        probing_conditions(files["items"], str(files["agent"]), config, Problems()).plan()
