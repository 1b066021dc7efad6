"""What `judge prompt` prints is what a model gets, byte for byte."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from mock_server import MockServer

from nuggetjudge import judges
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.fitted import FittedPrompt, JudgeFile
from nuggetjudge.judges.makers.answer_writer import AnswerWriter
from nuggetjudge.judges.table import find_judge
from nuggetjudge.plugins.trec.narratives.parts import PartwiseRelevanceJudge
from nuggetjudge.plugins.trec.narratives.whole import NarrativeRelevanceJudge
from nuggetjudge.plugins.upkeep import configs as init
from nuggetjudge.plugins.upkeep.prompts import list_judges

Q, S, P = "Why, in 'May'?", "Ice <b>floats</b>. [[1]]", "Ice is lighter\nthan wäter."
OWN = """name: polite
question: Is the reply polite?
inputs: {reply: what was said, tone: how}
labels: [no, yes]
"""


@pytest.fixture
def sent():
    """`sent(make, **inputs)`: the first request of a judge to a model, as the model gets it."""
    with MockServer() as server:

        def ask(make, **inputs):
            server.clear()
            judge = make(ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0))
            try:
                judge(**inputs)
            except JudgeError:
                assert server.requests  # a mock's labels make no list
            return server.requests[0].body

        yield ask


def items_of(inputs):
    """`--item` flags that say the same."""
    flags = []
    for name, value in inputs.items():
        several = value.values() if isinstance(value, dict) else value
        for each in [value] if isinstance(value, str | int) else several:
            flags += ["--item", f"{name}={each}"]
    return flags


@pytest.mark.parametrize(
    ("flags", "make", "inputs"),
    [
        (["support"], judges.SupportJudge, {"sentence": S, "passage": P}),
        (["support"], judges.SupportJudge, {"sentence": S, "passage": P, "title": "Ice"}),
        (["relevance"], judges.RelevanceJudge, {"question": Q, "passage": P}),
        (["answerability"], judges.AnswerabilityGrader, {"question": Q, "context": P}),
        (["nuggetizer"], judges.Nuggetizer, {"question": Q, "passages": [P, S]}),
        (
            ["answer_writer"],
            AnswerWriter,
            {"question": Q, "passages": {"p1": P, "p2": S}, "way": "passages"},
        ),
        (["keypoint_merger"], judges.KeyPointMerger, {"question": Q, "texts": [P, S, Q]}),
        (["query_writer"], judges.QueryWriter, {"question": Q, "sentence": S, "wanted": 2}),
        (
            ["relevance", "--set", "judges.relevance.scale=rag2025"],
            NarrativeRelevanceJudge,
            {"question": Q, "passage": P, "sub_narratives": "1. one\n2. two"},
        ),
        (
            [
                "relevance",
                "--set",
                "judges.relevance.scale=rag2025",
                "--set",
                "judges.relevance.sub_narratives=each",
            ],
            PartwiseRelevanceJudge,
            {"question": Q, "passage": P, "sub_narratives": "1. one\n2. two"},
        ),
    ],
)
def test_the_messages_are_those_that_a_model_gets(judge, sent, flags, make, inputs):
    (row,) = judge("prompt", *flags, *items_of(inputs), "--json").rows
    body = sent(make, **inputs)
    assert row["messages"] == body["messages"]
    assert row["schema"] == body["response_format"]["json_schema"]["schema"]
    text = judge("prompt", *flags, *items_of(inputs), "--schema").out
    assert all(f"\n{message['content']}\n" in text for message in body["messages"])
    assert json.loads(text.partition("--- schema of the reply ---\n")[2]) == row["schema"]


@pytest.mark.parametrize(
    ("flags", "make", "one", "several", "texts"),
    [
        (["assigner"], judges.NuggetAssigner, "nugget", "nuggets", ["a nugget", "another"]),
        (["importance"], judges.NuggetImportance, "nugget", "nuggets", ["a nugget", "another"]),
    ],
)
def test_a_field_that_is_repeated_makes_a_window(judge, sent, flags, make, one, several, texts):
    others = {
        "assigner": {"question": Q, "answer": S},
        "importance": {"question": Q},
    }[flags[0]]
    (row,) = judge("prompt", *flags, *items_of({**others, one: texts}), "--json").rows
    assert row["messages"] == sent(make, **others, **{several: texts})["messages"]


def test_further_calls_to_the_same_question_are_counted(judge):
    flags = ["relevance", "--set", "judges.relevance.scale=rag2025"]
    flags += ["--set", "judges.relevance.sub_narratives=each", "--item"]
    one, two, three = (
        judge("prompt", *flags, "sub_narratives=" + "\n".join(f"{i}. a" for i in range(1, n + 1)))
        for n in (1, 2, 3)
    )
    assert "more call" not in one.out
    assert "needs 1 more call like" in two.out
    assert "needs 2 more calls like" in three.out


def test_the_window_of_a_config_is_that_of_the_prompt(judge, tmp_path):
    (tmp_path / "judge.yaml").write_text(
        "program: coverage\njudges: {answerability: {window: 15}}\n"
    )
    flags = items_of({"context": P, "question": [Q, S]})
    (row,) = judge("prompt", "answerability", "--config", "judge.yaml", *flags, "--json").rows
    assert row["question"] == "grade_each"
    assert json.loads(row["messages"][-1]["content"].splitlines()[1])["questions"] == {
        "1": Q,
        "2": S,
    }


@pytest.mark.parametrize("name", list_judges())
def test_every_judge_has_an_example_for_each_of_its_questions(judge, name):
    ran = judge("prompt", name, "--json")
    assert ran.code == 0, ran.err
    asked = {row["question"] for row in ran.rows}
    assert asked == {*find_judge(name).load()().questions()}
    for row in ran.rows:
        assert row["tokens"] == sum(len(each["content"]) for each in row["messages"]) // 4
        assert "(" not in row["messages"][-1]["content"], "a field without an example"


def test_a_judge_of_the_users_own_is_printed(judge, sent, tmp_path):
    (tmp_path / "polite.yaml").write_text(OWN)
    (row,) = judge("prompt", "polite.yaml", "--item", f"reply={S}", "--json").rows
    body = sent(
        lambda model: judges.CustomJudge(tmp_path / "polite.yaml", model), reply=S, tone="(how)"
    )
    assert row["messages"] == body["messages"]
    assert (row["judge"], row["from_example"]) == ("polite", ["tone"])


def test_a_judge_file_brings_its_instructions_and_examples(judge, sent, tmp_path):
    demo = {"sentence": "It rains.", "passage": "Rain fell.", "verdict": "full"}
    state = JudgeFile(
        judge="support", version=judges.SupportJudge.version, scale=judges.SupportJudge.scale,
        model="openai/other",
        prompts={"judge": FittedPrompt(instructions="Say how far.", demos=(demo,))},
        words={"rain": 2.0},
    )  # fmt: skip
    (tmp_path / "fit.json").write_text(state.text())
    inputs = {"sentence": S, "passage": P}
    (row,) = judge("prompt", "fit.json", *items_of(inputs), "--json").rows
    plain = state.model_copy(update={"words": None})
    body = sent(lambda model: judges.SupportJudge(model).copy_with_fit(plain), **inputs)
    assert row["messages"] == body["messages"]
    assert [each["role"] for each in row["messages"]] == ["system", "user", "assistant", "user"]


def test_a_jury_prints_the_prompt_of_each_member_and_a_model_its_own_roles(judge, tmp_path):
    (tmp_path / "jury.yaml").write_text("""program: support
