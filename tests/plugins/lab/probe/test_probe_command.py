"""`judge probe` as a user runs it: on a finished run, from its cache, into files for `compare`."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, Says, input_of

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def judged(tide_server, run_tiny, tmp_path):
    """The tiny collection, judged by the tide model with two nuggets a call."""
    window = ["--set", "judges.assigner.window=2"]
    ran = run_tiny(tide_server, "nuggets,support", *window)
    assert ran.code == 0, ran.err
    assert len(tide_server.requests) == 4 + 6
    tide_server.clear()
    return tmp_path / "out"


def test_the_base_of_a_finished_run_is_in_its_cache_and_asked_no_more(judge, judged, tide_server):
    ran = judge("probe", judged, "--judge", "support", "--conditions", "replicates", "--json")
    assert ran.code == 0, ran.err
    assert [row["condition"] for row in ran.rows] == [
        "base", "replicate-1", "replicate-2", "replicate-3", "replicates"
    ]  # fmt: skip
    assert len(tide_server.requests) == 3 * 6
    assert "18 requests, 6 from the cache" in ran.err
    again = judge("probe", judged, "--judge", "support", "--conditions", "replicates", "--json",
                  "--set", "run.offline=true")  # fmt: skip
    assert again.out == ran.out
    assert len(tide_server.requests) == 3 * 6


def test_the_windows_of_a_finished_run_are_the_base(judge, judged, tide_server):
    plan = judge("probe", judged, "--judge", "assigner", "--dry-run", "--json")
    calls = {row["judge"]: row["calls"] for row in plan.rows}
    # Four nuggets for each of two answers, two a call; one by one; all four in a call of five.
    assert (calls["assigner base"], calls["assigner batch-1"], calls["assigner batch-5"]) == (
        4,
        8,
        2,
    )
    assert tide_server.requests == []
    shown = judge("probe", judged, "--judge", "assigner", "--dry-run")
    assert "skipped batch-10: the same calls as batch-5 on these items" in shown.out
    ran = judge("probe", judged, "--judge", "assigner", "--conditions", "batch", "--json")
    assert ran.code == 0, ran.err
    assert "10 requests, 4 from the cache" in ran.err
    skipped = {row["condition"]: row["skipped"] for row in ran.rows if "skipped" in row}
    assert set(skipped) == {"batch-10", "batch-20"}


def test_the_background_of_a_topic_is_asked_with_it_as_in_the_run(
    judge, tiny, tide_server, tmp_path
):
    (tmp_path / "topics.jsonl").write_text(
        json.dumps({"id": "t1", "title": "what makes the tides", "background": "for sailors"}),
        encoding="utf-8",
    )
    data = ["--topics", "topics.jsonl", "--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl"]
    model = ["--model", "openai/mock", "--set", f"models.default.api_base={tide_server.base_url}"]
    ran = judge("run", "nuggets", *data, "--nuggets", tiny / "nuggets.jsonl", *model, "--out", "b")
    assert ran.code == 0, ran.err
    assert "for sailors" in input_of(tide_server.requests[0].body)["question"]
    ran = judge("probe", "b", "--judge", "assigner", "--conditions", "replicates", "--repeats", 1)
    assert "2 requests, 2 from the cache" in ran.err
    assert ran.code == 0


def test_items_judged_by_a_judge_of_ones_own_are_probed_from_their_folder(judge, tmp_path):
    (tmp_path / "own.yaml").write_text(
        "name: grounded\nquestion: Is it there?\ninputs: {claim: a claim, source: a text}\n"
        "labels: [no, yes]\nlexical: {look_for: claim, in: source, cuts: [0.5]}\n",
        encoding="utf-8",
    )
    rows = [
        {"topic_id": f"t{i % 2}", "question_id": f"q{i}", "claim": "tides rise", "source": text}
        for i, text in enumerate(["tides rise", "boats float"])
    ]
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    ran = judge("run", "items", "--items", "rows.jsonl", "--judge", "own.yaml", "--out", "own")
    assert ran.code == 0, ran.err
    one, other = (
        judge("probe", source, "--judge", "own.yaml", "--conditions", "labels,input", "--json")
        for source in ("own", "rows.jsonl")
    )
    assert one.code == 0, one.err
    assert one.out == other.out
    assert [row["condition"] for row in one.rows] == ["base", "labels-1", "input-source"]
    assert one.rows[0]["labels"] == {"no": 1, "yes": 1}


def test_another_model_is_asked_instead_of_the_one_that_judged(judge, judged, tide_server):
    model = ["--model", "lexical", "--conditions", "labels,schema"]
    ran = judge("probe", judged, "--judge", "support", *model)
    assert ran.code == 0, ran.err
    verdict = "No label of the support judge changes under 3 conditions (6 items)."
    assert ran.out.startswith(verdict)
    assert "skipped schema: model lexical takes no reply schema" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert tide_server.requests == []


def test_labels_by_condition_are_files_that_compare_reads(judge, judged, tide_server, rows_of):
    def stricter_without_a_schema(body):
        sentence = input_of(body)["sentence"]
        if "tide" not in sentence.lower():
            return "no idea"
        return {"verdict": "full" if "response_format" in body else "none"}

    tide_server.brain = stricter_without_a_schema
    ask = [
        "probe",
        judged,
        "--judge",
        "support",
        "--conditions",
        "schema",
        "--set",
        "run.cache=fresh",
    ]
    ran = judge(*ask, "--out", "probed", "--set", "models.default.reasks=0")
    assert ran.code == 3
    assert "schema-none: 6 calls, no reply schema is sent" in ran.err
    assert "4 labels are missing, never compared; listed in probed/unjudged.jsonl" in ran.err
    folder = judged.parent / "probed"
    base, other = rows_of(folder / "probe.jsonl")
    assert (base["n_judged"], other["n"], other["changed"]["value"]) == (4, 4, 1.0)
    assert (other["runs"]["n"], other["runs"]["largest"]) == (2, 1.0)
    lost = rows_of(folder / "unjudged.jsonl")
    assert {(row["condition"], row["reason"], row["raw"]) for row in lost} == {
        ("base", "unparseable", "no idea"), ("schema-none", "unparseable", "no idea")
    }  # fmt: skip
    compared = judge("compare", "probed/labels/base.jsonl", "probed/labels/schema-none.jsonl")
    assert compared.code == 0, compared.err
    assert "The judges give 4 of 4 items another label (support" in compared.out
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert (manifest["judge"], manifest["limit"]) == ("support", 200)
    assert manifest["this_time"]["base"]["requests"] == 6
    assert manifest["this_time"]["base"]["cost"] is None
    before = {path: path.read_bytes() for path in folder.rglob("*.jsonl")}
    assert judge(*ask, "--out", "probed", "--set", "models.default.reasks=0").code == 3
    assert {path: path.read_bytes() for path in folder.rglob("*.jsonl")} == before


def test_a_broken_reply_is_asked_again_once_as_in_any_run(judge, judged, tide_server):
    tide_server.faults = [Says("?")]
    ran = judge("probe", judged, "--judge", "support", "--conditions", "schema")
    assert ran.code == 0, ran.err
    assert len(tide_server.requests) == 6 + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "support", "--conditions", "weather"], "--conditions 'weather': wanted some"),
        (["--judge", "support", "--field", "x"], "--field x: wanted OURS=THEIRS"),
        (["--judge", "relevance"], "has no relevance.jsonl"),
        (["--judge", "support", "--out", "out"], "which no probe wrote; name another --out"),
        (["--judge", "support", "--out", "tiny/topics.tsv/p"], "topics.tsv/p: cannot be written"),
        (["--judge", "mine.yaml"], "mine.yaml: no such file"),
        (["--judge", "support", "--set", "models.default.rpm=no"], "models.default.rpm"),
    ],
)
def test_what_cannot_be_probed_ends_with_2_and_one_line(
    judge, judged, tide_server, arguments, message
):
    ran = judge("probe", judged, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert tide_server.requests == []


def test_a_folder_that_turns_out_not_to_be_writable_is_one_line(judge, judged, tmp_path):
    (tmp_path / "probed").mkdir()
    (tmp_path / "probed" / "labels").write_text("mine", encoding="utf-8")
    ran = judge(
        *("probe", judged, "--judge", "support", "--conditions", "input", "--out", "probed"),
    )
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("\njudge: probed/labels: cannot be written (File exists)\n")


def test_a_manifest_of_a_probe_does_not_stay_beside_the_rows_of_another(judge, judged, tmp_path):
    probe = ("probe", judged, "--judge", "support", "--conditions", "input", "--out", "probed")
    assert judge(*probe).code == 0
    (tmp_path / "probed" / "probe.jsonl").unlink()
    (tmp_path / "probed" / "probe.jsonl").mkdir()  # found when it comes to writing
    ran = judge(*probe)
    assert (ran.code, "probe.jsonl: cannot be written" in ran.err) == (2, True), ran.err
    assert not (tmp_path / "probed" / "manifest.json").exists()


def test_an_endpoint_that_is_gone_ends_the_probe(judge, judged, tmp_path):
    with MockServer(api_key="other") as server:
        away = ["--set", f"models.default.api_base={server.base_url}", "--out", "probed"]
        ran = judge("probe", judged, "--judge", "support", *away)
    assert ran.code == 2
    assert "401" in ran.err
    assert not (tmp_path / "probed").exists()


def test_the_page_shows_what_its_commands_print(judge):
    page = (ROOT / "docs" / "trust" / "probe.md").read_text(encoding="utf-8")
    commands = page.split("```\n")[1].splitlines()
    for command in commands[:-1]:
        assert judge(*command.split()[1:]).code == 0
    ran = judge(*commands[-1].split()[1:])
    assert ran.code == 0, ran.err
    shown = page.split("```\n")[3]
    assert ran.out == shown
