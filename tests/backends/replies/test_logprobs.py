"""Probabilities of labels come out of the tokens of a reply, however they were cut.

The expected numbers are worked out by hand from the alternatives written beside each token.
"""

import json
import math
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, NotChatShape, Reply, Supports, input_of

from nuggetjudge.backends import http
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.replies.logprobs import (
    MIN_FORCED,
    find_label_paths,
    read_tokens,
    weigh_labels,
)
from nuggetjudge.judges import Nuggetizer

Tokens = list[Any]  # a text, or (text, probability of each alternative, the text among them)
VERDICT = ("full", "partial", "none")


def enum(*labels: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(labels)}


def grades(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def row(text: bytes, p: float) -> dict[str, Any]:
    logprob = math.log(p) if p else -9999.0
    return {"token": text.decode("utf-8", "replace"), "bytes": list(text), "logprob": logprob}


def raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def logprobs(tokens: Tokens) -> dict[str, Any]:
    """In the shape of OpenAI's `choices[].logprobs`."""
    rows = []
    for token in tokens:
        text, others = (token, {token: 1.0}) if isinstance(token, str | bytes) else token
        top = [row(raw(other), p) for other, p in others.items()]
        rows.append({**row(raw(text), others.get(text, 0.0)), "top_logprobs": top})
    return {"content": rows, "refusal": None}


def text_of(tokens: Tokens) -> str:
    parts = (token if isinstance(token, str | bytes) else token[0] for token in tokens)
    return b"".join(map(raw, parts)).decode()


def probabilities(tokens: Tokens, text: str | None = None, **fields: Any) -> dict[str, Any]:
    """Of a reply with these fields; the text is what the tokens spell."""
    paths = find_label_paths(schema(**fields or {"verdict": enum(*VERDICT)}))
    text = text_of(tokens) if text is None else text
    shares, _, kept = weigh_labels(text, read_tokens(logprobs(tokens)), paths)
    # What is kept says the same again, byte for byte, also after a cache has written and read it.
    again, _, kept_again = weigh_labels(text, orjson.loads(orjson.dumps(kept)), paths)
    assert orjson.dumps(again) == orjson.dumps(shares)
    assert orjson.dumps(kept_again) == orjson.dumps(kept)
    return shares


def verdict(*tokens: Any, labels: tuple[str, ...] = VERDICT) -> Any:
    """Of a reply `{"verdict":` + tokens."""
    all_tokens = ['{"', "verdict", '":', *tokens]
    shares = probabilities(all_tokens, verdict=enum(*labels)).get("verdict")
    assert shares is None or sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
    return shares


def approx(**expected: float) -> Any:
    return pytest.approx(expected, abs=1e-9)


# --- one label, several tokenisations


@pytest.mark.parametrize(
    "tokens",
    [
        [' "', ("full", {"full": 0.6, "partial": 0.3, "none": 0.1}), '"}'],
        # The first pieces of a label are summed.
        [
            ' "',
            ("full", {"full": 0.5, "f": 0.1, "part": 0.2, "p": 0.1, "no": 0.06, "none": 0.04}),
            '"}',
        ],
        # The quote is in the token of the label.
        [(' "full', {' "full': 0.6, ' "part': 0.3, ' "no': 0.1}), '"}'],
        # So are the colon, the closing quote and the brace.
        [(' "full"}', {' "full"}': 0.6, ' "partial': 0.2, ' "partial"': 0.1, ' "none"}': 0.1})],
        # Other alternatives write no space before the quote, or begin with it alone.
        [(' "full', {' "full': 0.3, '"full': 0.15, ' "part': 0.2, '"p': 0.025, ' "none': 0.075,
                     ' "': 0.15, " ": 0.1}), '"}'],
        # Letter by letter, the first decides.
        ['"', ("f", {"f": 0.6, "p": 0.3, "n": 0.1}), ("u", {"u": 0.2, "x": 0.8}), "ll", '"', "}"],
        # An alternative at the quote decides, what the quote leaves open the next token decides.
        [(' "', {' "': 0.5, ' "full': 0.4, ' "part': 0.1}),
         ("full", {"full": 0.4, "part": 0.4, "none": 0.2}), '"}'],
        # A grammar masks all else, with -9999 or a logarithm of 0.
        [' "', ("full", {"full": 0.54, "f": 0.06, "partial": 0.3, "none": 0.1, "Sure": 0.0}), '"}'],
    ],
)  # fmt: skip
def test_a_label_is_as_probable_as_the_tokens_that_begin_it(tokens):
    assert verdict(*tokens) == approx(full=0.6, partial=0.3, none=0.1)


@pytest.mark.parametrize(
    ("label", "listed", "wanted"),
    [
        ("none", {"full": 0.7, "none": 0.2, "partial": 0.1}, (0.7, 0.1, 0.2)),  # not preferred
        ("full", {"full": 0.45, "none": 0.15, "unknown": 0.4}, (0.75, 0.0, 0.25)),  # on no label
        (
            "full",
            {"full": 0.6, "fully": 0.2, "none": 0.2},
            (0.75, 0.0, 0.25),
        ),  # only begins like one
    ],
)
def test_labels_share_what_falls_on_any_of_them(label, listed, wanted):
    shares = verdict(' "', (label, listed), '"}')
    assert shares == approx(**dict(zip(("full", "partial", "none"), wanted, strict=True)))


def test_a_token_drawn_from_below_the_listed_ones_counts_by_its_own_log_probability():
    choice_logprobs = logprobs(['{"verdict":"', ("none", {"full": 0.7, "partial": 0.2}), '"}'])
    choice_logprobs["content"][1]["logprob"] = math.log(0.1)
    paths = find_label_paths(schema(verdict=enum(*VERDICT)))
    shares, *_ = weigh_labels('{"verdict":"none"}', read_tokens(choice_logprobs), paths)
    assert shares == {"verdict": approx(full=0.7, partial=0.2, none=0.1)}


def test_with_less_than_half_on_labels_nothing_is_known():
    assert verdict(' "', ("full", {"full": 0.3, "none": 0.19, "unknown": 0.51}), '"}') is None
    shares = verdict(' "', ("full", {"full": 0.3, "none": 0.21, "unknown": 0.49}), '"}')
    assert shares == approx(full=0.3 / 0.51, partial=0.0, none=0.21 / 0.51)


@pytest.mark.parametrize(
    ("listed", "wanted"),
    [
        # The list leaves .01, less than its least probable token has.
        ({"full": 0.9, "none": 0.05, "Sure": 0.04}, (0.9, 0.01, 0.05)),
        # The list leaves .27; a token that is not on it has no more than the last one that is.
        ({"full": 0.6, "none": 0.1, "Sure": 0.03}, (0.6, 0.03, 0.1)),
        ({"full": 0.9, "Sure": 0.02}, (0.9, 0.02, 0.02)),  # so has each of two
        ({"full": 0.9, "none": 0.1}, (0.9, 0.0, 0.1)),  # the list leaves nothing
        ({"full": 0.6}, None),  # two labels of up to .4 each: more than is known
    ],
)
def test_a_label_that_is_not_listed_has_its_upper_bound_and_no_zero(listed, wanted):
    shares = verdict(' "', ("full", listed), '"}')
    if wanted is None:
        assert shares is None
        return
    labels = ("full", "partial", "none")
    assert shares == approx(**{k: p / sum(wanted) for k, p in zip(labels, wanted, strict=True)})


def test_a_token_drawn_from_below_the_listed_ones_bounds_no_other():
    """As a grammar forces it: none has .01, and partial may have all of the .03 that are left."""
    choice_logprobs = logprobs(['{"verdict":"', ("none", {"Sure": 0.9, "full": 0.06}), '"}'])
    choice_logprobs["content"][1]["logprob"] = math.log(0.01)
    paths = find_label_paths(schema(verdict=enum(*VERDICT)))
    tokens = read_tokens(choice_logprobs)
    shares, *_ = weigh_labels('{"verdict":"none"}', tokens, paths, MIN_FORCED)
    assert shares == {"verdict": approx(full=0.6, partial=0.3, none=0.1)}


def test_the_bound_of_a_later_token_is_weighed_by_the_tokens_before_it():
    """`part` has .8, and after it `ial` .9 and no more than .1 is left: partly at most .8 x .1."""
    shares = verdict(
        ' "', ("part", {"part": 0.8, "none": 0.2}), ("ial", {"ial": 0.9}), '"}',
        labels=("partial", "partly", "none"),
    )  # fmt: skip
    assert shares == approx(partial=0.72, partly=0.08, none=0.2)


# --- labels that begin alike


@pytest.mark.parametrize(
    ("first", "none", "nonsense"),
    [
        ({"part": 0.5, "no": 0.5}, 0.25, 0.25),  # nothing tells them apart
        ({"part": 0.5, "no": 0.3, "none": 0.15, "nonsense": 0.05}, 0.375, 0.125),
    ],
)
def test_labels_left_open_on_a_path_not_taken_share_by_what_is_known_of_them(first, none, nonsense):
    shares = verdict(
        ' "', ("part", first), ("ial", {"ial": 0.8, "ly": 0.2}), '"}',
        labels=("partial", "partly", "none", "nonsense"),
    )  # fmt: skip
    assert shares == approx(partial=0.4, partly=0.1, none=none, nonsense=nonsense)


def test_labels_that_differ_in_spelling_only_have_no_probabilities():
    fields = {"verdict": enum("no one", "no-one", "all")}
    assert find_label_paths(schema(**fields)) == {}


# --- grades


def grade(*tokens: Any, high: int = 3) -> Any:
    return probabilities(['{"', "grade", '":', *tokens], grade=grades(0, high)).get("grade")


@pytest.mark.parametrize(
    "tokens",
    [
        [" ", ("2", {"2": 0.6, "3": 0.3, "1": 0.1}), "}"],
        [(" 2", {" 2": 0.5, "2": 0.1, " 3": 0.2, "3": 0.1, " 1": 0.1}), "\n}"],
        [(" ", {" ": 0.5, "2": 0.3, "3": 0.15, "1": 0.05}),
         ("2", {"2": 0.6, "3": 0.3, "1": 0.1}), "}"],
        [("2}", {"2}": 0.4, "2": 0.2, "3}": 0.3, "1": 0.1})],
    ],
)  # fmt: skip
def test_a_whole_grade_is_read_at_its_digit(tokens):
    expected = {"0": 0.0, "1": 0.1, "2": 0.6, "3": 0.3}
    assert grade(*tokens) == pytest.approx(expected, abs=1e-9)


# --- several labels in one reply


def test_each_key_of_a_map_has_its_own():
    labels = enum("support", "not_support")
    tokens = [
        '{"verdicts": {"', "1", '": "', ("support", {"support": 0.9, "not": 0.1}),
        '", "', "2", '": "', ("not", {"support": 0.25, "not": 0.75}), "_", "support", '"}}',
    ]  # fmt: skip
    verdicts = {"type": "object", "properties": {"1": labels, "2": labels}}
    assert probabilities(tokens, verdicts=verdicts) == {
        "verdicts": {
            "1": approx(support=0.9, not_support=0.1),
            "2": approx(support=0.25, not_support=0.75),
        }
    }


def test_of_a_map_the_keys_of_which_nothing_is_known_are_left_out():
    tokens = [
        '{"v": {"a": "', ("full", {"full": 0.9, "none": 0.1}),
        '", "b": "', ("none", {"full": 0.1, "none": 0.1, "other": 0.8}), '"}}',
    ]  # fmt: skip
    verdicts = {"type": "object", "properties": dict.fromkeys("ab", enum("full", "none"))}
    assert probabilities(tokens, v=verdicts) == {"v": {"a": approx(full=0.9, none=0.1)}}


def test_keys_and_rationales_that_hold_labels_mislead_nobody():
    tokens = [
        '{"why": "not \\"', ("none", {"none": 0.9, "full": 0.1}), '\\", verdict: \\"none\\"", ',
        '"v": {"none": "', ("full", {"full": 0.8, "none": 0.2}),
        '", "full": "', ("none", {"full": 0.4, "none": 0.6}), '"}, "grade": ',
        ("1", {"1": 0.7, "0": 0.3}), "}",
    ]  # fmt: skip
    labels = enum("full", "none")
    verdicts = {"type": "object", "properties": {"none": labels, "full": labels}}
    fields = {"why": {"type": "string"}, "v": verdicts, "grade": grades(0, 1)}
    assert probabilities(tokens, **fields) == {
        "v": {"none": approx(full=0.8, none=0.2), "full": approx(full=0.4, none=0.6)},
        "grade": pytest.approx({"0": 0.3, "1": 0.7}),
    }


def test_tokens_that_are_not_needed_are_kept_without_alternatives():
    tokens = ["thinking, ", '{"why":"', ("wet", {"wet": 0.5, "dry": 0.5}), '","v":', '"',
              ("full", {"full": 0.9, "none": 0.1, "x": 1e-10}), '"}']  # fmt: skip
    paths = find_label_paths(schema(why={"type": "string"}, v=enum("full", "none")))
    text = text_of(tokens[1:])
    *_, kept = weigh_labels(text, read_tokens(logprobs(tokens)), paths)
    needed = [(token, set(others)) for token, others in kept if others]
    assert needed == [('"', {'"'}), ("full", {"full", "none"})]
    assert "".join(token for token, _ in kept) == text


# --- spellings, bytes, and what stands around a reply


FULL = ("full", {"full": 0.6, "partial": 0.3, "none": 0.1})


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["```json\n", '{"verdict": "', FULL, '"}', "\n```"], '```json\n{"verdict": "full"}\n```'),
        (["<think>", '{"verdict": "none"}', "</think>", '{"verdict": "', FULL, '"}', "<|end|>"],
         '{"verdict": "full"}'),
        (['\n\n{"verdict": "', FULL, '"}', ""], '{"verdict": "full"}'),
        (['{"verdict":', '"', FULL, '"}'], '{"verdict": "full"}'),  # tokens that lose their spaces
        (['{\n  "verdict"', ': "', FULL, '"\n}'], '{\n  "verdict": "full"\n}'),
    ],
)  # fmt: skip
def test_fences_thoughts_and_white_space_do_not_matter(tokens, text):
    assert probabilities(tokens, text) == {"verdict": approx(full=0.6, partial=0.3, none=0.1)}


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (['{"verdict": "', "full", '"}'], '{"verdict": "none"}'),  # of another reply
        (["token_id:5", "token_id:6"], '{"verdict": "full"}'),
        ([], '{"verdict": "full"}'),
        (['{"verdict": "', ("full", {}), '"}'], '{"verdict": "full"}'),  # no alternatives
        (['{"verdict": "', ("full", {"full": 0.0, "none": 0.0}), '"}'], '{"verdict": "full"}'),
        (['{"verdict": "', ("\\u0066ull", {"\\u0066ull": 0.9, "none": 0.1}), '"}'],
         '{"verdict": "\\u0066ull"}'),
    ],
)  # fmt: skip
def test_where_no_label_can_be_weighed_nothing_is_known(tokens, text):
    assert probabilities(tokens, text) == {}


