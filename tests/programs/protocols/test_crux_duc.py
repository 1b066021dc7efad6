"""CRUX-DUC with the ratings that others recorded: what can be told of it without a model.

Expected values are counted here in plain Python, come from ir_measures, or stand in the README of
the data.
"""

from math import fsum
from pathlib import Path

import processes
import pytest
from benchmarks.pages import crux
from benchmarks.pages.shown import shorten_output
from json_lines import read_rows

import nuggetjudge as nj
from nuggetjudge.programs.analysis.coverage_tables import by_eta, by_k, measure_taus
from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.topic import coverage_rows

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "protocols" / "coverage.md").read_text(encoding="utf-8")
FIGURES = (ROOT / "docs" / "benchmarks" / "crux-duc.md").read_text(encoding="utf-8")
K = 10


@pytest.fixture(scope="module")
def folder(shared_data):
    path = shared_data / "crux_duc"
    if not path.is_dir():
        pytest.skip(f"crux_duc not found in {shared_data}")
    return path


@pytest.fixture(scope="module")
def duc(folder):
    return crux.read_duc(folder)


class Counted:
    """The same data as sets of (text, question), counted without the package."""

    def __init__(self, folder):
        self.queries = {row["qid"]: row for row in read_rows(folder / "queries.jsonl")}
        self.columns = {
            topic: {question["idx"] for question in row["sub_questions"]}
            for topic, row in self.queries.items()
        }
        self.answers = {topic: {} for topic in self.queries}
        for name in ("llm_ratings.jsonl", "llm_ratings_all_docids.jsonl"):
            for row in read_rows(folder / name):
                kept = self.columns[row["qid"]]
                good = {i for i, rating in enumerate(row["ratings"]) if rating >= 3} & kept
                self.answers[row["qid"]][row["docid"]] = good
        self.answerable = {
            topic: set().union(*(self.answers[topic][name] for name in self.own(topic)))
            for topic in self.queries
        }
        self.runs = {path.stem: self._run(path) for path in (folder / "runs").glob("*.run")}

    def own(self, topic):
        return [name for name in self.answers[topic] if name.startswith(f"{topic}:")]

    def coverage(self, run, own_only):
        shares = []
        for topic, wanted in self.answerable.items():
            ids = self.runs[run][topic][:K]
            if own_only:
                ids = [name for name in ids if name.startswith(f"{topic}:")]
            answered = set().union(*(self.answers[topic][name] for name in ids)) & wanted
            shares.append(len(answered) / len(wanted))
        return fsum(shares) / len(shares)

    @staticmethod
    def _run(path):
        rankings = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            topic, _, name, rank, *_ = line.split()
            rankings.setdefault(topic, []).append((int(rank), name))
        return {topic: [name for _, name in sorted(ranked)] for topic, ranked in rankings.items()}


@pytest.fixture(scope="module")
def counted(folder):
    return Counted(folder)


def test_reference_summaries_answer_their_questions(duc, counted):
    coverage = crux.reference_coverage(duc)
    ratings = {t: row["llm_rating_of_reference_summary"] for t, row in counted.queries.items()}
    for name, wanted in (("all", counted.columns), ("answerable", counted.answerable)):
        shares = [sum(ratings[t][i] >= 3 for i in wanted[t]) / len(wanted[t]) for t in ratings]
        mean, n_topics, n = coverage[f"{name} questions"]
        assert mean == pytest.approx(fsum(shares) / len(shares), abs=1e-12)
        assert (n_topics, n) == (len(ratings), sum(map(len, wanted.values())))
    # .9493 of all 50 topics in the authors' table; the 30 here are a part of them.
    assert coverage["all questions"][0] == pytest.approx(0.9493, abs=0.02)


@pytest.mark.parametrize("own_only", [False, True])
def test_coverage_of_the_runs_is_what_plain_counting_gives(duc, counted, own_only):
    scores = crux.run_scores(duc, CoverageConfig(own_only=own_only))
    assert len(counted.runs) == 3
    for run in counted.runs:
        row = scores[run]["coverage"]
        assert row.value == pytest.approx(counted.coverage(run, own_only), abs=1e-12)
        assert (row.n_unjudged, row.n_topics) == (0, len(counted.queries))


