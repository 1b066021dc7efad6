"""`judge figure`: results as figures and tables for a paper.

The core finds it by entry points; it imports the core, and matplotlib only while drawing.
"""