# --- any tokenisation, any rubbish


@given(data=st.data())
def test_a_models_probabilities_come_back_however_its_replies_are_cut(data):
    """A model that says one of three replies, each cut anywhere: what is said is one of them."""
    shares = data.draw(st.lists(st.integers(1, 99), min_size=3, max_size=3))
    ends = {'full"}': shares[0], 'partial"}': shares[1], 'none"}': shares[2]}
    texts = {'{"verdict": "' + end: share / sum(shares) for end, share in ends.items()}
    chosen = data.draw(st.sampled_from(list(texts)))
    tokens: Tokens = []
    begun = ""
    while begun != chosen:
        alive = {text: p for text, p in texts.items() if text.startswith(begun)}
        n = data.draw(st.integers(1, 9))
        others: dict[str, float] = {}
        for text, p in alive.items():
            # All that can still be the same reply are cut alike; the rest anywhere.
            is_open = text.startswith(chosen[: len(begun) + n])
            size = n if is_open else data.draw(st.integers(_common(text, chosen) + 1, len(text)))
            size -= 0 if is_open else len(begun)
            piece = text[len(begun) : len(begun) + size]
            others[piece] = others.get(piece, 0.0) + p / sum(alive.values())
        tokens.append((chosen[len(begun) : len(begun) + n], others))
        begun += tokens[-1][0]
    expected = dict(zip(VERDICT, texts.values(), strict=True))
    assert probabilities(tokens) == {"verdict": pytest.approx(expected, abs=1e-9)}


