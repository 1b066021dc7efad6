"""The agent that hunts for nuggets, and its list.

Imports `agents` and `judges`; programs import it.
"""
