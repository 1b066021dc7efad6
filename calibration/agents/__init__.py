"""An agent fitted as one: the prompts of its judges, in turn, by what comes out in the end.

Imports calibration/prompts, agents and programs; `calibration.session` and the command use it.
"""
