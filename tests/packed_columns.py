"""The values of a packed column of a report, as its page reads them."""

import base64
from array import array


def values_of(packed):
    """One value a row."""
    kind = {1: "B", 2: "H", 4: "I"}[packed["bytes"]]
    codes = array(kind, base64.b64decode(packed["codes"]))
    return [packed["values"][code] for code in codes]
