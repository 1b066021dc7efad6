"""A kind of judgements that another package declares: its files, its labels, its spellings."""

import json
from importlib.metadata import EntryPoint

import pytest

from nuggetjudge.records import Problems, file_kind, kinds, read_labels
from nuggetjudge.records.kinds import Kind
from nuggetjudge.records.rows import Label


class Tone(Label):
    RUDE = "rude", "the answer insults the reader"
    PLAIN = "plain", "the answer neither insults nor flatters"
    KIND = "kind", "the answer is friendly"


def read_tones(lines):
    for line in lines:
        yield line, (line.id("topic_id"), line.id("run_id")), line.row["tone"], {}


TONES = Kind(
    name="tones",
    key=("topic_id", "run_id"),
    scale=Tone,
    gains={"rude": 0.0, "plain": 0.5, "kind": 1.0},
    rows="tones",
    read=read_tones,
    files={"tones": lambda row: "tone" in row},
    spell=lambda written, scale: ("rude" if written == "impolite" else written, True),
)


@pytest.fixture
def installed(monkeypatch):
    entry = EntryPoint("tones", f"{__name__}:TONES", kinds.GROUP)
    broken = EntryPoint("gone", "no_such_module:KIND", kinds.GROUP)
    monkeypatch.setattr(kinds, "entry_points", lambda group: [broken, entry])
    kinds._load_installed.cache_clear()
    yield
    kinds._load_installed.cache_clear()


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_its_files_are_recognised_and_read(installed, tmp_path):
    rows = [
        {"topic_id": "t", "run_id": r, "tone": tone} for r, tone in (("a", "kind"), ("b", None))
    ]
    path = written(tmp_path / "tones.jsonl", *rows)
    assert file_kind(path) == "tones"
    labels = read_labels(path, Problems())
    assert (labels.kind, labels.scale) == ("tones", ("rude", "plain", "kind"))
    assert (labels.cells, labels.n_unlabelled) == ({("t", "a"): "kind"}, 1)


def test_label_files_with_its_ids_are_of_it_and_mean_its_labels(installed, tmp_path):
    ids = {"topic_id": "t", "run_id": "a"}
    labels = read_labels(
        written(tmp_path / "people.jsonl", {**ids, "label": "impolite"}), Problems()
    )
    assert (labels.kind, labels.cells) == ("tones", {("t", "a"): "rude"})
    cut = read_labels(
        written(tmp_path / "more.jsonl", {**ids, "label": "plain"}), Problems(), cut="plain"
    )
    assert cut.cells == {("t", "a"): "positive"}


def test_without_the_package_the_same_labels_are_of_no_kind(tmp_path):
    row = {"topic_id": "t", "run_id": "a", "label": "plain"}
    assert read_labels(written(tmp_path / "people.jsonl", row), Problems()).kind == "other"


@pytest.mark.parametrize("kind", kinds.load_kinds().values(), ids=lambda kind: kind.name)
def test_every_kind_has_a_gain_in_order_for_each_label(kind):
    gains = [kind.gains[label] for label in kind.labels]
    assert gains == sorted(gains)
    assert set(kind.gains) == set(kind.labels)
    assert (min(gains), max(gains)) == (0.0, 1.0)
