"""Parquet files hold what the results files hold, as pyarrow and polars read it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from undigested import forget_digests

pytest.importorskip("pyarrow")
pytest.importorskip("polars")
import polars as pl
import pyarrow.parquet as pq

from nuggetjudge.exports import parquet
from nuggetjudge.records.reading.problems import InputError

from .conftest import KEY


@pytest.fixture(scope="session")
def written(folders, tmp_path_factory):
    """Of each result its Parquet folder."""
    outs = {name: tmp_path_factory.mktemp("parquet") / name for name in folders}
    for name, result in folders.items():
        parquet.write(result, outs[name])
    return outs


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def edited(result, out, name, change):
    """A copy of a results folder with other rows in one file."""
    out.mkdir()
    for path in result.folder.glob("*.json*"):
        (out / path.name).write_bytes(path.read_bytes())
    rows = change(lines_of(out / name))
    (out / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return forget_digests(out)


def plain(value, name=""):
    """A value of either kind of file, in one form, by what docs/howto/exports.md promises."""
    if name in ("item", "args", "in", "out") and value is not None:
        return json.loads(value) if isinstance(value, str) else value
    if name == "rating":
        return [None if n is None or n < 0 else n for n in value]
    if name == "sources":
        return [each["docid"] if isinstance(each, dict) and each.get("start") is None else
                plain(each) for each in value or ()] or None  # fmt: skip
    if isinstance(value, list) and value and isinstance(value[0], dict) and "key" in value[0]:
        return {pair["key"]: pair["value"] for pair in value if pair["value"] is not None}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        fields = {k: plain(v, k) for k, v in value.items()}
        return {k: v for k, v in fields.items() if v is not None}
    return value


def test_every_row_of_every_program_is_there_as_it_was_written(folders, written):
    seen = set()
    for name, result in folders.items():
        files = sorted(result.folder.glob("*.jsonl"))
        assert {path.stem for path in files} == {p.stem for p in written[name].glob("*.parquet")}
        for path in files:
            rows = lines_of(path)
            read_rows = pq.read_table(written[name] / f"{path.stem}.parquet").to_pylist()
            assert len(read_rows) == len(rows), path
            for i, (one, other) in enumerate(zip(rows, read_rows, strict=True)):
                assert plain(one) == plain(other), f"{path}:{i + 1}"
            seen.add(path.stem)
    assert len(seen) >= 22, seen  # what programs write, but for research


def test_polars_reads_the_same_scores(folders, written):
    for name, result in folders.items():
        frame = pl.read_parquet(written[name] / "scores.parquet")
        assert frame.height == len(result.scores)
        assert frame["value"].to_list() == [row.value for row in result.scores]
        assert frame["n_unjudged"].to_list() == [row.n_unjudged for row in result.scores]


def test_a_file_has_the_same_columns_and_types_in_every_folder(written):
    schemas = {}
    for folder in written.values():
        for path in folder.glob("*.parquet"):
            schema = pq.read_schema(path)
            schemas.setdefault(path.stem, schema)
            assert schema.equals(schemas[path.stem]), path
    empty = [
        p for f in written.values() for p in f.glob("*.parquet") if not pq.read_metadata(p).num_rows
    ]
    assert {"problems", "unjudged"} <= {path.stem for path in empty}  # typed all the same


def test_what_was_not_judged_is_null_and_no_zero(folders, written):
    frame = pl.read_parquet(written["windows"] / "scores.parquet")
    lost = frame.filter((pl.col("n_unjudged") > 0) & (pl.col("n") == 0))
    assert lost.height
    assert lost["value"].null_count() == lost.height
    labels = pl.read_parquet(written["own_items"] / "labels.parquet")["label"]
    assert (labels.null_count(), labels.drop_nulls().to_list()) == (1, ["yes", "yes"])
    support = pl.read_parquet(written["explained"] / "support.parquet")
    n_lost = sum(row["stage"] == "support" for row in folders["explained"].unjudged)
    assert support["label"].null_count() == support["weight"].null_count() == n_lost > 0


def test_a_schema_says_of_what_run_it_is(folders, written):
    for name, result in folders.items():
        metadata = pq.read_schema(written[name] / "scores.parquet").metadata
        assert metadata[b"nuggetjudge.fingerprint"].decode() == result.manifest["fingerprint"]
        assert (
            metadata[b"nuggetjudge.version"].decode() == result.manifest["versions"]["nuggetjudge"]
        )
        assert json.loads((written[name] / "manifest.json").read_bytes()) == result.manifest


def test_no_key_stands_in_any_file(folders, written):
    for folder in written.values():
        assert KEY not in (folder / "manifest.json").read_text(encoding="utf-8")
        for path in folder.glob("*.parquet"):
            assert KEY not in str(pq.read_table(path).to_pylist())


def test_a_rating_that_is_none_is_null(folders, tmp_path):
    def change(rows):
        return [{**rows[0], "rating": [-2, -1]}, {**rows[1], "rating": [5, 0]}]

    folder = edited(folders["coverage"], tmp_path / "edited", "ratings.jsonl", change)
    parquet.write(folder, tmp_path / "out")
    frame = pl.read_parquet(tmp_path / "out" / "ratings.parquet")
    assert frame["rating"].to_list() == [[None, None], [5, 0]]


def test_a_line_that_does_not_fit_is_an_error_with_its_place(folders, tmp_path):
    def change(rows):
        return [*rows[:2], {**rows[2], "weight": "much"}, *rows[3:]]

    folder = edited(folders["windows"], tmp_path / "edited", "support.jsonl", change)
    with pytest.raises(InputError, match=r'support.jsonl:3: weight is "much", wanted float'):
        parquet.write(folder, tmp_path / "out")
    assert not list((tmp_path / "out").glob("support*"))
    with pytest.raises(InputError, match="is the results folder; name another --out"):
        parquet.write(folder, folder)


def test_files_of_an_earlier_export_do_not_stay_beside_another(folders, tmp_path):
    parquet.write(folders["windows"], tmp_path)
    parquet.write(folders["coverage"], tmp_path)
    assert not (tmp_path / "support.parquet").exists()
    assert (tmp_path / "ratings.parquet").exists()


def test_columns_that_nobody_described_are_typed_by_their_values(folders, tmp_path):
    more = [{"ticket": "k", "turn": 1, "share": 1}, {"turn": 2, "share": 0.5, "tags": ["a"]}, {}]

    def change(rows):
        return [row | further for row, further in zip(rows, more, strict=True)]

    folder = edited(folders["own_items"], tmp_path / "edited", "labels.jsonl", change)
    parquet.write(folder, tmp_path / "out")
    frame = pl.read_parquet(tmp_path / "out" / "labels.parquet")
    assert frame.select("share", "tags", "ticket", "turn").to_dict(as_series=False) == {
        "share": [1.0, 0.5, None], "tags": [None, '["a"]', None], "ticket": ["k", None, None],
        "turn": [1, 2, None],
    }  # fmt: skip


def test_a_folder_with_files_of_others_is_left_as_it_is(folders, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"out: holds notes.txt, which no export wrote"):
        parquet.write(folders["coverage"], out)
    assert [path.name for path in out.iterdir()] == ["notes.txt"]


MEASURED = """
import re, sys
from pathlib import Path
from nuggetjudge.exports import parquet
import pyarrow.parquet

def peak_kb():  # of this process alone; what resource says begins with the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

small, large, out = sys.argv[1:]
parquet.write(small, out)
before = peak_kb()
counts = parquet.write(large, out)
print(counts["support"], peak_kb() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads peak memory from /proc")
@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(folders, tmp_path):
    result = folders["explained"]
    lines = (result.folder / "support.jsonl").read_bytes().splitlines(keepends=True)
    ns, sizes = (100_000, 300_000), []  # the smaller fills a row group
    for n in ns:
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "manifest.json").write_bytes((result.folder / "manifest.json").read_bytes())
        with (folder / "support.jsonl").open("wb") as file:
            for i in range(n):
                file.write(lines[i % len(lines)])
            sizes.append(file.tell())
    command = [sys.executable, "-c", MEASURED, *(tmp_path / str(n) for n in ns), tmp_path / "out"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    n_written, grown_kb = map(int, ran.stdout.split())
    assert n_written == ns[1]
    assert grown_kb * 1024 < (sizes[1] - sizes[0]) / 4