def _common(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(['{"verdict"', ': "', ' "', "full", "none", '"}', "", "f", "\xff"]),
            st.dictionaries(
                st.sampled_from(['"', "full", "fu", "no", "", "}", ' "']), st.floats(0, 1)
            ),
        )
    )
)
def test_any_tokens_give_shares_that_sum_to_one_or_nothing(rows):
    paths = find_label_paths(schema(verdict=enum(*VERDICT)))
    tokens = read_tokens(logprobs(rows))
    for end in ('"full"}', '"none"}'):
        shares, *_ = weigh_labels('{"verdict": ' + end, tokens, paths)
        assert shares == {} or sum(shares["verdict"].values()) == pytest.approx(1.0)


def test_labels_that_a_schema_forced_share_what_little_was_on_them():
    """As llama.cpp tells: of what the model would have said, most is no label."""
    tokens = ['{"', "verdict", '": "', ("none", {"The": 0.9, "none": 0.03, "full": 0.01}), '"}']
    paths = find_label_paths(schema(verdict=enum(*VERDICT)))
    read = read_tokens(logprobs(tokens))
    assert weigh_labels(text_of(tokens), read, paths)[0] == {}
    shares, outside, _ = weigh_labels(text_of(tokens), read, paths, MIN_FORCED)
    assert shares["verdict"] == pytest.approx({"none": 0.6, "partial": 0.2, "full": 0.2})
    assert outside["verdict"] == pytest.approx(0.96)


