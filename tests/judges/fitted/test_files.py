"""Judge files: JSON data that loads without code, and is refused where it does not fit."""

import json
import pickle
import subprocess
import sys

import pytest

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import JudgeFile, SupportJudge, read_judge_file
from nuggetjudge.judges.fitted import Correction, FittedPrompt, IsotonicCurve, OrdinalCurve
from nuggetjudge.records.reading.problems import InputError

SCALE = ("none", "partial", "full")
CORRECTION = Correction(
    cuts=(0.2, 0.6),
    curve=OrdinalCurve(slope=4.0, thresholds=(1.0, 3.0)),
    topics={"t1": 0.1, "größe": -0.2},
    spread=0.4,
)
FILE = JudgeFile(
    judge="support",
    version=SupportJudge.version,
    scale=SCALE,
    model="lexical",
    prompts={"judge": FittedPrompt(instructions="Judge »strictly«.\nIndeed.")},
    words={"tide": 1.5},
    correction=CORRECTION,
    fitted={"method": "topic", "n": 3, "figures": {"kappa": None}},
)

# What a fresh process runs: pickle raises as soon as anything is loaded with it.
WITHOUT_PICKLE = """
import pickle, sys
from pathlib import Path
def refuse(*args, **options):
    raise AssertionError("pickle was used")
pickle.load = pickle.loads = pickle.Unpickler = refuse
from nuggetjudge.judges import SupportJudge, read_judge_file
judge = SupportJudge(model="lexical").fitted(read_judge_file(Path(sys.argv[1])))
print(judge(sentence="tides turn", passage="the tides turn twice").verdict)
"""


def written(tmp_path, **changes):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({**json.loads(FILE.text()), **changes}), encoding="utf-8")
    return path


