"""Battles from answers to standings: both orders, every design, failures that are no scores."""

import json
from collections import Counter
from contextlib import nullcontext

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.plugins.exports import tools
from nuggetjudge.plugins.trec.arena.design import Field, Meeting, uncertain
from nuggetjudge.plugins.trec.arena.standings import standings_in
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.answers.views import read_answer_views
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.partial import results_at
from nuggetjudge.programs.run import forecast
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

RUNS, TOPICS = ("ann", "bob", "cid"), ("t1", "t2", "t3", "t4")
QUALITY = {"ann": 3, "bob": 2, "cid": 1}


def answer(run_id, topic_id):
    text = f"{run_id} says of {topic_id} {'much ' * QUALITY[run_id]}."
    return {"run_id": run_id, "topic_id": topic_id, "references": [], "answer": [{"text": text}]}


@pytest.fixture
def data(tmp_path):
    """Three runs on four topics; cid gives no answer to t4."""
    topics = [json.dumps({"id": name, "title": f"what of {name}"}) for name in TOPICS]
    rows = [answer(run, topic) for run in RUNS for topic in TOPICS if (run, topic) != ("cid", "t4")]
    (tmp_path / "topics.jsonl").write_text("\n".join(topics), encoding="utf-8")
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"data.topics": tmp_path / "topics.jsonl", "data.runs": [str(tmp_path / "runs.jsonl")]}


def by_length(body):
    """A judge without a preference for a place: the longer answer."""
    asked = input_of(body)
    apart = len(asked["answer_a"]) - len(asked["answer_b"])
    return {"verdict": "a" if apart > 0 else "b" if apart < 0 else "tie"}


@pytest.fixture
def run(tmp_path, data):
    def judged(brain=by_length, out="out", faults=None, server=None, **settings):
        given = {"program": ["arena"], "run.out": tmp_path / out, "run.cache": False}
        with MockServer(brain=brain) if server is None else nullcontext(server) as server:
            if faults is not None:
                server.faults = faults
            sets = [f"models.default.api_base={server.base_url}", "models.default.reasks=0"]
            config = load_config(None, {**given, **data, **settings}, sets, "hosted_vllm/mock")
            return nj.run(config), server

    return judged


def rows_of(result):
    return [json.loads(line) for line in (result.folder / "battles.jsonl").open(encoding="utf-8")]


def scores(result, topic="all"):
    return {(r.run_id, r.measure): r for r in result.scores if r.topic_id == topic}


def test_every_pair_meets_on_every_topic_in_both_orders_and_a_missing_answer_loses(run):
    result, server = run()
    rows = rows_of(result)
    assert Counter((r["run_id"], r["opponent_id"]) for r in rows) == {
        ("ann", "bob"): 4, ("ann", "cid"): 4, ("bob", "cid"): 4,
    }  # fmt: skip
    assert {r["label"] for r in rows} == {"win"}
    assert [r["topic_id"] for r in rows if r["is_forfeit"]] == ["t4", "t4"]
    assert len(server.requests) == 2 * (12 - 2)
    # By hand: ann wins all 8, bob 4 of 8, cid none of 8.
    values = scores(result)
    assert [values[name, "win_rate"].value for name in RUNS] == [1.0, 0.5, 0.0]
    forfeits = {run.run_id: run.forfeits for run in standings_in(result.folder).runs}
    assert forfeits == {"ann": 0, "bob": 0, "cid": 2}
    assert result.is_complete


def test_the_judge_is_told_neither_run_and_sees_each_answer_first_once(run):
    _, server = run()
    asked = [input_of(body) for body in (each.body for each in server.requests)]
    assert Counter((a["answer_a"], a["answer_b"]) for a in asked).most_common(1)[0][1] == 1
    assert {(a["answer_b"], a["answer_a"]) for a in asked} == {
        (a["answer_a"], a["answer_b"]) for a in asked
    }
    assert "criteria" not in asked[0]


def test_criteria_are_part_of_what_is_asked(run):
    _, server = run(**{"arena.criteria": ["short", "sourced"]})
    assert {input_of(body)["criteria"] for body in (each.body for each in server.requests)} == {
        "short\nsourced"
    }


def test_a_judge_that_prefers_the_first_answer_is_found_out_and_ranks_nobody(run):
    result, _ = run(brain=lambda body: {"verdict": "a"})
    standings = standings_in(result.folder)
    assert standings.position.effect.value == 1.0
    assert standings.n_splits == 10
    assert {r["label"] for r in rows_of(result) if not r["is_forfeit"]} == {"tie"}
    assert {scores(result, "t1")[name, "win_rate"].value for name in RUNS} == {0.5}
    assert result.manifest["counts"]["battles whose orders disagree (ties)"] == 10


def test_a_refused_order_leaves_its_battle_unjudged_with_bounds(run):
    def refuse(index, body):
        asked = input_of(body)
        is_it = asked["answer_a"].startswith("ann says of t1") and "bob" in asked["answer_b"]
        return Refusal() if is_it else None

    result, _ = run(faults=refuse)
    row = next(r for r in rows_of(result) if (r["topic_id"], r["opponent_id"]) == ("t1", "bob"))
    assert (row["label"], row["first"]["label"], row["second"]["label"]) == (None, None, "win")
    # On t1 ann has one judged battle, won, and one that may be anything: 1/2 to 2/2.
    at = scores(result, "t1")["ann", "win_rate"]
    assert (at.value, at.n, at.n_unjudged, at.low, at.high) == (1.0, 1, 1, 0.5, 1.0)
    strength = scores(result)["cid", "strength"]
    assert (strength.n_unjudged, strength.low, strength.high) == (1, None, None)
    assert not result.is_complete


