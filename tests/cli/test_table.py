"""The command line as a table: arguments, and what the line of the error or the result says."""

import json
import shlex

import pytest

DATA = "--topics tiny/topics.tsv --passages tiny/passages.jsonl --runs tiny/one.jsonl"
RUN = f"run support {DATA} --model lexical --out new"
VOTES = "voted.jsonl --votes said"
WRONG = "wrong.jsonl:1: label is 'fulll', wanted full, partial, none"

REFUSED = f"""
run | nothing to do: give a config file, or tasks
run gone.yaml | gone.yaml: no such file
run suport {DATA} | did you mean support?
run support --no | No such option: --no
run support --runs tiny/one.jsonl tiny/two.jsonl | Quote patterns (--runs 'runs/*') or repeat --runs
run {"x" * 300}/judge.yaml | x
nothing | No such command 'nothing'
shw out | No such command 'shw'; did you mean show?
run both | ; it is a folder
run items --items voted.jsonl --judge suport --model lexical | did you mean support?
calibrate voted.jsonl --judge nuggetiser --method gepa | did you mean nuggetizer?
retrieve {DATA.rpartition(" --runs")[0]} --pipeline bm52 --out r.run | unknown step 'bm52'
{RUN} --topics gone.tsv | gone.tsv
{RUN} --passages gone.jsonl | gone.jsonl
{RUN} --runs gone | gone
{RUN} --topics empty.jsonl | empty.jsonl:1: 
{RUN} --runs binary.jsonl | binary.jsonl
{RUN} --runs utf16.jsonl | utf16.jsonl:1: not UTF-8 text
{RUN} --topics both | both: cannot be read (it is a folder, wanted a file)
{RUN} --out other.tsv | --out other.tsv: is a file, wanted a folder
{RUN} --runs broken.jsonl | broken.jsonl:2: 
{RUN} --runs twice.jsonl | twice.jsonl:2: 
{RUN} --runs both | b.jsonl:1: 
{RUN} --runs spaced.jsonl | spaced.jsonl:1: run_id is 'one run'
{RUN} --topics other.tsv | 0 of 1 answers match a topic: t1 against t9
{RUN} --topics all.tsv | topic 'all'
{RUN} --fail-under A=nan | judge: --fail-under A=nan: wanted MEASURE=VALUE
{RUN} --fail-under =0.4 | judge: --fail-under =0.4: wanted MEASURE=VALUE
{RUN} --set run.max_cost=nan | run.max_cost: 
{RUN} --set run.allow_missing=inf% | run.allow_missing: 
{RUN} --set run.limit=18446744073709551616 | run.limit: 
{RUN} --set run.out={"x" * 300} | run.out: 
run support {DATA.partition(" --runs")[0]} --model lexical | --runs
run support {DATA.partition(" --passages")[0]} --runs tiny/one.jsonl --model lexical | --passages
run nuggets {DATA} --model lexical | data.nuggets
run relevance {DATA} --model lexical | --candidates
score gone | gone
score manifest | manifest.json
score out --half-width 0.05 | --half-width: only for corrected scores; give --labels too
score out --against one | --against: only for corrected scores; give --labels too
score out --labels wrong.jsonl | {WRONG}
agree wrong.jsonl | {WRONG}
calibrate wrong.jsonl --judge support --method threshold {DATA} | {WRONG}
cascade fit wrong.jsonl out out --agree .8 --out c.json | {WRONG}
show out one t1 --labels wrong.jsonl | {WRONG}
agree gone gone | gone
agree voted.jsonl out | out: has no judgements of relevance (relevance.jsonl); it has support
compare out --runs one,twoo | no run 'twoo'; runs: one, two; did you mean two?
compare out --kind suport | --kind suport: wanted one of relevance
compare out --flips f.jsonl | runs are compared, wanted two judges
compare out --level 2 | --level 2: wanted a number between 0 and 1, such as 0.95
compare out one | no such file or folder; to compare two runs, name both
compare out one two three | wanted one file or folder, or two runs
gate out | nothing to check
gate out --min support_precision | wanted MEASURE=VALUE
gate out --min suport_precision=0.4 | did you mean support_precision
gate out --min on:support_precision=0.4 | did you mean one
gate out --min support_precision=0.4 --run tow | did you mean two
gate out --min support_precision=0.4 --allow-missing 2 | wanted a share from 0 to 1
gate out --min support_precision=0.4 --measure V | --baseline
jury voted.jsonl | no row has the votes of at least 2 members in its field 'votes'
jury {VOTES} --method vote | --method and --out: give both
jury {VOTES} --method best --out x | --method best: wanted one of vote
jury {VOTES} --objective f2 | unknown objective 'f2'
jury {VOTES} --best 2 | It was removed: fit cuts
cascade fit voted.jsonl {VOTES} --out c.json | wanted one of --agree, --share and --threshold
cascade fit voted.jsonl {VOTES} --out c.json --share 0.3 --member nobody | no such judge
cascade fit voted.jsonl {VOTES} --out c.json --share 0.3 --cut 7 | a label of an ordered scale
cascade fit voted.jsonl {VOTES} --out c.json --share 0.3 --confidence margin | wanted probabilities
calibrate voted.jsonl --judge nope --method threshold | judge 'nope': wanted
calibrate voted.jsonl --judge relevance --method threshold --scale none,,full | LABEL=OURS
calibrate voted.jsonl --judge relevance --method threshold --field question | wanted OURS=THEIRS
calibrate voted.jsonl --judge relevance --method threshold --folds 1 | --folds
calibrate voted.jsonl --judge relevance --method threshold --out voted.jsonl | is not a judge file
generate | no topics: add a file (data.topics, --topics)
generate --k ² | --k
retrieve --topics tiny/topics.tsv --passages tiny/passages.jsonl --out a.run | no pipeline
retrieve --topics tiny/topics.tsv --passages tiny/passages.jsonl --pipeline bm26 --out a.run | bm26
index --out i | no passages
"""
REFUSED_BY_ANNEXES = f"""
bias wrong.jsonl out --by length | {WRONG}
drift out out --labels wrong.jsonl | {WRONG}
drift out out --scale no,yes | --scale: only for labels of people; give --labels too
bias wrong.jsonl out --by length --scale no,yes | its labels are none, partial, full; omit --scale
annotate import wrong.jsonl --kind support | {WRONG}
next out --labels wrong.jsonl --out n.csv | {WRONG}
evidence out --labels wrong.jsonl | {WRONG}
"""
DONE = """
run --help | Usage
score out | support
score out --json | "run_id":"one"
compare out | support_precision
show out one | one
gate out --min support_precision=0 | passed
jury voted.jsonl --votes said --labels voted.jsonl | The jury agrees with people
agree voted.jsonl voted.jsonl --json | "n":120
"""


