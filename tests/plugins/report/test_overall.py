"""What a report says of all results together: the question, warnings, costs, and the method."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.metrics import KEY_POINT_MEASURES
from nuggetjudge.plugins.report.method import make_cost, make_method, total_cost
from nuggetjudge.plugins.report.page import write_report
from nuggetjudge.plugins.report.runs import make_leaderboard, make_length
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.report.summary import make_summary
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.tables.leaderboards import write_leader_sentence
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.protocols import table
from nuggetjudge.programs.protocols.program import Meaning
from nuggetjudge.programs.protocols.relevance import RANKING_MEASURES
from nuggetjudge.programs.protocols.table import meaning, programs
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.reading.problems import InputError, Problems

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = EXAMPLES.parent / "tests" / "collection"
LABELS = DEMO / "labels" / "support.jsonl"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Results of the example, of nuggets and support, from inputs of its own."""
    home = tmp_path_factory.mktemp("overall")
    shutil.copytree(DEMO, home / "in")
    nj.run(home / "in" / "judge.yaml", nuggets=home / "in" / "nuggets.jsonl", out=home / "demo")
    return home / "demo"


@pytest.fixture(scope="module")
def key_points(tmp_path_factory):
    """Three runs on two topics, all judged, one answer not given."""
    return nj.run(
        program="keypoints", model="lexical", topics=EXAMPLES / "keypoints" / "topics.jsonl",
        keypoints=EXAMPLES / "keypoints" / "keypoints.jsonl",
        runs=[EXAMPLES / "keypoints" / "answers"],
        out=tmp_path_factory.mktemp("overall") / "key points",
    ).folder  # fmt: skip


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    """Two contexts of three rated passages, with the oracle of the required ones."""
    home = tmp_path_factory.mktemp("contexts")

    def put(name, *rows):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return home / name

    ratings = [[5, 0, 0], [4, 3, 0], [0, 2, 5]]
    rated = [{"id": "t", "docid": f"t:0#{i}", "rating": r} for i, r in enumerate(ratings)]
    for run, order in (("one", (0, 1)), ("two", (0,))):
        lines = "".join(f"t Q0 t:0#{i} {n} {-n} {run}\n" for n, i in enumerate(order))
        (home / f"{run}.run").write_text(lines)
    return nj.run(
        program="coverage", model="lexical",
        questions=put("q.jsonl", {"id": "t", "subquestions": ["Who?", "When?", "Where?"]}),
        ratings=[put("ratings.jsonl", *rated)], retrieval=[home / "one.run", home / "two.run"],
        out=home / "out", **{"coverage.k": 2},
    ).folder  # fmt: skip


def of(*folders, labels=()):
    return Source(folders, Problems(), labels=labels)


def edited(folder, to, **changes):
    """A copy of a results folder whose manifest says something else."""
    shutil.copytree(folder, to)
    manifest = json.loads((to / "manifest.json").read_text())
    (to / "manifest.json").write_text(json.dumps(manifest | changes))
    return to


def warned(source):
    boxes = make_summary(source)["boxes"]
    return [one["text"] for box in boxes for one in (*box["lines"], *box["notes"])]


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(demo, tmp_path):
    labels = Path(shutil.copy(LABELS, tmp_path))
    scores = Path(shutil.copy(demo / "scores.jsonl", tmp_path))
    for path in (labels, scores, tmp_path, Path("/dev/null")):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(InputError, match=re.escape(str(path))):
            write_report(of(demo), path)
        assert before == (path.read_bytes() if path.is_file() else None)
    page, empty = tmp_path / "page.html", tmp_path / "made.html"
    page.write_text(" <!DOCTYPE html>\n<p>an older one</p>")
    empty.touch()
    for path in (page, empty):
        write_report(of(demo), path)
        assert path.read_bytes().startswith(b"<!doctype html>\n<html lang")


def test_a_folder_that_is_given_twice_is_not_set_against_itself(demo):
    with pytest.raises(InputError, match="given 2 times"):
        Source([demo, demo], Problems())


def test_the_statement_is_the_title_of_page_and_section(demo, key_points, contexts, tmp_path):
    for folder, title in (
        (demo, "complete scores highest: it states 91% of the vital facts."),
        (key_points, "thorough scores highest: it states 83% of the key points."),
        (contexts, "one scores highest: it retrieves answers to 67% of the sub-questions."),
    ):
        out = tmp_path / "report.html"
        write_report(of(folder), out)
        text = out.read_text()
        assert f"<title>{title}</title>" in text
        assert json.loads(island(text, "head"))["title"] == title
        assert json.loads(island(text, "data-summary"))["title"] == title


