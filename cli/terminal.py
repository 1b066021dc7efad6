"""What a terminal may be shown: text of files and models without the power to steer it."""


def shown(text: str) -> str:
    """The text with control characters, bidi marks and half characters as escapes, lines kept.

    >>> shown("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)


def cell(text: str) -> str:
    """As `shown`, on one line."""
    return shown(text).replace("\n", "\\n")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
