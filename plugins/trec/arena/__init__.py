"""The task `arena`: battles of two answers, and the strengths of the runs that wrote them.

`design.py` chooses the pairs of answers, `judge.py` has the judge and `judging.py` asks it.
`ratings.py` and `standings.py` compute strengths, `tables.py` shows them. It may import the core;
the plugin of exports may import its standings.
"""
