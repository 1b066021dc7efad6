"""A wrong config is told by file and line, and each setting can be overridden."""

import importlib.util
import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.programs.config import base, reading
from nuggetjudge.programs.config.judge_sections import JudgeConfig
from nuggetjudge.programs.config.pipelines import (
    AnyStep,
    Bm25Step,
    CutStep,
    DenseStep,
    MmrStep,
    MonoT5Step,
    Pipeline,
    RrfStep,
    cut_to,
    make_name,
)
from nuggetjudge.programs.config.reading import config_before, load_config
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.inputs import expand_runs
from nuggetjudge.records.reading.problems import InputError

RIGHT = """\
program: [nuggets, support]
data:
  topics: topics.tsv
  runs: runs/*.jsonl
models:
  default: {model: lexical}
  local:
    model: hosted_vllm/qwen
    api_base: http://127.0.0.1:8000/v1
    temperature: 0.5
judges:
  assigner: {model: local, window: 5}
run: {out: results/demo, concurrency: 8}
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "judge.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


WRONG = {
    "unknown key": ("run:\n  concurency: 3\n", 2, "no such setting; did you mean concurrency?"),
    "unknown section": ("program: nuggets\nruns: {}\n", 2, "runs: no such setting"),
    "wrong type": ("run:\n  out: a\n  concurrency: many\n", 3, "whole number, got 'many'"),
    "out of range": ("run:\n\n  concurrency: 0\n", 3, "greater than or equal to 1, got 0"),
    "as many tasks": ("run: {concurrency: 900000000}\n", 1, "less than or equal to 100000, got 9"),
    "unknown program": ("program: [nuggets, suport]\n", 1, "'suport'; wanted one of relevance"),
    "unknown judge": ("judges:\n  asigner: {}\n", 2, "did you mean assigner?"),
    "unknown key of a model": (
        "models:\n  mine: {model: lexical, tempreature: 1}\n",
        2,
        "did you mean temperature?",
    ),
    "unknown key like none": ("run:\n  zzzz: 3\n", 2, "run.zzzz: no such setting"),
    "lexical mistyped": ("models: {mine: {model: lexicl}}\n", 1, "did you mean lexical?"),
    "window of a judge without": ("judges:\n  support:\n    window: 5\n", 3, "support.window"),
    "grades of a judge without": ("judges:\n  support: {grades: 2}\n", 2, "support.grades"),
    "unknown model alias": (
        "models:\n  default: {model: lexical}\njudges:\n  support:\n    model: local\n",
        5,
        "judges.support.model: no model 'local'; models: default",
    ),
    "duplicate key": ("run:\n  limit: 1\n  out: a\n  limit: 2\n", 4, "'limit' occurs twice"),
    "broken YAML": ("run:\n  limit: [1\ndata: {}\n", 3, "not YAML"),
    "a tag that would run code": ("run: !!python/object/apply:os.system [ls]\n", 1, "not YAML"),
    "a list as a name": ("run: {}\n? [a, b]\n: 3\n", 2, "wanted a name"),
    "no sections": ("- program\n", 1, "wanted sections"),
    "empty section": ("program: nuggets\ndata:\n", 2, "data: wanted a section"),
    "section with a value": ("run: 3\n", 1, "run: wanted a section of settings, got 3"),
    "missing api_base": ("models:\n  m: {model: hosted_vllm/x}\n", 2, "needs api_base"),
    "api_base that is no URL": (
        "models:\n  m:\n    model: openai/x\n    api_base: 127.0.0.1\n",
        2,
        "api_base must",
    ),
    "half a price": ("models:\n  m: {model: lexical, price: {input: 1}}\n", 2, "price.output"),
    "alias": ("run: &a {}\nsupport: *a\n", 2, "anchors are not supported"),
    "alias of itself": ("models: &a\n  x: *a\n", 2, "anchors are not supported"),
    "billion laughs": (
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
        2,
        "anchors are not supported",
    ),
    "thousands of brackets": ("program: " + "[" * 5000 + "]" * 5000 + "\n", 1, "nested deeper"),
    "thousands of braces": ("run: {}\ndata: " + "{a: " * 5000 + "\n", 2, "nested deeper"),
    "binary": ("run:\n  out: !!binary aGk=\n", 2, "tag !!binary"),
    "set": ("run: {}\nprogram: !!set {nuggets}\n", 2, "tag !!set"),
    "half a character": ('run:\n  out: "a\\ud800"\n', 2, "lone surrogate"),
    "half a character in a name": ('models:\n  "\\ud800": {}\n', 1, "lone surrogate"),
    "NUL": ('run:\n  out: "a\\0b"\n', 2, "NUL"),
    "65 bits": (f"run:\n  limit: {2**63}\n", 2, "64 bits"),
    "65 bits below zero": (f"run:\n  limit: {-(2**63) - 1}\n", 2, "64 bits"),
    "65 bits for a model": (
        f"models:\n  m:\n    model: lexical\n    seed: {2**70}\n",
        4,
        "64 bits",
    ),
    "5,000 digits": ("run:\n  limit: " + "9" * 5000 + "\n", 2, "cannot be read as int"),
    "a day that is none": ("run:\n  out: 2024-99-99\n", 2, "cannot be read as timestamp"),
    "infinity": ("run:\n  max_cost: .inf\n", 2, "finite"),
    "not a number": ("run:\n  allow_missing: .nan\n", 2, "finite"),
    "a number as a name": ("models:\n  3: {model: lexical}\n", 2, "wanted a name"),
    "a name too long": ("run:\n  out: " + "x" * 256 + "\n", 2, "longer than 255 bytes"),
    "a path too long": ("run:\n  out: " + "x/" * 3000 + "\n", 2, "the path is longer"),
    "control character": ("run: {}\n# \x01\n", 2, "special characters"),
    "a setting of before": ("run:\n  out: a\n  seed: 0\n", 3, "run.seed: was removed"),
    "citations of no kind": ("support:\n  citations: second\n", 2, "'first' or 'all'"),
}


def test_a_model_without_provider_is_told_by_the_one_that_has_it(written):
    with pytest.raises(InputError, match=r"did you mean anthropic/claude-sonnet-4-5\?"):
        load_config(written("models: {mine: {model: claude-sonnet-4-5}}\n"), {})
    with pytest.raises(InputError, match=r"Write openai/house-model for OpenAI"):
        load_config(written("models: {mine: {model: house-model}}\n"), {})


@pytest.mark.parametrize(("text", "line", "what"), WRONG.values(), ids=WRONG)
def test_an_error_names_file_line_and_setting(text, line, what, written):
    path = written(text)
    with pytest.raises(InputError) as error:
        load_config(path, {})
    first = str(error.value).splitlines()[0]
    assert first.startswith(f"{path}:{line}: ")
    assert what in first


def test_all_wrong_settings_are_told_at_once(written):
    path = written("program: nugets\nrun:\n  concurrency: 0\n  sed: 1\n")
    with pytest.raises(InputError) as error:
        load_config(path, {})
    lines = [line.removeprefix(f"{path}:").split(":")[0] for line in str(error.value).splitlines()]
    assert lines == ["1", "3", "4"]


def test_a_missing_config_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.yaml: no such file; `judge init DIR`"):
        load_config(tmp_path / "gone.yaml", {})


def test_paths_are_relative_to_the_config_file(written, tmp_path):
    config = load_config(written(RIGHT), {})
    assert config.data.topics == tmp_path / "topics.tsv"
    assert config.data.runs == (str(tmp_path / "runs/*.jsonl"),)
    assert config.run.out == Path("results/demo")  # of the working directory


EVERYWHERE = """\
data: {topics: a, candidates: a, qrels: a, nuggets: a, items: a, questions: a, reference: a,
       keypoints: a, documents: a, index: a, pool: a, runs: a, retrieval: [a], passages: a,
       ratings: [a]}
