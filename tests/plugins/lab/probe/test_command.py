"""`judge probe` as a user runs it: on a finished run, from its cache, into files for `compare`."""

import json
import shutil
from pathlib import Path

import pytest
from benchmarks.pages import faults as table
from benchmarks.pages.shown import with_tables
from json_lines import write_rows
from mock_server import MockServer, Says, input_of
from page_output import is_shown

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
        4, 8, 2,
    )  # fmt: skip
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
    write_rows(tmp_path / "rows.jsonl", rows)
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
    verdict = "3 conditions change no label of the support judge (6 items)."
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
        "probe", judged, "--judge", "support", "--conditions", "schema", "--set",
        "run.cache=fresh",
    ]  # fmt: skip
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
        (
            ["--judge", "support", "--conditions", "weather"],
            "--conditions 'weather': unknown; wanted one or more",
        ),
        (["--judge", "support", "--field", "x"], "--field x: wanted OURS=THEIRS"),
        (["--judge", "relevance"], "has no judgements of relevance (relevance.jsonl)"),
        (["--judge", "support", "--out", "out"], "which no probe wrote; choose another --out"),
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
    assert is_shown(ran.out, page.split("```\n")[3]), ran.out


# `judge probe --faults` as a user runs it: on all judges of a folder, into files to read.
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "trust" / "faults.md").read_text(encoding="utf-8")
TABLES = (ROOT / "docs" / "benchmarks" / "fault-tests.md").read_text(encoding="utf-8")


@pytest.fixture
def demo(judge):
    """The packaged collection, judged without a model by given nuggets."""
    nuggets = EXAMPLES.parent / "tests" / "collection" / "nuggets.jsonl"
    config = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
    ran = judge("run", config, "--nuggets", nuggets, "--out", "demo", "--quiet")
    assert ran.code == 0, ran.err
    return "demo"


def by_fault(rows, judge):
    return {row["fault"]: row for row in rows if row["judge"] == judge}


def test_all_judges_of_a_folder_are_tested_and_each_label_is_listed(judge, demo, tmp_path, rows_of):
    ran = judge("probe", demo, "--faults", "--json", "--out", "test")
    assert ran.code == 0, ran.err
    assert "All planted texts: test/cases.jsonl" in ran.err
    nuggets, support = (by_fault(ran.rows, name) for name in ("assigner", "support"))
    assert nuggets["citation-swap"]["blind"] == "answers are judged without their citations"
    assert support["citation-swap"]["detection"]["n"] == 30
    assert set(nuggets) == set(support)
    assert len(nuggets) == 11
    rows = rows_of(tmp_path / "test" / "faults.jsonl")
    assert rows == ran.rows
    cases = rows_of(tmp_path / "test" / "cases.jsonl")
    of_fault = [c for c in cases if (c["judge"], c["fault"]) == ("support", "citation-swap")]
    assert len(of_fault) == 30
    assert all(case["as_it_must"] is True for case in of_fault)
    assert {case["label_before"] for case in of_fault} == {"full"}
    assert all(case["sentence"] and case["before"] != case["after"] for case in of_fault)
    manifest = json.loads((tmp_path / "test" / "manifest.json").read_bytes())
    assert (manifest["seed"], manifest["sample"]) == (0, 30)
    assert [one["judge"] for one in manifest["judges"]] == ["assigner", "support"]
    files = {path: path.read_bytes() for path in (tmp_path / "test").glob("*.jsonl")}
    assert judge("probe", demo, "--faults", "--out", "test").code == 0
    assert {path: path.read_bytes() for path in files} == files


def test_another_model_is_shown_beside_the_lexical_judge(judge, demo, tide_server):
    def always_yes(body):
        asked = input_of(body)
        if "not true" in asked.get("sentence", ""):
            return "no idea"
        if "sentence" in asked:
            return {"verdict": "full"}
        return {"verdicts": dict.fromkeys(asked["nuggets"], "support")}

    tide_server.brain = always_yes
    model = ["--model", "hosted_vllm/mock", "--set", "models.default.reasks=0"]
    model += ["--set", f"models.default.api_base={tide_server.base_url}", "--sample", 5]
    plan = judge("probe", demo, "--faults", *model, "--dry-run", "--json")
    assert tide_server.requests == []
    ran = judge("probe", demo, "--faults", *model)
    assert ran.code == 3
    assert sum(row["calls"] for row in plan.rows) == len(tide_server.requests)
    assert "5 labels are missing, not counted as changed; --out lists them" in ran.err
    verdict = "The assigner judge notices 0 of "
    assert ran.out.startswith(verdict)
    assert "; lexical: +" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    rows = judge("probe", demo, "--faults", *model, "--format", "csv").out.splitlines()
    # planted, n, fell, its interval, n, moved, its interval, unjudged, and the two of the lexical
    swap = next(row for row in rows if row.startswith("citation-swap"))
    of_swap = swap.split(",")
    assert of_swap[:4] + of_swap[6:9] == ["citation-swap", "5", "5", "0.0", "0", "", ""]
    assert of_swap[-2:] == ["1.0", ""]
    assert float(of_swap[5]) == pytest.approx(0.522, abs=5e-4)
    lost = [row.split(",") for row in rows if row.startswith("negation")][-1]
    assert lost[-3] == "5"