# A model entry with `logprobs` asks for them where they are of use, and survives what comes.
TOLD = {"full": 0.5, "partial": 0.3, "none": 0.2}


def partly(body: Any) -> Reply:
    return Reply('{"verdict": "partial"}', probabilities=TOLD)


@pytest.fixture
def weighing(model_server):
    """The mock server, as a model that leans to full and says partial."""
    model_server.brain = partly
    return model_server


def test_the_labels_have_the_probabilities_that_the_model_gave_them(weighing, open_gateway, ask):
    reply = ask(open_gateway(logprobs=True))
    assert reply.values == {"verdict": "partial"}
    assert reply.probabilities == {"verdict": pytest.approx(TOLD, abs=1e-9)}


@pytest.mark.parametrize(("logprobs", "n_top"), [(True, 20), (5, 5), (1, 1)])
def test_the_config_says_how_many_alternatives_are_asked_for(
    logprobs, n_top, weighing, open_gateway, ask
):
    ask(open_gateway(logprobs=logprobs))
    (received,) = weighing.requests
    assert (received.body["logprobs"], received.body["top_logprobs"]) == (True, n_top)


@pytest.mark.parametrize("number", [0, -1, 1001, 2.5, "many"])
def test_another_number_of_alternatives_is_refused_or_means_none(number):
    if number == 0:
        assert ModelConfig(model="openai/m", logprobs=0).top_logprobs is None
        return
    with pytest.raises(ValueError, match="logprobs"):
        ModelConfig(model="openai/m", logprobs=number)


