"""Which rows of a file of labels correct scores: a random draw, and nothing chosen for its look."""

import csv
import json
import random
import warnings

import pytest
from json_lines import read_rows, write_rows
from mock_server import MockServer, input_of
from models_by_name import demo_of, models_that_say

import nuggetjudge as nj
from nuggetjudge.metrics.ppi import estimate
from nuggetjudge.programs.engine.label_sheet import write_sheet
from nuggetjudge.programs.engine.manifest import constant_judges
from nuggetjudge.programs.protocols.judged_items import equal_items
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.programs.scoring.corrected_measure import Correction, find_labelled
from nuggetjudge.programs.scoring.human_labels import human_labels
from nuggetjudge.programs.scoring.score import label_counts
from nuggetjudge.records.reading.problems import InputError, Problems

IDS = ("topic_id", "run_id", "sentence_id", "passage_id")
LABELS = ("none", "partial", "full")


@pytest.fixture
def human_labels_judged(tmp_path):
    """Support labels of 3 runs on 8 topics, with scores, so that some stand near a cut."""
    rng = random.Random(1)
    path = tmp_path / "judged.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for topic in range(8):
            for run in ("a", "b", "c"):
                sentences = []
                for i in range(12):
                    score = rng.random()
                    cited = {"docid": f"d{i}", "label": LABELS[int(3 * score)], "score": score}
                    sentences.append({"text": f"s{i}", "citations": [cited]})
                row = {"topic_id": f"t{topic}", "run_id": run, "sentences": sentences}
                stream.write(json.dumps(row) + "\n")
    return path


def cells_of(human_labels_judged):
    """The ids of each judged citation."""
    answers = read_rows(human_labels_judged)
    for answer in answers:
        for i, sentence in enumerate(answer["sentences"]):
            ids = answer["topic_id"], answer["run_id"], str(i), sentence["citations"][0]["docid"]
            yield dict(zip(IDS, ids, strict=True))


@pytest.fixture(params=["csv", "jsonl"])
def sheet(human_labels_judged, tmp_path, request):
    """A sheet of `judge next` of which all 120 rows have a label, and (random rows, others)."""
    path = tmp_path / f"sheet.{request.param}"
    rng = random.Random(2)
    why = ("random", "influence", "random", "margin")
    write_sheet(
        path,
        [
            cell | {"label": rng.choice(LABELS), "chosen_by": why[i % 4]}
            for i, cell in zip(range(120), list(cells_of(human_labels_judged))[::2], strict=False)
        ],
        Problems(),
    )
    return path


def test_of_a_sheet_only_the_random_rows_correct_scores_and_the_others_are_counted(
    human_labels_judged, sheet
):
    problems = Problems()
    _, labels = human_labels(human_labels_judged, sheet, problems, {})
    assert sum(label is not None for label in labels) == 60
    assert problems.counts()["not_random"] == 1
    (problem,) = (row for row in problems if row.kind == "not_random")
    assert problem.action == "skipped"
    assert "60 of 120 labels are not a random sample (chosen_by influence: " in problem.what
    chosen = {"chosen_by": ["random"]}
    assert labels == human_labels(human_labels_judged, sheet, Problems(), chosen)[1]
    options = {"measures": ["support_precision"]}
    corrected = correct_scores(human_labels_judged, sheet, Problems(), where=chosen, **options)
    assert correct_scores(human_labels_judged, sheet, Problems(), **options) == corrected


def test_what_a_flag_names_is_used(human_labels_judged, sheet):
    problems = Problems()
    chosen = {"chosen_by": ["random", "margin"]}
    _, labels = human_labels(human_labels_judged, sheet, problems, chosen)
    assert sum(label is not None for label in labels) > 60
    assert "not_random" not in problems.counts()


def rows_of(human_labels_judged, chosen_by):
    """A labelled row for each of these, on cells one after the other."""
    return [
        cell | {"label": LABELS[i % 3]} | ({"chosen_by": name} if name is not None else {})
        for i, (cell, name) in enumerate(
            zip(cells_of(human_labels_judged), chosen_by, strict=False)
        )
    ]


def test_too_few_random_rows_are_refused_with_the_number_of_the_others(
    human_labels_judged, tmp_path
):
    sheet = tmp_path / "few.jsonl"
    write_rows(sheet, rows_of(human_labels_judged, ["random", "margin"] * 15))
    what = r"15 labels of judged items, wanted 20 .*; 15 of 30 labels .*--random-share 1"
    with pytest.raises(InputError, match=what):
        correct_scores(human_labels_judged, sheet, Problems())


def used(human_labels_judged, path, rows, where=None):
    write_rows(path, rows)
    problems = Problems()
    _, labels = human_labels(human_labels_judged, path, problems, where or {})
    return sum(label is not None for label in labels), problems.counts().get("not_random", 0)


