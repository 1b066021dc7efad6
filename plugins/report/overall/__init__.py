"""Sections about the evaluation as a whole.

They may import report/source.py and what that may; sections.py names them.
"""
