"""Battles from answers to standings: both orders, every design, failures that are no scores."""

import csv
import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_rows
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.plugins.exports import tools
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.trec.arena.arena import make_battles
from nuggetjudge.plugins.trec.arena.battles import Battle, BattleVerdict
from nuggetjudge.plugins.trec.arena.design import Field, Meeting, uncertain
from nuggetjudge.plugins.trec.arena.judge import BattleJudge, judge_battle, score_battle
from nuggetjudge.plugins.trec.arena.kind import read_battles
from nuggetjudge.plugins.trec.arena.ragdoll import write_ragdoll_arena
from nuggetjudge.plugins.trec.arena.standings import standings_in
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.answers.views import read_answer_views
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.partial import results_at
from nuggetjudge.programs.run import forecast
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.labels import read_labels
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


# The lexical judge of battles against the preferences of people, of real pairs of answers.
def preferred(overall):
    """RAGChecker's scale: above 0 the second answer is better."""
    return "b" if overall > 0 else "a" if overall < 0 else "tie"


def test_the_lexical_judge_agrees_with_people_as_the_page_says(shared_data, tmp_path):
    path = shared_data / "ragchecker_meta" / "pairs.jsonl"
    items, labels = [], []
    for pair in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        first, second = pair["model1"], pair["model2"]
        topic = f"{pair['dataset']}-{pair['query_id']}"
        ids = {"topic_id": topic, "run_id": first["name"], "opponent_id": second["name"]}
        texts = {"answer_a": first["response"], "answer_b": second["response"]}
        items.append({**ids, "question": pair["query"], **texts})
        labels += [
            {**ids, "label": preferred(human["overall"]), "annotator": f"p{n}"}
            for n, human in enumerate(pair["human"])
        ]
    for name, rows in (("items", items), ("people", labels)):
        lines = [json.dumps(row) + "\n" for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    given = {"program": ["items"], "items.judge": "battle", "run.out": tmp_path / "out"}
    given["data.items"] = tmp_path / "items.jsonl"
    result = nj.run(load_config(None, given, (), "lexical"))
    agreement = agree(tmp_path / "people.jsonl", result.folder, Problems())
    assert (agreement["kind"], agreement["n"], agreement["is_ordered"]) == ("battles", 111, False)
    assert agreement["accuracy"] == pytest.approx(0.559, abs=5e-4)
    assert agreement["cohen_kappa"]["unweighted"] == pytest.approx(0.332, abs=5e-4)
    assert agreement["annotators"]["among"]["pairwise_kappa"]["unweighted"] == pytest.approx(
        0.492, abs=5e-4
    )


# The section on battles: its data, and that it is not there without any.
DEMO = Path(__file__).resolve().parents[2] / "collection"


def judged(tmp_path, program):
    given = {"program": [program], "run.out": tmp_path / "out", "run.cache": False}
    return nj.run(load_config(DEMO / "judge.yaml", given, (), "lexical")).folder


def test_the_section_has_the_standings_and_who_beat_whom(tmp_path):
    folder = judged(tmp_path, "arena")
    section = make_battles(Source([folder], Problems()))
    (one,) = section["folders"]
    assert section["count"] == one["n"] == 30  # 6 pairs of 4 runs on 5 topics
    names = [row["run"] for row in one["runs"]]
    assert names == ["factdump", "complete", "miscited", "thin"]
    # What the files say: of the five battles of the first two, by hand from battles.jsonl.
    rows = [json.loads(line) for line in (folder / "battles.jsonl").open(encoding="utf-8")]
    both = [r["label"] for r in rows if (r["run_id"], r["opponent_id"]) == ("complete", "factdump")]
    wins = both.count("loss") + both.count("tie") / 2
    assert one["won"][0][1] == (wins, 5)
    assert one["won"][1][0] == (5 - wins, 5)
    assert one["position"]["n_first"] == one["position"]["n_second"]
    assert one["runs"][3]["forfeits"] == 3


def test_without_battles_there_is_no_section(tmp_path):
    assert make_battles(Source([judged(tmp_path, "support")], Problems())) is None


# The battle judge: what it costs beside its texts, and a baseline to which place means nothing.
PAGE = Path(__file__).resolve().parents[3] / "docs" / "protocols" / "arena.md"
TEXTS = st.text(st.sampled_from("tide moon kelp bay "), max_size=40)


def test_its_prompt_is_as_long_as_the_page_says():
    empty = dict.fromkeys(("question", "answer_a", "answer_b"), "")
    messages = BattleJudge("lexical").prompt("judge").messages(empty)
    n = sum(len(message["content"]) for message in messages)
    assert f"| {n:,} |" in PAGE.read_text(encoding="utf-8")


@given(TEXTS, TEXTS)
def test_the_baseline_says_the_same_when_the_answers_change_places(one, other):
    asked = {"question": "tide", "answer_a": one, "answer_b": other}
    turned = {**asked, "answer_a": other, "answer_b": one}
    swap = {"a": "b", "b": "a", "tie": "tie"}
    assert judge_battle(turned)["verdict"] == swap[judge_battle(asked)["verdict"]]
    assert abs(score_battle(asked)["verdict"] + score_battle(turned)["verdict"] - 1) < 1e-12


def test_the_baseline_takes_the_answer_that_says_clearly_more():
    short, long = "tides follow", "tides follow moon kelp"
    asked = {"question": "", "answer_a": long, "answer_b": short}
    assert judge_battle(asked) == {"verdict": "a"}  # 4 of 6 words, 0.67
    assert BattleJudge("lexical")(**asked).label == "a"
    assert judge_battle(asked | {"answer_b": long}) == {"verdict": "tie"}


# Battles in our file, in RAGDoll's and in labels of people: one cell, seen from one run.
BATTLES = [
    Battle(topic_id="t1", run_id="a", opponent_id="b", label="win",
           first=BattleVerdict(label="win"),
           second=BattleVerdict(label="win", rationale="it says more")),
    Battle(topic_id="t1", run_id="a", opponent_id="c", label="tie",
           first=BattleVerdict(label="win"), second=BattleVerdict(label="loss")),
    Battle(topic_id="t2", run_id="a", opponent_id="b", label=None,
           first=BattleVerdict(label=None), second=BattleVerdict(label="win")),
    Battle(topic_id="t2", run_id="a", opponent_id="c", label="loss", is_forfeit=True),
]  # fmt: skip


def read(path):
    problems = Problems()
    battles = list(read_battles(path, problems))
    problems.raise_errors()
    return battles


def test_what_is_written_is_read_back(tmp_path):
    path = write_rows(tmp_path / "battles.jsonl", [battle.as_row() for battle in BATTLES])
    assert read(path) == BATTLES
    assert [battle.is_split for battle in BATTLES] == [False, True, False, False]
    labels = read_labels(path, Problems())
    assert labels.cells == {
        ("t1", "a", "b"): "win", ("t1", "a", "c"): "tie", ("t2", "a", "c"): "loss",
    }  # fmt: skip
    assert (labels.kind, labels.scale, labels.n_unlabelled) == (
        *("battles", ("loss", "tie", "win"), 1),
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"run_id": "z"}, "wanted two runs in order"),
        ({"opponent_id": None}, "'opponent_id' is missing"),
        ({}, "is in line 1 too, wanted once"),
    ],
)
def test_what_is_no_battle_is_named_by_its_line(tmp_path, change, what):
    rows = [BATTLES[0].as_row(), BATTLES[0].as_row() | change]
    with pytest.raises(InputError, match=f"battles.jsonl:2: .*{what}"):
        read(write_rows(tmp_path / "battles.jsonl", rows))


