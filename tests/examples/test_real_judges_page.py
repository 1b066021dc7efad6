"""docs/trust/real-judges.md shows what its commands print of published labels."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from benchmarks.pages.shown import with_tables
from benchmarks.study import real_judges
from benchmarks.study.sets import SUMMHAY
from json_lines import write_rows
from page_output import is_shown
from processes import JUDGE, run

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "trust" / "real-judges.md").read_text(encoding="utf-8")
TABLES = (ROOT / "docs" / "benchmarks" / "published-judges.md").read_text(encoding="utf-8")
N_ROWS = 72


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_page_shows_these_figures(shared_data, capsys):
    real_judges.main([str(shared_data)])
    printed = capsys.readouterr()
    if printed.err:
        pytest.skip(f"some of the data is absent: {printed.err}")
    assert with_tables(TABLES, printed.out) == (TABLES, N_ROWS)


def test_the_rows_of_the_short_page_are_those_of_the_full_tables():
    cells = [
        [{cell.strip() for cell in line.strip("|").split("|")} for line in text.splitlines()
         if line.startswith(("| summhay", "| dl23"))]
        for text in (PAGE, TABLES)
    ]  # fmt: skip
    assert len(cells[0]) == 6
    assert all(any(row <= full for full in cells[1]) for row in cells[0])


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    real_judges.main([str(tmp_path)])
    ran = capsys.readouterr()
    assert len([line for line in ran.out.splitlines() if line]) == 6  # the heads of tables
    assert "summhay: not found" in ran.err


@pytest.mark.slow
@pytest.mark.whole
def test_the_commands_print_what_the_page_shows_without_a_key(shared_data, tmp_path, monkeypatch):
    if not SUMMHAY.is_in(shared_data):
        pytest.skip(f"summhay not found in {shared_data}")
    folder = tmp_path / "data" / "summhay"
    shutil.copytree(shared_data / "summhay", folder)
    folder.chmod(0o755)
    items = SUMMHAY.items(tmp_path / "data")
    write_rows(folder / "items.jsonl", [{**item.ids, **item.inputs} for item in items])
    lines = (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "part.jsonl").write_text("".join(lines[::5]), encoding="utf-8")  # as awk does
    (config,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "judges.yaml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"^  ([\w.-]+): [{]model", config, re.MULTILINE):
        given = {"program": "items", "items.judge": "assigner", "run.out": f"results/{name}"}
        given |= {"data.items": "data/summhay/items.jsonl"}
        assert nj.run(load_config(Path("judges.yaml"), given, model=name)).is_complete
    shown = [part for block in re.findall(r"```\n([$] .*?)```", PAGE, re.DOTALL)
             for part in re.split(r"^[$] ", block, flags=re.MULTILINE) if part]  # fmt: skip
    env = {**os.environ, "COLUMNS": "80", "HOME": str(tmp_path)}
    for part in shown:
        command, below = part.split("\n", 1)
        done = run(*JUDGE, *shlex.split(command)[1:], cwd=tmp_path, env=env)
        assert is_shown(done.stdout, below), (command, done.stdout, done.stderr)
    assert len(shown) == 4
