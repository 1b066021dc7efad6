"""What the lab shows begins with a verdict and fits every window."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from mock_replies import Reply, as_json
from mock_server import MockServer, input_of
from seeking import add_seek, brain, seek

import nuggetjudge as nj
from nuggetjudge.cli.app import app
from nuggetjudge.plugins.lab.audit import audit_view
from nuggetjudge.plugins.lab.bias import bias_view
from nuggetjudge.plugins.lab.drift import drift_view
from nuggetjudge.plugins.lab.evidence import evidence_view
from nuggetjudge.plugins.lab.probe.probing import Options
from nuggetjudge.plugins.lab.probe.shifts import probing_conditions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.manifest import read_folder_config
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.topics import read_topics


def estimate(value, low=None, high=None, **more):
    return {"value": value, "low": low, "high": high, **more}


def slope(by, value, low, high, *, unit=100.0, together=None):
    groups = ["up to 150", "over 150"] if unit else ["gpt*", "other runs"]
    return {
        "by": by, "what": "words of the answer", "unit": unit, "n": 40, "n_unknown": 2,
        "alone": estimate(value, low, high), "together": together,
        "groups": [{"group": name, "n": 20, "error": estimate(0.1)} for name in groups],
    }  # fmt: skip


def errors(*by, overall=(-0.006, -0.085, 0.073), is_separable=None):
    return {
        "gains": {"no": 0.0, "yes": 1.0}, "n": 42, "n_topics": 6, "n_unjudged": 1, "level": 0.95,
        "error": estimate(*overall), "is_separable": is_separable, "by": list(by),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("view", "verdict"),
    [
        (errors(slope("length", 0.042, 0.011, 0.072)),
         "The judge is biased towards longer texts (+.04 [+.01, +.07] per 100 words); overall the "
         "judge labels neither significantly higher nor lower than people: -.01 [-.09, +.07]."),
        (errors(slope("length", -0.042, -0.072, -0.011), overall=(0.2, 0.1, 0.3)),
         "The judge is biased towards shorter texts (-.04 [-.07, -.01] per 100 words); overall the "
         "judge labels higher than people: +.20 [+.10, +.30]."),
        # Beside the others the effect of length is gone: it was that of the runs.
        (errors(slope("length", 0.04, 0.01, 0.07, together=estimate(0.01, -0.02, 0.04)),
                slope("run:gpt*", 0.1, 0.05, 0.15, unit=None,
                      together=estimate(0.1, 0.04, 0.16)), overall=(-0.2, -0.3, -0.1)),
         "The judge is biased towards gpt* (+.10 [+.04, +.16]); overall the judge labels lower "
         "than people: -.20 [-.30, -.10]."),
        (errors(slope("rank", 0.04, -0.01, 0.07, unit=1.0), overall=(-0.2, -0.3, -0.1)),
         "No significant bias by rank; overall the judge labels lower than people: "
         "-.20 [-.30, -.10]."),
    ],
)  # fmt: skip
def test_the_verdict_names_what_the_judge_is_biased_to(view, verdict, check_fits):
    shown = bias_view(view)
    assert shown.verdict == verdict
    check_fits(shown)


def test_what_is_unknown_or_unjudged_is_said():
    notes = " ".join(bias_view(errors(slope("length", 0.1, 0, 0.2), is_separable=False)).notes)
    assert "unknown for 2 items" in notes
    assert "1 item labelled by people but not judged" in notes
    assert "cannot be separated" in notes


def split(instrument, systems, *, is_same=False):
    return {
        "measure": "A", "instrument": instrument, "systems": systems, "are_same_items": is_same,
        "margin": 0.05, "level": 0.95, "runs": [["v1"], ["v2"]], "n_topics": 6,
        "n_judged": [30, 30], "n_unjudged": [0, 2], "n_anchors": 25, "n_anchor_topics": 5,
        "n_other_texts": 1, "has_labels": False, "changed": 0.2, "equal_to_human": None,
        "score": {"old": 0.5, "new": 0.6, "change": estimate(0.1, 0.05, 0.15)},
        "judge_less_human": {"old": None, "new": None},
        "instrument_change": estimate(0.08, 0.02, 0.14),
        "systems_change": estimate(0.02, -0.1, 0.14),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("instrument", "systems", "first"),
    [
        ("moved", "held", "The judge changed, the systems did not:"),
        ("held", "moved", "The systems changed, the judge did not:"),
        ("moved", "cannot tell", "The judge changed; whether the systems did is unknown:"),
        (
            "cannot tell",
            "cannot tell",
            "The data cannot tell whether the judge or the systems changed:",
        ),
    ],
)
def test_the_verdict_splits_the_estimate(instrument, systems, first, check_fits):
    view = drift_view([split(instrument, systems)])
    assert view.verdict == (
        f"{first} A changed by +.10 [+.05, +.15], of which +.08 [+.02, +.14] comes from the judge "
        "and +.02 [-.10, +.14] from the systems."
    )
    check_fits(view)


def test_answers_that_are_the_same_leave_nothing_to_the_systems(check_fits):
    view = drift_view([split("moved", "held", is_same=True)])
    assert view.verdict.endswith(": A changed by +.10 [+.05, +.15] on the same answers.")
    check_fits(view)


def test_the_verdict_counts_suggestions_and_what_is_found_again(check_fits):
    precision = [
        {"chosen": "used", "n": 20, "full": estimate(0.75, 0.5, 0.9), "partly": estimate(0.9)}
    ]
    search = [{"what": "in the top 1", "n": 8, "n_unjudged": 1, **estimate(0.5, 0.2, 0.8)}]
    view = evidence_view(precision, search, [])
    assert view.verdict == (
        "15 of 20 labelled suggestions (.75 [.50, .90]) that the run uses fully support their "
        "sentence; the search finds 4 of 8 confirmed citations (.50 [.20, .80]) again."
    )
    check_fits(view)
    assert evidence_view([], search, []).verdict.startswith("The search finds 4 of 8 confirmed")


def test_an_audit_says_how_alike_the_orders_are(check_fits):
    run = {
        "run_id": "a-run-with-a-long-name", "rank": 1, "other_rank": 3, "mean": 0.5, "low": 0.4,
        "high": 0.6, "other_mean": 0.4, "other_low": None, "other_high": None, "n": 40,
        "accuracy": 0.8, "kappa": 0.5,
    }  # fmt: skip
    top = {"k": 2, "leave": [], "most_places": 2, "n_pairs": 1, "n_swapped": 1,
           "n_beyond_chance": 1, "beyond_chance": [["a", "b"]]}  # fmt: skip
    agreed = {"n": 80, "accuracy": 0.9,
              "intervals": {"cohen_kappa": {"unweighted": estimate(0.6, 0.5, 0.7)}}}  # fmt: skip
    audited = {"program": "support", "measure": "support_precision", "tau_b": 0.67, "n_topics": 5,
               "runs": [run], "top": [top], "agreement": agreed, "cost": None}  # fmt: skip
    view = audit_view([audited], (["Qwen"], ["Llama"]), 12, 0.95)
    assert view.verdict == (
        "The other judge (Llama) orders the runs by support_precision partly as the first does: "
        "tau-b .67 over 1 run; 1 of 1 pair change order, 1 significantly."
    )
    check_fits(view)


# `judge trace`: the steps of an item, where two runs part, and what proves a run.
__all__ = ["add_seek"]


@pytest.fixture
def trace(capsys):
    """`trace(RESULTS, ...)`: exit code and stdout of `judge trace`."""
    return partial(run_command, capsys, "trace")


@pytest.fixture
def verify(capsys):
    return partial(run_command, capsys, "verify")


def run_command(capsys, *arguments):
    code = app(list(map(str, arguments)), standalone_mode=False)
    return code or 0, capsys.readouterr().out


def writes_badly(body):
    """As `brain`, but for a model that gives no parts of one question, and steers a terminal."""
    reply = brain(body)
    if isinstance(reply, str) and "subquestions" in reply:
        if "honey" in reply:
            return Reply(None, refusal="no")
        return as_json(
            {"kind": "vague", "subquestions": ["tides \x1b[2J rise", "what causes tides"]}
        )
    return reply


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of two models, and the server of the second is gone."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch, MockServer(brain=brain) as server:
        from nuggetjudge.programs.config.base import BUILT_IN
        from nuggetjudge.programs.protocols import table

        patch.setitem(BUILT_IN, "seek", "seeking:Seek")
        table.program.cache_clear()
        seek(folder / "one", server.base_url, **{"run.cache": folder / "cache"})
        server.brain = writes_badly
        seek(folder / "other", server.base_url, **{"run.cache": folder / "other-cache"})
    return folder


@pytest.mark.usefixtures("with_seek")
def test_it_draws_the_steps_with_tokens_and_cost_until_then(results, trace):
    code, out = trace(results / "one", "demo-sourdough")
    head, *steps, _, count, _ = out.split("\n")
    assert (code, head) == (0, "demo-sourdough  seeker: found, 7 replies")
    assert steps[0].startswith('  0.0 search "how does a sourdough starter make ...')
    assert "hits=3 -> sourdough-03 " in steps[0]
    assert steps[2].split() == [
        "0.2", "support", "passage=sourdough-11", "->", "unjudged", "(refused)",
    ]  # fmt: skip
    rows = [
        json.loads(row)
        for row in trace(results / "one", "demo-sourdough", "--json")[1].splitlines()
    ]
    spent = [row["tokens"] for row in rows if "tokens" in row]
    tokens, cost = sum(map(sum, spent)), sum(2 * p + 8 * c for p, c in spent) / 1e6
    assert steps[-2].split()[-2:] == [f"{tokens:,}", f"${cost:.4f}"]
    assert steps[-1] == "  0.7 end: found by 0.6.2"
    assert count == "1 item: found 1"
    assert all(len(line) <= 100 for line in out.split("\n"))


@pytest.mark.usefixtures("with_seek")
def test_items_are_chosen_by_ids_outcome_and_reason(results, trace):
    def items(*arguments):
        rows = [
            json.loads(row)
            for row in trace(results / "other", *arguments, "--json")[1].splitlines()
        ]
        return [row["item"]["topic_id"] for row in rows if row["path"] == "0"]

    assert len(items()) == 5
    assert (
        items("--where", "outcome=unjudged") == items("--where", "reason=refused") == ["demo-bees"]
    )
    assert items("demo-bees", "--where", "stage=seek") == ["demo-bees"]
    assert items("demo-bees", "--where", "outcome=found") == []  # it is there, and ended otherwise


@pytest.mark.usefixtures("with_seek")
@pytest.mark.parametrize("wanted", [["demo-bee"], ["no"], ["--where", "stage=other"]])
@pytest.mark.parametrize("compared", [[], ["--diff"]])
def test_an_item_that_is_not_there_is_no_empty_answer(results, trace, wanted, compared):
    other = [*compared, results / "other"] if compared else []
    with pytest.raises(InputError, match=r"no item.*(demo-bee'|no'|of stage 'other')"):
        trace(results / "one", *wanted, *other)


@pytest.mark.usefixtures("with_seek")
def test_what_a_model_wrote_cannot_steer_the_terminal(results, trace):
    out = trace(results / "other")[1]
    assert "\x1b" not in out
    assert "tides \\x1b[2J rise" in out


@pytest.mark.usefixtures("with_seek")
def test_where_two_runs_part_is_their_first_other_step(results, trace):
    code, out = trace(results / "one", "demo-bees", "--diff", results / "other")
    assert code == 0
    assert out.splitlines() == [
        "demo-bees  seek: found | unjudged",
        '  < 0.4 question_decomposer -> "how do honey", "bees survive the winter"',
        "  > 0.4 question_decomposer -> unjudged (refused)",
        "1 item, 1 with different steps",
    ]
    rows = trace(results / "one", "--diff", results / "other", "--json")[1].splitlines()
    assert [json.loads(row)["path"] for row in rows] == ["0.4"] * 5
    assert (
        trace(results / "one", "--diff", results / "one")[1] == "5 items, 0 with different steps\n"
    )


@pytest.mark.usefixtures("with_seek")
def test_edited_results_do_not_follow_from_the_kept_replies(results, verify, tmp_path):
    code, out = verify(results / "other")
    assert (code, out.splitlines()[-1].split(" the ")[0]) == (0, "The results match")
    edited = tmp_path / "edited"
    shutil.copytree(results / "other", edited)
    rows = (edited / "sought.jsonl").read_text("utf-8")
    (edited / "sought.jsonl").write_text(rows.replace("found", "fuond", 1), "utf-8")
    code, out = verify(edited)
    assert code == 1
    assert "sought.jsonl, line " in out
    assert "do not match" in out
    (edited / "sought.jsonl").write_text(rows, "utf-8")
    shutil.rmtree(results / "other-cache")  # nothing proves them any more
    checked = json.loads(verify(edited, "--json")[1])
    assert (checked["is_same"], checked["replies"]) == (False, 0)
    assert checked["other"] == ["4 judgements have no stored reply: it is no longer in the cache"]


@pytest.mark.usefixtures("with_seek")
def test_results_without_agents_are_refused(trace, tmp_path):
    with pytest.raises(InputError, match="no agent worked in it"):
        trace(tmp_path)


@pytest.mark.usefixtures("with_seek")
def test_what_agents_did_until_a_run_was_killed_is_shown(results, trace, tmp_path):
    whole, stopped = results / "one", tmp_path / "one"
    shutil.copytree(whole, stopped)
    for path in stopped.iterdir():
        if path.is_file():
            path.unlink()
    assert trace(stopped) == trace(whole)


# A judge with a window is run, probed and fitted in the same calls: what one asked, none asks.
DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
YES, NO = "support", "not_support"
TOPICS, RUNS, N_NUGGETS = ("t1", "t2", "t3", "t4"), ("b", "a"), 12
BASE_ALONE = Options(kinds=(), limit=10_000)


def odd_ones(body):
    """Finds the nuggets at odd numbers, so that a label depends on the window."""
    return {"verdicts": {i: YES if int(i) % 2 else NO for i in input_of(body)["nuggets"]}}


@pytest.fixture
def server():
    with MockServer(odd_ones) as server:
        yield server


@pytest.fixture
def settings(server, tmp_path):
    model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
    return {"models.default": model, "cache": str(tmp_path / "cache")}


@pytest.fixture
def rows(tmp_path):
    """Labelled nuggets, nugget by nugget: the rows of an answer are far from each other."""
    return write_rows(
        tmp_path / "rows.jsonl",
        [
            {"topic_id": topic, "run_id": run, "nugget_id": f"n{-i % 7}-{i}",
             "question": f"why {topic}", "answer": f"an answer on {topic}",  # of either run
             "nugget": f"fact {i} of {topic}", "label": YES if i % 3 else NO}
            for i in range(N_NUGGETS) for topic in TOPICS for run in RUNS
        ],
    )  # fmt: skip


def asked(server):
    """The windows that were asked about, as they were asked."""
    return [list(input_of(request.body)["nuggets"].values()) for request in server.requests]


def probed(source, settings):
    config = load_config(
        None, {"models.default": settings["models.default"], "run.cache": settings["cache"]}
    )
    if source.is_dir():
        config = read_folder_config(source)
    return probing_conditions(source, ["assigner"], config, Problems(), BASE_ALONE).ask()


def test_rows_in_any_order_are_judged_probed_and_fitted_answer_by_answer(
    server, settings, rows, tmp_path
):
    run = nj.run(
        program="items", items=str(rows), judge="assigner", out=tmp_path / "out", **settings
    )
    # Both runs of a topic gave one answer: their calls are equal, and the second is a cache hit.
    windows = [
        [f"fact {i} of {topic}" for i in window]
        for topic in TOPICS for window in (range(10), range(10, 12))
    ]  # fmt: skip
    assert sorted(asked(server)) == sorted(windows)
    labels = {cell(row): row["label"] for row in run.judgements["labels"]}
    given = read_rows(rows)
    assert list(labels) == [cell(row) for row in given]  # the order of the file
    assert labels["t1", "a", "n0-0"] == YES
    assert labels["t1", "a", "n6-1"] == NO
    assert labels["t1", "a", "n4-10"] == YES  # the first of the second window
    report = probed(rows, settings)
    fitted = nj.calibrate(rows, "assigner", "threshold", folds=4, resamples=0, **settings)
    again = probed(tmp_path / "out", settings)
    assert len(server.requests) == len(windows)
    for each in (report, again):
        assert each.of("cost")[0]["cost"]["calls"] == 2 * len(windows)
        verdicts = zip(each.items, each.outcomes["base"], strict=True)
        assert {item.cell: verdict.label for item, verdict in verdicts} == labels
    agree = sum(labels[cell(row)] == row["label"] for row in given) / len(given)
    assert fitted.report["figures"]["accuracy"]["before"]["value"] == pytest.approx(agree)


def cell(row):
    return row["topic_id"], row["run_id"], row["nugget_id"]


def test_what_judge_run_nuggets_asked_is_not_asked_again(server, settings, tmp_path):
    topics = write_rows(
        tmp_path / "topics.jsonl",
        [
            {"id": topic, "title": f"what of {topic}", "background": "a student asks"}
            for topic in read_topics(DEMO / "topics.tsv", Problems())
        ],
    )
    texts = (DEMO / "runs" / "complete.jsonl").read_text(encoding="utf-8")
    (tmp_path / "one.jsonl").write_text(texts, encoding="utf-8")
    (tmp_path / "two.jsonl").write_text(texts.replace('"complete"', '"copied"'), encoding="utf-8")
    data = {"topics": str(topics), "nuggets": str(DEMO / "nuggets.jsonl")}
    run = nj.run(
        program="nuggets", runs=[str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")],
        out=tmp_path / "out", **{"judges.assigner.window": 7}, **data, **settings,
    )  # fmt: skip
    assert run.n_unjudged == 0
    assert {len(window) for window in asked(server)} > {7}
    n = len(server.requests)
    report = probed(tmp_path / "out", settings)
    assert report.of("cost")[0]["n_judged"] == run.n_judged
    people = tmp_path / "out" / "assignments.jsonl"
    nj.calibrate(
        people, "assigner", "threshold", topics=str(topics), folds=2, resamples=0,
        **{"judges.assigner.window": 7}, **settings,
    )  # fmt: skip
    assert len(server.requests) == n


def test_a_limit_on_labels_takes_whole_answers(server, settings, rows):
    nj.calibrate(rows, "assigner", "threshold", folds=2, resamples=0, limit=60, **settings)
    sizes = [len(window) for window in asked(server)]
    assert sorted(sizes) == [2] * 4 + [10] * 4  # five answers, two of them of one topic and text