@pytest.mark.slow
@pytest.mark.parametrize("own_only", [False, True])
def test_alpha_ndcg_of_the_runs_is_that_of_ir_measures(duc, counted, own_only):
    # Of the answerable questions alone. ir_measures breaks ties of the greedy ideal by passage
    # name, which moves a few topics.
    import ir_measures

    measure = ir_measures.alpha_nDCG @ K
    qrels = [
        ir_measures.Qrel(topic, name, 1, str(i))
        for topic, answers in counted.answers.items()
        for name in (counted.own(topic) if own_only else answers)
        for i in answers[name] & counted.answerable[topic]
    ]
    settings = CoverageConfig(own_only=own_only)
    rows = [row for row in coverage_rows(duc.data, settings) if row.measure == f"alpha_ndcg@{K}"]
    for run, rankings in counted.runs.items():
        ranked = {
            topic: {name: -rank for rank, name in enumerate(ids)} for topic, ids in rankings.items()
        }
        ours = {row.topic_id: row.value for row in rows if row.run_id == run}
        differences = [
            abs(theirs.value - ours[theirs.query_id])
            for theirs in ir_measures.iter_calc([measure], qrels, ranked)
        ]
        assert len(differences) == len(ours) - 1  # which have the mean too
        assert sum(difference < 1e-9 for difference in differences) >= 0.8 * len(differences)
        assert max(differences) < 0.01


@pytest.mark.slow
def test_the_oracle_context_is_the_bound_of_the_runs(duc):
    scores = crux.run_scores(duc, crux.SETTINGS)
    oracle = scores.pop("Z*")
    assert oracle["coverage"].value == 1
    of_runs = [of for of in scores.values() if "coverage" in of]
    assert len(of_runs) == 3
    for of in of_runs:
        for measure in ("coverage", f"alpha_ndcg@{K}", f"alpha_ndcg_required@{K}"):
            assert of[measure].value < oracle[measure].value
        assert of["redundancy"].value > oracle["redundancy"].value


def test_every_difference_from_the_published_required_passages_has_a_cause(duc, counted):
    replays = {topic: crux.replay(duc, topic) for topic in duc.queries}
    for topic, one in replays.items():
        assert one.theirs == tuple(counted.queries[topic]["oracle_docids_k3"])
        assert len(one.steps) == len(one.theirs)
        assert (one.then == "equal") == (one.ours == one.theirs)
        left, answers = set(counted.answerable[topic]), counted.answers[topic]
        own = counted.own(topic)
        for i, (step, name) in enumerate(zip(one.steps, one.theirs, strict=True)):
            assert (step == "not rated") == (name not in answers)
            if step == "not rated":
                continue
            gain, best = len(answers[name] & left), max(len(answers[n] & left) for n in own)
            assert (step == "nothing") == (gain == 0)
            assert (step in ("same", "tie")) == (gain == best > 0)
            assert (step == "open") == (0 < gain < best and "not rated" in one.steps[:i])
            left -= answers[name]
        assert (one.end == "all answered") == (not left)
        assert (one.end == "left") == (bool(left) and "not rated" not in one.steps)
        assert one.covered == pytest.approx(1 - len(left) / len(counted.answerable[topic]))


def test_ours_are_the_greedy_choice_on_these_ratings(duc, counted):
    def position(name):
        document, passage = name.rsplit(":", 1)[1].split("#")
        return int(document), int(passage)

    for topic, wanted in counted.answerable.items():
        left, taken, answers = set(wanted), [], counted.answers[topic]
        own = sorted(counted.own(topic), key=position)
        while left:
            taken.append(max(own, key=lambda name: len(answers[name] & left)))
            left -= answers[taken[-1]]
        assert crux.replay(duc, topic).ours == tuple(taken)


def test_one_topic_has_the_published_required_passages(duc):
    equal = [topic for topic in duc.queries if crux.replay(duc, topic).then == "equal"]
    assert equal == ["duc04-testb-18"]
    # Where all of the published ones are rated, the rest is either ties or other ratings: ties
    # alone would leave no question open.
    ends = [crux.replay(duc, topic).end for topic in duc.queries]
    assert ends.count("left") > 0


def test_ties_of_the_published_ones_are_broken_in_natural_order_more_than_by_chance(duc):
    n, n_first, by_chance = crux.ties(crux.replay(duc, topic) for topic in duc.queries)
    assert n_first > 2 * by_chance
    assert n_first <= n


def test_questions_that_the_authors_removed_are_not_answerable(duc):
    # The README of the data: no own passage answers them, all own ratings are below 3.
    removed = crux.removed_questions(duc)
    assert removed
    assert not any(removed.values())


def test_passages_that_answer_nothing_are_graded_0_by_ours_and_higher_by_the_authors_tool(
    duc, counted
):
    counts = crux.grade_counts(duc)
    n = sum(len(counted.own(topic)) for topic in counted.queries)
    assert sum(counts["ours"].values()) == sum(counts["the authors' tool"].values()) == n
    nothing = sum(
        not counted.answers[topic][name] for topic in counted.queries for name in counted.own(topic)
    )
    assert counts["ours"][0] == nothing
    assert counts["the authors' tool"][0] == 0
    assert counts["ours"][3] == counts["the authors' tool"][3]


