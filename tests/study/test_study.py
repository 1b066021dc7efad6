"""A study: what its table says, and that it goes on where it was stopped."""

import json
import os
import re
import signal
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.pages import lexical as page
from benchmarks.study import sets
from benchmarks.study.__main__ import main
from benchmarks.study.figures import figures, read_labels
from benchmarks.study.plan import VARIANTS, Choice, base_config, parts_of
from json_lines import read_rows, write_rows
from mock_server import Status

from nuggetjudge.judges import ItemJudge
from nuggetjudge.records.reading.problems import InputError

PRICE = {"input": 1000.0, "output": 1000.0}  # dollars for a million tokens


@pytest.fixture
def data(tmp_path):
    """Two judged sets of our own making: reports with three annotators, and claims."""
    crux, claims = tmp_path / "data" / "crux_duc", tmp_path / "data" / "attributionbench"
    labels_by_run = {"oracle": (1, 1, 0), "bm25": (0, 1, 0)}
    reports, labels = [], []
    for topic in ("t1", "t2", "t3"):
        for run, (a, b, c) in labels_by_run.items():
            name = f"{topic}/{run}"
            reports.append({"report_id": name, "text": f"The {run} tide of {topic} turns at noon."})
            for number in range(4):
                given = {"a1": a, "a2": b, "a3": number % 2 or c}
                labels.append(
                    {"qid": topic, "report_id": name, "question_idx": number, **given,
                     "question": f"When does the {run} tide {number} turn?",
                     "majority": int(sum(given.values()) > 1)}
                )  # fmt: skip
    rows_to(crux / "reports.jsonl", reports)
    rows_to(crux / "human_t1.jsonl", labels)
    rows_to(crux / "passages.jsonl", [])
    rows_to(crux / "human_t2.jsonl", [])
    rows_to(
        claims / "claims.jsonl",
        [
            {"id": f"c{i}", "question": f"q{i // 2}", "claim": f"Stone {i} is red.",
             "references": [f"Stone {i} is {'red' if i % 3 else 'blue'}."], "label": int(i % 3 > 0)}
            for i in range(8)
        ],
    )  # fmt: skip
    return tmp_path / "data"


def rows_to(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, rows)


