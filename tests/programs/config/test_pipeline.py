"""How pipelines are spelled, and which orders of steps make sense."""

import pytest
from pydantic import TypeAdapter, ValidationError

from nuggetjudge.programs.config.pipelines import (
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
        Bm25Step(step="bm25", hits=100),
        RrfStep(step="rrf"),
        MonoT5Step(step="monot5"),
        MmrStep(step="mmr", hits=10),
    )


def test_a_pipeline_read_back_from_a_manifest_is_the_same():
    steps = read(["bm25 50", {"dense": {"model": "some/model", "faiss": "Flat"}}, "rrf 20"])
    assert isinstance(steps[1], DenseStep)
    assert read([step.model_dump(mode="json") for step in steps]) == steps


def test_coverage_weighs_relevance_as_the_page_on_contexts_measured_it():
    assert read("bm25, coverage")[1].weight == 0.5


WRONG = {
    "an unknown step": ("bm26", "bm26"),
    "hits that are no number": ("bm25 many", "integer"),
    "no hits": ("bm25 0", "greater than or equal to 1"),
    "an unknown setting": ([{"bm25": {"hit": 3}}], "hit"),
    "two steps in one": ([{"bm25": 3, "rrf": None}], "step"),
    "nothing to rerank": ("mmr 10", "step 1, mmr: no ranking yet"),
    "two rankings to rerank": ("bm25, dense, mmr 10", "step 3, mmr: 2 rankings"),
    "two rankings at the end": ("bm25, dense", "2 rankings are left"),
    "too few weights": (["bm25", "dense", {"weighted": {"weights": [1]}}], "1 weights for 2"),
}


@pytest.mark.parametrize(("spelled", "message"), WRONG.values(), ids=WRONG.keys())
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