def test_all_rankings_are_rated_to_their_ends(duc):
    for variant in by_k(duc.data, crux.SETTINGS, (5, 100), is_cut=False):
        assert all(row.n_unjudged == 0 for row in variant.contexts.values())


def test_annotators_agree_as_the_readme_says(duc, folder):
    among = crux.annotators(duc)
    assert (among.n_items, among.n_annotators) == (264, 3)
    assert among.fleiss_kappa == pytest.approx(0.5533, abs=5e-5)
    labels = read_rows(folder / "human_t1.jsonl")
    coverage = crux.human_coverage(duc)
    assert len(coverage) == 18
    for report, by_person in coverage.items():
        for who, share in by_person.items():
            given = [row[who] for row in labels if row["report_id"] == report]
            assert share == pytest.approx(sum(given) / len(given))


def test_lexical_coverage_orders_reports_much_as_people_do(duc):
    from scipy.stats import spearmanr

    rhos, people, ours = crux.spearmans(duc), crux.human_coverage(duc), crux.lexical_coverage(duc)
    assert set(rhos) == {"majority", "a1", "a2", "a3"}
    for who, rho in rhos.items():
        expected = spearmanr([people[report][who] for report in ours], list(ours.values()))
        assert rho == pytest.approx(expected.statistic)
        assert rho > 0.6


def test_labelled_runs_are_in_the_order_of_their_contexts(duc, counted, folder):
    data = crux.labelled_runs(duc)
    estimate = measure_taus(data, crux.SETTINGS, resamples=0)["coverage"]
    assert (estimate.tau.value, estimate.n_runs) == (1.0, 3)
    (means,) = by_eta(data, crux.SETTINGS, [3])
    oracle, bm25 = means.contexts["oracle"], means.contexts["bm25"]
    assert oracle.n_unjudged > 0  # some of its passages are not in the recorded pool
    assert bm25.high < oracle.low  # whatever those would be rated
    labels = read_rows(folder / "human_t1.jsonl")
    for run, row in means.reports.items():
        shares = []
        for topic, wanted in counted.answerable.items():
            given = [
                label["majority"]
                for label in labels
                if label["report_id"] == f"{topic}/{run}" and label["question_idx"] in wanted
            ]
            shares += [sum(given) / len(given)] if given else []
        assert row.value == pytest.approx(fsum(shares) / len(shares))
        assert row.n_topics == len(shares) == 6


@pytest.mark.slow
@pytest.mark.whole
def test_the_program_gives_the_same_numbers_from_the_files_and_asks_no_model(duc, folder, tmp_path):
    result = nj.run(
        program="coverage",
        model="lexical",
        data={
            "questions": folder / "queries.jsonl",
            "passages": folder / "passages.jsonl",
            "ratings": [folder / "llm_ratings.jsonl", folder / "llm_ratings_all_docids.jsonl"],
            "retrieval": [str(folder / "runs")],
        },
        out=tmp_path / "out",
    )
    assert result.n_judged == result.n_unjudged == 0
    scores = crux.run_scores(duc, crux.SETTINGS)
    tags = {"bm25": "bm25-mds-duc04", "lsr": "lsr-mds-duc04", "qwen3-embed-8b": "qwen3-mds-duc04"}
    for run, tag in {**tags, "Z*": "Z*"}.items():
        for measure in crux.MEASURES:
            assert result.score(tag, measure) == pytest.approx(scores[run][measure].value)
    printed = processes.run(*processes.JUDGE, "coverage", result.folder, check=True).stdout
    shown = PAGE.partition("$ judge coverage results/duc\n")[2].partition("```\n")[0]
    assert "\nContexts Z" in shown
    assert shown == shorten_output(printed, shown)


@pytest.mark.slow
def test_the_script_prints_what_the_page_shows(folder, capsys):
    crux.main([str(folder.parent)])
    printed = capsys.readouterr().out.splitlines()
    section = FIGURES.split("\n## Reference summaries\n")[1].split("\n## 48 random contexts")[0]
    blocks = section.split("```\n")[1::2]
    shown = [line for line in section.splitlines() if line.startswith("|")]
    assert len(shown) > 40
    assert blocks
    for line in [*shown, *"".join(blocks).splitlines()]:
        assert line in printed


def test_the_script_says_that_it_did_not_find_the_data(tmp_path, capsys):
    crux.main([str(tmp_path)])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("crux_duc: not found in ")