@pytest.fixture
def study(data, tmp_path, model_server, monkeypatch):
    """`study("--sets", ...)` -> exit code and study.json, asked of the mock server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config = tmp_path / "mock.yaml"
    config.write_text(
        "models:\n  default:\n    model: hosted_vllm/mock\n"
        f"    api_base: {model_server.base_url}\n    retries: 0\n    max_tokens: 60\n"
        f"    price: {json.dumps(PRICE)}\nrun: {{concurrency: 1}}\n",
        encoding="utf-8",
    )

    def go(*arguments, out="study", plain=True):
        folder = tmp_path / out
        given = [data, "--config", config, "--out", folder, "-q", "--resamples", 20, *arguments]
        given += ["--variants", "plain"] if plain else []
        code = main(list(map(str, given)))
        path = folder / "study.json"
        return code, json.loads(path.read_bytes()) if path.is_file() else None

    go.folder = tmp_path / "study"
    return go


CRUX, CLAIMS = "crux_duc-task-1-answerability", "attributionbench-support"
TWO = ("--sets", f"{CRUX},{CLAIMS}")


def test_the_table_has_each_judge_beside_people_and_the_lexical_judge(study, model_server, capsys):
    code, report = study(*TWO)
    assert code == 0, capsys.readouterr().err
    claims, reports = sorted(report["parts"], key=lambda part: part["n_items"])
    assert (claims["judge"], claims["n_items"], claims["calls"]) == ("support", 8, 8)
    assert (reports["judge"], reports["n_items"], reports["calls"]) == ("answerability", 24, 24)
    assert len(model_server.requests) == 32
    (of,) = reports["questions"]
    labels = read_rows(study.folder / "parts" / CRUX / "plain" / "labels.jsonl")
    judged = [int(row["label"]) >= 3 for row in labels]
    assert of["yes"] == sum(judged) / 24
    people = [
        int(row["majority"])
        for row in read_rows(study.folder.parent / "data/crux_duc/human_t1.jsonl")
    ]
    both = Counter(zip(people, judged, strict=True))
    by_chance = (sum(people) * sum(judged) + (24 - sum(people)) * (24 - sum(judged))) / 24**2
    equal = (both[1, True] + both[0, False]) / 24
    assert of["kappa"]["value"] == pytest.approx((equal - by_chance) / (1 - by_chance))
    assert of["worst_recall"] == both[0, False] / (24 - sum(people))
    assert (of["n_people"], of["n_runs"], of["measure"]) == (24, 2, "coverage")
    assert reports["cost"] == pytest.approx(
        (reports["prompt_tokens"] + reports["completion_tokens"]) * 1000 / 1e6
    )
    table = (study.folder / "study.md").read_text(encoding="utf-8")
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "people, each other" in shown
    assert table.count("| people, each other |") == 1  # claims have one label each
    assert table.count("| lexical |") == 2
    sent = table + json.dumps(report)
    assert report["models"]["support"]["model"] == "hosted_vllm/mock"
    for private in ("Stone", "noon", "When does", model_server.base_url, str(study.folder.parent)):
        assert private not in sent


def test_labels_that_came_without_their_probabilities_are_counted(study, capsys, monkeypatch):
    import mock_api

    tell, silent = mock_api.logprobs_of, iter([True] * 3)
    monkeypatch.setattr(mock_api, "logprobs_of", lambda *a: None if next(silent, 0) else tell(*a))
    _, report = study("--sets", CLAIMS, "--set", "models.default.logprobs=true")
    assert [part["n_without_probabilities"] for part in report["parts"]] == [3]
    assert "3 labels without probabilities, although asked for" in capsys.readouterr().err


def test_a_study_that_is_interrupted_goes_on_and_asks_nothing_twice(study, model_server, capsys):
    plain = model_server.brain

    def interrupting(body):
        if len(model_server.requests) == 12:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(body)

    _, whole = study(*TWO, out="whole")
    model_server.clear()
    model_server.brain = interrupting
    code, report = study(*TWO)
    assert code == 130
    states = [part["state"] for part in report["parts"]]
    assert sorted(states) == ["done", "not run"] or states == ["not run"] * 2
    assert "the same command continues" in capsys.readouterr().err
    model_server.brain = plain
    code, report = study(*TWO)
    assert code == 0
    asked = Counter(json.dumps(one.body["messages"]) for one in model_server.requests)
    assert len(asked) == 32
    assert asked.total() <= 33  # the one in flight
    assert without_cost(report) == without_cost(whole)
    n = len(model_server.requests)
    assert study(*TWO)[1] == report
    assert len(model_server.requests) == n


def without_cost(report):
    """The reply in flight may be known from the cache, without its tokens."""
    names = ("calls", "prompt_tokens", "completion_tokens", "cost")
    return [{k: v for k, v in part.items() if k not in names} for part in report["parts"]]


def test_max_cost_holds_over_all_parts_and_starts(study, model_server, capsys):
    _, whole = study(*TWO, out="whole")
    most = whole["cost"] * 0.6
    model_server.clear()
    code, report = study(*TWO, "--max-cost", most)
    assert code == 3
    assert report["cost"] <= most
    n = len(model_server.requests)
    assert 0 < n < 32
    assert {part["state"] for part in report["parts"]} & {"stopped", "not run"}
    captured = capsys.readouterr()
    assert "A limit is reached: the same command with a larger one goes on." in captured.err
    assert re.search(r"mock \((stopped|not run)\)", captured.out)
    for part in report["parts"]:
        assert bool(part["questions"]) == (part["state"] == "done")
    code, report = study(*TWO, "--max-cost", most)  # nothing more is spent by starting it again
    assert (code, report["cost"] <= most) == (3, True)
    code, report = study(*TWO, "--max-cost", whole["cost"] * 3)
    assert code == 0
    assert len(model_server.requests) <= 33 + 1


def test_a_judge_that_fails_has_no_figure(study, model_server, capsys):
    model_server.brain = lambda body: "No idea."
    code, report = study("--sets", CLAIMS)
    assert code == 3
    (part,) = report["parts"]
    (of,) = part["questions"]
    assert (of["n"], of["n_unjudged"], of["kappa"], of["yes"]) == (0, 8, None, None)
    first = next(line for line in capsys.readouterr().out.splitlines() if "/mock" in line)
    cells = first.split()
    assert (cells[1], cells[-1], {*cells[2:-1]}) == ("0", "8", {"-"})


def test_an_endpoint_that_refuses_ends_the_study_with_the_parts_done(study, model_server, capsys):
    model_server.faults = lambda index, body: Status(401) if index >= 24 else None
    code, report = study(*TWO)
    assert code == 2
    assert Counter(part["state"] for part in report["parts"])["not run"] >= 1
    assert "study: " in capsys.readouterr().err


def test_a_dry_run_asks_nothing_and_counts_all_parts(study, model_server, capsys):
    code, report = study(*TWO, "--dry-run")
    assert (code, report, model_server.requests) == (0, None, [])
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in table if line.startswith(CRUX)] == [
        [f"{CRUX}/plain", "hosted_vllm/mock", "24"]
    ]
    assert next(line for line in table if line.startswith("all")).split()[:2] == ["all", "32"]


def test_windows_are_variants_of_judges_that_have_one(study, model_server):
    code, report = study(*TWO, "--variants", "plain,window-1,window-5", plain=False)
    assert code == 0
    variants = [(part["judge"], part["variant"], part["window"]) for part in report["parts"]]
    assert variants == [
        ("support", "plain", None),
        ("answerability", "plain", 1),
        ("answerability", "window-5", 5),
    ]
    windowed = report["parts"][2]
    assert windowed["calls"] == 6  # reports, each with 4 questions


def test_all_variants_are_asked_for_through_the_config(data, tmp_path):
    """Those that judges of this version do not have are said; with them the list is whole."""
    base = base_config(None, [], "lexical", tmp_path, None)
    of = sets.CRUX_REPORTS
    parts, not_had = parts_of(of, VARIANTS, base, tmp_path, list(of.items(data)))
    had = {part.variant.name for part in parts}
    assert had >= {"plain", "window-5", "window-10"}
    if hasattr(ItemJudge, "explaining"):
        assert had >= {"evidence", "reasoning"}
        assert not_had == []
    else:
        assert len(not_had) == 2


def test_a_decision_model_has_no_variants_that_write(data, tmp_path):
    base = base_config(None, [], "typesafe/jev-1.13.0", tmp_path, None)
    of = sets.CRUX_REPORTS
    parts, not_had = parts_of(of, VARIANTS, base, tmp_path, list(of.items(data)))
    windows = {part.variant.name: part.window for part in parts}
    assert windows == {"plain": 128, "window-1": 1, "window-5": 5, "window-10": 10}
    assert [what.split(":")[0] for what in not_had] == [
        "answerability without evidence",
        "answerability without reasoning",
    ]


def test_sets_that_are_absent_are_said_and_wrong_names_refused(study, data, tmp_path, capsys):
    code, report = study("--sets", f"{CLAIMS},dl23_llmjudge-relevance")
    assert (code, report["absent"]) == (0, ["dl23_llmjudge"])
    assert f"dl23_llmjudge: not in {data}" in capsys.readouterr().err
    assert study("--sets", "dl24")[0] == 2
    assert "--sets dl24: wanted " in capsys.readouterr().err
    assert main([str(tmp_path), "--model", "lexical", "--out", str(tmp_path / "x")]) == 2
    assert "has no folder of rag24_nuggets" in capsys.readouterr().err
    assert main([str(data)]) == 2
    assert "no model: name one" in capsys.readouterr().err


def test_a_sample_takes_whole_answers_over_all_topics(data):
    items = list(sets.CRUX_REPORTS.items(data))
    few = Choice(sample=8).of(items)
    assert len(few) == 8
    assert len({item.cell[:-1] for item in few}) == 2
    assert len({item.ids["topic_id"] for item in few}) == 2
    assert Choice(sample=8, seed=0).of(items) == few
    assert {i.ids["topic_id"] for i in Choice(limit=1).of(items)} == {"t1"}
    assert Choice(sample=100).of(items) == items
    claims = Choice(sample=4).of(sets.ATTRIBUTION.items(data))  # of which each is asked alone
    assert len({item.ids["topic_id"] for item in claims}) == len(claims) == 4


def test_the_score_of_a_run_is_open_where_nothing_was_judged(data, tmp_path):
    """A judge that lost all of one answer: its run's mean is over the other topics."""
    items = list(sets.CRUX_REPORTS.items(data))
    labels = {item.cell: "5" if item.label == "1" else "0" for item in items}
    labels |= {item.cell: None for item in items if item.ids["passage_id"] == "t1/oracle"}
    (question,) = sets.CRUX_REPORTS.questions
    result = figures(sets.CRUX_REPORTS, question, items, labels, labels | {
        item.cell: "0" for item in items}, tuple("012345"), resamples=0)  # fmt: skip
    assert (result.n, result.n_unjudged, result.kappa.value) == (20, 4, 1.0)
    assert result.tau_runs == 1.0
    assert result.lexical_kappa == 0.0


