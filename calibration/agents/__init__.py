"""An agent fitted as one: the prompts of its judges, in turn, by what comes out in the end.

Imports the other rooms of calibration, agents and programs; only `judge calibrate` may import this.
"""
