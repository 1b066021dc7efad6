"""Sections that show what systems wrote, and what judges said of it.

They may import report/source.py and what that may; sections.py names them.
"""