def test_a_judge_that_says_yes_to_everything_has_no_tau_on_a_sample(data):
    """Runs lack topics by the draw alone: that must not make an order that people's agrees with."""
    items = [
        item
        for item in sets.CRUX_REPORTS.items(data)
        if item.ids["run_id"] != "oracle" or item.ids["topic_id"] == "t1"
    ]
    assert len({item.ids["topic_id"] for item in items}) > 1
    yes = {item.cell: "5" for item in items}
    (question,) = sets.CRUX_REPORTS.questions
    result = figures(sets.CRUX_REPORTS, question, items, yes, yes, tuple("012345"), resamples=0)
    assert result.n_runs > 1
    assert (result.tau_runs, result.tau_topics) == (None, None)


def test_recorded_judges_stand_beside_the_model_on_the_items_that_they_judged(study, data, capsys):
    """Two published judges of citations; one lacks two of the eight items."""
    people = ["full", "none", "partial", "full", "none", "full", "none", "full"]
    other = ["full", "none", "full", "none", "none", "full", "full", "full"]
    rows = [
        {"topic_id": f"t{i}", "sentence": f"Stone {i} is red.", "passage": f"Stone {i}.",
         "label": label, "votes": {"kind": "full"} | ({"exact": label} if i > 1 else {}),
         "p_supported": {"chances": 0.5 if other[i] == "full" else 0.4}}
        for i, label in enumerate(people)
    ]  # fmt: skip
    rows_to(data / "wice" / "pairs.jsonl", rows)
    code, report = study("--sets", "wice-support")
    assert code == 0
    by_name = {row["model"]: row["questions"] for row in report["others"]}
    assert list(by_name) == ["lexical", "kind", "chances", "exact"]
    full, _, every = by_name["exact"]
    assert (full["n"], full["n_unjudged"], full["kappa"]["value"]) == (6, 2, 1.0)
    assert full["minus_lexical"]["value"] == pytest.approx(1 - full["lexical_kappa"])
    assert (every["question"], every["kappa"]["value"], every["rarest"]) == (
        "all labels",
        1.0,
        "partial",
    )
    assert (every["rarest_recall"], full["worst_recall"]) == (1.0, 1.0)
    full, _, every = by_name["kind"]  # says yes to all, so it is as good as chance
    assert (full["kappa"]["value"], full["worst_recall"], full["yes"]) == (0.0, 0.0, 1.0)
    # 5 of 8 alike; 4 and 5 of 8 yes, so 1/2 by chance: (5/8 - 1/2) / (1 - 1/2).
    full, _, every = by_name["chances"]
    assert full["kappa"]["value"] == pytest.approx(0.25)
    assert every["rarest_recall"] == 0.0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_the_lexical_column_is_that_of_the_page_on_lexical_judges(shared_data, tmp_path, capsys):
    """Through `judge run items` as through the rules themselves, on the smaller of the sets."""
    wanted = (sets.IKAT_NUGGETS, sets.IKAT_POINTS, sets.EXPERTQA, sets.CRUX_REPORTS,
              sets.CRUX_PASSAGES, sets.TREC_RELEVANCE)  # fmt: skip
    names = ",".join(of.key for of in wanted if of.is_in(shared_data))
    given = ["--model", "lexical", "--out", str(tmp_path / "out"), "--resamples", "0", "-q"]
    code = main([str(shared_data), *given, "--sets", names, "--variants", "plain"])
    assert code == 0, capsys.readouterr().err
    rows = {(row.name, row.question): row for row in page.ROWS}
    n = 0
    for part in json.loads((tmp_path / "out" / "study.json").read_bytes())["parts"]:
        for of in part["questions"]:
            if of["question"] == "all labels":
                continue
            known = page.measure(rows[part["data"], of["question"]], shared_data)
            assert (of["n"], of["lexical_kappa"]) == (known.n, known.kappa)
            assert of["kappa"]["value"] == known.kappa
            n += 1
    assert n == 7


