"""The files of the page, from a fixed list: a request never becomes a path."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).parent.parent.parent
_FOLDERS = ("annotate/web", "report/web")  # modules import each other across them
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_STYLES = (
    "report/web/base.css",
    *(f"annotate/web/{name}.css" for name in ("style", "label/label", "lists/lists")),
)


class File(NamedTuple):
    """The bytes of a file, and their type."""

    body: bytes
    media_type: str


@cache
def files() -> dict[str, File]:
    """All files that the page may load, by path; read once."""
    served = {}
    for folder in _FOLDERS:
        for path in sorted((_PACKAGE / folder).rglob("*.*")):
            if path.suffix in _TYPES:
                name = path.relative_to(_PACKAGE).as_posix()
                served[f"/{name}"] = File(path.read_bytes(), _TYPES[path.suffix])
    sheets = [f'<link rel="stylesheet" href="/{name}">' for name in _STYLES]
    page = _PAGE.replace("STYLES", "\n".join(sheets)).encode()
    return served | {"/": File(page, "text/html; charset=utf-8")}


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>nuggetjudge: annotate</title>
STYLES
<script type="module" src="/annotate/web/app.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header></header>
<div class="banner" role="alert" hidden></div>
<main id="main" tabindex="-1"></main>
<div class="live" role="status" aria-live="polite"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
"""
