"""Two files or folders are compared on the cells that both have, and told why they cannot be."""

import json
import random

import pytest
from json_lines import write_rows

from nuggetjudge.metrics import agreement, reliability
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.tables.agreement import make_agreement_view
from nuggetjudge.records.columns import TableOptions
from nuggetjudge.records.reading.problems import InputError, Problems


def assignments(path, run_id="r", labels=("support", "not_support"), prefix="n", **more):
    nuggets = [
        {"id": f"{prefix}{i}", "text": f"{prefix} {i}", "importance": "vital", "assignment": label}
        for i, label in enumerate(labels)
    ]
    row = {"qid": "t1", "query": "q", "run_id": run_id, "answer_text": "a", "response_length": 1}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row | {"nuggets": nuggets} | more) + "\n")
    return path


def support(path, label="full"):
    row = {"run_id": "r", "topic_id": "t1", "sentence": 0, "citation": "d1", "rank": 0}
    path.write_text(json.dumps(row | {"label": label, "weight": 1.0}) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return tmp_path / "a", tmp_path / "b"


def test_two_folders_are_compared_by_their_nuggets_or_as_told(folders):
    for folder in folders:
        assignments(folder / "assignments.jsonl")
        support(folder / "support.jsonl")
    assert agree(*folders, Problems())["kind"] == "nuggets"
    assert agree(*folders, Problems(), kind="support")["kind"] == "support"
    with pytest.raises(InputError, match=r"has no judgements of relevance \(relevance\.jsonl\)"):
        agree(*folders, Problems(), kind="relevance")
    with pytest.raises(InputError, match="wanted one of relevance, nuggets"):
        agree(*folders, Problems(), kind="nugets")


def test_two_folders_are_compared_by_what_both_have(folders):
    assignments(folders[0] / "assignments.jsonl")
    with pytest.raises(InputError, match="no judgements of the same kind"):
        agree(*folders, Problems())
    for folder in folders:
        support(folder / "support.jsonl")
    assert agree(*folders, Problems())["kind"] == "support"


def test_a_folder_on_either_side_gives_the_file_like_the_other(folders, tmp_path):
    assignments(folders[0] / "assignments.jsonl")
    support(folders[0] / "support.jsonl")
    labels = support(tmp_path / "support.jsonl", "none")
    for pair in ((folders[0], labels), (labels, folders[0])):
        figures = agree(*pair, Problems())
        assert (figures["kind"], figures["n"], figures["accuracy"]) == ("support", 1, 0.0)


def test_labels_of_other_nuggets_are_told_from_labels_of_other_answers(tmp_path):
    truth = assignments(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=r"different nuggets .* \(data.nuggets"):
        agree(truth, assignments(tmp_path / "b.jsonl", prefix="other"), Problems())
    with pytest.raises(InputError, match="do their ids agree"):
        agree(truth, assignments(tmp_path / "c.jsonl", run_id="another"), Problems())


def test_values_of_one_field_add_up_and_those_of_two_fields_narrow(tmp_path):
    truth, judged = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for run_id, by, year in (("r", "x", 1), ("s", "y", 1), ("t", "z", 1), ("u", "x", 2)):
        assignments(truth, run_id, by=by, year=year)
        assignments(judged, run_id)
    n = {}
    for where in ({"by": ["x"]}, {"by": ["x", "y"]}, {"by": ["x", "y"], "year": ["1"]}):
        n[str(where)] = agree(truth, judged, Problems(), where)["n"]
    assert list(n.values()) == [2 * 2, 3 * 2, 2 * 2]  # two nuggets in each row


def test_a_cell_with_two_labels_in_the_chosen_rows_is_an_error(tmp_path):
    truth = assignments(tmp_path / "a.jsonl", by="x")
    assignments(truth, labels=("not_support", "support"), by="y")
    with pytest.raises(InputError, match="is already in line 1, wanted once"):
        agree(truth, truth, Problems(), {"by": ["x", "y"]})


# Two files of labels: figures, intervals by topic, and the annotators beside the judge.


def items(n_topics=6, n=8):
    return [
        {"topic_id": f"t{t}", "question_id": f"q{q}"} for t in range(n_topics) for q in range(n)
    ]


@pytest.fixture
def annotated(tmp_path):
    """Labels of three annotators, 'no' or 'yes', who agree in about four of five."""
    rng, rows = random.Random(1), []
    for item in items():
        usual = rng.choice(["no", "yes"])
        for name in ("ann", "ben", "cyd"):
            label = usual if rng.random() < 0.8 else rng.choice(["no", "yes"])
            rows.append({**item, "annotator": name, "label": label})
    return write_rows(tmp_path / "human.jsonl", rows)


@pytest.fixture
def agree_labels_judged(tmp_path):
    rng = random.Random(2)
    rows = [{**item, "label": rng.choice(["no", "yes"])} for item in items()]
    return write_rows(tmp_path / "judged.jsonl", rows)


def test_everything_the_metrics_give_is_there_and_survives_json(annotated, agree_labels_judged):
    figures = agree(annotated, agree_labels_judged, Problems())
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert (figures["n"], figures["n_topics"]) == (48, 6)
    assert set(figures["alpha"]) == {"nominal", "ordinal", "interval"}
    for name in ("accuracy", "macro_f1", "fleiss_kappa", "randolph_kappa", "ac1"):
        interval = figures["intervals"][name]
        assert interval["value"] == figures[name]
        assert interval["low"] < interval["value"] < interval["high"]
        assert (interval["n_topics"], interval["level"]) == (6, 0.95)
    for name in ("cohen_kappa", "alpha", "one_vs_rest"):
        for key, interval in figures["intervals"][name].items():
            assert interval["value"] == figures[name][key]


def test_the_annotators_stand_beside_the_judge(annotated, agree_labels_judged):
    figures = agree(annotated, agree_labels_judged, Problems())["annotators"]
    people = {name: {} for name in ("ann", "ben", "cyd")}
    for row in map(json.loads, annotated.open(encoding="utf-8")):
        people[row["annotator"]][row["topic_id"], row["question_id"]] = row["label"]
    verdicts = {
        (row["topic_id"], row["question_id"]): row["label"]
        for row in map(json.loads, agree_labels_judged.open(encoding="utf-8"))
    }
    cells = sorted(verdicts)
    lists = [[labels[cell] for cell in cells] for labels in people.values()]
    assert figures["names"] == ["ann", "ben", "cyd"]
    among = reliability(lists, ["no", "yes"]).as_dict()
    assert {name: figures["among"][name] for name in among} == among
    kappas = [
        agreement([verdicts[cell] for cell in cells], one, ["no", "yes"]).cohen_kappa
        for one in lists
    ]
    assert list(figures["judge"]["by_annotator"].values()) == kappas
    mean = sum(kappa["unweighted"] for kappa in kappas) / 3
    assert figures["judge"]["unweighted"] == pytest.approx(mean)
    assert figures["judge"]["intervals"]["unweighted"]["low"] < mean
    assert figures["among"]["intervals"]["pairwise_kappa"]["linear"]["n_topics"] == 6


def test_one_file_gives_the_agreement_of_its_annotators_alone(annotated, agree_labels_judged):
    figures = agree(annotated, None, Problems())
    beside = agree(annotated, agree_labels_judged, Problems())["annotators"]
    assert figures["annotators"]["among"] == beside["among"]
    assert figures["annotators"]["judge"] is None
    with pytest.raises(InputError, match="no rows of several annotators"):
        agree(agree_labels_judged, None, Problems())
    with pytest.raises(InputError, match="a folder"):
        agree(annotated.parent, None, Problems())


@pytest.mark.parametrize("more", [{}, {"annotator": "ann"}])
def test_a_sheet_that_nobody_filled_in_says_so(agree_labels_judged, tmp_path, more):
    empty = write_rows(
        tmp_path / "sheet.jsonl", [{**item, "label": None, **more} for item in items()]
    )
    message = "sheet.jsonl: none of its 48 items has a label yet"
    for pair in ((empty, agree_labels_judged), (agree_labels_judged, empty), (empty, None)):
        with pytest.raises(InputError, match=message):
            agree(*pair, Problems())


def test_items_without_a_majority_count_among_the_annotators_but_not_for_the_judge(tmp_path):
    cells = [{"topic_id": "t", "passage_id": f"d{i}"} for i in range(3)]
    given = ["01", "11", "22"]  # the first has no majority
    rows = [
        {**cell, "annotator": name, "label": label}
        for cell, labels in zip(cells, given, strict=True)
        for name, label in zip("ab", labels, strict=True)
    ]
    human = write_rows(tmp_path / "human.jsonl", rows)
    judged = write_rows(tmp_path / "judged.jsonl", [{**cell, "label": "1"} for cell in cells])
    figures = agree(human, judged, Problems())
    assert figures["n"] == 2
    assert figures["annotators"]["among"]["n_items"] == 3
    assert figures["annotators"]["among"]["observed"] == pytest.approx(2 / 3)


def test_only_items_that_the_judge_judged_count_among_the_annotators(annotated, tmp_path):
    rows = [{**item, "label": "yes"} for item in items()[:20]]
    figures = agree(annotated, write_rows(tmp_path / "judged.jsonl", rows), Problems())
    assert figures["annotators"]["among"]["n_items"] == 20


def test_labels_without_topics_have_no_bounds(tmp_path):
    rows = [{"passage_id": f"d{i}", "label": i % 2} for i in range(6)]
    path = write_rows(tmp_path / "labels.jsonl", rows)
    figures = agree(path, path, Problems())
    assert figures["n_topics"] == 0
    assert figures["intervals"]["accuracy"] == {
        "value": 1.0, "low": None, "high": None, "n_topics": 0, "level": 0.95
    }  # fmt: skip


def test_resamples_seed_and_level_reach_the_intervals(annotated, agree_labels_judged):
    def kappa(**how):
        intervals = agree(annotated, agree_labels_judged, Problems(), **how)["intervals"]
        return intervals["cohen_kappa"]["unweighted"]

    assert kappa() == kappa()
    assert kappa(seed=5) != kappa()
    assert kappa(level=0.5)["low"] > kappa()["low"]
    assert kappa(resamples=0)["low"] is None


# The figure that the authors' annotations give over the topics of the data here.
def test_crux_annotators_have_their_fleiss_kappa(shared_data, tmp_path):
    path = shared_data / "crux_duc" / "human_t1.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    rows = [
        {
            "topic_id": row["qid"], "run_id": row["report_id"],
            "question_id": row["question_idx"], "annotator": name, "label": row[name],
        }
        for row in map(json.loads, path.open(encoding="utf-8"))
        for name in ("a1", "a2", "a3")
    ]  # fmt: skip
    figures = agree(write_rows(tmp_path / "t1.jsonl", rows), None, Problems())["annotators"]
    assert figures["among"]["fleiss_kappa"] == pytest.approx(0.5533, abs=5e-5)
    assert (figures["among"]["n_items"], figures["n_topics"]) == (264, 6)
    interval = figures["among"]["intervals"]["fleiss_kappa"]
    assert interval["low"] < 0.5533 < interval["high"]