@pytest.mark.slow
def test_the_page_shows_what_a_study_of_recorded_judges_prints(shared_data, tmp_path, capsys):
    given = ["--model", "lexical", "--out", str(tmp_path), "-q", "--variants", "plain"]
    assert main([str(shared_data), *given, "--sets", "summhay-assigner"]) == 0
    printed = capsys.readouterr().out
    page_text = (Path(__file__).parents[2] / "docs" / "study.md").read_text(encoding="utf-8")
    (shown,) = re.findall(
        r"^assigner, summhay,.*?(?=^[.]{3}$)", page_text, re.DOTALL | re.MULTILINE
    )
    assert shown in printed


def test_labels_are_read_by_the_ids_of_their_items(tmp_path, data):
    items = list(sets.ATTRIBUTION.items(data))
    rows = [{**item.ids, "label": "full"} for item in items]
    rows_to(tmp_path / "labels.jsonl", [rows[1], rows[0], *rows[2:]])
    with pytest.raises(InputError, match=r"labels\.jsonl:1: not the item"):
        read_labels(tmp_path, items)


def test_quotes_are_no_variant_of_a_judge_that_always_quotes(tmp_path):
    base = base_config(None, (), "lexical", tmp_path, None)
    quoted = ["plain", "evidence"]
    for of, expected in ((sets.IKAT_POINTS, ["plain"]), (sets.ATTRIBUTION, quoted)):
        parts, not_had = parts_of(of, VARIANTS[:2], base, tmp_path, [])
        assert ([part.variant.name for part in parts], not_had) == (expected, [])
