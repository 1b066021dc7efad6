"""Numbers in one format everywhere: in terminals, pages and files for papers."""

from __future__ import annotations

MISSING = "-"


def format_share(value: float | None, *, signed: bool = False) -> str:
    """Format a number in [-1, 1] with three digits and no leading zero; others with one digit.

    >>> format_share(0.9132), format_share(1.0), format_share(-0.1118), format_share(None)
    ('.913', '1.000', '-.112', '-')
    >>> format_share(0.05, signed=True), format_share(0.0, signed=True), format_share(1187.62)
    ('+.050', '.000', '1,187.6')
    """
    if value is None or value != value:
        return MISSING
    return _trim(value, f"{abs(value):.3f}" if abs(value) <= 1 else f"{abs(value):,.1f}", signed)


def format_short_share(value: float | None, *, signed: bool = False) -> str:
    """Format like `format_share`, but with two digits, for sentences.

    >>> format_short_share(0.4521), format_short_share(0.999), format_short_share(0.05, signed=True)
    ('.45', '1.00', '+.05')
    """
    if value is None or value != value:
        return MISSING
    return _trim(value, f"{abs(value):.2f}", signed)


def _trim(value: float, digits: str, signed: bool) -> str:
    sign = "" if not digits.strip("0.,") else "-" if value < 0 else "+" if signed else ""
    return sign + (digits[1:] if digits.startswith("0.") else digits)


def format_given(value: float) -> str:
    """Format a number that a person gave, with its own digits, at most six.

    >>> format_given(0.5), format_given(0.02), format_given(250.0), format_given(-0.05)
    ('.5', '.02', '250', '-.05')
    """
    return _trim(value, f"{abs(value):.6g}", signed=False)


def format_bounds(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Format an interval in brackets.

    >>> format_bounds(0.834, 0.931), format_bounds(-0.13, 0.23, signed=True), format_bounds(None, 1)
    ('[.834, .931]', '[-.130, +.230]', '-')
    """
    if low is None or high is None:
        return MISSING
    return f"[{format_share(low, signed=signed)}, {format_share(high, signed=signed)}]"


def format_p(p: float | None) -> str:
    """Format a p-value with two digits, or with more if rounding would move it across .05.

    >>> format_p(0.0312), format_p(0.0009), format_p(0.0496), format_p(1.0), format_p(None)
    ('.03', '< .01', '.0496', '1.00', '-')
    """
    if p is None or p != p:
        return MISSING
    if p < 0.01:
        return "< .01"
    for digits in (2, 3, 4):
        text = f"{p:.{digits}f}"
        if (float(text) < 0.05) == (p < 0.05):
            break
    return text[1:] if text.startswith("0") else text


def format_count(n: int | None) -> str:
    """Format a number of things.

    >>> format_count(1234), format_count(None)
    ('1,234', '-')
    """
    return MISSING if n is None else f"{n:,}"


def format_money(dollars: float | None) -> str:
    """Format dollars; amounts below half a cent are `< $0.01`.

    >>> format_money(0), format_money(0.0234), format_money(0.004), format_money(1234.5)
    ('$0', '$0.02', '< $0.01', '$1,234.50')
    >>> format_money(None)
    'unknown'
    """
    if dollars is None:
        return "unknown"
    if not dollars:
        return "$0"
    return "< $0.01" if dollars < 0.005 else f"${dollars:,.2f}"


def format_seconds(seconds: float | None) -> str:
    """Format a duration in its two largest units.

    >>> format_seconds(0.25), format_seconds(42), format_seconds(200), format_seconds(7500)
    ('0.2 s', '42 s', '3 min 20 s', '2 h 5 min')
    """
    if seconds is None:
        return MISSING
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def format_number(value: float | None, digits: int) -> str:
    """Format any other number, with this many decimals.

    >>> format_number(188.4, 0), format_number(1234.567, 1)
    ('188', '1,234.6')
    """
    return MISSING if value is None or value != value else f"{value:,.{digits}f}"