def test_a_limit_ends_the_asking_and_is_no_detection(judge, demo, tide_server):
    model = [
        "--model", "hosted_vllm/mock", "--set", f"models.default.api_base={tide_server.base_url}",
    ]  # fmt: skip
    tide_server.brain = lambda body: {"verdict": "full"}
    limited = ["--judge", "support", "--set", "run.max_calls=3", "--sample", 5, "--json"]
    ran = judge("probe", demo, "--faults", *model, *limited)
    assert ran.code == 3
    assert "Stopped at max_calls 3: the results are partial" in ran.err
    last = by_fault(ran.rows, "support")["all"]
    assert last["detection"]["n"] + last["detection"]["n_unjudged"] == 25
    assert last["detection"]["value"] in (None, 0.0)


def test_key_points_reports_and_items_of_ones_own_are_tested_as_far_as_is_certain(judge, tmp_path):
    keypoints = EXAMPLES / "keypoints"
    files = [
        "--topics", keypoints / "topics.jsonl", "--set",
        f"data.keypoints={keypoints / 'keypoints.jsonl'}",
    ]  # fmt: skip
    ran = judge("run", "keypoints", *files, "--runs", keypoints / "answers", "--out", "points")
    assert ran.code == 0, ran.err
    points = by_fault(judge("probe", "points", "--faults", "--json").rows, "entailment")
    assert points["omission"]["planted"] > 0
    assert points["padding"]["false_alarms"]["n"] > 0
    shutil.copy(EXAMPLES.parent / "tests" / "collection" / "grounded.yaml", tmp_path)
    items = EXAMPLES.parent / "tests" / "collection" / "labels" / "grounded.jsonl"
    ran = judge("run", "items", "--items", items, "--judge", "grounded.yaml", "--out", "own")
    assert ran.code == 0, ran.err
    own = by_fault(judge("probe", "own", "--faults", "--json").rows, "grounded")
    assert own["citation-swap"]["detection"]["value"] == 1.0
    assert own["reordering"]["blind"] == "each item is judged by itself"
    by_file = judge("probe", items, "--judge", "grounded.yaml", "--faults", "--json")
    swaps = by_fault(by_file.rows, "grounded")["citation-swap"]["detection"]
    assert swaps["n"] + swaps["n_not_best"] == 30  # people said yes, the judge need not


