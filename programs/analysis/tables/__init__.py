"""The output of analyses as tables, verdict first.

Commands, notebooks and pages import this folder; it imports the analyses and views/.
"""