models:
  default: {model: lexical}
  plain: {model: openai/a, system_role: developer}
judges:
  support:
    jury: {members: [default, {model: plain, reasoning: true}]}
""")
    rows = judge("prompt", "support", "--config", "jury.yaml", "--json").rows
    assert [row["messages"][0]["role"] for row in rows] == ["system", "developer"]
    assert len({row["question"] for row in rows}) == 2


def test_items_of_a_file_share_a_prompt_as_in_a_run(judge, tmp_path):
    lines = [
        {
            "topic_id": "t", "run_id": "r", "nugget_id": str(i), "question": Q, "answer": S,
            "nugget": n,
        }
        for i, n in enumerate(["one", "two", "three"])
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = judge("prompt", "assigner", "--items", "items.jsonl", "--n", "2", "--json").rows
    assert '"nuggets":{"1":"one","2":"two"}' in row["messages"][-1]["content"]
    assert row["from_example"] == []


@pytest.mark.slow
def test_tokens_are_those_of_the_model_where_litellm_has_its_tokenizer(judge, monkeypatch):
    tiktoken = pytest.importorskip("tiktoken")
    package = Path(find_spec("litellm").origin).parent  # it brings tiktoken's files along
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(package / "litellm_core_utils/tokenizers"))
    (row,) = judge("prompt", "support", "--for", "gpt-4o", "--json").rows
    assert row["counted_by"] == "LiteLLM, o200k_base"
    encoding = tiktoken.get_encoding("o200k_base")
    texts = sum(len(encoding.encode(each["content"])) for each in row["messages"])
    expected = texts + 4 * len(row["messages"]) + 3  # as OpenAI counts messages
    assert abs(row["tokens"] - expected) <= 2  # LiteLLM cuts long texts before it encodes them
    (other,) = judge("prompt", "support", "--for", "hosted_vllm/qwen", "--json").rows
    assert "LiteLLM has no tokenizer for hosted_vllm/qwen" in other["counted_by"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["suport"], "unknown judge 'suport'; did you mean support?; wanted"),
        (["absent.yaml"], "absent.yaml: no such file"),
        (
            ["support", "--item", "sentnce=x"],
            "no such field; wanted one of sentence, passage, title; did",
        ),
        (["support", "--item", "x"], "--item x: wanted FIELD=VALUE"),
        (["support", "--item", "passage=a", "--item", "passage=b"], "given 2 times; wanted once"),
        (["query_writer", "--item", "wanted=two"], "--item wanted=two: wanted a whole number"),
        (["nuggetizer", "--items", "items.jsonl"], "does not label items; use --item"),
        (["support", "--items", "items.jsonl", "--item", "a=b"], "use one of them"),
    ],
)
def test_what_cannot_be_printed_ends_in_one_line(judge, tmp_path, flags, said):
    (tmp_path / "items.jsonl").write_text("{}\n")
    ran = judge("prompt", *flags)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_without_a_name_all_judges_are_listed_with_their_fields(judge):
    rows = judge("prompt", "--json").rows
    assert [row["judge"] for row in rows] == list_judges()
    assert {"judge": "support", "fields": ["sentence", "passage", "title"]} in rows
    assert "question, answer, nugget" in judge("prompt").out


# `judge init` writes a config that runs on the user's own files.
ANSWER = {
    "run_id": "mine", "topic_id": "t1", "topic": "why tides", "references": ["d1"],
    "response_length": 4, "answer": [{"text": "Tides follow the moon.", "citations": [0]}],
}  # fmt: skip


@pytest.fixture
def files(tmp_path):
    (tmp_path / "questions.tsv").write_text("t1\twhy tides\n")
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "mine.jsonl").write_text(json.dumps(ANSWER) + "\n")
    text = {"docid": "d1", "title": "", "text": "Tides follow the moon."}
    (tmp_path / "texts.jsonl").write_text(json.dumps(text) + "\n")
    return tmp_path


def test_a_config_for_files_elsewhere_runs_as_it_is(judge, files):
    options = [
        "--topics", "questions.tsv", "--runs", "answers/*.jsonl", "--passages", "texts.jsonl",
    ]  # fmt: skip
    ran = judge("init", "deep/mine", *options)
    assert ran.code == 0
    assert "1 topic, 1 run, 1 answer" in ran.err
    written = yaml.safe_load((files / "deep/mine/judge.yaml").read_text())
    assert written["program"] == ["support"]  # there is nothing to make nuggets of
    assert written["data"]["runs"] == "../../answers/*.jsonl"
    assert judge("run", "deep/mine/judge.yaml", "--out", "out").code == 0
    assert (files / "out" / "scores.jsonl").exists()


def test_files_with_the_usual_names_need_no_option_and_the_config_is_short(judge, files):
    (files / "mine").mkdir()
    (files / "questions.tsv").rename(files / "mine" / "topics.tsv")
    (files / "answers").rename(files / "mine" / "runs")
    (files / "texts.jsonl").rename(files / "mine" / "passages.jsonl")
    assert judge("init", "mine").code == 0
    assert len((files / "mine" / "judge.yaml").read_text().splitlines()) <= 15
    assert judge("run", "mine/judge.yaml", "--out", "out").code == 0


def test_without_files_it_names_those_that_are_wanted_and_where(judge, files):
    ran = judge("init", "mine")
    assert ran.code == 0
    for name in ("topics.tsv", "runs", "passages.jsonl", "candidates.jsonl"):
        assert f"mine/{name}: " in ran.err
    assert yaml.safe_load((files / "mine" / "judge.yaml").read_text())["program"] == [
        "nuggets",
        "support",
    ]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--topics", "gone.tsv"], "--topics gone.tsv: no such file"),
        (["--topics", "questions.tsv", "--runs", "gone/*.jsonl"], "gone/*.jsonl"),
        (
            ["--topics", "texts.jsonl", "--runs", "answers"],
            "--topics texts.jsonl: contains passages; name it with --passages",
        ),
        (["--model", "hosted_vllm/mine"], "api_base"),
        (["--demo", "--topics", "questions.tsv"], "--demo"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(judge, files, options, named):
    ran = judge("init", "mine", *options)
    assert ran.code == 2
    assert named in ran.err
    assert not (files / "mine").exists()


def test_a_config_that_is_there_is_not_overwritten(judge, files):
    (files / "judge.yaml").write_text("program: nuggets\n")
    ran = judge("init", ".")
    assert ran.code == 2
    assert (files / "judge.yaml").read_text() == "program: nuggets\n"


def test_the_model_and_names_that_yaml_would_read_otherwise_come_back(judge, files):
    (files / "questions.tsv").rename(files / "it's: #1, [a].tsv")
    options = ["--topics", "it's: #1, [a].tsv", "--runs", "answers"]
    model = ["--model", "hosted_vllm/q", "--api-base", "http://127.0.0.1:1/v1"]
    assert judge("init", "mine", *options, *model).code == 0
    written = yaml.safe_load((files / "mine" / "judge.yaml").read_text())
    assert written["data"]["topics"] == "../it's: #1, [a].tsv"
    assert written["models"]["default"] == {
        "model": "hosted_vllm/q",
        "api_base": "http://127.0.0.1:1/v1",
    }


def test_the_example_is_copied_whole_and_runs(judge, files):
    assert judge("init", "try", "--demo").code == 0
    assert judge("run", "try/judge.yaml", "--out", "out").code == 0
    assert judge("init", "try", "--demo").code == 2  # nothing there is overwritten


def test_what_a_read_only_package_copies_can_be_edited(judge, files, monkeypatch):
    package = files / "package"
    shutil.copytree(init.EXAMPLE, package)
    for path in sorted(package.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(init, "EXAMPLE", package)
    assert judge("init", "try", "--demo").code == 0
    copied = [files / "try", *(files / "try").rglob("*")]
    assert len(copied) > 5
    assert all(path.stat().st_mode & 0o200 for path in copied)
    for path in package.rglob("*"):
        path.chmod(0o755)
