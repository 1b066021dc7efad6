"""The task `argue`: reports compared with lists of questions with accepted answers.

It joins the answers with support labels of their sentences. Other folders do not
import it; they find the task in the table of tasks.
"""
