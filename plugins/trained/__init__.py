"""Judges trained on labels: `judge calibrate --method train`, and `model: trained/DIR`.

It is an annex: the core finds `fit.py` and `model.py` by entry points, and no other package imports
this one.
"""
