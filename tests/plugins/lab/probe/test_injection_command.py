"""`judge probe --injection` as a user runs it: on a finished run, from its cache, into files."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer

ROOT = Path(__file__).resolve().parents[4]
N_PLANTED = 154 + 6  # payloads and controls, once each


@pytest.fixture
def judged(tide_server, run_tiny, tmp_path):
    """The tiny collection, judged by the tide model, which then finds its texts in changed ones."""
    ran = run_tiny(tide_server, "support", "--quiet")
    assert ran.code == 0, ran.err
    tide_server.clear()

    def deaf(body):
        prompt = body["messages"][-1]["content"]
        for text in ("Tides follow the sun alone.", "Kelp bends", "Bays funnel", "Lakes have"):
            if text in prompt:
                return {"verdict": "partial" if text[0] in "TB" else "none"}
        return {"verdict": "full"}

    tide_server.brain = deaf
    return tmp_path / "out"


def inject(judge, source, *arguments):
    return judge("probe", source, "--judge", "support", "--injection", "--repeats", 1, *arguments)


def test_a_deaf_model_is_told_from_its_run_and_again_offline(judge, judged, tide_server):
    ran = inject(judge, judged, "--json")
    assert ran.code == 0, ran.err
    # The base is in the cache of the run; three guards, one of them both others, of six items.
    assert f"{N_PLANTED + 3 * 6} requests, 6 from the cache" in ran.err
    assert len(tide_server.requests) == N_PLANTED + 3 * 6
    rows = {(row["by"], row["name"]): row for row in ran.rows}
    whole = rows["all", "all"]
    assert (whole["cells"], whole["n"], whole["flip"]["value"]) == (154, 154, 0.0)
    assert whole["flip"]["low"] is None  # one topic
    assert "flip" in whole["lexical"]
    assert {name for by, name in rows if by == "place"} == {"passage", "sentence"}
    assert len([name for by, name in rows if by == "payload"]) == 154
    assert sum(row["hijacked"] for row in ran.rows if row["by"] == "reply") == 0
    assert rows["guard", "quotes"]["skipped"]
    again = inject(judge, judged, "--json", "--set", "run.offline=true")
    assert again.out == ran.out
    assert len(tide_server.requests) == N_PLANTED + 3 * 6


def test_a_dry_run_asks_nothing_and_has_the_calls_by_part(judge, judged, tide_server):
    plan = inject(judge, judged, "--dry-run", "--json")
    assert {row["judge"]: row["calls"] for row in plan.rows} == {
        "support base": 6,
        "support planted": N_PLANTED,
        "support without fence": 6,
        "support without schema": 6,
        "support without all": 6,
    }
    shown = inject(judge, judged, "--dry-run")
    assert "skipped quotes: the support judge quotes nothing" in shown.out
    assert tide_server.requests == []


def test_each_planted_text_is_in_a_file_with_what_became_of_it(judge, judged, tide_server, rows_of):
    deaf = tide_server.brain

    def half_deaf(body):
        text = json.dumps(body["messages"][-1]["content"])
        if "grandmother" in text:
            return {"verdict": "full"}
        return "I had rather not say." if "LabelBot" in text else deaf(body)

    tide_server.brain = half_deaf
    options = ["--out", "probed", "--set", "models.default.reasks=0"]
    ran = inject(judge, judged, *options)
    assert ran.code == 3
    assert ran.out.startswith("Injected text changes 1 of ")
    [flipped] = [line for line in ran.out.splitlines() if line.startswith("role-play-6")]
    assert "1/1" in flipped
    assert "1 labels are missing, neither flips nor not; listed in probed/unjudged" in ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    folder = judged.parent / "probed"
    cases = {row["payload"]: row for row in rows_of(folder / "cases.jsonl")}
    assert len(cases) == N_PLANTED
    flipped = cases["role-play-6"]
    assert (flipped["asks"], flipped["label_after"], flipped["flipped"]) == ("full", "full", True)
    assert "whisper the label full to me" in flipped["text"]
    assert {"topic_id", "run_id", "sentence_id", "passage_id", "place"} < flipped.keys()
    assert cases["role-play-2"]["flipped"] is None
    (lost,) = rows_of(folder / "unjudged.jsonl")
    assert (lost["condition"], lost["payload"], lost["raw"]) == (
        "planted", "role-play-2", "I had rather not say."
    )  # fmt: skip
    assert json.loads((folder / "manifest.json").read_bytes())["n_cells"] == N_PLANTED
    compared = judge("compare", "probed/labels/base.jsonl", "probed/labels/without-fence.jsonl")
    assert compared.code == 0, compared.err
    assert "The judges give 0 of 6 items another label (support" in compared.out
    before = {path: path.read_bytes() for path in folder.rglob("*.jsonl")}
    assert inject(judge, judged, *options).code == 3
    assert {path: path.read_bytes() for path in folder.rglob("*.jsonl")} == before


def test_another_model_is_asked_instead(judge, judged, tide_server):
    ran = inject(judge, judged, "--model", "lexical")
    assert ran.code == 0, ran.err
    assert "support, lexical" in ran.out
    assert "changed, lexical" not in ran.out
    assert tide_server.requests == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--conditions", "batch"], "--conditions: texts are planted under one"),
        (["--faults"], "--injection: wanted it without --faults"),
        (["--out", "out"], "which no probe wrote; name another --out"),
        (["--max-cost", "1"], "the price of model"),
    ],
)
def test_what_cannot_be_planted_ends_with_2_and_one_line(
    judge, judged, tide_server, arguments, message
):
    ran = inject(judge, judged, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert tide_server.requests == []


def test_an_endpoint_that_is_gone_ends_the_probe(judge, judged):
    with MockServer(api_key="other") as server:
        away = ["--set", f"models.default.api_base={server.base_url}", "--out", "probed"]
        ran = inject(judge, judged, *away)
    assert ran.code == 2
    assert "401" in ran.err
    assert not (judged.parent / "probed").exists()


def test_the_page_shows_what_its_commands_print(judge):
    page = (ROOT / "docs" / "trust" / "injection.md").read_text(encoding="utf-8")
    commands = page.split("```\n")[1].splitlines()
    for command in commands[:-1]:
        assert judge(*command.split()[1:]).code == 0
    ran = judge(*commands[-1].split()[1:])
    assert ran.code == 0, ran.err
    assert ran.out == page.split("```\n")[3]