def test_of_questions_nothing_is_said_that_would_have_to_fall(judge, tiny):
    questions = [{"id": "t1", "subquestions": ["What pulls the sea?", "How often does it rise?"]}]
    path = tiny / "questions.jsonl"
    write_rows(path, questions)
    ran = judge(
        *(
            "run", "coverage", "--topics", tiny / "topics.tsv", "--set", f"data.questions={path}",
            "--out", "cov",
        ),
        *("--runs", tiny / "one.jsonl", "--set", "coverage.answerable=all"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    ran = judge("probe", "cov", "--faults")
    assert "Not planted: negation, number, date, name, omission: a question" in ran.out
    assert "padding" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the judge to probe with --judge, or plant errors with --faults"),
        (["--faults", "--conditions", "batch"], "--conditions and --faults exclude each other"),
        (
            ["--faults", "--judge", "nuggetizer"],
            "--judge nuggetizer: unknown; wanted assigner, support",
        ),
        (
            ["--faults", "--judge", "entailment"],
            "has no judgements of keypoints (entailments.jsonl)",
        ),
        (["--faults", "--out", "demo"], "which no probe wrote; choose another --out"),
    ],
)
def test_what_cannot_be_tested_ends_with_2_and_one_line(judge, demo, arguments, message):
    ran = judge("probe", demo, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_file_does_not_say_who_judged_it_and_passages_are_no_answers(judge):
    collection = EXAMPLES.parent / "tests" / "collection"
    ran = judge("probe", collection / "labels" / "grounded.jsonl", "--faults")
    assert ran.code == 2
    assert "is not a results folder; name the judge of its items (--judge)" in ran.err
    files = [f"--{name}={collection / name}.jsonl" for name in ("candidates", "passages")]
    topics = f"--topics={collection / 'topics.tsv'}"
    assert judge("run", "relevance", topics, *files, "--out", "rel").code == 0
    ran = judge("probe", "rel", "--faults")
    assert ran.code == 0, ran.err
    text = "skipped relevance: it judges passages; faults are planted in texts that systems wrote"
    assert " ".join(ran.out.split()) == text


def test_faults_command_the_page_shows_what_its_commands_print(judge):
    commands = PAGE.split("```\n")[1].splitlines()
    for command in commands[:-1]:
        assert judge(*command.split()[1:]).code == 0
    ran = judge(*commands[-1].split()[1:])
    assert ran.code == 0, ran.err
    assert is_shown(ran.out, PAGE.split("```\n")[3]), ran.out


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_the_data(shared_data, capsys):
    if table.tested(shared_data) is None:
        pytest.skip(f"rag24_e2e, rag24_support not found in {shared_data}")
    table.main([str(shared_data)])
    renewed = with_tables(TABLES, capsys.readouterr().out)
    assert renewed == (TABLES, 2 * 11 + 2 * 4), "`make pages` renews it"


@pytest.mark.slow
def test_known_judges_come_out_as_what_they_are_on_the_same_cases(shared_data):
    if (tables := table.tested(shared_data)) is None:
        pytest.skip(f"rag24_e2e, rag24_support not found in {shared_data}")
    for one in tables.values():
        of_judge = {name: row["informedness"] for name, row in table.judged(one).items()}
        assert of_judge["always the best label"]["value"] == 0.0
        assert of_judge["by what was planted"]["value"] == 1.0
        lots = of_judge["a label at random"]
        assert lots["low"] < 0.0 < lots["high"]
        assert of_judge["lexical"]["low"] > 0.0
        rows = {row["fault"]: row for row in one.rows}
        assert rows["negation"]["detection"]["value"] < 0.25  # it counts words


# `judge probe --injection` as a user runs it: on a finished run, from its cache, into files.
N_PLANTED = 154 + 6  # payloads and controls, once each


@pytest.fixture
def injection_command_judged(tide_server, run_tiny, tmp_path):
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


def test_a_deaf_model_is_told_from_its_run_and_again_offline(
    judge, injection_command_judged, tide_server
):
    ran = inject(judge, injection_command_judged, "--json")
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
    again = inject(judge, injection_command_judged, "--json", "--set", "run.offline=true")
    assert again.out == ran.out
    assert len(tide_server.requests) == N_PLANTED + 3 * 6


def test_a_dry_run_asks_nothing_and_has_the_calls_by_part(
    judge, injection_command_judged, tide_server
):
    plan = inject(judge, injection_command_judged, "--dry-run", "--json")
    assert {row["judge"]: row["calls"] for row in plan.rows} == {
        "support base": 6,
        "support planted": N_PLANTED,
        "support without fence": 6,
        "support without schema": 6,
        "support without all": 6,
    }
    shown = inject(judge, injection_command_judged, "--dry-run")
    assert "skipped quotes: the support judge does not quote" in shown.out
    assert tide_server.requests == []


def test_each_planted_text_is_in_a_file_with_what_became_of_it(
    judge, injection_command_judged, tide_server, rows_of
):
    deaf = tide_server.brain

    def half_deaf(body):
        text = json.dumps(body["messages"][-1]["content"])
        if "grandmother" in text:
            return {"verdict": "full"}
        return "I had rather not say." if "LabelBot" in text else deaf(body)

    tide_server.brain = half_deaf
    options = ["--out", "probed", "--set", "models.default.reasks=0"]
    ran = inject(judge, injection_command_judged, *options)
    assert ran.code == 3
    assert ran.out.startswith("Injected text changes 1 of ")
    [flipped] = [line for line in ran.out.splitlines() if line.startswith("role-play-6")]
    assert "1/1" in flipped
    assert (
        "1 labels are missing, neither flipped nor unflipped; listed in probed/unjudged" in ran.err
    )
    assert max(map(len, ran.out.splitlines())) <= 80
    folder = injection_command_judged.parent / "probed"
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
    assert inject(judge, injection_command_judged, *options).code == 3
    assert {path: path.read_bytes() for path in folder.rglob("*.jsonl")} == before


def test_another_model_is_asked_instead(judge, injection_command_judged, tide_server):
    ran = inject(judge, injection_command_judged, "--model", "lexical")
    assert ran.code == 0, ran.err
    assert "support, lexical" in ran.out
    assert "changed, lexical" not in ran.out
    assert tide_server.requests == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--conditions", "batch"], "--conditions and --injection exclude each other"),
        (["--faults"], "--faults and --injection exclude each other"),
        (["--out", "out"], "which no probe wrote; choose another --out"),
        (["--max-cost", "1"], "the price of model"),
    ],
)
def test_what_cannot_be_planted_ends_with_2_and_one_line(
    judge, injection_command_judged, tide_server, arguments, message
):
    ran = inject(judge, injection_command_judged, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert tide_server.requests == []


def test_injection_command_an_endpoint_that_is_gone_ends_the_probe(judge, injection_command_judged):
    with MockServer(api_key="other") as server:
        away = ["--set", f"models.default.api_base={server.base_url}", "--out", "probed"]
        ran = inject(judge, injection_command_judged, *away)
    assert ran.code == 2
    assert "401" in ran.err
    assert not (injection_command_judged.parent / "probed").exists()


def test_injection_command_the_page_shows_what_its_commands_print(judge):
    page = (ROOT / "docs" / "trust" / "injection.md").read_text(encoding="utf-8")
    commands = page.split("```\n")[1].splitlines()
    for command in commands[:-1]:
        assert judge(*command.split()[1:]).code == 0
    ran = judge(*commands[-1].split()[1:])
    assert ran.code == 0, ran.err
    assert is_shown(ran.out, page.split("```\n")[3]), ran.out
