import pytest

from nuggetjudge.retrieval.english import STOP_WORDS, terms

# What Anserini's DefaultEnglishAnalyzer (Lucene 10, by pyserini 1.6.0) makes of the same texts.
LUCENE = {
    "The U.S. census of 1,024 harbours' tides isn't Porter's": (
        "u. censu 1,024 harbour tide isn't porter"
    ),
    "technology technologies technological assembly possibly nobly biology": (
        "technolog technolog technolog assembl possibl nobli biologi"
    ),
    "snake_case __init__ _x_ ___ a.b.c 3.5% 1,000,000 e.g.": (
        "snake_cas __init__ _x_ a.b.c 3.5 1,000,000 e.g"
    ),
    "A:B 4:5 x4.5y 2:30 a·b x;y 1;2 1'2 3’4 5.x x.5": (
        "a:b 4 5 x4.5y 2 30 a·b x y 1;2 1'2 3’4 5 x x 5"
    ),
    "naïve cafe\u0301 m² ﬁne ß": "naïv cafe\u0301 m ﬁne ß",
    "日本語テスト ひら": "日 本 語 テスト ひ ら",
    "100's it’s CAN'T O'Neil's as is us don''t": "100 s can't o'neil us don t",
    "http://a.b/c?d=e&f user@x.com": "http a.b c d e f user x.com",
}


@pytest.mark.parametrize("text", LUCENE)
def test_terms_are_those_that_lucene_makes(text):
    assert list(terms(text)) == LUCENE[text].split()


def test_there_are_33_stop_words_and_none_is_a_term():
    assert len(STOP_WORDS) == 33
    assert list(terms(" ".join(STOP_WORDS))) == []


@pytest.mark.parametrize("text", ["", " \n", "... -- ?!", "___"])
def test_a_text_without_words_has_no_terms(text):
    assert list(terms(text)) == []


def test_a_very_long_word_is_one_term():
    assert list(terms("aly" * 100_000)) == ["aly" * 99_999 + "ali"]