judges: {support: {state: a}}
models: {default: {model: lexical, recording: a}}
generate: {instructions: a}
items: {judge: a}
retrieve: [{run: {path: a}}, {step: run, path: a}, rrf]
pipelines: {one: [{lucene: {index: there}}], two: [{lucene: {index: a}}]}
"""


def paths_in(value):
    """Every path, or text that may be one, of a config."""
    if isinstance(value, BaseModel):
        return [
            path for name in type(value).model_fields for path in paths_in(getattr(value, name))
        ]
    if isinstance(value, dict | tuple):
        parts = value.values() if isinstance(value, dict) else value
        return [path for each in parts for path in paths_in(each)]
    return [str(value)] if Path(str(value)).name in ("a", "there") else []


def test_every_path_of_a_file_stands_beside_it(written, tmp_path):
    (tmp_path / "there").touch()
    paths = paths_in(load_config(written(EVERYWHERE), {}))
    paths.remove("a")  # a name that Lucene may know, where there is no such path
    assert sorted(paths) == [*[str(tmp_path / "a")] * 21, str(tmp_path / "there")]


@pytest.mark.whole
def test_a_path_of_an_input_that_a_plugin_brings_stands_beside_its_file(written, tmp_path):
    paths = paths_in(load_config(written("data: {question_lists: a}\n"), {}))
    assert paths == [str(tmp_path / "a")]


def test_a_judge_of_items_is_a_name_before_it_is_a_file(written):
    config = load_config(written("items: {judge: support}\n"), {})
    assert (config.items.judge, config.items.own) == ("support", None)


def test_no_path_of_a_setting_is_left_where_one_works(written):
    """Those that are said to be of the working directory excepted: a new one has to choose."""
    left = {"run.out", "run.cache"}
    kinds = [Config, ModelConfig, JudgeConfig, *get_args(get_args(AnyStep)[0])]
    sections = [field.annotation for field in Config.model_fields.values()]
    kinds += [kind for kind in sections if isinstance(kind, type) and issubclass(kind, BaseModel)]
    for kind in kinds:
        for name, field in kind.model_fields.items():
            if "pathlib.Path" in repr(field) and "beside" not in repr(field):
                assert {f"run.{name}"} <= left, (kind, name)


def test_a_manifest_of_before_is_read_without_what_is_gone():
    data = Config().model_dump(mode="json", by_alias=True)
    data["run"] |= {"seed": 7, "limit": 3}
    assert config_before(data).run.limit == 3
    assert data["run"]["seed"] == 7
    with pytest.raises(InputError, match=r"^--set run\.seed=1: run\.seed: was removed"):
        load_config(None, {}, ["run.seed=1"])


def test_texts_that_go_on_to_an_endpoint_are_plain_json(written):
    text = "models: {default: {model: openai/x, extra_body: {a: [b]}}}\n"
    config = load_config(written(text), {})
    assert json.dumps(config.models["default"].extra_body) == '{"a": ["b"]}'
    assert "a" in yaml.safe_dump(config.model_dump(mode="json"))


def test_paths_in_flags_and_sets_stand_as_they_are(written):
    config = load_config(written(RIGHT), {"data.topics": Path("t.tsv")}, ["data.qrels=q.txt"])
    assert (config.data.topics, config.data.qrels) == (Path("t.tsv"), Path("q.txt"))


def test_set_wins_over_flags_and_flags_win_over_the_file(written):
    path = written(RIGHT)
    assert load_config(path, {}).run.concurrency == 8
    assert load_config(path, {"run.concurrency": 9}).run.concurrency == 9
    config = load_config(path, {"run.concurrency": 9}, ["run.concurrency=10"])
    assert config.run.concurrency == 10


def test_set_reads_its_value_as_yaml(written):
    sets = ["models.default.price={input: 1.5, output: 6}", "program=[support]", "run.cache=false"]
    config = load_config(written(RIGHT), {}, sets)
    price = config.models["default"].price
    assert price is not None
    assert (price.input, price.output) == (1.5, 6.0)
    assert config.program == ("support",)
    assert config.run.cache is False


@pytest.mark.parametrize(
    "pair",
    ["run.concurrency", "run.concurrency=x", "run.nothing=1", "run=1", "run.concurrency.a=1",
     "run.out=[1", "=1", "judges.assigner.model=nobody", "models.default.model=hosted_vllm/x"],
)  # fmt: skip
def test_a_wrong_set_is_quoted(pair, written):
    with pytest.raises(InputError) as error:
        load_config(written(RIGHT), {}, [pair])
    assert str(error.value).startswith(f"--set {pair}: ")


def test_an_item_of_a_list_that_a_flag_gives_is_not_blamed_on_the_file(written):
    path = written("program: [evidence]\nevidence:\n  of: [none]\n")
    with pytest.raises(InputError) as error:
        load_config(path, {}, ["evidence.of=[foo]"])
    (line,) = str(error.value).splitlines()
    assert line.startswith("--set evidence.of=[foo]: evidence.of.0: ")


SECRET = "sk-tide-7f3a9c55e1"


@pytest.mark.parametrize(
    ("pair", "shown"),
    [(f"models.default.api_key={SECRET}", "models.default.api_key=***: "),
     (f"OPENAI_API_KEY={SECRET}", "OPENAI_API_KEY=***: "),
     (f"models.default.X-Auth-Token={SECRET}", "models.default.X-Auth-Token=***: "),
     (f"run.password.of={SECRET}", "run.password.of=***: "),
     (f"models.default={{model: openai/x, api_key: {SECRET}}}", "models.default=***: "),
     (f"models.default.price=[{{Authorization: {SECRET}}}]", "models.default.price=***: "),
     (f"models.default.api_key_env={SECRET}", "models.default.api_key_env=***: "),
     (f"models.default.token=*{SECRET}", "models.default.token=***: the value is not plain YAML"),
     (f"models.default.secret=[{SECRET}", "models.default.secret=***: the value is not plain YAML"),
     (f"models.default.api_key:{SECRET}", "models.default.api_key: wanted NAME=VALUE")],
)  # fmt: skip
def test_the_value_of_a_secret_is_not_quoted(pair, shown, written):
    with pytest.raises(InputError) as error:
        load_config(written(RIGHT), {}, [pair])
    assert str(error.value).startswith(f"--set {shown}")
    assert SECRET not in str(error.value)


def test_a_secret_in_a_file_is_not_quoted(written):
    path = written(f"models:\n  default: {{model: openai/x, api_key_env: {SECRET}}}\n")
    with pytest.raises(InputError, match=r":2: models\.default\.api_key_env: .*, got \*\*\*$"):
        load_config(path, {})


def test_options_of_an_engine_hold_no_secret(written):
    engine = f"{{model: m, engine: vllm, vllm: {{deep: [{{hf_token: {SECRET}}}]}}}}"
    with pytest.raises(InputError, match="vllm cannot hold 'hf_token'") as error:
        load_config(written(RIGHT), {}, [f"models.default={engine}"])
    assert SECRET not in str(error.value)


def test_model_takes_a_plain_name_and_keeps_the_other_settings(written):
    path = written("models:\n  default: {model: openai/a, temperature: 0.7}\n")
    _, model = load_config(path, {}, model="openai/b").get_model("support")
    assert (model.model, model.temperature) == ("openai/b", 0.7)


def test_another_model_takes_no_price_recording_or_engine_over(written):
    entry = "{model: openai/a, api_base: 'http://127.0.0.1/v1', concurrency: 3, rpm: 9, "
    entry += "engine: recorded, recording: a.jsonl, price: {input: 1, output: 2}}"
    path = written(f"models:\n  default: {entry}\n")
    _, model = load_config(path, {}, model="openai/b").get_model("support")
    assert (model.model, model.engine, model.recording, model.price) == ("openai/b",) + (None,) * 3
    assert (model.api_base, model.concurrency, model.rpm) == ("http://127.0.0.1/v1", 3, 9)
    _, same = load_config(path, {}, model="openai/a").get_model("support")
    assert (same.engine, same.price is None) == ("recorded", False)


def test_model_takes_the_name_of_an_entry_whole(written):
    _, model = load_config(written(RIGHT), {}, model="local").get_model("support")
    assert (model.model, model.temperature) == ("hosted_vllm/qwen", 0.5)
    assert model.base_url == "http://127.0.0.1:8000/v1"


def test_a_judge_with_a_model_of_its_own_keeps_it(written):
    config = load_config(written(RIGHT), {}, model="openai/b")
    assert config.get_model("assigner")[1].model == "hosted_vllm/qwen"


def test_without_any_model_the_lexical_one_answers(written):
    config = load_config(written("program: nuggets\n"), {})
    assert config.get_model("assigner")[1].model == "lexical"


@pytest.mark.parametrize("name", ["[1] tides", "what?", "a*"])
def test_the_name_of_the_configs_folder_is_no_pattern(name, tmp_path):
    folder = tmp_path / name
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "a.jsonl").write_text("{}", encoding="utf-8")
    path = folder / "judge.yaml"
    for runs in ("runs/*.jsonl", "runs", "runs/a.jsonl"):
        path.write_text(f"data: {{runs: {runs}}}\n", encoding="utf-8")
        assert expand_runs(load_config(path, {}).data.runs) == [folder / "runs" / "a.jsonl"]


def test_a_setting_is_named_once():
    with pytest.raises(InputError) as error:
        load_config(None, {"run.max_calls": 0})
    assert str(error.value).count("run.max_calls") == 1


@pytest.mark.parametrize("value", ["*a", "!!binary aGk=", "9" * 5000, "[" * 3000, str(2**64)])
def test_a_set_is_read_as_carefully_as_a_file(value):
    with pytest.raises(InputError, match=r"^--set run\.limit="):
        load_config(None, {}, [f"run.limit={value}"])


def test_a_header_deep_in_extra_body_is_found_at_its_line_and_its_value_not_shown(tmp_path):
    file = tmp_path / "judge.yaml"
    lines = ["models:", "  default:", "    model: openai/x", "    extra_body:", "      options:"]
    lines += ["        - a: 1", "          extra_headers: {Authorization: Bearer sk-123456789}"]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_config(file, {})
    at = "models.default.extra_body.options.0.extra_headers"
    assert str(caught.value) == f"{file}:7: {at}: extra_body cannot hold 'extra_headers'"


def test_an_endpoint_named_beside_a_model_is_where_it_is_asked(written):
    url = "http://127.0.0.1:9000/v1"
    path = written(RIGHT)
    there = {"models.default.api_base": url}
    config = load_config(path, there, model="hosted_vllm/other")
    assert (config.models["default"].model, config.models["default"].api_base) == (
        "hosted_vllm/other",
        url,
    )
    config = load_config(path, there, model="local")
    assert config.models["default"].api_base == url
    assert config.models["local"].api_base == "http://127.0.0.1:8000/v1"


# Sections of a config that programs of other packages bring.
class Tides(base.Section):
    """Of another package."""

    high: int = 3


def test_a_section_is_found_by_its_entry_point_and_a_broken_one_is_left_out(monkeypatch):
    entries = [
        EntryPoint("tides", f"{__name__}:Tides", base.SECTIONS),
        EntryPoint("broken", "no_such_package:Section", base.SECTIONS),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda self: Tides if self.name == "tides" else 1 / 0)
    monkeypatch.setattr(
        base, "entry_points", lambda group: entries if group == base.SECTIONS else []
    )
    monkeypatch.setattr(base, "broken", {})
    monkeypatch.setattr(reading, "broken", base.broken)
    assert base.load_sections() == {"tides": Tides}
    with pytest.raises(InputError, match=r"broken: no such setting: no_such_package:Section cann"):
        load_config(None, {"broken.high": 1})


def test_every_installed_section_is_in_the_config_and_found_by_its_class():
    for name, kind in base.load_sections().items():
        assert Config.model_fields[name].annotation is kind
        assert load_config(None, {}).section(kind) == kind()


def test_a_manifest_made_with_a_program_that_is_not_installed_is_read():
    data = load_config(None, {"run.limit": 3}).model_dump(mode="json", by_alias=True)
    given = {**data.get("data", {}), "tide_tables": ["tides.jsonl"]}
    assert config_before({**data, "tides": {"high": 2}, "data": given}).run.limit == 3


# docs/reference/settings.md has every setting, as the fields have it.
ROOT = Path(__file__).parents[2]


@pytest.mark.whole
def test_the_page_of_settings_is_made_of_the_fields_and_each_says_what_it_means():
    where = importlib.util.spec_from_file_location("settings", ROOT / "docs/site/settings.py")
    made = importlib.util.module_from_spec(where)
    where.loader.exec_module(made)
    page = made.PAGE.read_text(encoding="utf-8")
    assert page == made.page(), "python docs/site/settings.py renews it"
    assert "|  |\n" not in page
    row = "| `groundedness.context_words` | whole number from 1 | `3000` |"
    assert row in page


# How pipelines are spelled, and which orders of steps make sense.
read = TypeAdapter(Pipeline).validate_python
SPELLINGS = {
    "words": "bm25 100, rrf, monot5, mmr 10",
    "a list of words": ["bm25 100", "rrf", "monot5", "mmr 10"],
    "numbers": [{"bm25": 100}, "rrf", "monot5", {"mmr": 10}],
    "settings": [{"bm25": {"hits": 100}}, {"rrf": {}}, {"monot5": None}, {"mmr": {"hits": 10}}],
    "in full": [
        {"step": "bm25", "hits": 100},
        {"step": "rrf"},
        {"step": "monot5"},
        {"step": "mmr", "hits": 10},
    ],
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_every_spelling_gives_the_same_typed_steps(spelled):
    assert read(spelled) == (
        Bm25Step(step="bm25", hits=100), RrfStep(step="rrf"), MonoT5Step(step="monot5"),
        MmrStep(step="mmr", hits=10),
    )  # fmt: skip


def test_a_pipeline_read_back_from_a_manifest_is_the_same():
    steps = read(["bm25 50", {"dense": {"model": "some/model", "faiss": "Flat"}}, "rrf 20"])
    assert isinstance(steps[1], DenseStep)
    assert read([step.model_dump(mode="json") for step in steps]) == steps


def test_coverage_weighs_relevance_as_the_page_on_contexts_measured_it():
    assert read("bm25, coverage")[1].weight == 0.5


PIPELINE_WRONG = {
    "an unknown step": ("bm26", "bm26"),
    "hits that are no number": ("bm25 many", "integer"),
    "no hits": ("bm25 0", "greater than or equal to 1"),
    "an unknown setting": ([{"bm25": {"hit": 3}}], "hit"),
    "two steps in one": ([{"bm25": 3, "rrf": None}], "step"),
    "nothing to rerank": ("mmr 10", "step 1, mmr: has no ranking"),
    "two rankings to rerank": ("bm25, dense, mmr 10", "step 3, mmr: 2 rankings"),
    "two rankings at the end": ("bm25, dense", "2 rankings are left"),
    "too few weights": (["bm25", "dense", {"weighted": {"weights": [1]}}], "1 weights for 2"),
}


@pytest.mark.parametrize(("spelled", "message"), PIPELINE_WRONG.values(), ids=PIPELINE_WRONG.keys())
def test_a_pipeline_that_makes_no_sense_is_refused(spelled, message):
    with pytest.raises(ValidationError, match=message):
        read(spelled)


def test_a_run_is_named_by_its_steps_and_a_cut_does_not_count():
    assert make_name(read("bm25, dense, rrf, mmr 10, cut 5")) == "bm25-dense-rrf-mmr"


def test_a_limit_adds_one_cut_and_no_limit_none():
    steps = read("bm25")
    assert cut_to(steps) == steps
    assert cut_to(steps, 10) == (*steps, CutStep(step="cut", hits=10))
    assert cut_to(steps, None, 500, required=True) == (
        *steps,
        CutStep(step="cut", tokens=500, required=True),
    )