def test_nothing_is_asked_for_without_the_setting_or_without_labels(weighing, open_gateway, ask):
    assert ask(open_gateway()).probabilities == {}
    weighing.brain = lambda body: {"updated": ["a fact"]}
    prompt = Nuggetizer(model="lexical").prompt("update")
    inputs: dict[str, Any] = dict.fromkeys(prompt.input_names, "x")
    assert run_sync(open_gateway(logprobs=True).ask(prompt, inputs)).probabilities == {}
    assert not any("logprobs" in received.body for received in weighing.requests)


# --- the cache


def test_a_cached_reply_gives_the_same_to_the_last_digit(weighing, open_gateway, ask, cache):
    first = ask(open_gateway(logprobs=True, cache=cache))
    cache.flush()
    again = ask(open_gateway(logprobs=True, cache=cache, offline=True))
    assert again.provenance.cache_hit
    assert orjson.dumps(again.probabilities) == orjson.dumps(first.probabilities)


class Kept(dict[bytes, bytes]):
    """A cache in memory that a test can look into."""

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        self[key] = value


def test_of_the_tokens_only_what_is_needed_is_kept(model_server, open_gateway, ask):
    kept = Kept()
    ask(open_gateway(cache=kept))
    model_server.brain = partly
    ask(open_gateway(cache=kept, logprobs=True))
    plain, weighed = kept.values()
    assert orjson.loads(plain)[7] == []
    tokens = orjson.loads(weighed)[7]
    assert "".join(token for token, _ in tokens) == '{"verdict":"partial"}'
    assert [token for token, others in tokens if others] == ["", '"', "partial"]
    assert len(weighed) < 500


@pytest.mark.parametrize(
    "rubbish",
    [
        5,
        "x",
        [5],
        [["full"]],
        [[1, {}]],
        [['{"verdict":"partial"}', 5]],
        [['{"verdict":"', {}], ['partial"}', {"full": "x"}]],
    ],
)
def test_a_cached_line_of_another_make_is_asked_again(rubbish, weighing, open_gateway, ask):
    kept = Kept()
    first = ask(open_gateway(cache=kept, logprobs=True))
    ((key, line),) = kept.items()
    kept[key] = orjson.dumps([*orjson.loads(line)[:7], rubbish])
    again = ask(open_gateway(cache=kept, logprobs=True))
    assert (again.values, again.probabilities) == (first.values, first.probabilities)
    assert len(weighing.requests) == 2


# --- what endpoints do instead


