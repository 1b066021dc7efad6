"""What a jury is worth: its labels, its members and what it could be, beside labels of people.

Imports programs, metrics and the fits beside it; the command `judge jury` imports this.
"""
