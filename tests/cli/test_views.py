"""`judge show`: what a user reads of an answer, a run, a topic and a folder."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mock_server import MockServer, Refusal, Status, Truncated, input_of
from page_output import is_shown

ROOT = Path(__file__).resolve().parents[2]
SUN = "the sun adds to it"


@pytest.fixture
def tides(run_tiny, tide_brain, tmp_path):
    """`out`: run two states the sun's nugget, one does not; one reply is no judgement."""

    def brain(body):
        asked = input_of(body)
        if asked.get("sentence") == "Kelp bends with the tide.":
            return {"verdict": "perhaps \x1b[31m"}
        reply = tide_brain(body)
        if "nuggets" in asked and "Lakes" in asked["answer"]:
            reply = {"verdicts": dict.fromkeys(asked["nuggets"], "support")}
        return reply

    with MockServer(brain=brain) as server:
        ran = run_tiny(server, "nuggets,support", "--quiet")
    assert ran.code == 3, ran.err
    return tmp_path / "out"


def test_an_answer_by_sentence_with_labels_and_what_came_instead(judge, tides):
    ran = judge("show", tides, "one", "t1")
    assert ran.code == 0, ran.err
    lines = [line.strip() for line in ran.out.splitlines()]
    assert "1  Tides follow the moon." in lines
    assert lines[lines.index("1  Tides follow the moon.") + 1].startswith("full")
    at = lines.index("3  Kelp bends with the tide.")
    assert lines[at + 1].startswith("not judged (unparseable)")
    assert any("perhaps" in line for line in lines[at + 2 :])
    assert "\x1b" not in ran.out
    assert "Nuggets, 4: 3 support, 1 not_support" in lines
    assert f"1  vital not_support: {SUN}" in lines
    [scores] = [part for part in ran.out.split("\n\n") if part.startswith("A ")]
    assert "on 2 judgements, 1 not judged" in " ".join(scores.split())
    assert "word overlap" not in ran.out  # a model gave these labels


def test_passages_and_people_on_demand(judge, tides, tmp_path):
    [nugget] = [
        each
        for each in json.loads((tides / "assignments.jsonl").read_text().splitlines()[0])["nuggets"]
        if each["text"] == SUN
    ]
    labels = tmp_path / "people.csv"
    head = "topic_id,run_id,nugget_id,annotator,label,rationale\n"
    labels.write_text(f"{head}t1,one,{nugget['id']},ann,support,it is implied\n")
    ran = judge("show", tides, "one", "t1", "--labels", labels, "--passages")
    assert "no_labels" not in ran.err
    assert "people (ann): support, differs from the judge: it is implied" in ran.out
    assert "| The moon makes the tides." in ran.out
    assert "The moon makes" not in judge("show", tides, "one", "t1").out


def test_what_each_run_misses_of_a_topic(judge, tides):
    ran = judge("show", tides, "--topic", "t1")
    lines = ran.out.splitlines()
    marks = {
        line.split()[-1]: line.split()[1]
        for line in lines
        if line.split()[2:] in (["one"], ["two"])
    }
    assert marks == {"one": ".+++", "two": "++++"}  # the nugget that is missed most stands first
    first = next(line for line in lines if line.endswith(SUN))
    assert first.split()[:5] == ["1", "1", "0", "1", "0"]


def test_what_is_in_a_folder_and_what_to_ask_next(judge, tides):
    ran = judge("show", tides)
    printed = " ".join(ran.out.split())
    assert "2 runs, 1 topic, 2 of 2 answers" in printed
    assert "1 more are missing (1 unparseable)" in printed
    asks = [line.strip() for line in ran.out.splitlines() if line.startswith("  judge show")]
    assert f"judge show {tides} two t1" in asks
    for ask in asks:  # each of them is a command that works
        assert judge(*ask.split()[1:]).code == 0


def test_a_changed_input_is_said_and_its_sentences_are_not_shown(judge, tides, tmp_path):
    run = tmp_path / "tiny" / "one.jsonl"
    run.write_text(run.read_text().replace("moon", "sun"))
    ran = judge("show", tides, "one", "t1")
    assert ran.code == 0
    assert "has changed since the run read it" in ran.err
    assert "Tides follow the moon. Tides follow the sun alone." in ran.out  # as it was judged
    assert "1  (the text of this sentence is missing)" in ran.out


