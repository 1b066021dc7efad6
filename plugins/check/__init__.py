"""`judge check`: compare any judge with labels of people, from one file.

`readers.py` reads results of other tools as tables, `columns.py` finds the columns, `items.py` and
`scales.py` make labels of one scale from them, `measure.py` computes every figure by the core's
metrics, `verdict.py` and `tables.py` say what they mean, `certifying.py` writes certificates.
Entry points alone name it; it may import every folder of the core, and no other annex.
"""
