"""Whole evaluations: `run` judges data and writes a results folder.

A module imports only modules further down this list: `partial`; `run` and `analysis`; `pipelines`
and `scoring`; `protocols`, the tasks; `engine`; `inputs`; `data_kinds`; `config`. The command line,
evaluation, calibration and plugins import this folder.
"""