def test_rows_that_do_not_say_how_they_were_chosen_count_unless_others_do(
    human_labels_judged, tmp_path
):
    path = tmp_path / "l.jsonl"
    assert used(human_labels_judged, path, rows_of(human_labels_judged, [None] * 9)) == (9, 0)
    assert used(human_labels_judged, path, rows_of(human_labels_judged, ["random"] * 9)) == (9, 0)
    assert used(
        human_labels_judged,
        path,
        rows_of(human_labels_judged, ["random"] * 6 + ["margin", None, None]),
    ) == (6, 1)
    with pytest.raises(InputError, match="no row with chosen_by=random, wanted one of margin"):
        used(human_labels_judged, path, rows_of(human_labels_judged, ["margin"] * 9))


def test_rows_without_a_label_are_not_among_those_left_out(human_labels_judged, tmp_path):
    rows = rows_of(human_labels_judged, ["random"] * 6 + ["margin"] * 3)
    for row in rows[6:]:
        row["label"] = None
    assert used(human_labels_judged, tmp_path / "l.jsonl", rows) == (6, 0)
    path = tmp_path / "l.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    problems = Problems()
    human_labels(human_labels_judged, path, problems, {})
    assert "not_random" not in problems.counts()


def test_labels_of_citations_that_were_not_judged_are_left_out_and_counted(
    human_labels_judged, tmp_path
):
    sheet = tmp_path / "labels.jsonl"
    rows = rows_of(human_labels_judged, [None] * 30)
    later = [{**row, "passage_id": "later"} for row in rows[:2]]
    write_rows(sheet, rows + later)
    problems = Problems()
    _, labels = human_labels(human_labels_judged, sheet, problems, {})
    assert sum(label is not None for label in labels) == 30
    (problem,) = (row for row in problems if row.kind == "other_citations")
    assert "2 labels of citations that were not judged" in problem.what