# Labels of two scales: what is refused, what is said, and what a cut makes of them.
@pytest.fixture
def agree_scales_write(tmp_path):
    def labels(name, given, key="question_id", **more):
        """Label rows of two topics, an item for each label."""
        rows = [
            {"topic_id": f"t{i % 2}", key: f"i{i}", "label": label, **more}
            for i, label in enumerate(given)
        ]
        return write_rows(tmp_path / name, rows)

    return labels


def compared(human, judged, *cut, **more):
    return agree(human, judged, Problems(), cut=cut, resamples=0, **more)


@pytest.mark.parametrize("ours_first", [True, False])
def test_answered_or_not_is_not_compared_with_how_well(tmp_path, ours_first):
    ids = [{"topic_id": "t", "passage_id": "p", "question_id": str(i)} for i in range(6)]
    labels = [{**row, "label": i % 2} for i, row in enumerate(ids)]
    people = write_rows(tmp_path / "people.jsonl", labels)
    row = {"id": "t", "docid": "p", "rating": [0, 4, 1, 3, 3, 1]}
    ratings = write_rows(tmp_path / "ratings.jsonl", [row])
    files, cut = ((people, ratings), "1,3") if ours_first else ((ratings, people), "3,1")
    with pytest.raises(InputError, match=f"binary labels and ratings.*such as --cut {cut}"):
        compared(*files)
    report = compared(*files, *cut.split(","))
    assert (report["n"], report["accuracy"], report["cut"]) == (6, 4 / 6, tuple(cut.split(",")))


