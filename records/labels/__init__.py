"""Labels of people and judges in any layout, as one map from cell to label. Imports
`records` and `records.reading`; every folder above may import it."""