@pytest.mark.parametrize(("n", "is_doubted"), [(49, False), (50, True)])
def test_a_label_that_the_judge_gave_fifty_times_and_people_never_is_doubted(
    n, is_doubted, tmp_path
):
    rows = [{"topic_id": f"t{i % 5}", "run_id": "a", "sentence_id": str(i), "passage_id": "p"}
            for i in range(3 * n)]  # fmt: skip
    for name, of_judge in (("judged", LABELS), ("labels", ("none", "full", "full"))):
        lines = [json.dumps({**row, "label": of_judge[i % 3]}) for i, row in enumerate(rows)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    problems = Problems()
    human_labels(tmp_path / "judged.jsonl", tmp_path / "labels.jsonl", problems, {})
    assert problems.counts().get("label_never_given", 0) == is_doubted


# A judge, or a member of a jury, that says the same of everything is said to do so, wherever.
OWN = """\
name: tone
question: Is it kind?
inputs: {text: a text}
labels: {no: 0, yes: 1}
"""
SAID = "If you did not expect that"


@pytest.fixture
def items(tmp_path):
    """`items(n)`: settings of a run over n items, and what the model is told of each."""
    (tmp_path / "tone.yaml").write_text(OWN, encoding="utf-8")

    def made(n, server):
        path = tmp_path / f"items-{n}.jsonl"
        rows = [{"topic_id": f"t{i}", "run_id": "r", "text": f"text {i}"} for i in range(n)]
        write_rows(path, rows)
        return {
            "program": "items", "items": path, "judge": tmp_path / "tone.yaml",
            "model": {"model": "hosted_vllm/mock", "api_base": server.base_url},
            "cache": tmp_path / "cache", "out": tmp_path / f"out-{n}",
        }  # fmt: skip

    return made


def said_by(ran):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ran()
    return result, [str(one.message) for one in caught if SAID in str(one.message)]


def test_a_judge_is_said_to_give_one_label_from_fifteen_items_on(items):
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        result, (what,) = said_by(lambda: nj.run(**items(15, server)))
        assert what.startswith("All 15 labels of the item are `no`")
        assert result.manifest["labels"] == {"item": {"no": 15}}
        assert said_by(lambda: nj.run(**items(14, server)))[1] == []


@pytest.mark.whole
def test_the_report_says_that_a_judge_gives_one_label(items):
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        result, _ = said_by(lambda: nj.run(**items(15, server)))
    page = result.report(open=False).read_text(encoding="utf-8")
    assert "All 15 labels of the item are `no`" in page


def test_one_other_label_is_enough(items):
    brain = {"label": "no"}, {"label": "yes"}
    with MockServer(brain=lambda body: brain[input_of(body)["text"] == "text 3"]) as server:
        assert said_by(lambda: nj.run(**items(15, server)))[1] == []


def test_an_evaluation_in_memory_warns_too(tmp_path, items):
    with MockServer(brain=lambda body: {"verdict": "none"}) as server:
        samples = [
            {"question": f"q {i}", "answer": f"Fact {i} [1].", "contexts": [f"text {i}"]}
            for i in range(15)
        ]
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        _, said = said_by(lambda: nj.evaluate(samples, "support", model=model, quiet=True))
    assert [what.split(" are ")[0] for what in said] == ["All 15 labels of the support"]


def test_a_dead_member_of_a_jury_is_said(tmp_path):
    """Together with a judge that tells items apart it drags every label down, without a word."""
    says = {"a": lambda asked: {"verdict": ("none", "full")[len(asked["sentence"]) % 2]}}
    says["dead"] = lambda asked: {"verdict": "none"}
    with models_that_say(says) as server:
        jury = {"members": ["a", "dead"], "method": "median"}
        config = demo_of(server, tmp_path, {"program": "support", "judges.support.jury": jury})
        result, said = said_by(lambda: nj.run(config))
    n = sum(result.manifest["labels"]["support.dead"].values())
    start = f"All {n} labels of member dead of the support are `none`"
    assert [what.startswith(start) for what in said] == [True]
    assert list(constant_judges(result.manifest)) == said  # not of the jury, whose labels differ


# Corrected scores of a few items, counted by hand: what a label stands for, and who is warned.
GAINS = {"bad": 0.0, "good": 1.0}
LETTERS = {"b": "bad", "g": "good", "-": None}


def data(judged, human, **parts):
    """One run's items by topic, a letter each: bad, good or none."""
    cells = [(f"t{t}", "a", f"i{i}") for t, of in enumerate(judged) for i in range(len(of))]
    labels = [LETTERS[letter] for letter in "".join(judged)]
    rows = [(cell, "a", label, None) for cell, label in zip(cells, labels, strict=True)]
    topics = sorted({cell[0] for cell in cells})
    names = ("topic_id", "run_id", "item")
    items = equal_items(rows, "other", tuple(GAINS), names, {"good": GAINS}, topics)
    people = [LETTERS[letter] for letter in "".join(human)]
    return find_labelled(items, people, items.measures[0], **parts)


def test_a_label_counts_in_the_judges_errors_as_the_items_that_it_stands_for():
    of = data(judged=["ggbb", "bbbb"], human=["ggbb", "gb--"])
    # Of 2 good items the judge found both; 1 that stands for 2 it missed.
    assert of.rates.sensitivity == pytest.approx(2 / 4)


def test_what_a_cascade_kept_and_what_it_left_are_drawn_each_by_itself():
    of = data(judged=["gggg--"] * 2, human=["gg--bb"] * 2, in_parts=True)
    assert estimate(of.sample("a"), lam=0.0).value == pytest.approx(4 / 6)


def test_an_item_that_was_not_judged_leaves_the_judges_score_of_its_topic():
    assert data(judged=["g-", "bb"], human=["gg", "bb"]).score_by_judge("a") == pytest.approx(1 / 2)


@pytest.mark.parametrize(("n_good", "is_doubted"), [(4, True), (5, False)])
def test_a_score_of_fewer_than_five_labels_that_differ_is_doubted(n_good, is_doubted):
    human = [("g" if topic < n_good else "b") + "bbb-" for topic in range(6)]
    of = data(judged=["gbbbb"] * 6, human=human)
    (score,) = Correction({}, None, None, 0.95).measure(of).scores
    said = f"only {n_good} of 24 labels differ from the others"
    assert (said in score.warnings) is is_doubted


def test_a_run_whose_labels_all_say_the_same_is_not_corrected():
    of = data(judged=["gbbbb"] * 6, human=["gggg-"] * 6)
    (score,) = Correction({}, None, None, 0.95).measure(of).scores
    assert (score.corrected, score.reason) == (
        None,
        "by human labels, all 24 labelled items have the same gain",
    )


# How often each label was given, by the values of a field.
def test_labels_stand_best_first_and_all_rows_after_their_parts(tmp_path):
    path = tmp_path / "support.jsonl"
    labels = {"old": ["full", "none"], "new": ["none", None]}
    with path.open("w", encoding="utf-8") as stream:
        for run, of_run in labels.items():
            cited = [{"docid": f"d{i}", "label": label} for i, label in enumerate(of_run)]
            sentences = [{"text": "s", "citations": cited}]
            row = {"topic_id": "t", "run_id": run, "age": run, "sentences": sentences}
            stream.write(json.dumps(row) + "\n")
    counts = [one for one in label_counts(path, "age", Problems()) if one.of == "citations"]
    assert [(one.value, one.n_unjudged) for one in counts] == [("old", 0), ("new", 1), (None, 1)]
    assert list(counts[-1].labels.items()) == [("full", 1), ("partial", 0), ("none", 2)]
