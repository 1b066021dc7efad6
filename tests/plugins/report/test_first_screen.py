"""The first screen of a report: who scores highest, which runs are no worse, and three verdicts."""

import json
import shutil
from pathlib import Path

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.runs import make_leaderboard
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.report.summary import make_summary
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.tables.leaderboards import write_leader_sentence
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems

COLLECTION = Path(__file__).resolve().parents[2] / "collection"
LABELS = COLLECTION / "labels"
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
        program="nuggets",
        model="lexical",
        topics=home / "topics.tsv",
        runs=[put(f"{run}.jsonl", rows(run, given)) for run, given in answers.items()],
        nuggets=put("nuggets.jsonl", [{"topic_id": t, "nuggets": facts} for t in topics]),
        out=home / "out",
        cache=False,
    ).folder


def of(*folders, labels=()):
    return Source(list(folders), Problems(), labels=list(labels))


def verdicts(source):
    return [one["verdict"] for one in make_summary(source)["boxes"]]


def test_all_neighbours_that_differ_make_the_order_sure(tmp_path):
    source = of(judged(tmp_path / "in", {"low": NONE, "high": BOTH, "middle": ONE}))
    first = make_summary(source)
    assert first["title"] == "high scores highest: it states 100% of the vital facts."
    assert first["group"] == "Every other run is significantly worse (HSD, p < .05)."
    assert first["boxes"][0]["verdict"] == "Yes"
    assert not first["boxes"][0]["is_warning"]
    assert "3 of 3 pairs" in first["boxes"][0]["lines"][0]["text"]


def test_some_pairs_that_differ_make_it_sure_in_part(tmp_path):
    nearly = [*[BOTH] * (N_TOPICS - 1), ONE]
    folder = judged(tmp_path / "in", {"high": BOTH, "nearly": nearly, "low": NONE, "lower": NONE})
    source = of(folder)
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
    first = make_summary(of(judged(tmp_path / "in", answers, 6)))
    assert first["title"] == "a and b score highest, with the same score: V_strict .58."  # 7 of 12
    assert first["group"] == "No run is significantly worse (HSD, p ≥ .05)."
    order = first["boxes"][0]
    assert (order["verdict"], order["is_warning"]) == ("No", True)
    assert [line["text"] for line in order["lines"] if line["is_warning"]] == [
        "6 topics are few: read the 95% intervals as a rough guide."
    ]


def test_two_runs_and_one_run_have_words_of_their_own(tmp_path):
    two = make_summary(of(judged(tmp_path / "two", {"high": BOTH, "low": NONE})))
    assert two["boxes"][0]["verdict"] == "Yes"
    assert "The two runs differ" in two["boxes"][0]["lines"][0]["text"]
    one = make_summary(of(judged(tmp_path / "one", {"only": ONE})))
    assert one["title"] == "only states 50% of the vital facts."
    assert (one["group"], one["boxes"][0]["verdict"]) == ("", "One run")


def test_two_folders_with_the_same_runs_are_compared_by_their_first_run(tmp_path):
    here = judged(tmp_path / "here", {"high": BOTH, "low": ONE})
    there = shutil.copytree(here, tmp_path / "there")
    agree = make_summary(of(here, there))["title"]
    assert agree == (
        "high scores highest in both results: it states 100% (out) and 100% (there) "
        "of the vital facts."
    )
    other = judged(tmp_path / "other", {"high": ONE, "low": BOTH}).rename(tmp_path / "turned")
    titles = make_summary(of(here, other))["title"]
    assert titles == "The results disagree on the best run: high (out) and low (turned)."


def test_nothing_judged_is_no_score_of_0(tmp_path):
    folder = forget_digests(judged(tmp_path / "in", {"high": BOTH, "low": NONE}))
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {"value": None, "low": 0.0, "high": 1.0, "n": 0, "n_unjudged": 2}
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = make_summary(of(folder))
    assert first["title"] == "No run has a score yet: nothing was judged."
    assert first["boxes"][0]["verdict"] == "Not known"


def test_battles_and_measures_without_words_have_a_statement_too(tmp_path):
    given = {"program": ["arena"], "run.out": tmp_path / "out", "run.cache": False}
    folder = nj.run(load_config(COLLECTION / "judge.yaml", given, (), "lexical")).folder
    assert (
        make_summary(of(folder))["title"] == "factdump scores highest: it wins 90% of its battles."
    )
    forget_digests(folder)
    scores = folder / "scores.jsonl"
    scores.write_text(scores.read_text().replace('"win_rate"', '"care"'))
    assert make_summary(of(folder))["title"] == "factdump scores highest: care .90."


def test_without_labels_the_judge_is_not_known_and_the_command_is_there(tmp_path):
    folder = judged(tmp_path / "in", {"high": BOTH, "low": NONE})
    trust = make_summary(of(folder))["boxes"][1]
    assert (trust["verdict"], trust["is_warning"]) == ("Not known", True)
    label, report = trust["command"].splitlines()
    assert label == f"judge next {folder} --n 100 --out sheet.csv"
    assert report == f"judge report {folder} --labels sheet.csv"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    home = tmp_path_factory.mktemp("first")
    shutil.copytree(COLLECTION, home / "in")
    nj.run(home / "in" / "judge.yaml", nuggets=home / "in" / "nuggets.jsonl", out=home / "demo")
    return home / "demo"


def test_the_verdict_on_the_judge_is_that_of_judge_agree(demo):
    trust = make_summary(of(demo, labels=[LABELS / "support.jsonl", LABELS / "nuggets.jsonl"]))
    trust = trust["boxes"][1]
    # As judge agree prints for the labels of nuggets: "substantially: linear kappa .71".
    assert trust["verdict"] == "Substantially for nuggets: linear κ\N{NO-BREAK SPACE}.71"
    (overlap, counts) = trust["lines"]
    assert overlap["is_warning"]
    assert "linear κ\N{NO-BREAK SPACE}.78" in counts["text"]
    assert "is not known" in counts["text"]


def test_what_is_missing_is_counted_with_its_reason(demo, tmp_path):
    assert verdicts(of(demo))[2] == "Nothing"
    folder = shutil.copytree(demo, tmp_path / "partial")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"unjudged": {"support": 25}, "unjudged_by_reason": {"no_passage": 25}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    missing = make_summary(of(folder))["boxes"][2]
    assert (missing["verdict"], missing["is_warning"]) == ("25 of 383 judgements", True)
    # 100 of support are judged: 25 of 125.
    assert missing["lines"][0]["text"] == (
        "20% of support: the passage text is not in the data. Complete: assignments."
    )
    assert missing["lines"][1]["text"] == "1 run left topics unanswered (scored 0)."


def test_45_real_runs_with_gaps_are_not_told_apart(shared_data, tmp_path):
    data = shared_data / "rag24_e2e"
    result = nj.run(
        program="support",
        topics=data / "topics.tsv",
        passages=data / "passages.jsonl",
        runs=[str(data / "runs")],
        model="lexical",
        out=tmp_path / "out",
    )
    order = make_summary(of(result.folder))["boxes"][0]
    assert order["verdict"] == "No"
    compared = compare_runs([result.folder], Problems(), measures=["support_precision"])
    pairs = compared["measures"]["support_precision"]["pairs"]
    n_shared = sum(pair["n_topics"] > 0 for pair in pairs)
    assert f"0 of {n_shared:,} pairs" in order["lines"][0]["text"]
