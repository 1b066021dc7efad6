"""Data as JSON text that every browser reads back as it was."""

from __future__ import annotations

import json
from typing import Any

import orjson


def json_text(data: Any) -> str:
    """JSON; half a surrogate pair, which UTF-8 cannot hold, as an escape.

    >>> json_text({"a": chr(0xD800), 1: None})
    '{"a":"\\\\ud800","1":null}'
    """
    try:
        return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(data, allow_nan=False, separators=(",", ":"))
