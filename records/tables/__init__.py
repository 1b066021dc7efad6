"""People's tables: reading of their files, and their rows as labels under our names.

`files` imports `records.reading`; `label_rows` also `records.columns` and `records.kinds`, which
read tables themselves, so it must be imported by its own name.
"""

from .files import (
    DEFAULT_MISSING,
    Table,
    as_number,
    find_binary_kind,
    find_encoding,
    holds_cells,
    is_missing,
    list_columns,
    make_table,
    read_table,
    table_lines,
)

__all__ = [
    "DEFAULT_MISSING",
    "Table",
    "as_number",
    "find_binary_kind",
    "find_encoding",
    "holds_cells",
    "is_missing",
    "list_columns",
    "make_table",
    "read_table",
    "table_lines",
]
