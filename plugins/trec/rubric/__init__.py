"""The rubric program: rubrics, the criteria that answers meet, their scores. It imports
`engine`, `config`, `metrics` and `records`; nobody but the table of programs need import it."""
