"""Length of a text: words as the TREC RAG tracks count them, or tokens of a named tokenizer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path


def count_words(text: str) -> int:
    """Count the words of a text: its parts between white space after NFKC normalisation.

    Chinese or Thai prose, written without spaces, counts as very few words.

    Args:
        text: any text.

    Returns: the number of words, >= 0.
    Source: the response length rule of TREC RAG 2024. NFKC matters little: it expands characters
        such as U+FDFA, which is one character for four words.
    Differs: the rule of TREC RAG 2026 is without NFKC.

    >>> count_words("  Wind makes\\u00a0them sway. ")
    4
    """
    return len(unicodedata.normalize("NFKC", text).strip().split())


TIKTOKEN = "tiktoken:"
_WANTED = '"words", "tiktoken:NAME" or the path of a tokenizer\'s .json file'


def token_counter(name: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text by a named tokenizer.

    Special tokens in a text, such as <|endoftext|>, count as plain characters, and none are added
    at the begin or the end.

    Args:
        name: "words": words between white space, see `count_words`; needs no package.
            "tiktoken:NAME": an encoding of tiktoken, such as tiktoken:cl100k_base. tiktoken reads
            its file from the folder TIKTOKEN_CACHE_DIR, or downloads it.
            "PATH.json": a file of the `tokenizers` library, such as a model's tokenizer.json. Its
            truncation and padding are not applied: the whole text counts.

    Returns: a function from a text to its number of tokens, >= 0.
    Raises: ValueError for another name, a tiktoken encoding that is unknown (it lists the known
        ones) or cannot be downloaded, or a file that is missing or is not a tokenizer.

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
            f"the file of {name!r} is not in TIKTOKEN_CACHE_DIR and cannot be downloaded: {error}"
        ) from error
    return lambda text: len(encoding.encode_ordinary(text))


def _tokenizers_file(path: str) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    if not Path(path).is_file():
        raise ValueError(f"the tokenizer file {path!r} does not exist, wanted {_WANTED}")
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path!r} is not a file of the tokenizers library: {error}") from error
    tokenizer.encode_special_tokens = True  # special tokens in the text count as characters
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
