"""`judge check` as a newcomer meets it: the sentence, the verdict, and one clear error."""

import json

import nuggetjudge as nj


def test_the_demo_runs_at_once_and_says_what_it_is(judge):
    ran = judge("check", "--demo")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Of the items that people label yes, the judge labels ")
    assert "\nGood enough: the lower end of every interval reaches 80%.\n" in ran.out
    assert "This is a demo" in ran.out


def test_the_first_words_are_plain_percentages_then_the_verdict(judge, write):
    rows = [{"human": "pass", "judge": "pass" if i < 90 else "fail"} for i in range(100)]
    rows += [{"human": "fail", "judge": "fail" if i < 60 else "pass"} for i in range(100)]
    write("labels.jsonl", rows)
    ran = judge("check", "labels.jsonl", "--human", "human", "--judge", "judge")
    first, verdict = ran.out.split("\n\n")[:2]
    said = " ".join(first.split())
    assert said == (
        "Of the items that people label pass, the judge labels 90% so; of those they label fail, "
        "60%."
    )
    assert verdict.startswith("Not good enough: specificity is at most 69%, but 80% is required.")
    assert "Columns were guessed" not in ran.out


def test_json_is_what_the_function_returns(judge, write):
    path = write("labels.jsonl", [{"human": i % 2, "judge": i % 3 > 0} for i in range(60)])
    ran = judge("check", "labels.jsonl", "--json")
    found = json.loads(json.dumps(nj.check(path)))
    assert {**ran.rows[0], "notes": 0} == {**found, "notes": 0}


def test_neither_a_file_nor_the_demo_says_what_is_wanted(judge):
    ran = judge("check")
    assert ran.code == 2
    assert "needs FILE; --demo has an example" in ran.err
    assert judge("check", "no.csv").code == 2


def test_options_of_columns_do_not_go_with_a_results_folder(judge, write, tmp_path):
    write("labels.jsonl", [{"human": 1, "judge": 1}])
    (tmp_path / "results").mkdir()
    ran = judge("check", "labels.jsonl", "--results", "results", "--by", "length")
    assert ran.code == 2
    assert "`judge bias` shows where it errs" in ran.err


def test_every_table_can_be_markdown(judge):
    ran = judge("check", "--demo", "--by", "system", "--format", "markdown")
    assert ran.out.startswith("**Of the items that people label yes")
    assert "| sensitivity |" in ran.out