def island(text, name):
    start = text.index(f'id="{name}">') + len(f'id="{name}">')
    return text[start : text.index("</script>", start)]


def test_who_judged_and_who_did_not_answer_come_first(demo):
    pairs, few, lexical, _, judged, unanswered, answered = warned(of(demo))
    assert pairs == (
        "2 of 6 pairs of runs differ significantly by V_strict (HSD, p < .05); "
        "no two neighbours do."
    )
    assert few.startswith("There are only 5 topics")
    assert lexical.startswith("The judges compared words")
    assert judged == "All 358 judgements succeeded."
    assert unanswered == "1 run left topics unanswered (scored 0)."
    assert answered == "Topics answered: thin 4 of 5."


def test_a_model_that_judged_all_of_it_is_not_warned_of(demo, tmp_path):
    named = edited(demo, tmp_path / "named", answered_by=["some-model"])
    assert not any("compared words" in text for text in warned(of(named)))


def test_a_limit_and_what_did_not_arrive_are_warned_of(demo, tmp_path):
    partial = edited(
        demo, tmp_path / "partial", limit_reached="max_calls 40", unjudged={"support": 3},
        unjudged_by_reason={"budget": 2, "error": 1},
    )  # fmt: skip
    texts = warned(of(partial))
    assert "Judging stopped at max_calls 40, so the results are partial." in texts
    why = "a limit was reached (2), no reply from the model (1)"
    assert f"3% of support: {why}. Complete: assignments." in texts  # 3 of 103
    assert not [text for text in texts if text.startswith("Missing judgements could change")]
    assert make_summary(of(partial))["boxes"][2]["verdict"] == "3 of 361 judgements"
    stopped = edited(demo, tmp_path / "stopped", partial=True)
    assert any("stopped before its end" in text for text in warned(of(stopped)))


def test_inputs_that_changed_or_went_are_warned_of_and_named(demo, tmp_path):
    given = json.loads((demo / "manifest.json").read_text())["inputs"]
    first, second, *others = given
    other = edited(
        demo,
        tmp_path / "other",
        inputs={
            first: "0" * 64, str(tmp_path / "gone"): given[second], others[0]: given[others[0]],
        },
    )  # fmt: skip
    texts = warned(of(other))
    assert any(f"has changed since: {first}." in text for text in texts)
    assert any(f"is missing: {tmp_path / 'gone'}." in text for text in texts)
    assert not any("changed" in text or "is missing" in text for text in warned(of(demo)))
    states = [row["now"] for row in make_method(of(other))["folders"][0]["inputs"]]
    assert states == ["changed", "missing", "unchanged"]


def test_labels_correct_scores_as_judge_score_does_and_agree_as_judge_agree_does(demo):
    source = of(demo, labels=[LABELS])
    rows = make_leaderboard(source)["measures"]["support_precision"]["rows"]
    corrected = correct_scores(demo, LABELS, Problems(), ignore_others=True)
    for score in corrected.scores:
        if score.measure == "support_precision":
            row = next(row for row in rows if row["run_id"] == score.run_id)
            assert row["corrected"]["value"] == score.corrected.value
            assert row["corrected"]["low"] == score.corrected.like_these.low
    assert all(
        row["corrected"] is None for row in make_leaderboard(source)["measures"]["V"]["rows"]
    )
    trust = make_summary(source)["boxes"][1]
    assert trust["verdict"] == "Substantially: linear κ\N{NO-BREAK SPACE}.78"
    assert trust["lines"][1]["text"].startswith("Support: 80% of 100 labels equal.")


def test_labels_of_something_else_are_said_and_break_nothing(demo, tmp_path):
    other = tmp_path / "labels.jsonl"
    other.write_text('{"topic_id": "x", "passage_id": "y", "label": "1"}\n')
    source = of(demo, labels=[other])
    assert make_summary(source)["boxes"][1]["verdict"] == "Not known"
    assert any(text.startswith("Not all scores are corrected") for text in warned(source))
    assert make_leaderboard(source)["measures"]["V_strict"]["rows"][0]["corrected"] is None


