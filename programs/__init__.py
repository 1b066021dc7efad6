"""Whole evaluations: `run` judges, and the rooms beside it do the rest. From the top: `run` and
`analysis`; `pipelines`, `build` and `scoring`; `protocols`; `engine`; `inputs`; `config`. Each may
import what stands below it. The command line and calibration import this folder."""
