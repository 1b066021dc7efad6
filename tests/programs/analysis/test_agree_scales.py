"""Labels of two scales: what is refused, what is said, and what a cut makes of them."""

import json

import pytest

from nuggetjudge.metrics import agreement
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import InputError, Problems


@pytest.fixture
def write(tmp_path):
    def labels(name, given, key="question_id", **more):
        """Label rows of two topics, an item for each label."""
        rows = [
            {"topic_id": f"t{i % 2}", key: f"i{i}", "label": label, **more}
            for i, label in enumerate(given)
        ]
        return rows_of(tmp_path / name, rows)

    return labels


def rows_of(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def compared(human, judged, *cut, **more):
    return agree(human, judged, Problems(), cut=cut, resamples=0, **more)


@pytest.mark.parametrize("ours_first", [True, False])
def test_answered_or_not_is_not_compared_with_how_well(tmp_path, ours_first):
    ids = [{"topic_id": "t", "passage_id": "p", "question_id": str(i)} for i in range(6)]
    labels = [{**row, "label": i % 2} for i, row in enumerate(ids)]
    people = rows_of(tmp_path / "people.jsonl", labels)
    row = {"id": "t", "docid": "p", "rating": [0, 4, 1, 3, 3, 1]}
    ratings = rows_of(tmp_path / "ratings.jsonl", [row])
    files, cut = ((people, ratings), "1,3") if ours_first else ((ratings, people), "3,1")
    with pytest.raises(InputError, match=f"answered or not, and how well.*such as --cut {cut}"):
        compared(*files)
    report = compared(*files, *cut.split(","))
    assert (report["n"], report["accuracy"], report["cut"]) == (6, 4 / 6, tuple(cut.split(",")))


def test_a_cut_gives_the_binary_figures_of_the_labels_above_and_below(write):
    one, other = [0, 3, 4, 2, 3, 5, 1, 2], [0, 4, 2, 3, 3, 5, 0, 1]
    report = compared(write("h.jsonl", one), write("j.jsonl", other), "3")
    names = ["negative", "positive"]
    wanted = agreement(*([names[n >= 3] for n in given] for given in (one, other)), names)
    assert report["confusion"] == [[3, 1], [1, 3]]
    assert {k: report[k] for k in wanted.as_dict()} == wanted.as_dict()
    assert report["precision"]["positive"] == report["f1"]["positive"] == 0.75
    assert report["is_ordered"]


def test_annotators_are_cut_before_their_majority(write, tmp_path):
    """5, 4 and 3 are three labels without a majority, and three times positive."""
    rows = [
        {"topic_id": f"t{i}", "question_id": "q", "annotator": name, "label": label}
        for i, given in enumerate([(5, 4, 3), (0, 1, 4)])
        for name, label in zip("abc", given, strict=True)
    ]
    human = rows_of(tmp_path / "h.jsonl", rows)
    judged = rows_of(
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
    rows_of(tmp_path / "task2.jsonl", rows)
    report = compared(tmp_path / "task2.jsonl", folder / "llm_ratings.jsonl", "3")
    pooled = report["annotators"]["judge"]["pooled"]
    right = pairs.count((True, True))
    assert pooled["n"] == len(pairs) > 90
    assert pooled["precision"]["positive"] == right / (right + pairs.count((False, True)))
    assert pooled["recall"]["positive"] == right / (right + pairs.count((True, False)))
