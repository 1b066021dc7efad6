"""A decision model with known noise: fits, cascades and corrected scores reach what theory says.

The labels are people's of TREC 2024 where they are at hand, else drawn. For a label at position 0,
1/2 or 1 the stand-in sees s = position + NOISE x a standard normal, and gives label j a probability
in proportion to exp(-((s + LENIENT - position of j) / WIDTH)^2 / 2): it is unsure where s is
between labels, and too lenient. All expected numbers are integrals over that distribution.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_rows
from mock_decisions import DecisionServer
from mock_server import MockServer, input_of
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import entropy, norm

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.calibration.cascades import Wanted, make_fit_report
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.judges import Cascade, NuggetAssigner, read_judge_file
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.judgements import Reason, Unjudged
from nuggetjudge.records.reading.problems import Problems

SCALE = ("not_support", "partial_support", "support")
POSITIONS = np.array([0, 0.5, 1])
NOISE, LENIENT, WIDTH = 0.3, 0.35, 0.35
N_TOPICS, N_ANSWERS, N_NUGGETS = 12, 2, 120  # nuggets of an answer: one request
ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("NUGGETJUDGE_DATA", ROOT.parent / "shared" / "data"))
RECORDED = DATA / "rag24_nuggets" / "nugget_assignments.jsonl"


def find_shares(s):
    """(..., 3) the probabilities that the stand-in gives to the labels."""
    weights = np.exp(-((((np.asarray(s)[..., None] + LENIENT) - POSITIONS) / WIDTH) ** 2) / 2)
    return weights / weights.sum(-1, keepdims=True)


def draw_labels(rng):
    """(topics, answers x nuggets) codes of people's labels."""
    size = N_ANSWERS * N_NUGGETS
    if RECORDED.is_file():
        by_topic = {}
        for row in map(json.loads, RECORDED.read_text("utf-8").splitlines()):
            codes = [SCALE.index(nugget["assignment"]) for nugget in row["nuggets"]]
            by_topic.setdefault(row["qid"], []).extend(codes)
        return np.array([codes[:size] for codes in by_topic.values()][:N_TOPICS])
    shares = rng.dirichlet([5, 1, 4], N_TOPICS)
    return np.array([rng.choice(3, size, p=share) for share in shares])


class Population:
    """Items with people's label and what the stand-in sees, and the theory of both.

    Attributes:
        prior: (3,) share of each label. rows: as assignments are stored.
    """

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        labels = draw_labels(rng)
        self.prior = np.bincount(labels.ravel(), minlength=3) / labels.size
        self.seen, self.truth, self.rows = {}, {}, []
        for topic, codes in enumerate(labels):
            for answer, part in enumerate(np.split(codes, N_ANSWERS)):
                names = [f"fact {topic}.{answer}.{i}" for i in range(N_NUGGETS)]
                at = POSITIONS[part] + NOISE * rng.standard_normal(N_NUGGETS)
                self.seen |= dict(zip(names, at.tolist(), strict=True))
                self.truth |= dict(zip(names, part.tolist(), strict=True))
                self.rows.append(self._row(f"t{topic}", f"r{answer}", names))

    def _row(self, topic, run, names):
        nuggets = [
            {"id": name, "text": name, "importance": "vital", "assignment": SCALE[self.truth[name]]}
            for name in names
        ]
        row = {"qid": topic, "query": f"why {topic}", "run_id": run, "nuggets": nuggets}
        return row | {"answer_text": f"{topic} {run}", "response_length": 2}

    def decide(self, state, question, wanted):
        name = json.loads(question["instructions"].removeprefix("nugget: "))
        return dict(zip(SCALE, find_shares(self.seen[name]).tolist(), strict=True))

    def density(self, s):
        """(3,) of a label and s together."""
        return self.prior * norm.pdf(s, POSITIONS, NOISE)

    def confusion(self, cuts):
        """(3, 3) shares, people's label by the label of cuts on s."""
        ends = norm.cdf([-np.inf, *cuts, np.inf], POSITIONS[:, None], NOISE)
        return self.prior[:, None] * np.diff(ends, axis=1)

    def best(self, figure):
        """The highest of a figure of the confusion that any two cuts on s reach."""

        def loss(at):
            return -figure(self.confusion(np.sort(at)))

        starts = [(a, b) for a in np.linspace(0, 1, 6) for b in np.linspace(0, 1, 6) if a <= b]
        found = minimize(loss, min(starts, key=loss), method="Nelder-Mead")
        return -found.fun


def compute_kappa(confusion):
    chance = confusion.sum(1) @ confusion.sum(0)
    return (np.trace(confusion) - chance) / (1 - chance)


def find_cuts(label):
    """The two places on s where a rule that rises goes over to the next label."""
    at = np.linspace(-1.5, 2.5, 2001)
    codes = np.array([SCALE.index(label(s).label) for s in at])
    assert (np.diff(codes) >= 0).all(), "a fitted rule rises"
    return [at[np.searchsorted(codes, j)] if codes[-1] >= j else np.inf for j in (1, 2)]


