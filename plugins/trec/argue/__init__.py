"""The task `argue`: reports compared with lists of questions with accepted answers.

It joins the answers with support labels of their sentences. No other folder of the package imports
it: they find it in the table of tasks.
"""
