"""A study of disagreements, from the draw through the labelling app to its tables and its figure.

Two scripted people label in the app, from what their page shows; the lexical judge is the model.
"""

from __future__ import annotations

import json
import re

import pytest
from json_lines import read_rows, write_rows
from processes import JUDGE, run
from sklearn.metrics import cohen_kappa_score

from nuggetjudge.plugins.annotate.out.disagreements import compare_disagreements, read_study
from nuggetjudge.plugins.annotate.work.disagreements import draw_disagreements
from nuggetjudge.records.reading.problems import InputError, Problems

from .conftest import LABELS, page_event

FIELDS = ("topic_id", "run_id", "sentence_id", "passage_id")


def key(row):
    return tuple(row[name] for name in FIELDS)


def judge(*arguments, cwd):
    ran = run(*JUDGE, *map(str, arguments), cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def words(text):
    return set(re.findall(r"\w{3,}", text.lower()))


def careful(sentence, passage):
    """Labels by the share of the sentence's words in the passage."""
    share = len(words(sentence) & words(passage)) / max(1, len(words(sentence)))
    return LABELS[(share > 0.3) + (share > 0.7)]


def strict(sentence, passage):
    """The same, with a higher bar."""
    share = len(words(sentence) & words(passage)) / max(1, len(words(sentence)))
    return LABELS[(share > 0.5) + (share > 0.9)]


PEOPLE = {"carol": careful, "dan": strict}


@pytest.fixture
def two(tmp_path):
    """Labels of people and of a judge: 3 topics of 24 items, which differ in 18, 18 and 2."""
    people, judged = [], []
    for topic in range(3):
        for i in range(24):
            row = dict(
                zip(FIELDS, (f"t{topic}", f"secret-run-{i % 4}", str(i), f"p{i}"), strict=True)
            )
            said = LABELS[i % 3]
            differs = i % 4 > 0 if topic < 2 else i < 2
            passage = "red foxes run over green hills at night"
            sentence = passage[: 8 + 3 * i] if i % 2 else f"blue whale number {i}"
            other = LABELS[(i + 1 + i % 2) % 3] if differs else said
            condition = ("from_scratch", "post_edited")[topic % 2]
            people.append(row | {"label": said, "condition": condition})
            judged.append(row | {"label": other, "sentence": sentence, "passage": passage})
    write_rows(tmp_path / "people.jsonl", people)
    write_rows(tmp_path / "judge.jsonl", judged)
    return tmp_path / "people.jsonl", tmp_path / "judge.jsonl"


def label_in_app(open_site, sheet, folder):
    """Both people label every item of the sheet in their page; returns all that it sent them."""
    site = open_site(tuple(PEOPLE), results=sheet, n=None, overlap=1.0, folder=folder)
    sent = []
    for name, decide in PEOPLE.items():
        client = site.client(name)
        for at in range(len(site.work.sessions[name].entries)):
            item = client.get(f"/api/item?n={at}")
            sent.append(item.text)
            assert item.json()["shown"] is None
            texts = {one["of"]: one["text"] for one in item.json()["texts"]}
            label = decide(texts["sentence"], texts["passage"])
            assert client.post(page_event(client, at, label=label)).status_code == 200
    site.work.close()
    return sent


def check_study(open_site, people, judged, study, n):
    """Run it, and return its rows; the kappas are scikit-learn's, of files read here."""
    judge("annotate", "disagreements", people, judged, "--out", study, "--n", n, cwd=study.parent)
    sheet = read_rows(study / "sheet.jsonl")
    drawn = {key(row): row for row in read_rows(study / "drawn.jsonl")}
    assert {key(row) for row in sheet} == drawn.keys()
    assert all(row["label"] is None and "people" not in row and "judge" not in row for row in sheet)
    assert all(row["people"] != row["judge"] for row in drawn.values())
    sent = label_in_app(open_site, study / "sheet.jsonl", study / "people")
    runs = {row["run_id"] for row in sheet}
    assert not any(run in text for run in runs for text in sent)
    items = ("--items", study / "sheet.jsonl", "--judge", "support", "--model", "lexical")
    judge("run", "items", *items, "--out", study / "model", "-q", cwd=study.parent)
    stdout = judge("annotate", "disagreements", study, "--json", cwd=study.parent)
    rows = [json.loads(line) for line in stdout.splitlines()]
    given = {}
    for row in read_rows(study / "labels.jsonl"):
        given.setdefault(row["annotator"], {})[key(row)] = row["label"]
    texts = {key(row): (row["sentence"], row["passage"]) for row in sheet}
    for row in rows:
        group = row["condition"]
        cells = [c for c, about in drawn.items() if group in (about["condition"], "all")]
        cells = [c for c in cells if c in given[row["judge"]]]
        labels = [given[row["judge"]][c] for c in cells]
        if row["judge"] in PEOPLE:
            assert labels == [PEOPLE[row["judge"]](*texts[c]) for c in cells]
        assert row["n"] == len(cells)
        for side in ("people", "judge"):
            theirs = [drawn[c][side] for c in cells]
            found = row[f"kappa_{side}"]["value"]
            assert found == pytest.approx(cohen_kappa_score(labels, theirs), nan_ok=True)
            equal = sum(map(str.__eq__, labels, theirs)) / len(cells)
            assert row[f"equal_{side}"] == pytest.approx(equal)
    return rows, drawn


def test_two_people_and_a_model_judge_what_a_judge_and_people_differ_in(open_site, two, tmp_path):
    rows, drawn = check_study(open_site, *two, tmp_path / "study", 5)
    topics = [row["topic_id"] for row in drawn.values()]
    assert {topic: topics.count(topic) for topic in topics} == {"t0": 5, "t1": 5, "t2": 2}
    names = ["lexical (word overlap)", "carol", "dan"]
    groups = ["from_scratch", "post_edited", "all"]
    assert [(row["judge"], row["condition"]) for row in rows] == [
        (name, group) for name in names for group in groups
    ]
    shown = judge("annotate", "disagreements", tmp_path / "study", cwd=tmp_path)
    assert "12 items where people and judge differ" in shown
    assert "topics with fewer than 5: 1" in shown
    figure = tmp_path / "figure3.svg"
    judge("figure", "labels", tmp_path / "study" / "labels.jsonl", "--out", figure, cwd=tmp_path)
    assert "carol" in figure.read_text("utf-8")


@pytest.mark.slow
def test_on_the_labels_of_nist_fifteen_pairs_of_each_topic_are_drawn(
    open_site, shared_data, tmp_path
):
    data = shared_data / "rag24_support"
    judge("agree", data / "pairs.jsonl", "--judge", "support", "--model", "lexical", "-q",
          "--passages", data / "passages.jsonl", "--resamples", 0, "--out", "lexical",
          cwd=tmp_path)  # fmt: skip
    people, judged = data / "pairs.jsonl", tmp_path / "lexical"
    rows, drawn = check_study(open_site, people, judged, tmp_path / "study", 15)
    assert len(drawn) == 21 * 15
    assert [row["n"] for row in rows if row["judge"] == "carol"] == [12 * 15, 9 * 15, 21 * 15]


def test_the_draw_follows_from_the_seed_and_a_study_is_not_drawn_over(two, tmp_path):
    names = {}
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        draw_disagreements(*two, tmp_path / name, Problems(), n=5, seed=seed)
        names[name] = [key(row) for row in read_rows(tmp_path / name / "sheet.jsonl")]
    assert names["one"] == names["again"] != names["other"]
    with pytest.raises(InputError, match="already has a study"):
        draw_disagreements(*two, tmp_path / "one", Problems())
    with pytest.raises(InputError, match="nobody has labelled its items yet"):
        read_study(tmp_path / "one", Problems())
    with pytest.raises(InputError, match=r"no study\.json"):
        read_study(tmp_path, Problems())
    with pytest.raises(InputError, match="labels are equal"):
        draw_disagreements(two[0], two[0], tmp_path / "same", Problems())


def test_a_label_that_was_given_beside_the_judges_is_no_third_opinion(open_site, two, tmp_path):
    draw_disagreements(*two, tmp_path / "study", Problems(), n=5)
    with pytest.raises(InputError, match="has no labels to show"):
        open_site(results=tmp_path / "study" / "sheet.jsonl", condition="post_edit")
    folder = tmp_path / "study" / "people"
    site = open_site(("carol",), results=two[1], condition="post_edit", folder=folder)
    client = site.client("carol")
    client.post(page_event(client, 0, label="full"))
    with pytest.raises(InputError, match="from_scratch: no such label"):
        read_study(tmp_path / "study", Problems())


def test_a_filled_sheet_is_a_judge_and_cannot_tell_is_no_label(two, tmp_path):
    draw_disagreements(*two, tmp_path / "study", Problems(), n=5)
    sheet = read_rows(tmp_path / "study" / "sheet.jsonl")
    drawn = {key(row): row for row in read_rows(tmp_path / "study" / "drawn.jsonl")}
    filled = [row | {"label": drawn[key(row)]["people"]} for row in sheet[:-1]]
    write_rows(tmp_path / "study" / "erin.jsonl", [*filled, sheet[-1]])
    study = read_study(tmp_path / "study", Problems())
    *_, row = compare_disagreements(study, {"resamples": 0})
    assert (row["judge"], row["n"], row["n_open"]) == ("erin", 11, 1)
    assert (row["equal_people"], row["equal_judge"], row["equal_neither"]) == (1, 0, 0)
    assert row["kappa_people"]["value"] == 1
