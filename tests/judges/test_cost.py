"""What one topic costs: requests and prompt characters, counted by the server."""

import itertools

from mock_server import MockServer, default_brain, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import NuggetAssigner, NuggetImportance, Nuggetizer

# The same work took the reference tool 14 requests and 55,570 characters when measured.
MAX_REQUESTS, MAX_CHARACTERS = 11, 55_570
QUESTION = "why do long bridges sway in strong wind and how is it prevented"
WORDS = ("wind", "deck", "sway", "the", "of", "bridge", "moves", "a", "tower", "when", "load")


def text(length, start):
    words = itertools.islice(itertools.cycle(WORDS), start, start + length)
    return " ".join(words)[: length - 1] + "."


def thirty_nuggets(body):
    if "passages" not in input_of(body):
        return default_brain(body)
    return {"updated": [f"fact {i} on what makes a long bridge sway in wind" for i in range(30)]}


def test_one_topic_with_three_answers_stays_within_its_budget(capsys):
    segments = [text(940, i) for i in range(20)]
    answers = [text(2035, i) for i in range(3)]
    assert {len(s) for s in segments} == {940}
    assert {len(a) for a in answers} == {2035}
    with MockServer(thirty_nuggets) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url)
        nuggets = Nuggetizer(model)(question=QUESTION, passages=segments).nuggets
        assert len(nuggets) == 30
        rated = NuggetImportance(model)(question=QUESTION, nuggets=nuggets).importance
        ranked = sorted(zip(nuggets, rated, strict=True), key=lambda pair: pair[1] != "vital")
        kept = [nugget for nugget, _ in ranked[:20]]
        assign = NuggetAssigner(model)
        for answer in answers:
            labels = assign(question=QUESTION, answer=answer, nuggets=kept).verdicts
            assert len(labels) == 20
        first, second = (input_of(request.body) for request in server.requests[:2])
        messages = [m for r in server.requests for m in r.body["messages"]]
        n_requests = len(server.requests)
    n_characters = sum(len(message["content"]) for message in messages)
    with capsys.disabled():
        print(f"\n{n_requests} requests, {n_characters:,} prompt characters for one topic")  # noqa: T201
    # As in the paper: the question before the passages and after them, then the list so far.
    assert list(first) == ["limit", "question", "passages", "asked", "nuggets"]
    assert first["asked"] == second["asked"] == QUESTION
    assert (first["limit"], len(second["nuggets"])) == (30, 30)
    assert n_requests <= MAX_REQUESTS
    assert n_characters <= MAX_CHARACTERS
