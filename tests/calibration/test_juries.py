"""Votes from files: of a jury, or of one judge each; and what `judge jury` makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from json_lines import read_rows, write_rows

from nuggetjudge.calibration.juries import (
    compare_methods,
    list_members,
    measure_together,
    write_combined,
)
from nuggetjudge.calibration.votes import NONE, read_jury_votes
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

SCALE = ("0", "1", "2", "3")
N_TOPICS, N_EACH = 4, 30


@pytest.fixture
def write(tmp_path):
    def to(name, rows):
        path = tmp_path / name
        write_rows(path, rows)
        return path

    return to


@pytest.fixture
def votes():
    """(n, 3) codes: two good judges that err apart, and one that copies the first."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, N_TOPICS * N_EACH)
    one, two = (np.clip(truth + rng.choice([-1, 0, 0, 0, 1], len(truth)), 0, 3) for _ in range(2))
    return truth, np.stack([one, one, two], axis=1)


@pytest.fixture
def files(write, votes):
    truth, given = votes
    ids = [{"qid": f"t{i // N_EACH}", "docid": f"p{i}"} for i in range(len(truth))]
    human = write(
        "human.jsonl", [{**at, "relevance": int(x)} for at, x in zip(ids, truth, strict=True)]
    )
    each = [
        write(
            f"{name}.jsonl",
            [{**at, "relevance": int(x)} for at, x in zip(ids, column, strict=True)],
        )
        for name, column in zip(("one", "copy", "two"), given.T, strict=True)
    ]
    names = ("one", "copy", "two")
    both = write(
        "both.jsonl",
        [
            {**at, "grade": None, "votes": dict(zip(names, map(int, row), strict=True))}
            for at, row in zip(ids, given.tolist(), strict=True)
        ],
    )
    return human, each, both


def test_a_file_for_each_judge_says_what_one_with_all_votes_says(files, votes):
    human, each, both = files
    apart = read_jury_votes(each, Problems(), labels=human)
    at_once = read_jury_votes([both], Problems(), labels=human)
    assert apart.members == at_once.members == ("one", "copy", "two")
    assert apart.cells == at_once.cells
    assert (apart.votes == at_once.votes).all()
    assert (apart.truth == at_once.truth).all()
    assert (apart.truth != NONE).all()


def test_runs_are_joined_with_and_without_the_prefix_of_their_team(write):
    """People name runs as they were submitted, a judge by the names of its files."""

    def labels(name, run, label):
        ids = [{"topic_id": f"t{i}", "run_id": run, "sentence_id": "0"} for i in range(3)]
        return write(name, [{**at, "passage_id": "p", "label": label} for at in ids])

    results = [labels("one.jsonl", "team.run", "full"), labels("two.jsonl", "run", "none")]
    problems = Problems()
    made = read_jury_votes(results, problems, labels=labels("human.jsonl", "run", "full"))
    assert {dict(zip(made.key_names, cell, strict=True))["run_id"] for cell in made.cells} == {
        "team.run"
    }
    assert NONE not in {*made.votes.ravel().tolist(), *made.truth.tolist()}
    assert (made.truth == made.votes[:, 0]).all()
    assert (made.truth != made.votes[:, 1]).all()
    assert problems.counts() == {"run_names": 2}


def test_a_copy_changes_the_labels_but_adds_no_vote(files):
    human, _, both = files
    jury = read_jury_votes([both], Problems(), labels=human)
    worth = measure_together(jury).worth.value
    assert worth < 2.2
    assert measure_together(jury.at(jury.truth == jury.votes[:, 0])).worth.correlation is None
    rows = {row.member: row for row in list_members(jury, "quadratic")}
    assert rows["one"].value == rows["copy"].value
    assert rows["one"].changes == rows["copy"].changes > 0
    assert rows["two"].changes == 0  # the middle one of three is always the copied one


def test_a_lost_vote_is_counted_and_is_no_label(write, files):
    human, _, both = files
    rows = read_rows(both)
    for row in rows[:7]:
        row["votes"]["two"] = None
    jury = read_jury_votes([write("lost.jsonl", rows)], Problems(), labels=human)
    [row] = [row for row in list_members(jury, "quadratic") if row.member == "two"]
    assert (row.n, row.n_unjudged) == (len(rows) - 7, 7)


