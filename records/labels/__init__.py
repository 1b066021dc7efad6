"""Labels of people and judges in any layout, as one map from cell to label. Imports `records`,
`records.instruments`, `records.reading` and `records.tools`; every folder above may import it. Its
`kinds`, which looks at the beginning of a file, imports `records.reading` and the rows of
`records.tools` alone, and `records.documents` imports that."""