def test_what_is_not_there_ends_with_two_and_the_nearest(judge, tides):
    for arguments, words in (
        (["on"], "has no run 'on'; nearest: one"),
        (["one", "t2"], "has no topic 't2'; nearest: t1"),
        (["--topic", "t2"], "has no topic 't2'; nearest: t1"),
        (["one", "--measure", "F1"], "has no measure 'F1'; wanted one of"),
        (["one", "--passages"], "--passages: only for one answer; give its run and topic too"),
        (["one", "t1", "--topic", "t1"], "--topic: the topic is given twice"),
    ):
        ran = judge("show", tides, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


def test_the_page_shows_what_the_command_prints(judge, tmp_path):
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^[$] judge show .*\n((?:.*\n)*?)```", page, re.MULTILINE)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    judge("run", "examples/demo/judge.yaml", "--quiet")
    assert is_shown(judge("show", "results/demo", "thin", "demo-bees").out, block)
    for command in re.findall(r"`judge (show [^`]*)`", page):
        assert judge(*command.split()).code == 0, command


# A paper takes the table and the figures that commands write, as they are.
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


@pytest.mark.slow
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


# A run says of each reason what helps, and "to retry" only where retrying can.
ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0", "--quiet")


def helps(ran):
    """What stands below `Missing judgements are listed in`, by reason and number."""
    lines = ran.err.splitlines()
    (first,) = (
        i for i, line in enumerate(lines) if line.startswith("Missing judgements are listed in out")
    )
    rest = [line for line in lines[first + 1 :] if line.startswith("  ")]
    return dict(line.strip().split(": ", 1) for line in rest)


def test_each_reason_has_what_helps_and_only_a_failed_call_is_simply_asked_again(
    tide_server, run_tiny
):
    faults = [Refusal(), Truncated(), Truncated(), Status(500)]
    tide_server.faults = lambda index, body: faults[index] if index < len(faults) else None
    ran = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert ran.code == 3, ran.err
    help_of = helps(ran)
    assert help_of["error 1"] == "run the same command again to retry"
    assert help_of["refused 1"] == "the model or its filter declined: use another model"
    assert "raise models.default.max_tokens (--set)" in help_of["truncated 2"]
    tide_server.faults = None
    again = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert again.code == 0, again.err
    assert "Missing judgements" not in again.err


def test_what_does_not_fit_into_the_context_is_no_case_for_asking_again(
    tide_server, run_tiny, tiny
):
    answers = (tiny / "one.jsonl").read_text().replace("Tides follow the moon.", "Tides. " * 900)
    (tiny / "one.jsonl").write_text(answers)
    tide_server.context_length = 1000
    ran = run_tiny(tide_server, "support", *ONE_BY_ONE)
    assert ran.code == 3, ran.err
    assert "to retry" not in ran.err
    expected = "longer than the context of the model: use a model with a larger one"
    assert helps(ran)["error 1"] == expected  # one sentence a call: no window is smaller


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("judge.yaml",), "Check models.only.model and models.only.api_base"),
        (("judge.yaml", "--set", "models.other.model=lexical"), "models.*.model and models.*.api"),
        (("support", "--model", "hosted_vllm/none"), "Check --model and --api-base"),
    ],
)
def test_a_hint_is_a_setting_of_the_config_or_a_flag(
    tide_server, judge, tiny, tmp_path, arguments, hint
):
    url = tide_server.base_url
    (tmp_path / "judge.yaml").write_text(
        f"program: support\nmodels: {{only: {{model: hosted_vllm/none, api_base: '{url}'}}}}\n"
        "judges: {support: {model: only}}\n"
    )
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    data += ["--runs", tiny / "one.jsonl", "--out", "out", "--quiet"]
    where = [] if "judge.yaml" in arguments else ["--api-base", url]
    ran = judge("run", *arguments, *where, *data)
    assert ran.code == 2
    assert hint in ran.err


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"])
def test_a_dry_run_needs_no_key_and_says_so(judge, tiny, model):
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    data += ["--runs", tiny / "one.jsonl", "--model", model]
    ran = judge("run", "support", *data, "--dry-run", "--json")
    assert ran.code == 0, ran.err
    assert "no model is asked, and no key is needed" in ran.err
    assert ran.rows[0]["calls"] == 3
    assert ran.rows[0]["cost"] > 0, "a model that LiteLLM lists has a price"
