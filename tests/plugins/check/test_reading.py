"""Files as people have them: columns, spellings, scales, scores and gaps are read as meant."""

import random

import pandas
import pytest
from messy import make_rows, n_missing, write_messy

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError


def labelled(pairs, n=10):
    return [{"human": x, "judge": y} for x, y in pairs] * n


def note(found, start):
    return next(text for text in found["notes"] if text.startswith(start))


def test_a_messy_file_of_four_annotators_is_read_without_a_single_option(tmp_path):
    path = write_messy(tmp_path / "labels.csv")
    found = nj.check(path)
    rows = make_rows()
    assert (found["n_items"], found["clusters"]) == (200, {"by": "Query ID", "n": 10})
    assert found["annotators"]["names"] == sorted(
        f"Rater {n}" for n in ("Ann", "Bo", "Cem", "Dána")
    )
    assert found["scale"] == ["No support", "Partial support", "Full support"]
    assert found["is_ordered"]
    assert note(found, "Labels missing").startswith(
        f"Labels missing: {n_missing(rows)} of 800 of people"
    )
    assert note(found, "Read as") == "Read as cp1252, semicolons."


def test_the_command_that_a_guess_prints_gives_the_same_check(tmp_path, judge):
    write_messy(tmp_path / "labels.csv")
    first = judge("check", "labels.csv", "--json")
    text = note(first.rows[0], "Columns were guessed")
    import shlex

    words = shlex.split(text.partition("name them, run: ")[2])
    again = judge(*words[1:], "--json")
    assert (first.code, again.code) == (0, 0)
    assert not any("guessed" in each for each in again.rows[0]["notes"])
    without = [{**ran.rows[0], "notes": []} for ran in (first, again)]
    assert without[0] == without[1]


@pytest.mark.parametrize("write", [
    lambda frame, at: frame.to_excel(at.with_suffix(".xlsx"), index=False),
    lambda frame, at: frame.to_parquet(at.with_suffix(".parquet")),
    lambda frame, at: frame.to_csv(at.with_suffix(".tsv"), sep="\t", index=False),
    lambda frame, at: frame.to_csv(at.with_suffix(".csv"), index=False, encoding="utf-8-sig"),
    lambda frame, at: frame.to_json(at.with_suffix(".jsonl"), orient="records", lines=True),
    lambda frame, at: frame.to_json(at.with_suffix(".json"), orient="records"),
], ids=["xlsx", "parquet", "tsv", "csv with a mark", "jsonl", "json"])  # fmt: skip
def test_every_file_and_frame_of_one_table_gives_one_check(tmp_path, write):
    frame = pandas.DataFrame(labelled([("yes", "yes"), ("no", "no"), ("no", "yes")]))
    write(frame, tmp_path / "labels")
    (path,) = tmp_path.iterdir()
    ours = ("n", "confusion", "sensitivity", "specificity")
    found, expected = nj.check(path), nj.check(frame)
    assert {name: found[name] for name in ours} == {name: expected[name] for name in ours}
    assert found["specificity"]["value"] == 0.5


@pytest.mark.parametrize(("people", "judge"), [
    (("yes", "no"), (True, False)), (("Yes", "No"), ("PASS", "FAIL")), ((1, 0), ("yes", "no")),
    (("supported", "not supported"), (1, 0)), ((1, 0), (1.0, 0.0)), (("TRUE", "FALSE"), ("t", "f")),
    (("correct", "incorrect"), ("C", "I")),
])  # fmt: skip
def test_yes_and_no_are_the_same_however_each_side_writes_them(people, judge):
    (yes, no), (said_yes, said_no) = people, judge
    found = nj.check(labelled([(yes, said_yes), (yes, said_no), (no, said_no), (no, said_no)]))
    assert (found["sensitivity"]["value"], found["specificity"]["value"]) == (0.5, 1.0)


def test_labels_in_other_words_are_asked_for_and_mapped():
    rows = labelled([("support", "pass"), ("not_support", "fail"), ("partial_support", "fail")])
    with pytest.raises(InputError, match="map them, such as --map pass=support"):
        nj.check(rows)
    names = {"pass": "support", "fail": "not_support", "partial_support": "not_support"}
    found = nj.check(rows, labels=names)
    assert found["scale"] == ["not_support", "support"]
    assert found["accuracy"] == 1.0


def test_two_unknown_labels_say_which_counts_as_positive():
    rows = labelled([("apple", "apple"), ("pear", "apple")])
    found = nj.check(rows)
    assert "'pear' is assumed to be the better" in note(found, "'pear'")
    turned = nj.check(rows, scale=["pear", "apple"])
    assert turned["sensitivity"]["value"] == 1.0
    assert found["sensitivity"]["value"] == 0.0


def test_labels_without_an_order_have_no_weighted_kappa_in_the_table():
    rows = labelled([("red", "red"), ("blue", "blue"), ("green", "blue")])
    assert "linear" not in str(nj.check(rows))
    assert "linear" in str(nj.check(rows, scale=["red", "green", "blue"]))


def test_a_label_that_is_not_on_the_scale_is_an_error_with_what_to_do():
    rows = labelled([("yes", "yes"), ("no", "unsure")])
    with pytest.raises(InputError, match="--map unsure=no, or ignore it with --missing unsure"):
        nj.check(rows, scale=["no", "yes"])
    assert nj.check(rows, scale=["no", "yes"], missing=["unsure"])["n_unjudged"] == 10


