"""Sections that set runs against each other.

They may import report/source.py and what that may; sections.py names them.
"""