def test_oracles_are_no_runs(contexts):
    board = make_leaderboard(of(contexts))["measures"]["coverage"]
    assert [row["run_id"] for row in board["rows"]] == ["one", "two"]
    assert [(row["run_id"], row["mean"]) for row in board["oracles"]] == [("Z*", 1.0)]
    assert board["rows"][0]["mean"] == pytest.approx(2 / 3)  # the third question has no answer
    redundancy = make_leaderboard(of(contexts))["measures"]["redundancy"]
    assert redundancy["is_less_better"]
    assert [row["run_id"] for row in redundancy["rows"]] == ["two", "one"]  # best first


def test_where_no_length_is_known_the_command_that_would_give_it_is_said(key_points):
    assert make_length(of(key_points))["command"] == "judge run nuggets"


def test_every_measure_that_a_program_shows_is_explained():
    shown = [name for program in programs() for name in program.shown]
    plain = meaning("a measure of somebody's own").text
    for name in (*shown, *RANKING_MEASURES, *KEY_POINT_MEASURES):
        assert meaning(name).text != plain, name
    assert meaning("alpha_ndcg@4").text.endswith(", of the first 4.")
    assert meaning("V_expected").text.endswith(", by the judge's probabilities.")
    assert meaning("redundancy@10").is_less_better
    names = [name for program in programs() for name in program.meanings]
    assert len(names) == len({*names})  # the second would not be heard


def test_a_program_says_which_way_its_measure_is_better(monkeypatch):
    slips = Meaning("Mistakes of an answer.", is_less_better=True)
    other = SimpleNamespace(meanings={"slips": slips, "care": "Care that an answer takes."})
    monkeypatch.setattr(table, "programs", lambda: [*programs(), other])
    assert meaning("slips") == slips
    assert meaning("slips@3") == slips._replace(text="Mistakes of an answer, of the first 3.")
    assert meaning("care") == Meaning("Care that an answer takes.")


def test_the_config_can_be_run_again_and_the_commands_name_the_folder(key_points):
    section = make_method(of(key_points))
    (folder,) = section["folders"]
    assert Config.model_validate(yaml.safe_load(folder["config"])).program == ("keypoints",)
    assert folder["commands"][0] == f"judge export-config '{key_points}' > judge.yaml"
    assert [paper["url"] for paper in section["papers"]] == ["https://arxiv.org/abs/2410.23000"]
    assert {judge["name"]: judge["prompts"] for judge in folder["judges"]}["claim"].startswith(
        "judge "
    )