def make_verdict(s):
    shares = find_shares(s)
    return Verdict(
        SCALE[int(shares.argmax())],
        float(shares @ POSITIONS),
        dict(zip(SCALE, shares, strict=True)),
    )


@pytest.fixture(scope="module")
def population():
    return Population()


@pytest.fixture(scope="module")
def people(population, tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("people") / "people.jsonl", population.rows)


@pytest.fixture(scope="module")
def server(population):
    with DecisionServer(population.decide) as running:
        yield running


@pytest.fixture(scope="module")
def entry(server):
    return {"model": "hosted_vllm/m", "engine": "decision", "api_base": server.base_url}


@pytest.fixture(scope="module")
def fit(people, entry, tmp_path_factory):
    """A judge file of a method and an objective, each fitted once."""
    folder, files = tmp_path_factory.mktemp("fits"), {}

    def make(method, objective):
        path = folder / f"{method}-{objective}.json"
        if path not in files:
            where = {"model": entry, "cache": folder / "cache", "out": path}
            files[path] = nj.calibrate(
                people, "assigner", method, objective=objective, resamples=0, folds=4, **where
            )
        return read_judge_file(path), files[path].report

    return make


@pytest.mark.parametrize("method", ["threshold", "ordinal"])
def test_a_fit_reaches_the_kappa_and_accuracy_of_the_best_rule(method, population, fit):
    """The rule that was fitted, on all items that there could be, by integration."""
    bayes, _ = quad(lambda s: population.density(s).max(), -2, 3, limit=200)
    assert population.best(np.trace) == pytest.approx(bayes, abs=1e-4)  # two theories of the best
    for objective, figure, best in (
        ("accuracy", np.trace, bayes),
        ("kappa", compute_kappa, population.best(compute_kappa)),
    ):
        file, report = fit(method, objective)
        cuts = find_cuts(lambda s, of=file: of.correction.verdict(make_verdict(s), SCALE, None))
        reached = figure(population.confusion(cuts))
        unfitted = figure(population.confusion(find_cuts(make_verdict)))
        assert best - 0.015 < reached < best + 1e-3
        assert unfitted < best - 0.1  # the leniency that the fit takes out
        # On the 2,880 items at hand, each judged by a fit to other topics: within 3.5 sigma.
        said = report["figures"][objective]["after"]["value"]
        error = (bayes * (1 - bayes) / report["n_test"]) ** 0.5
        error *= (1 - best) / (1 - bayes)  # of kappa, whose unit is larger
        assert report["n_test"] == len(population.truth)
        assert best - 0.015 - 3.5 * error < said < best + 3.5 * error


def judge_rows(population, judge):
    """The rows with a judge's labels, scores and probabilities in the place of people's."""
    return [
        row | {"nuggets": [{**nugget, **as_stored(judge(nugget))} for nugget in row["nuggets"]]}
        for row in population.rows
    ]


def as_stored(verdict):
    about = verdict.as_row()
    return {"assignment": about.pop("label"), **about}


def say_labels(population, share, rng):
    """Name -> the label of a judge that is right in this share, whatever the item."""
    labels = {}
    for name, code in population.truth.items():
        wrong = [label for label in SCALE if label != SCALE[code]]
        labels[name] = SCALE[code] if rng.random() < share else str(rng.choice(wrong))
    return labels