@pytest.mark.parametrize("design", ["balanced", "seeded", "active"])
def test_scores_are_the_same_bytes_again_and_a_second_start_asks_nothing(run, design):
    settings = {"arena.design": design, "arena.battles": 7, "arena.round": 3}
    with MockServer(brain=by_length) as server:
        result, _ = run(server=server, **settings)
        n_asked = len(server.requests)
        assert len(rows_of(result)) == 7
        assert score_path(result.folder, Problems()) == result.scores
        before = (result.folder / "battles.jsonl").read_bytes()
        again, _ = run(server=server, **settings)
        assert len(server.requests) == n_asked > 0
    assert (again.folder / "battles.jsonl").read_bytes() == before


def test_a_dry_run_counts_the_calls_of_every_design(data, run):
    for design in ("balanced", "active"):
        given = {"program": ["arena"], "arena.design": design, **data}
        sets = ["models.default.api_base=http://127.0.0.1:9/v1"]  # which is not asked
        plan = forecast(load_config(None, given, sets, "hosted_vllm/mock"))
        assert [(one.judge, one.calls) for one in plan.judges] == [("battle", 20)]


def test_one_run_alone_is_refused(data, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(answer("ann", "t1")), encoding="utf-8")
    given = {"program": ["arena"], **data, "data.runs": [str(path)], "run.out": tmp_path / "o"}
    with pytest.raises(InputError, match="answers of 1 run, wanted two or more"):
        nj.run(load_config(None, given, (), "lexical"))


@pytest.mark.parametrize(("n_runs", "n_topics"), [(4, 6), (5, 7), (3, 9), (6, 5)])
def test_each_beginning_of_the_balanced_order_has_pairs_and_topics_equally_often(n_runs, n_topics):
    field = Field([f"t{i}" for i in range(n_topics)], [f"r{i}" for i in range(n_runs)])
    meetings = list(field.in_turn(3))
    assert len(set(meetings)) == len(meetings) == n_topics * n_runs * (n_runs - 1) // 2
    pairs, topics = Counter(dict.fromkeys(field.pairs, 0)), Counter(dict.fromkeys(field.topics, 0))
    for meeting in meetings:
        pairs[meeting[1:]] += 1
        topics[meeting.topic_id] += 1
        for counts in (pairs, topics):
            assert max(counts.values()) - min(counts.values()) <= 1
    assert list(field.in_turn(4)) != meetings


def test_the_active_design_asks_about_those_whose_order_is_open():
    field = Field([f"t{i:02}" for i in range(30)], ["a", "b", "c", "d"])
    gains = {}
    for i, topic in enumerate(field.topics[:12]):  # a and b share their battles, and beat the rest
        gains[Meeting(topic, "a", "b")] = float(i % 2)
        gains |= {Meeting(topic, top, low): 1.0 for top in "ab" for low in "cd"}
    gains |= {Meeting(topic, "c", "d"): 1.0 for topic in field.topics[:3]}  # few, but all of one
    meetings = uncertain(field, gains, 10, 0)
    assert {meeting[1:] for meeting in meetings} == {("a", "b")}
    assert not set(meetings) & gains.keys()
    assert len({meeting.topic_id for meeting in meetings}) == 10


def test_of_pairs_as_near_the_active_design_takes_who_met_least_on_topics_with_fewest_meetings():
    field = Field([f"t{i}" for i in range(6)], ["a", "b", "c", "d"])
    gains = {Meeting(topic, "a", "b"): 0.5 for topic in field.topics[:4]}
    meetings = uncertain(field, gains, 8, 0)
    assert ("a", "b") not in {meeting[1:] for meeting in meetings}
    n_on = Counter(meeting.topic_id for meeting in (*gains, *meetings))
    assert set(n_on.values()) == {2}


def test_the_active_design_ends_when_all_have_met():
    field = Field(["t1", "t2"], ["a", "b", "c"], absent=[("a", "t2"), ("b", "t2")])
    every = uncertain(field, {}, 99, 0)
    assert len(every) == len(set(every)) == 5  # a and b gave t2 no answer, and do not meet there
    assert uncertain(field, dict.fromkeys(every, None), 9, 0) == []


def test_a_folder_for_ragdoll_comes_back_with_the_same_labels(run, tmp_path):
    result, _ = run(brain=lambda body: {"verdict": "a"} if "t1" in str(body) else by_length(body))
    tools.write_ragdoll(result.folder, tmp_path / "theirs")
    assert {path.name for path in (tmp_path / "theirs" / "arena").iterdir()} == {
        *("judgments.jsonl", "pairwise.csv", "coverage.csv", "leaderboard.csv"),
    }
    with results_at(tmp_path / "theirs") as theirs:
        agreement = agree(theirs.path, result.folder, Problems())
    assert (agreement["kind"], agreement["n"], agreement["accuracy"]) == ("battles", 10, 1.0)
    assert agreement["n_judged_only"] == 2  # forfeits, which RAGDoll has not


def test_each_answer_shows_all_of_its_battles_whichever_run_stands_first(run):
    result, _ = run()
    (view,) = read_answer_views(result.folder, Problems(), run="cid", topic="t1")
    assert [(each.item, each.label) for each in view.judged] == [("ann", "loss"), ("bob", "loss")]


def test_scores_of_battles_are_not_corrected_by_labels(run, tmp_path):
    result, _ = run()
    labels = tmp_path / "people.jsonl"
    labels.write_bytes((result.folder / "battles.jsonl").read_bytes())
    with pytest.raises(InputError, match="a battle belongs to two runs"):
        correct_scores(result.folder, labels, Problems())