def test_spending_is_added_up_over_starts_and_an_unknown_price_is_no_zero(demo, tmp_path):
    folder = edited(demo, tmp_path / "spent")
    row = {"requests": 2, "cache_hits": 1, "prompt_tokens": 10, "cached_tokens": 0}
    row |= {"completion_tokens": 3, "at": "2026-01-01T00:00:00Z", "model": "m"}
    row |= {"from_journal": False}
    rows = [
        {"start": 1, "stage": "support", "cost": 0.25, **row},
        {"start": 2, "stage": "support", "cost": 0.5, **row},
        {"start": 2, "stage": "assignments", "cost": 1.0, **row},
    ]
    (folder / "spend.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (spending,) = make_cost(of(folder))["folders"]
    spent = {one["stage"]: one for one in spending["spend"]}
    assert (spent["support"]["requests"], spent["support"]["cost"], spending["n_starts"]) == (
        4, 0.75, 2,
    )  # fmt: skip
    assert total_cost(of(folder)) == 1.75
    assert make_summary(of(folder))["about"].endswith(
        "judged by lexical (word overlap), cost $1.75."
    )
    rows[0]["cost"] = None
    (folder / "spend.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert total_cost(of(folder)) is None


# The first screen of a report: who scores highest, which runs are no worse, and three verdicts.
COLLECTION = Path(__file__).resolve().parents[2] / "collection"
FIRST_SCREEN_LABELS = COLLECTION / "labels"
MOON, KELP, OTHER = "The moon pulls the sea.", "Kelp bends with the tide.", "Nothing of that kind."
BOTH, ONE, NONE = [MOON, KELP], [MOON], [OTHER]
N_TOPICS = 12


def judged(home, answers, n_topics=N_TOPICS):
    """Results of runs that state two vital facts, one or none on each topic, or all alike."""
    home.mkdir()
    facts = [{"text": text, "importance": "vital"} for text in (MOON, KELP)]
    topics = [f"t{i}" for i in range(n_topics)]

    def put(name, rows):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return home / name

    def rows(run, given):
        texts_of = given if isinstance(given[0], list) else [given] * n_topics
        for topic, texts in zip(topics, texts_of, strict=True):
            answer = [{"text": text, "citations": []} for text in texts]
            yield {"run_id": run, "topic_id": topic, "references": [], "answer": answer}

    (home / "topics.tsv").write_text("".join(f"{topic}\twhy tides\n" for topic in topics))
    return nj.run(
        program="nuggets", model="lexical", topics=home / "topics.tsv",
        runs=[put(f"{run}.jsonl", rows(run, given)) for run, given in answers.items()],
        nuggets=put("nuggets.jsonl", [{"topic_id": t, "nuggets": facts} for t in topics]),
        out=home / "out", cache=False,
    ).folder  # fmt: skip


def first_screen_of(*folders, labels=()):
    return Source(list(folders), Problems(), labels=list(labels))


def verdicts(source):
    return [one["verdict"] for one in make_summary(source)["boxes"]]


def test_all_neighbours_that_differ_make_the_order_sure(tmp_path):
    source = first_screen_of(judged(tmp_path / "in", {"low": NONE, "high": BOTH, "middle": ONE}))
    first = make_summary(source)
    assert first["title"] == "high scores highest: it states 100% of the vital facts."
    assert first["group"] == "Every other run is significantly worse (HSD, p < .05)."
    assert first["boxes"][0]["verdict"] == "Yes"
    assert not first["boxes"][0]["is_warning"]
    assert "3 of 3 pairs" in first["boxes"][0]["lines"][0]["text"]


def test_some_pairs_that_differ_make_it_sure_in_part(tmp_path):
    nearly = [*[BOTH] * (N_TOPICS - 1), ONE]
    folder = judged(tmp_path / "in", {"high": BOTH, "nearly": nearly, "low": NONE, "lower": NONE})
    source = first_screen_of(folder)
    first = make_summary(source)
    assert first["group"] == "nearly is not significantly worse (HSD, p ≥ .05); 2 runs are."
    assert first["boxes"][0]["verdict"] == "Only in part"
    assert "4 of 6 pairs" in first["boxes"][0]["lines"][0]["text"]  # two of two with each of two
    board = make_leaderboard(source)["measures"]["V_strict"]
    assert board["leading"] == ["high", "nearly"]
    printed = write_leader_sentence(leaderboards(nj.Result(folder).scores, folder)[0])
    assert printed == "high leads; nearly is not significantly worse (HSD, p >= .05)"


def test_no_pair_that_differs_makes_it_not_sure(tmp_path):
    answers = {"a": [ONE] * 5 + [BOTH], "b": [BOTH] + [ONE] * 5, "c": [ONE] * 6}
    first = make_summary(first_screen_of(judged(tmp_path / "in", answers, 6)))
    assert first["title"] == "a and b score highest, with the same score: V_strict .58."  # 7 of 12
    assert first["group"] == "No run is significantly worse (HSD, p ≥ .05)."
    order = first["boxes"][0]
    assert (order["verdict"], order["is_warning"]) == ("No", True)
    assert [line["text"] for line in order["lines"] if line["is_warning"]] == [
        "There are only 6 topics: take the 95% intervals as a rough guide."
    ]


def test_two_runs_and_one_run_have_words_of_their_own(tmp_path):
    two = make_summary(first_screen_of(judged(tmp_path / "two", {"high": BOTH, "low": NONE})))
    assert two["boxes"][0]["verdict"] == "Yes"
    assert "The two runs differ" in two["boxes"][0]["lines"][0]["text"]
    one = make_summary(first_screen_of(judged(tmp_path / "one", {"only": ONE})))
    assert one["title"] == "only states 50% of the vital facts."
    assert (one["group"], one["boxes"][0]["verdict"]) == ("", "One run")


def test_two_folders_with_the_same_runs_are_compared_by_their_first_run(tmp_path):
    here = judged(tmp_path / "here", {"high": BOTH, "low": ONE})
    there = shutil.copytree(here, tmp_path / "there")
    agree = make_summary(first_screen_of(here, there))["title"]
    assert agree == (
        "high scores highest in both results: it states 100% (out) and 100% (there) "
        "of the vital facts."
    )
    other = judged(tmp_path / "other", {"high": ONE, "low": BOTH}).rename(tmp_path / "turned")
    titles = make_summary(first_screen_of(here, other))["title"]
    assert titles == "The results disagree on the best run: high (out) and low (turned)."


def test_nothing_judged_is_no_score_of_0(tmp_path):
    folder = forget_digests(judged(tmp_path / "in", {"high": BOTH, "low": NONE}))
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {"value": None, "low": 0.0, "high": 1.0, "n": 0, "n_unjudged": 2}
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = make_summary(first_screen_of(folder))
    assert first["title"] == "No run has a score yet: nothing was judged."
    assert first["boxes"][0]["verdict"] == "Not known"


def test_battles_and_measures_without_words_have_a_statement_too(tmp_path):
    given = {"program": ["arena"], "run.out": tmp_path / "out", "run.cache": False}
    folder = nj.run(load_config(COLLECTION / "judge.yaml", given, (), "lexical")).folder
    assert (
        make_summary(first_screen_of(folder))["title"]
        == "factdump scores highest: it wins 90% of its battles."
    )
    forget_digests(folder)
    scores = folder / "scores.jsonl"
    scores.write_text(scores.read_text().replace('"win_rate"', '"care"'))
    assert make_summary(first_screen_of(folder))["title"] == "factdump scores highest: care .90."


def test_without_labels_the_judge_is_not_known_and_the_command_is_there(tmp_path):
    folder = judged(tmp_path / "in", {"high": BOTH, "low": NONE})
    trust = make_summary(first_screen_of(folder))["boxes"][1]
    assert (trust["verdict"], trust["is_warning"]) == ("Not known", True)
    label, report = trust["command"].splitlines()
    assert label == f"judge next {folder} --n 100 --out sheet.csv"
    assert report == f"judge report {folder} --labels sheet.csv"


@pytest.fixture(scope="module")
def first_screen_demo(tmp_path_factory):
    home = tmp_path_factory.mktemp("first")
    shutil.copytree(COLLECTION, home / "in")
    nj.run(home / "in" / "judge.yaml", nuggets=home / "in" / "nuggets.jsonl", out=home / "demo")
    return home / "demo"


def test_the_verdict_on_the_judge_is_that_of_judge_agree(first_screen_demo):
    trust = make_summary(
        first_screen_of(
            first_screen_demo,
            labels=[FIRST_SCREEN_LABELS / "support.jsonl", FIRST_SCREEN_LABELS / "nuggets.jsonl"],
        )
    )
    trust = trust["boxes"][1]
    # As judge agree prints for the labels of nuggets: "substantially: linear kappa .71".
    assert trust["verdict"] == "Substantially for nuggets: linear κ\N{NO-BREAK SPACE}.71"
    (overlap, counts) = trust["lines"]
    assert overlap["is_warning"]
    assert "linear κ\N{NO-BREAK SPACE}.78" in counts["text"]
    assert "is not known" in counts["text"]


def test_what_is_missing_is_counted_with_its_reason(first_screen_demo, tmp_path):
    assert verdicts(first_screen_of(first_screen_demo))[2] == "Nothing"
    folder = shutil.copytree(first_screen_demo, tmp_path / "partial")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"unjudged": {"support": 25}, "unjudged_by_reason": {"no_passage": 25}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    missing = make_summary(first_screen_of(folder))["boxes"][2]
    assert (missing["verdict"], missing["is_warning"]) == ("25 of 383 judgements", True)
    # 100 of support are judged: 25 of 125.
    assert missing["lines"][0]["text"] == (
        "20% of support: the passage text is not in the data. Complete: assignments."
    )
    assert missing["lines"][1]["text"] == "1 run left topics unanswered (scored 0)."


@pytest.mark.slow
def test_45_real_runs_with_gaps_are_not_told_apart(shared_data, tmp_path):
    data = shared_data / "rag24_e2e"
    result = nj.run(
        program="support", topics=data / "topics.tsv", passages=data / "passages.jsonl",
        runs=[str(data / "runs")], model="lexical", out=tmp_path / "out",
    )  # fmt: skip
    order = make_summary(first_screen_of(result.folder))["boxes"][0]
    assert order["verdict"] == "No"
    compared = compare_runs([result.folder], Problems(), measures=["support_precision"])
    pairs = compared["measures"]["support_precision"]["pairs"]
    n_shared = sum(pair["n_topics"] > 0 for pair in pairs)
    assert f"0 of {n_shared:,} pairs" in order["lines"][0]["text"]
