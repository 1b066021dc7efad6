"""A paper takes the table and the figures that commands write, as they are."""

import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("matplotlib")

NAME = r"a_b%c&d#e$f~g^h\i{j}"  # all that LaTeX would take for something else
PAPER = r"""\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
\input{table}

\includegraphics{leaderboard.pdf}

\includegraphics{topics.pdf}
\end{document}
"""


@pytest.mark.whole
def test_a_document_takes_the_table_and_two_figures_as_commands_write_them(judge, tmp_path):
    vital = {"text": "x", "importance": "vital", "assignment": "support"}
    lines = [
        {"qid": f"t_{i}", "run_id": run, "query": "q", "answer_text": "x", "nuggets": [vital]}
        for run in (NAME, "b")
        for i in range(3)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "labels.jsonl").write_text(text, encoding="utf-8")
    score = ["score", "labels.jsonl", "--measures", "V_strict", "--format", "latex"]
    (tmp_path / "table.tex").write_text(judge(*score).out, encoding="utf-8")
    for kind in ("leaderboard", "topics"):
        assert judge("figure", kind, "labels.jsonl", "--out", f"{kind}.pdf").code == 0
        check_pdf((tmp_path / f"{kind}.pdf").read_bytes())
    check_table((tmp_path / "table.tex").read_text(encoding="utf-8"))
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    if shutil.which("tectonic") or shutil.which("pdflatex"):
        compile_paper(tmp_path)


def check_table(text):
    """It is balanced, its rows are as long as its columns, and it has no bare special character."""
    bare = re.sub(r"\\text\w+\{\}|\\[a-z]+|\\.", "", text.replace(r"\\", "\n"))
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[_%#$~^]", bare)
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1
    columns = re.search(r"\\begin\{tabular\}\{([lrc]+)\}", text)[1]
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 3
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}


def check_pdf(data):
    """It is whole, each object is where its table says, and it has one page."""
    assert data.startswith(b"%PDF-1.")
    assert data.rstrip().endswith(b"%%EOF")
    start = int(re.search(rb"startxref\s+(\d+)\s", data)[1])
    assert data[start : start + 4] == b"xref"
    offsets = [int(at) for at in re.findall(rb"^(\d{10}) \d{5} n", data[start:], re.MULTILINE)]
    assert offsets
    assert all(re.match(rb"\d+ 0 obj", data[at : at + 20]) for at in offsets)
    assert len(re.findall(rb"/Type /Page\b", data)) == 1


def compile_paper(folder):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    if not shutil.which("pdflatex"):
        command = ["tectonic", "--only-cached", "paper.tex"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "Overfull" not in ran.stdout
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