SUPPORT = {"topic_id": "t", "run_id": "r", "sentence_id": 0}


@pytest.fixture
def support_files(tmp_path):
    """Labels of people for three citations, and the judge's none, partial and full."""

    def files(*labels):
        people, judged = (
            [{**SUPPORT, "passage_id": f"p{i}", "label": label} for i, label in enumerate(given)]
            for given in (labels, ("none", "partial", "full"))
        )
        return write_rows(tmp_path / "h.jsonl", people), write_rows(tmp_path / "j.jsonl", judged)

    return files


def test_a_label_of_people_that_is_not_on_the_scale_is_an_error(support_files):
    wanted = r"h.jsonl:3: field 'label' is 'fully supported', wanted one of none, partial, full; "
    with pytest.raises(InputError, match=f"{wanted}translate"):
        compared(*support_files("none", "Partial support", "fully supported"))
    names = {"none": "none", "partial": "partial", "fully supported": "full"}
    how = TableOptions(scale=names)  # which reads `names` when it is used
    assert compared(*support_files("none", "partial", "fully supported"), how=how)["n"] == 3
    names["fully supported"] = "great"
    with pytest.raises(InputError, match=r"none, partial, great and .*: two scales"):
        compared(
            *support_files("none", "partial", "fully supported"), how=TableOptions(scale=names)
        )


