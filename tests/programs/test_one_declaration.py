"""A task and a kind of judgements are declared once: no other code knows them by name."""

import re
import subprocess
from pathlib import Path

import pytest

from nuggetjudge.programs.analysis.answers.summaries import standing
from nuggetjudge.programs.analysis.answers.views import Judged
from nuggetjudge.records import kinds
from nuggetjudge.records.kinds import Kind
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import Problems

ROOT = Path(__file__).resolve().parents[2]
NAMES = "support|nuggets|coverage|keypoints|relevance|items|ratings"
COMPARES = re.compile(rf"""[=!]= ["']({NAMES})["']""")


def test_no_code_compares_with_the_name_of_a_task_or_a_kind():
    files = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    found = [
        f"{name}: {line.strip()}"
        for name in files
        if not name.startswith(("tests/", "benchmarks/")) and (ROOT / name).is_file()
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if COMPARES.search(line)
        and not re.search(r"""label == ["']support["']""", line)  # the label of a nugget
    ]
    assert found == []


@pytest.fixture
def aspects(monkeypatch):
    """A kind of judgements that another package declares, with an id of its own."""
    kind = Kind(
        name="aspects", key=("topic_id", "run_id", "aspect_id"), also={"aspect_id": ("aspect",)},
        scale=("absent", "hinted", "present"),
        gains={"absent": 0.0, "hinted": 0.5, "present": 1.0}, coarse=("absent", "present"),
    )  # fmt: skip
    monkeypatch.setattr(kinds, "_load_installed", lambda path: {"aspects": kind})
    kinds._key_fields.cache_clear()
    yield kind
    kinds._key_fields.cache_clear()


@pytest.mark.parametrize(
    ("labels", "scale"),
    [
        (("absent", "hinted"), ("absent", "hinted", "present")),
        (("absent", "present"), ("absent", "present")),
    ],
)
def test_a_label_file_of_a_packages_kind_is_read_by_the_ids_that_it_declares(
    aspects, tmp_path, labels, scale
):
    path = tmp_path / "people.csv"
    rows = "".join(f"t1,r1,a{n},{label}\n" for n, label in enumerate(labels))
    path.write_text(f"topic_id,run_id,aspect,label\n{rows}", encoding="utf-8")
    problems = Problems()
    file = read_labels(path, problems)
    problems.raise_errors()
    assert (file.kind, file.key_names, file.scale) == ("aspects", aspects.key, scale)
    assert file.cells == {("t1", "r1", f"a{n}"): label for n, label in enumerate(labels)}


@pytest.mark.parametrize(
    ("program", "unit", "label", "wanted"),
    [
        ("nuggets", "nugget", "support", "stated"),
        ("nuggets", "nugget", "partial_support", "partly"),
        ("nuggets", "nugget", "not_support", "missed"),
        ("keypoints", "key point", "yes", "stated"),
        ("keypoints", "key point", "no", "missed"),
        ("nuggets", "nugget", None, "unjudged"),
        ("coverage", "sub-question", "3", "stated"),
        ("coverage", "sub-question", "2", "partly"),
        ("coverage", "sub-question", "0", "missed"),
    ],
)
def test_what_a_label_says_of_an_answer_follows_from_the_words_of_its_task(
    program, unit, label, wanted
):
    judged = Judged(program=program, unit=unit, item="1", text="", label=label)
    assert standing(judged, 3) == wanted
