"""Labels of people and judges in any layout, as one map from cell to label. Imports `records` and
`records.reading`; every folder above may import it. Its `kinds`, which looks at the beginning of a
file, imports `records.reading` alone, and `records.documents` imports that."""
