"""The lexical backend answers at once, without a model, and asks nobody."""

import pytest

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges import SupportJudge
from nuggetjudge.records.judgements import Reason


def test_it_answers_as_the_twin_of_the_question_does(support):
    budget = Budget(max_calls=0, max_tokens=0, max_cost=0)
    backend = open_backend(ModelConfig(model="lexical"), budget=budget, offline=True)
    same = {"passage": "Rain fell all day on the hills.", "sentence": "Rain fell on the hills."}
    reply = run_sync(backend.ask(support, same))
    assert reply.values == support.twin(same) == {"verdict": "full"}
    assert (reply.provenance.model, reply.provenance.prompt_tokens) == ("lexical", 0)
    assert budget.usage.requests == 0
    run_sync(backend.aclose())


def test_a_question_without_a_twin_is_abstained_from():
    prompt = Prompt(SupportJudge(model="lexical").judge.signature)
    with pytest.raises(JudgeError, match="no lexical twin") as caught:
        run_sync(
            open_backend(ModelConfig(model="lexical")).ask(
                prompt, {"passage": "p", "sentence": "s"}
            )
        )
    assert caught.value.reason is Reason.ABSTAINED
