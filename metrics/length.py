"""How long a text is, in words as the TREC RAG tracks count them, or by a named tokenizer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path


def count_words(text: str) -> int:
    """Number of words in `text`: its white-space separated parts after NFKC normalisation, >= 0.

    Chinese or Thai prose, written without spaces, counts as very few words.

    Source: the response length rule of TREC RAG 2024. NFKC matters little: it opens up signs such
    as U+FDFA, one character that stands for four words.
    Differs: the rule of TREC RAG 2026 is without NFKC.

    >>> count_words("  Wind makes\\u00a0them sway. ")
    4
    """
    return len(unicodedata.normalize("NFKC", text).strip().split())


TIKTOKEN = "tiktoken:"
_WANTED = '"words", "tiktoken:NAME" or the path of a tokenizer\'s .json file'


def token_counter(name: str) -> Callable[[str], int]:
    """A function that counts the tokens of a text, >= 0, by the tokenizer of that name.

    Args:
        name: "words": white-space words, see `count_words`; needs nothing.
            "tiktoken:NAME": an encoding of tiktoken, such as tiktoken:cl100k_base. Its file is
            taken from the folder TIKTOKEN_CACHE_DIR; tiktoken fetches it where it is absent.
            "PATH.json": a file of the `tokenizers` library, such as a model's tokenizer.json. What
            it says of truncation and padding is not applied: the whole text counts.

    Marks such as <|endoftext|> in a text count as the characters that they are, and no begin or end
    marks are added.

    Raises: ValueError for another name, a tiktoken encoding that is unknown (it lists the known
        ones) or cannot be had, or a file that is absent or no tokenizer.

    >>> token_counter("words")("one two  three")
    3
    """
    if name == "words":
        return count_words
    if name.startswith(TIKTOKEN):
        return _tiktoken(name)
    if name.endswith(".json"):
        return _tokenizers_file(name)
    raise ValueError(f"unknown tokenizer {name!r}, wanted {_WANTED}")


def _tiktoken(name: str) -> Callable[[str], int]:
    import tiktoken

    names = tiktoken.list_encoding_names()
    if (encoding_name := name.removeprefix(TIKTOKEN)) not in names:
        wanted = ", ".join(TIKTOKEN + each for each in names)
        raise ValueError(f"unknown tokenizer {name!r}, wanted one of {wanted}")
    try:
        encoding = tiktoken.get_encoding(encoding_name)
    except OSError as error:
        raise ValueError(
            f"the file of {name!r} is not in TIKTOKEN_CACHE_DIR and cannot be fetched: {error}"
        ) from error
    return lambda text: len(encoding.encode_ordinary(text))


def _tokenizers_file(path: str) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    if not Path(path).is_file():
        raise ValueError(f"the tokenizer file {path!r} is absent, wanted {_WANTED}")
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path!r} is not a file of the tokenizers library: {error}") from error
    tokenizer.encode_special_tokens = True  # of the text: as the characters that they are
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