@pytest.mark.slow
def test_a_fitted_cascade_agrees_as_its_parts_and_the_share_sent_on_imply(
    population, people, fit, tmp_path
):
    """Decision model, then an LLM that is right in 9 of 10, then people for what that fails on."""
    sent_on, right = 0.3, 0.9
    file, _ = fit("ordinal", "accuracy")

    def apply_fit(s):
        return file.correction.verdict(make_verdict(s), SCALE, None)

    rng = np.random.default_rng(2)
    said = say_labels(population, right, rng)
    results = [
        write_rows(
            tmp_path / "decision.jsonl",
            judge_rows(population, lambda nugget: apply_fit(population.seen[nugget["id"]])),
        ),
        write_rows(
            tmp_path / "llm.jsonl",
            judge_rows(population, lambda nugget: Verdict(said[nugget["id"]])),
        ),
    ]
    stored = read_stored(people, results, Problems())
    state, _ = make_fit_report(stored, "margin", Wanted(share=sent_on))

    new = Population(seed=1)
    said = say_labels(new, right, rng)
    left = {row["answer_text"] for row in new.rows[:6]}  # the LLM fails on these answers

    def answer(body):
        asked = input_of(body)
        if asked["answer"] in left:
            return "I cannot say."
        return {"verdicts": {key: said[name] for key, name in asked["nuggets"].items()}}

    with DecisionServer(new.decide) as first, MockServer(answer) as second:
        decision = {"model": "hosted_vllm/m", "engine": "decision", "api_base": first.base_url}
        llm = {"model": "openai/mock", "api_base": second.base_url, "reasks": 0}
        stages = [NuggetAssigner(ModelConfig(**each), window=128) for each in (decision, llm)]
        cascade = Cascade([stages[0].copy_with_fit(file), stages[1], "people"], state)
        verdicts = {}
        for row in new.rows:
            shared = {"question": row["query"], "answer": row["answer_text"]}
            items = [shared | {"nugget": nugget["text"]} for nugget in row["nuggets"]]
            found, _ = run_sync(cascade.judge_items(items))
            names = [nugget["id"] for nugget in row["nuggets"]]
            verdicts |= dict(zip(names, found, strict=True))

    to_people = {name for name, each in verdicts.items() if isinstance(each, Unjudged)}
    assert {verdicts[name].reason for name in to_people} == {Reason.ABSTAINED}
    n = len(verdicts)
    is_sent = np.array([name in to_people or bool(v.method) for name, v in verdicts.items()])
    is_right = [
        name in to_people or SCALE.index(verdict.label) == new.truth[name]
        for name, verdict in verdicts.items()
    ]
    # What is kept, by integration: where the margin of the fitted probabilities is high enough.
    at = np.linspace(-1.7, 2.7, 4401)
    fitted = [apply_fit(s) for s in at]
    margins = [np.diff(sorted(each.probabilities.values()))[-1] for each in fitted]
    is_kept = np.array(margins) >= state.threshold
    density = np.array([new.density(s) for s in at])
    codes = [SCALE.index(each.label) for each in fitted]
    kept = np.trapezoid(density.sum(1) * is_kept, at)
    kept_right = np.trapezoid(density[np.arange(len(at)), codes] * is_kept, at)
    share_people = len(to_people) / n
    implied = kept_right + right * (1 - kept - share_people) + share_people
    assert kept == pytest.approx(1 - sent_on, abs=0.03)
    assert is_sent.mean() == pytest.approx(1 - kept, abs=3.5 * (kept * (1 - kept) / n) ** 0.5)
    assert 0.04 < share_people < 0.12
    assert np.mean(is_right) == pytest.approx(
        implied, abs=3.5 * (implied * (1 - implied) / n) ** 0.5
    )
    alone = np.trapezoid(density[np.arange(len(at)), codes], at)
    assert implied > alone + 0.03  # the LLM and people are asked about what is hard


@pytest.mark.parametrize("n_draws", [10, pytest.param(400, marks=pytest.mark.slow)])
def test_corrected_scores_are_unbiased_and_their_intervals_cover_as_often_as_they_say(
    n_draws, population, tmp_path
):
    some = [{**row, "nuggets": row["nuggets"][:15]} for row in population.rows]
    judged = [
        {
            **row,
            "nuggets": [
                {**nugget, **as_stored(make_verdict(population.seen[nugget["id"]]))}
                for nugget in row["nuggets"]
            ],
        }
        for row in some
    ]
    path = write_rows(tmp_path / "judged.jsonl", judged)
    cells = [
        {"topic_id": row["qid"], "run_id": row["run_id"], "nugget_id": nugget["id"]}
        | {"label": nugget["assignment"]}
        for row in some
        for nugget in row["nuggets"]
    ]
    truth = {
        run: np.mean([POSITIONS[SCALE.index(c["label"])] for c in cells if c["run_id"] == run])
        for run in ("r0", "r1")
    }
    rng = np.random.default_rng(3)
    errors, covers = [], []
    for _ in range(n_draws):
        drawn = [cells[15 * i + j] for i in range(24) for j in rng.choice(15, 5, replace=False)]
        labels = write_rows(tmp_path / "labels.jsonl", drawn)
        for score in correct_scores(path, labels, Problems(), measures=["A"]).scores:
            true, interval = truth[score.run_id], score.corrected.of_these
            assert score.expected - true > 0.1  # what is corrected
            errors.append(score.corrected.value - true)
            covers.append(interval.low <= true <= interval.high)
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / len(errors) ** 0.5
    assert np.mean(covers) == pytest.approx(0.95, abs=3.5 * (0.95 * 0.05 / len(covers)) ** 0.5)


@pytest.mark.whole
def test_people_are_asked_first_where_the_model_is_least_sure(population, tmp_path):
    from nuggetjudge.plugins.annotate.work.next_labels import next_labels

    rows = [
        {"topic_id": row["qid"], "run_id": row["run_id"], "nugget_id": nugget["id"]}
        | make_verdict(population.seen[nugget["id"]]).as_row()
        for row in population.rows
        for nugget in row["nuggets"]
    ]
    judged = write_rows(tmp_path / "judged.jsonl", rows)
    sheet = next_labels([judged], 96, Problems(), random_share=0)
    assert sheet.n_by["entropy"] == 96
    chosen = {row["nugget_id"] for row in sheet.rows}
    for row in population.rows:
        entropies = {
            n["id"]: entropy(find_shares(population.seen[n["id"]])) for n in row["nuggets"]
        }
        first = sorted(entropies, key=entropies.get, reverse=True)
        n = len(chosen & entropies.keys())
        assert chosen & entropies.keys() == {*first[:n]}
    # And the hard items are the ones where the label is wrong more often.
    wrong = {r["nugget_id"]: r["label"] != SCALE[population.truth[r["nugget_id"]]] for r in rows}
    assert np.mean([wrong[name] for name in chosen]) > np.mean([*wrong.values()])