@pytest.fixture
def folder(judge, tiny, tmp_path):
    """What the rows of the table name."""
    ran = judge(*shlex.split(RUN), "--runs", "tiny/two.jsonl", "--out", "out")
    assert ran.code == 0, ran.err
    one = (tiny / "one.jsonl").read_text(encoding="utf-8")
    (tmp_path / "both").mkdir()
    (tmp_path / "manifest").mkdir()
    votes = []
    for i in range(120):
        truth = (i * 7) % 4
        first = truth if i % 3 else (truth + 1) % 4
        said = {"a": first, "b": first, "c": truth if i % 5 else 0}
        votes.append({"qid": f"t{i % 4}", "docid": f"p{i}", "relevance": truth, "said": said})
    texts = {
        "empty.jsonl": "", "broken.jsonl": one + '{"broken": \n', "twice.jsonl": one * 2,
        "both/a.jsonl": one, "both/b.jsonl": one, "manifest/manifest.json": "[]",
        "spaced.jsonl": one.replace('"one"', '"one run"'), "other.tsv": "t9\tsomething else\n",
        "all.tsv": "all\twhat makes the tides\n",
        "voted.jsonl": "".join(json.dumps(row) + "\n" for row in votes),
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    wrong = {"run_id": "one", "topic_id": "t1", "sentence": 0, "citation": "d1", "rank": 0}
    (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong | {"label": "fulll", "weight": 1.0}))
    (tmp_path / "utf16.jsonl").write_text(one, encoding="utf-16")
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 8)
    return tmp_path


def _rows(table):
    return [line.rpartition(" | ")[::2] for line in table.strip().splitlines()]


@pytest.mark.parametrize(
    "table",
    [REFUSED, pytest.param(REFUSED_BY_ANNEXES, marks=pytest.mark.whole)],
    ids=["core", "annexes"],
)
def test_what_cannot_work_ends_with_2_and_one_line_that_says_why(judge, folder, table):
    before = {path.name for path in folder.iterdir()}
    wrong = []
    for arguments, message in _rows(table):
        ran = judge(*shlex.split(arguments))
        if (ran.code, ran.out) != (2, "") or message not in ran.err or "Traceback" in ran.err:
            wrong.append((arguments, message, ran))
    assert wrong == []
    assert {path.name for path in folder.iterdir()} == before


def test_what_works_ends_with_0_and_prints_its_result(judge, folder):
    for arguments, message in _rows(DONE):
        ran = judge(*shlex.split(arguments))
        assert (ran.code, message in ran.out) == (0, True), (arguments, ran)