def test_no_label_of_a_topic_reaches_the_choice_for_it(files, write):
    """The member chosen for each topic is the best one on the others, though not there."""
    human, *_ = files
    rows = read_rows(human)
    shown = []
    for row in rows[::3]:
        right, n = row["relevance"], int(row["qid"][1:])
        wrong = 3 - right
        shown.append(
            {"qid": row["qid"], "docid": row["docid"], "grade": None,
             "votes": {f"j{j}": right if n != j else wrong for j in range(N_TOPICS)}}
        )  # fmt: skip
    jury = read_jury_votes([write("shown.jsonl", shown)], Problems(), labels=human)
    table = compare_methods(jury, "quadratic", {"resamples": 0})
    [chosen] = [way for way in table if way.name == "single, chosen on other topics"]
    assert (
        chosen.value.value < -0.9
    )  # who was perfect on three topics is always wrong on the fourth


@pytest.mark.parametrize("how", ["vote", "median", "mean", "dawid-skene"])
def test_combined_labels_are_a_label_file(files, tmp_path, how):
    human, _, both = files
    jury = read_jury_votes([both], Problems(), labels=human)
    path = tmp_path / f"{how}.jsonl"
    write_combined(path, jury, how)
    labels = read_labels(path, Problems())
    assert labels.cells.keys() == set(jury.cells)
    assert labels.votes.keys() == set(jury.cells)
    if how == "median":
        assert [labels.cells[cell] for cell in jury.cells] == [
            SCALE[code] for code in jury.votes[:, 0]
        ]
    with pytest.raises(InputError, match="is there already"):
        write_combined(path, jury, how)


def test_a_file_without_votes_is_refused(files):
    with pytest.raises(
        InputError, match="no row has the votes of at least 2 members in its field 'votes'"
    ):
        read_jury_votes([files[0]], Problems())


def test_files_without_a_common_item_are_refused(files, write):
    other = write("other.jsonl", [{"qid": "t9", "docid": "p", "relevance": 1}])
    with pytest.raises(InputError, match="no item with a label from all of them"):
        read_jury_votes([files[0], other], Problems())


# The 33 recorded judges of the LLMJudge challenge: what a panel is worth, and what it is not.
@pytest.fixture(scope="module")
def jury(shared_data):
    path = shared_data / "dl23_llmjudge" / "pairs.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return read_jury_votes([path], Problems(), labels=path, votes="llm")


def test_the_labels_of_33_judges_are_read(jury):
    assert jury.votes.shape == (2762, 33)
    assert jury.scale == ("0", "1", "2", "3")
    assert jury.n_off_scale == 1  # a published label of 5


@pytest.mark.slow
def test_33_judges_are_worth_3_votes(jury):
    worth = measure_together(jury)
    assert worth.worth.value == pytest.approx(2.7, abs=0.05)


def test_without_labels_of_people_the_worth_is_more_than_it_is(jury):
    blind = replace(jury, truth=jury.truth * 0 - 1)
    worth = measure_together(blind)
    assert not worth.by_people
    assert worth.worth.value > 2 * 2.67 * 0.9


@pytest.mark.slow
def test_the_votes_of_all_are_no_better_than_one_judge_chosen_on_other_topics(jury):
    by_name = {way.name: way for way in compare_methods(jury, "quadratic", {"resamples": 200})}
    value = {name: way.value.value for name, way in by_name.items()}
    assert value["single, best of these (willia-umbrela1)"] == pytest.approx(0.551, abs=5e-4)
    assert value["single, chosen on other topics"] == pytest.approx(0.508, abs=5e-4)
    assert value["vote"] == pytest.approx(0.500, abs=0.005)
    assert value["median"] == pytest.approx(0.514, abs=0.005)
    assert value["Dawid-Skene, each topic by itself"] == pytest.approx(0.514, abs=0.005)
    assert by_name["vote"].minus_chosen.low < 0 < by_name["vote"].minus_chosen.high
    assert all(way.n + way.n_unlabelled == 2762 for way in by_name.values())