def test_a_wrong_label_in_a_file_of_support_is_an_error_too(support_files, tmp_path):
    ids = {"topic_id": "t", "run_id": "r", "sentence": 0}
    rows = [{**ids, "citation": "p0", "rank": 0, "label": "fully supported"}]
    people = write_rows(tmp_path / "people.jsonl", rows)
    with pytest.raises(InputError, match="1: label is 'fully supported', wanted full"):
        compared(people, support_files("none", "none", "none")[1])


def test_labels_of_two_scales_have_no_verdict(agree_scales_write):
    human = agree_scales_write("h.jsonl", ["a", "b", "c", "a"], key="item_id")
    judged = agree_scales_write("j.jsonl", ["a", "b", "b", "a"], key="item_id")
    report = compared(human, judged)
    assert report["has_two_scales"]
    assert make_agreement_view(report).verdict.startswith("No verdict: ")


def test_a_cut_gives_the_binary_figures_of_the_labels_above_and_below(agree_scales_write):
    one, other = [0, 3, 4, 2, 3, 5, 1, 2], [0, 4, 2, 3, 3, 5, 0, 1]
    report = compared(agree_scales_write("h.jsonl", one), agree_scales_write("j.jsonl", other), "3")
    names = ["negative", "positive"]
    wanted = agreement(*([names[n >= 3] for n in given] for given in (one, other)), names)
    assert report["confusion"] == [[3, 1], [1, 3]]
    assert {k: report[k] for k in wanted.as_dict()} == wanted.as_dict()
    assert report["precision"]["positive"] == report["f1"]["positive"] == 0.75
    assert report["is_ordered"]


def test_annotators_are_cut_before_their_majority(agree_scales_write, tmp_path):
    """5, 4 and 3 are three labels without a majority, and three times positive."""
    rows = [
        {"topic_id": f"t{i}", "question_id": "q", "annotator": name, "label": label}
        for i, given in enumerate([(5, 4, 3), (0, 1, 4)])
        for name, label in zip("abc", given, strict=True)
    ]
    human = write_rows(tmp_path / "h.jsonl", rows)
    judged = write_rows(
        tmp_path / "j.jsonl",
        [
            {"topic_id": f"t{i}", "question_id": "q", "label": label}
            for i, label in enumerate([3, 0])
        ],
    )
    problems = Problems()
    report = agree(human, judged, problems, cut=["3"], resamples=0)
    assert (report["n"], report["accuracy"], len(problems)) == (2, 1.0, 0)
    pooled = report["annotators"]["judge"]["pooled"]
    assert pooled["confusion"] == [[2, 0], [1, 3]]  # six labels, each a pair
    assert pooled["recall"]["positive"] == 0.75
    among = agree(human, None, Problems(), cut=["3"], resamples=0)["annotators"]["among"]
    assert among["n_pairable"] == 2