def test_a_label_that_is_none_is_listed_and_not_judged(tmp_path):
    path, problems = tmp_path / "battles.jsonl", Problems()
    write_rows(path, [BATTLES[0].as_row() | {"label": "better"}])
    assert [battle.label for battle in read_battles(path, problems)] == [None]
    assert "'better', wanted loss, tie, win; not judged" in str(problems.rows)


def test_a_persons_label_is_the_same_whichever_run_they_name_first(tmp_path):
    battles = write_rows(tmp_path / "battles.jsonl", [battle.as_row() for battle in BATTLES])
    people = write_rows(
        tmp_path / "people.jsonl",
        [
            {"topic_id": "t1", "run_id": "b", "opponent_id": "a", "label": "b"},  # a is better
            {"topic_id": "t1", "run_id": "a", "opponent_id": "c", "label": "model_a"},
            {"topic_id": "t2", "run_id": "c", "opponent_id": "a", "label": "win"},
        ],
    )
    agreement = agree(people, battles, Problems())
    assert (agreement["kind"], agreement["n"]) == ("battles", 3)
    assert agreement["accuracy"] == pytest.approx(2 / 3)
    assert agreement["confusion"] == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]  # rows: people


def test_two_bad_answers_are_a_tie_unless_the_judges_own_labels_are_asked_for(tmp_path):
    path = tmp_path / "people.jsonl"
    ids = {"topic_id": "t1", "run_id": "b", "opponent_id": "a"}
    write_rows(path, [{**ids, "label": "tie (bothbad)"}, {**ids, "topic_id": "t2", "label": "win"}])
    assert list(read_labels(path, Problems()).cells.values()) == ["tie", "loss"]
    of_judge = read_labels(path, Problems(), scale=("b", "both_bad", "tie", "a"))
    assert list(of_judge.cells.values()) == ["both_bad", "b"]


