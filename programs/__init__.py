"""Whole evaluations: `run` judges, and the rooms beside it do the rest. From the top: `run`,
`analysis` and `doctor`; `pipelines`, `build` and `scoring`; `protocols`; `engine`; `inputs`;
`config`. Each may import what stands below it; of those named together only `analysis` knows
`scoring`, as one above it. The command line and calibration may import this folder."""