def test_crux_task_2_at_eta_3_is_counted_by_hand(shared_data, tmp_path):
    """Against the ratings that stand beside the labels of people, counted by hand."""
    folder, rows, pairs = shared_data / "crux_duc", [], []
    for line in (folder / "human_t2.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ids = {name: row[name] for name in ("qid", "docid", "question_idx")}
        for name in ("a1", "a2", "a3"):
            if row.get(name) is not None:
                rows.append({**ids, "annotator": name, "label": row[name]})
                if row["llm_rating_llama33_70b"] is not None and row["passage_available"]:
                    pairs.append((row[name] >= 3, row["llm_rating_llama33_70b"] >= 3))
    write_rows(tmp_path / "task2.jsonl", rows)
    report = compared(tmp_path / "task2.jsonl", folder / "llm_ratings.jsonl", "3")
    pooled = report["annotators"]["judge"]["pooled"]
    right = pairs.count((True, True))
    assert pooled["n"] == len(pairs) > 90
    assert pooled["precision"]["positive"] == right / (right + pairs.count((False, True)))
    assert pooled["recall"]["positive"] == right / (right + pairs.count((True, False)))


# Ratings of sub-questions against ratings, and against labels of people, in every layout.
LLM = [
    {"id": "t1", "docid": "t1:0#0", "rating": [5, 0, 3]},
    {"id": "t1", "docid": "t1:0#1", "rating": [4, -1, 1]},
    {"id": "t2", "docid": "t2:0#0", "rating": [0, 2]},
]
PEOPLE = [
    {"id": "t1", "document": "t1:0#0", "relevances": {"0": 5, "1": 1, "2": -1}},
    {"id": "t1", "document": "t1:0#1", "relevances": {"0": 3, "1": 0, "2": 1}},
    {"id": "t2", "document": "t2:0#0", "relevances": {"1": 2}},
]


def agree_ratings_write(path, rows):
    path.parent.mkdir(exist_ok=True)
    write_rows(path, rows)
    return path


def label_rows():
    """The labels of PEOPLE, each in a row."""
    for row in PEOPLE:
        for question, label in row["relevances"].items():
            ids = {"topic_id": row["id"], "docid": row["document"], "question_idx": question}
            yield {**ids, "label": None if label == -1 else label}


@pytest.fixture
def agree_ratings_judged(tmp_path):
    """A results folder; a file in it is there too."""
    agree_ratings_write(tmp_path / "results" / "ratings.jsonl", LLM)
    return tmp_path / "results"


def check(figures):
    """Five cells have both: 5-5, 1-0, 3-4, 1-1, 2-2; by chance .16 of them agree."""
    assert (figures["kind"], figures["n"], figures["n_topics"]) == ("ratings", 5, 2)
    assert figures["scale"] == ["0", "1", "2", "3", "4", "5"]
    assert figures["accuracy"] == 0.6
    assert figures["cohen_kappa"]["unweighted"] == pytest.approx((0.6 - 0.16) / (1 - 0.16))
    assert (figures["n_human_only"], figures["n_judged_only"]) == (1, 2)  # t1:0#1 1; t1:0#0 2, t2 0
    assert figures["n_judged_unlabelled"] == 1


def test_two_files_of_ratings_are_compared_by_topic_text_and_column(agree_ratings_judged, tmp_path):
    people = agree_ratings_write(tmp_path / "people.jsonl", PEOPLE)
    check(agree(people, agree_ratings_judged / "ratings.jsonl", Problems(), resamples=0))


def test_a_results_folder_gives_its_ratings_to_label_rows(agree_ratings_judged, tmp_path):
    people = agree_ratings_write(tmp_path / "people.jsonl", label_rows())
    check(agree(people, agree_ratings_judged, Problems(), resamples=0))
    check(agree(people, agree_ratings_judged, Problems(), kind="ratings", resamples=0))


def test_two_folders_are_compared_by_their_ratings(agree_ratings_judged, tmp_path):
    rows = [{**row, "rating": row["rating"][:1]} for row in LLM]
    other = agree_ratings_write(tmp_path / "other" / "ratings.jsonl", rows).parent
    figures = agree(agree_ratings_judged, other, Problems(), resamples=0)
    assert (figures["kind"], figures["n"], figures["accuracy"]) == ("ratings", 3, 1.0)


def test_annotators_of_the_same_questions_are_compared(agree_ratings_judged, tmp_path):
    rows = [{**row, "annotator": name} for row in label_rows() for name in ("ann", "ben")]
    rows[0]["label"] = 2  # ann, where ben says 5
    people = agree_ratings_write(tmp_path / "people.jsonl", rows)
    among = agree(people, None, Problems(), resamples=0)["annotators"]["among"]
    assert among["pairwise_kappa"]["n_pairs"] == 1
    figures = agree(people, agree_ratings_judged, Problems(), resamples=0)
    assert (figures["n"], figures["n_human_unlabelled"]) == (4, 2)  # no majority, nobody labelled


def test_real_ratings_are_those_that_stand_beside_the_labels_of_people(shared_data, tmp_path):
    """human_t2.jsonl repeats the model's rating in a field of its own."""
    folder = shared_data / "crux_duc"
    rows = [json.loads(line) for line in (folder / "human_t2.jsonl").open(encoding="utf-8")]
    known = [
        row
        for row in rows
        if row["passage_available"] and row["llm_rating_llama33_70b"] is not None
    ]
    fields = ("qid", "docid", "question_idx")
    labels = [{**{f: r[f] for f in fields}, "label": r["llm_rating_llama33_70b"]} for r in known]
    figures = agree(
        agree_ratings_write(tmp_path / "labels.jsonl", labels),
        folder / "llm_ratings.jsonl",
        Problems(),
        resamples=0,
    )
    assert figures["accuracy"] == 1.0
    assert figures["n"] == len(known) > 50
    assert figures["n_human_only"] == 0
