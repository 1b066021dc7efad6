"""Reranking by monoT5: a tiny random T5, against transformers called by hand."""

import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra is not installed")
import tokenizers
import torch
import transformers
from tokenizers.pre_tokenizers import Metaspace

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.rerank.pointwise import MonoT5
from nuggetjudge.retrieval.scored import by_rank

WORDS = [*("why", "do", "bridges", "sway", "in", "wind"), *("the", "dam", "broke", "rain", "fell")]
PARTS = ["Query:", "Document:", "Relevant:"]
QUERY = "why do bridges sway"
TEXTS = {
    "rain": "rain fell", "wind": "bridges sway in the wind", "dam": "the dam broke",
    "long": " ".join(["rain", "wind", "dam"] * 30),
}  # fmt: skip
RANKED = by_rank(TEXTS)


def made(folder, labels=("▁true", "▁false"), spread=1.0):
    """A T5 of one small layer a side with random weights, and a tokenizer of whole words."""
    known = ["<pad>", "</s>", "<unk>", *labels, *(f"▁{word}" for word in PARTS + WORDS)]
    plain = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: n for n, word in enumerate(known)}, unk_token="<unk>")
    )
    plain.pre_tokenizer = Metaspace()
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, **marks)
    torch.manual_seed(5)
    config = transformers.T5Config(
        vocab_size=len(known), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        initializer_factor=spread, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return made(tmp_path_factory.mktemp("tiny"))


def by_hand(model, texts):
    """The first step of `generate` on the whole prompt, one passage at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(model).eval()
    false, true = tokenizer.convert_tokens_to_ids(["▁false", "▁true"])
    found = {}
    for name, text in texts.items():
        prompt = f"Query: {QUERY} Document: {text} Relevant:</s>"
        step = network.generate(
            **tokenizer(prompt, return_tensors="pt"), max_new_tokens=1, do_sample=False,
            output_logits=True, return_dict_in_generate=True,
        ).logits[0][0]  # fmt: skip
        found[name] = torch.log_softmax(step[[false, true]], 0)[1].item()
    return found


@pytest.mark.parametrize("batch", [1, 3, 32])
def test_passages_stand_by_the_log_probability_of_true(model, batch):
    found = MonoT5(model, batch=batch, device="cpu").rerank(QUERY, RANKED, TEXTS)
    expected = by_hand(model, TEXTS)
    assert dict(found) == pytest.approx(expected, abs=1e-5)
    assert [name for name, _ in found] == sorted(TEXTS, key=lambda name: -expected[name])
    assert len({round(score, 3) for score in expected.values()}) == len(TEXTS)
    assert all(score <= 0 for _, score in found)


def test_a_passage_too_long_is_cut_and_the_end_of_the_prompt_stays(model):
    # By hand: `Query:`, four words, `Document:`, `Relevant:` and the end are 8 tokens of the 14.
    texts = TEXTS | {"long": "rain wind dam rain wind dam"}
    found = MonoT5(model, max_length=14, device="cpu").rerank(QUERY, RANKED, TEXTS)
    assert dict(found) == pytest.approx(by_hand(model, texts), abs=1e-5)


def test_a_query_that_leaves_no_room_keeps_the_order_there_was(model):
    found = MonoT5(model, max_length=8, batch=1, device="cpu").rerank(QUERY, RANKED, TEXTS)
    assert [name for name, _ in found] == list(TEXTS)
    assert len({score for _, score in found}) == 1


def test_equal_passages_keep_their_order(model):
    texts = {"b": "rain fell", "a": "rain fell", "c": "rain fell"}
    found = MonoT5(model, device="cpu").rerank(QUERY, by_rank(texts), texts)
    assert [name for name, _ in found] == ["b", "a", "c"]


def test_what_the_model_is_very_sure_of_still_has_an_order(tmp_path):
    # In 32 bits the log of P(true) is 0 for every one of these.
    sure = made(tmp_path, spread=6.0)
    scores = [score for _, score in MonoT5(sure, device="cpu").rerank(QUERY, RANKED, TEXTS)]
    assert all(-1e-8 < score < 0 for score in scores[:2])
    assert len(set(scores)) == len(TEXTS)


def test_no_passages_are_no_call(model):
    assert MonoT5(model, device="cpu").rerank(QUERY, [], {}) == []


def test_a_model_that_cannot_say_true_is_refused(tmp_path):
    other = made(tmp_path, labels=("▁yes", "▁no"))
    with pytest.raises(InputError, match="has no token '▁true'; is it a monoT5"):
        MonoT5(other, device="cpu")
    assert (
        len(MonoT5(other, device="cpu", true="▁yes", false="▁no").rerank("q", RANKED, TEXTS)) == 4
    )


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    for name in (tmp_path / "none", "nowhere/no-such-t5"):
        with pytest.raises(InputError, match="cannot be loaded") as caught:
            MonoT5(name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"batch": 0}, {"max_length": 0}], ids=str)
def test_sizes_below_one_are_refused(model, options):
    with pytest.raises(ValueError, match="batch and max_length must be 1 or more"):
        MonoT5(model, **options)
