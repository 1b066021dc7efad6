"""`judge figure`: results as figures for a paper, by matplotlib.

The core finds it by entry points; it imports the core, and matplotlib only while drawing.
"""