# RAGDoll's arena files read as battles, and ours written so that its own sums come out.
# As its `_judgment_row` writes them (src/ragdoll/arena/flows.py); texts left out.
JUDGED = {"task_id": "arena:x:y:7", "qid": "7", "query": "q", "pair": ["x", "y"], "provider": "p",
          "assistant_a_run_id": "y", "assistant_b_run_id": "x", "judge_verdict": "A",
          "preferred_run_id": "y", "model": "m", "status": "completed", "error": None,
          "raw_output": "[[A]]", "elapsed_seconds": 1.0, "usage": {}}  # fmt: skip
OTHERS = [
    {"qid": "8", "judge_verdict": "Tie (Both Bad)", "preferred_run_id": None},
    {"qid": "9", "judge_verdict": None, "status": "failed", "error": "no verdict"},
    {"qid": "10", "assistant_a_run_id": "x", "assistant_b_run_id": "y"},
]


def test_its_judgments_are_battles_of_one_order_and_a_failure_is_no_tie(tmp_path):
    path = tmp_path / "judgments.jsonl"
    rows = [JUDGED, *(JUDGED | change for change in OTHERS)]
    write_rows(path, rows)
    battles = list(read_battles(path, Problems()))
    assert [(b.topic_id, b.run_id, b.opponent_id, b.label) for b in battles] == [
        ("7", "x", "y", "loss"), ("8", "x", "y", "tie"), ("9", "x", "y", None),
        ("10", "x", "y", "win"),
    ]  # fmt: skip
    assert [(b.first is None, b.second is None) for b in battles] == [
        *[(True, False)] * 3, (False, True),
    ]  # fmt: skip
    assert battles[1].second == BattleVerdict(label="both_bad")


def battle(topic, one, other, label, **more):
    return Battle(topic_id=topic, run_id=one, opponent_id=other, label=label, **more)


def test_ours_are_written_as_its_four_files(tmp_path):
    battles = [
        battle("1", "x", "y", "win"), battle("2", "x", "y", "tie"), battle("3", "x", "y", None),
        battle("1", "x", "z", "loss"), battle("2", "x", "z", "win", is_forfeit=True),
    ]  # fmt: skip
    write_ragdoll_arena(tmp_path, battles, {"x": 1000.5, "y": 950.0, "z": 1049.5}, model="m")
    rows = [json.loads(line) for line in (tmp_path / "judgments.jsonl").open(encoding="utf-8")]
    assert [(r["qid"], r["judge_verdict"], r["preferred_run_id"], r["status"]) for r in rows] == [
        ("1", "A", "x", "completed"), ("2", "Tie", None, "completed"), ("3", None, None, "failed"),
        ("1", "B", "z", "completed"),
    ]  # fmt: skip

    def table(name):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    # By hand: x and y won 1 and tied 1 of the 2 that were judged; z forfeits topic 2.
    assert table("pairwise.csv")[1:] == [
        ["x", "y", "3", "2", "1", "0", "1", "0.75", "0.25"],
        ["x", "z", "1", "1", "0", "1", "0", "0.0", "1.0"],
        ["y", "z", "1", "0", "0", "0", "0", "", ""],
    ]
    assert table("leaderboard.csv") == [
        ["rank", "run_id", "arena_score", "n_judgments", "wins", "losses", "ties"],
        ["1", "z", "1049.5", "1", "1", "0", "0"],
        ["2", "x", "1000.5", "3", "1", "1", "1"],
        ["3", "y", "950.0", "2", "0", "1", "1"],
    ]
    again = list(read_battles(tmp_path / "judgments.jsonl", Problems()))
    assert [b.label for b in again] == ["win", "tie", None, "loss"]
    assert again[0].first == BattleVerdict(label="win")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"assistant_b_run_id": "y"}, "both assistants are 'y', wanted two runs"),
        ({}, "is in line 1 too, wanted once"),
    ],
)
def test_a_broken_line_is_named(tmp_path, change, what):
    path, problems = tmp_path / "judgments.jsonl", Problems()
    path.write_text(f"{json.dumps(JUDGED)}\n{json.dumps(JUDGED | change)}\n", encoding="utf-8")
    list(read_battles(path, problems))
    with pytest.raises(InputError, match=f"judgments.jsonl:2: .*{what}"):
        problems.raise_errors()
