"""The nuggets program: banks made or hunted for, looked for in answers, and scored. Imports
`protocols`, engine and inputs, a hunt agents too; all that may import protocols may import it."""