def test_an_endpoint_that_gives_none_gives_labels_only(weighing, open_gateway, ask, monkeypatch):
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    reply = ask(open_gateway(logprobs=True))
    assert (reply.values, reply.probabilities) == ({"verdict": "partial"}, {})


def test_an_endpoint_that_refuses_them_ends_the_run_with_the_setting_to_change(
    weighing, open_gateway, ask
):
    weighing.supports = Supports(logprobs=False)
    with pytest.raises(EndpointUnusable, match=r"Set the model's logprobs to false"):
        ask(open_gateway(logprobs=True))
    weighing.supports = Supports()
    with pytest.raises(EndpointUnusable, match="or a smaller number"):
        ask(open_gateway(logprobs=21))


TOKEN = {"token": "x", "logprob": -0.1, "bytes": [120], "top_logprobs": []}


@pytest.mark.parametrize(
    "logprobs",
    [
        "yes",
        7,
        [],
        {"content": None},
        {"content": {}},
        {"content": "full"},
        {"content": [None]},
        {"content": [{}]},
        {"content": [TOKEN | {"token": 5, "bytes": None}]},
        {"content": [TOKEN | {"logprob": "-0.1"}]},
        {"content": [TOKEN | {"logprob": math.nan}]},
        {"content": [TOKEN | {"logprob": math.inf, "token": "\ud83d", "bytes": None}]},
        {"content": [TOKEN | {"bytes": [1000]}]},
        {"content": [TOKEN | {"bytes": 10**12}]},
        {"content": [TOKEN | {"top_logprobs": 3}]},
        {"content": [TOKEN | {"top_logprobs": [[]]}]},
        {"content": [TOKEN] * 100_000},
        {"content": [{"token": "", "logprob": None, "top_logprobs": [TOKEN] * 50_000}]},
        {"token_logprobs": [-0.1], "tokens": ["x"]},  # of the older completions API
    ],
)
def test_hostile_log_probabilities_cost_no_judgement(
    logprobs, model_server, open_gateway, ask, monkeypatch
):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 2**26)
    message = {"role": "assistant", "content": '{"verdict": "full"}'}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}
    model_server.faults = [NotChatShape({"choices": [choice]})]
    reply = ask(open_gateway(logprobs=True))
    assert (reply.values, reply.probabilities) == ({"verdict": "full"}, {})
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("masked", [-9999.0, -math.inf, math.nan, None])
def test_a_masked_token_may_be_written_as_servers_do(masked, model_server, open_gateway, ask):
    top = [{"token": token, "logprob": logprob} for token, logprob in
           (("full", math.log(0.75)), ("none", math.log(0.25)), ("Sure", masked))]  # fmt: skip
    top.append({"token": "\udc1d", "logprob": masked})  # half an emoji, as Python writes it
    rows = [{"token": token, "logprob": 0.0, "top_logprobs": [{"token": token, "logprob": 0.0}]}
            for token in ('{"verdict":"', "full", '"}')]  # fmt: skip
    rows[1]["top_logprobs"] = top
    message = {"role": "assistant", "content": '{"verdict":"full"}'}
    choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": rows}}
    model_server.faults = [NotChatShape({"choices": [choice]})]
    expected = {"full": 0.75, "partial": 0.0, "none": 0.25}
    reply = ask(open_gateway(logprobs=True, reasks=0, retries=0))
    assert reply.probabilities == {"verdict": pytest.approx(expected)}


def test_a_judge_told_in_python_gives_them(tmp_path):
    from nuggetjudge.judges import NuggetAssigner, SupportJudge

    def brain(body: Any) -> Reply:
        if "sentence" in input_of(body):
            return partly(body)
        text = json.dumps({"verdicts": {"1": "support", "2": "not_support"}})
        two = {"support": 0.9, "not_support": 0.1}
        return Reply(text, probabilities={"1": two, "2": {"support": 0.2, "not_support": 0.8}})

    with MockServer(brain) as server:
        config = ModelConfig(model="hosted_vllm/mock", api_base=server.base_url, logprobs=True)
        result = SupportJudge(model=config)(sentence="s", passage="p")
        assigned = NuggetAssigner(model=config, grades=2)(
            question="q", answer="a", nuggets=["x", "y"]
        )
    assert (result.verdict, result.probabilities) == ("partial", pytest.approx(TOLD))
    assert result.score == pytest.approx(0.5 + 0.3 / 2)  # of full 1, partial 1/2, none 0
    assert assigned.probabilities[1] == pytest.approx({"support": 0.2, "not_support": 0.8})
    assert assigned.scores == pytest.approx([0.9, 0.2])
