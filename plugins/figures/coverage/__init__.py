"""`judge coverage`: the tables of the CRUX paper, what reports leave unused, and its figures.

It may import the core; `judge figure` imports its drawings.
"""