def scores(n=200, seed=4, noise=0.15):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        yes = rng.random() < 0.5
        score = min(1.0, max(0.0, (0.75 if yes else 0.55) + rng.gauss(0, noise)))
        rows.append({"topic": f"t{i % 10}", "human": "yes" if yes else "no", "score": score})
    return rows


def test_scores_are_cut_where_other_rows_say_best():
    rows = scores(noise=0.01)
    found = nj.check(rows, "human", "score", topic="topic")
    assert found["cut"]["is_fitted"]
    assert 0.6 < found["cut"]["at"][0] < 0.7
    assert found["accuracy"] == 1.0
    assert "yes from .6" in note(found, "Best cut")


@pytest.mark.slow
def test_a_cut_is_not_praised_for_the_rows_it_was_fitted_on():
    """Scores that say nothing: the best cut of 40 rows looks better than chance on those rows."""
    rng = random.Random(8)
    rows = [{"human": rng.choice(("yes", "no")), "score": rng.random()} for _ in range(40)]
    kappas = []
    for seed in range(20):
        random.Random(seed).shuffle(labels := [row["human"] for row in rows])
        mixed = [{**row, "human": label} for row, label in zip(rows, labels, strict=True)]
        kappas.append(nj.check(mixed, "human", "score")["cohen_kappa"]["unweighted"])
    assert abs(sum(kappas) / 20) < 0.1


def test_a_given_cut_is_used_as_it_is():
    found = nj.check(scores(), "human", "score", cut=0.5)
    assert found["cut"] == {"at": (0.5,), "is_fitted": False, "low": None, "high": None}


def test_scores_of_people_are_asked_for_a_cut_and_then_compared():
    rows = [{"human": i / 50, "judge": i / 50 + 0.001} for i in range(50)]
    with pytest.raises(InputError, match="yes or no with --cut NUMBER"):
        nj.check(rows, "human", "judge")
    assert nj.check(rows, "human", "judge", cut=0.5)["accuracy"] == 1.0
    assert nj.check(rows, "human", "judge", cut=(0.5, 0.9))["accuracy"] < 0.7


def test_grades_of_people_and_scores_of_the_judge_are_cut_into_grades():
    rng = random.Random(2)
    rows = [{"human": g, "judge": g / 5 + rng.gauss(0, 0.02)}
            for g in (rng.randrange(1, 6) for _ in range(200))]  # fmt: skip
    found = nj.check(rows, "human", "judge")
    assert found["scale"] == ["1", "2", "3", "4", "5"]
    assert len(found["cut"]["at"]) == 4
    assert found["accuracy"] > 0.95


def test_a_label_that_only_the_judge_gives_stays_an_error_of_the_judge():
    found = nj.check(labelled([("1", "1"), ("2", "2"), ("2", "3")]))
    assert found["scale"] == ["1", "2", "3"]
    assert found["recall"]["2"]["value"] == 0.5
    assert found["recall"]["3"]["value"] is None


@pytest.mark.parametrize(("rows", "options", "message"), [
    ([], {}, "no rows"),
    (labelled([("yes", "yes"), ("no", "")]), {"human": "humn"},
     "no column 'humn'; did you mean human"),
    (labelled([("", "yes"), ("n/a", "no")]), {"human": "human"}, "no row has a label of people"),
    (labelled([("yes", None), ("no", "?")]), {"human": "human", "judge": "judge"},
     "no row has a label of the judge"),
    (labelled([("yes", "yes")]), {}, "every label is 'yes'; there is nothing to compare"),
    ([{"human": "yes", "b": "no", "c": "yes"}] * 3, {},
     "which column has the judge's labels or scores"),
    ([{"label": "yes", "annotator": a, "judge": "no"} for a in ("x", "y")], {},
     "which column is the id of an item"),
])  # fmt: skip
def test_what_cannot_be_compared_is_one_clear_error(rows, options, message):
    with pytest.raises(InputError, match=message.replace("?", r"\\?")):
        nj.check(rows, **options)


def test_two_labels_of_one_item_by_one_person_are_an_error_with_its_row(write):
    path = write("labels.jsonl", [
        {"item": "a", "annotator": "ann", "label": "yes", "judge": "yes"},
        {"item": "a", "annotator": "ann", "label": "no", "judge": "yes"},
    ])  # fmt: skip
    with pytest.raises(
        InputError, match=r"labels.jsonl:2: ann labels the same item 'no' here and 'yes'"
    ):
        nj.check(path)


def test_repeats_without_their_column_are_an_error_that_names_the_option(write):
    path = write("labels.jsonl", [
        {"item": "a", "annotator": "ann", "label": "yes", "judge": "yes"},
        {"item": "a", "annotator": "bob", "label": "yes", "judge": "no"},
    ])  # fmt: skip
    with pytest.raises(InputError, match=r"labels.jsonl:2: judge of one item.*--repeat COLUMN"):
        nj.check(path)


def test_rows_are_chosen_by_where_and_their_length_is_counted(write):
    rows = [{"metric": m, "answer": "w " * (1 + i), "human": "yes" if i % 2 else "no",
             "judge": "yes" if i % 2 else "no"} for m in ("a", "b") for i in range(30)]  # fmt: skip
    found = nj.check(write("x.jsonl", rows), "human", "judge", where={"metric": "a"}, by="length")
    assert found["n"] == 30
    assert [group["n"] for group in found["by"][0]["groups"]] == [15, 15]


def test_a_function_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="chekc"):
        _ = nj.chekc