def test_what_is_written_is_read_and_equal_files_have_equal_bytes(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(FILE.text(), encoding="utf-8")
    reread = read_judge_file(path)
    assert reread == FILE
    assert reread.text() == FILE.text()
    isotonic = Correction(curve=IsotonicCurve(places=(0.1, 0.5), shares=((0.2, 0.9), (0.0, 0.4))))
    other = FILE.model_copy(update={"correction": isotonic})
    path.write_text(other.text(), encoding="utf-8")
    assert read_judge_file(path) == other != FILE


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(FILE.text(), encoding="utf-8-sig")
    assert read_judge_file(path) == FILE


def test_a_file_loads_in_a_fresh_process_that_blocks_pickle(tmp_path):
    command = [sys.executable, "-c", WITHOUT_PICKLE, str(written(tmp_path))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "full\n"


def test_a_fitted_judge_has_the_prompt_the_words_and_the_correction_of_its_file():
    judge = SupportJudge(model="lexical")
    fitted = judge.fitted(FILE)
    assert fitted.judge.signature.instructions == "Judge »strictly«.\nIndeed."
    assert (fitted.correction, fitted.fitted_words) == (CORRECTION, {"tide": 1.5})
    assert judge.correction is None
    assert judge.judge.signature.instructions != fitted.judge.signature.instructions
    heavy = {"sentence": "tide wall", "passage": "the wall"}
    plain = judge.fitted(FILE.model_copy(update={"words": None, "correction": None}))
    assert plain(**heavy).score != fitted(**heavy).score


REFUSED = {
    "another judge": ({"judge": "relevance"}, "a file of the relevance judge, wanted support"),
    "another version": ({"version": "0"}, "version 0 of the support judge, this is 3; fit it"),
    "another scale": (
        {"scale": ["no", "some", "yes"]}, "labels are no, some, yes, those of the judge none"
    ),
    "another model": ({"model": "openai/gpt-4o"}, "fitted to scores of openai/gpt-4o, which"),
    "a question it does not ask": (
        {"prompts": {"rate": {"instructions": "x"}}}, "a prompt for 'rate', the judge asks judge"
    ),
    "an example of another judge": (
        {"prompts": {"judge": {"instructions": "x", "demos": [{"nugget": "n"}]}}},
        "an example has 'nugget', wanted passage, title, sentence, verdict",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "what"), REFUSED.values(), ids=REFUSED)
def test_a_file_for_something_else_is_refused(tmp_path, changes, what):
    file = read_judge_file(written(tmp_path, **changes))
    with pytest.raises(ValueError, match=what):
        SupportJudge(model="lexical").fitted(file)


def test_prompts_alone_serve_any_model():
    file = FILE.model_copy(update={"model": "openai/gpt-4o", "correction": None, "words": None})
    assert SupportJudge(model="lexical").fitted(file).fitted_prompts == FILE.prompts


BROKEN = {
    "cuts for fewer labels": ({"correction": {"cuts": [0.5]}}, "correction: it is for 2 labels,"),
    "cuts that fall": ({"correction": {"cuts": [0.5, 0.1]}}, "correction: cuts must ascend"),
    "an unknown key": ({"code": "print()"}, "code: Extra inputs are not permitted, got 'print()'"),
    "an unknown key inside": ({"correction": {"cut": [1]}}, "correction: cut: Extra inputs are"),
    "words that are no numbers": ({"words": {"a": "heavy"}}, "words: a: Input should be a valid"),
    "words without an end": ({"words": {"a": float("nan")}}, "words: a: Input should be a finite"),
    "another format": ({"format": "nuggetjudge-judge-9"}, "not a judge file, wanted format"),
    "no instructions": ({"prompts": {"judge": {"instructions": ""}}}, "prompts: judge: instru"),
    "no scale": ({"scale": None}, "scale: Input should be a valid array"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "what"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_by_name_and_place(tmp_path, changes, what):
    path = written(tmp_path, **changes)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}: {what}")
    assert "\n" not in str(error.value)


WHOLE = {
    "cuts that fall": (
        {"cuts": [0.5, 0.1]},
        "correction: cuts must ascend, got 0.1 after 0.5 at 1",
    ),
    "a curve of no kind": ({"curve": {"slope": 1}}, "correction: curve: Unable to extract tag"),
    "a curve without places": (
        {"curve": {"kind": "isotonic", "shares": [[0.5]]}},
        "correction: curve: isotonic: places: Field required",
    ),
}


@pytest.mark.parametrize(("correction", "what"), WHOLE.values(), ids=WHOLE)
def test_what_is_wrong_with_a_whole_object_is_said_without_the_object(tmp_path, correction, what):
    path = written(tmp_path, correction=correction)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}: {what}")
    assert "{" not in str(error.value)


NOT_JSON = {
    "torn": (FILE.text().encode()[:100], ":6: not JSON"),
    "empty": (b"", ":1: not JSON"),
    "a list": (b"[]", ": not a judge file, wanted format"),
    "too deep": (b"[" * 100_000, ": not a judge file, its JSON is nested too deeply"),
    "pickled": (pickle.dumps(json.loads(FILE.text())), ": cannot be read"),
}


@pytest.mark.parametrize(("content", "what"), NOT_JSON.values(), ids=NOT_JSON)
def test_bytes_that_are_no_judge_file_are_refused(tmp_path, content, what):
    path = tmp_path / "judge.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}{what}")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none.json: cannot be read"):
        read_judge_file(tmp_path / "none.json")


def test_cuts_for_log_probability_scores_are_refused_by_a_judge_without_them():
    entry = {"model": "openai/mock", "api_base": "http://127.0.0.1:9/v1"}
    plain = SupportJudge(model=ModelConfig(**entry))
    sure = SupportJudge(model=ModelConfig(**entry, logprobs=True))
    file = JudgeFile(
        judge="support",
        version=plain.version,
        scale=plain.scale,
        model="openai/mock",
        logprobs=True,
        correction=Correction(cuts=(0.3, 0.6)),
    )
    assert sure.fitted(file).correction == file.correction
    with pytest.raises(ValueError, match="fitted with log-probabilities, this model is asked with"):
        plain.fitted(file)
