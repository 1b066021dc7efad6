"""What fitting leaves behind: judge files, and corrections of labels. Imports `judges.verdicts` and
records, and for examples what renders and explains them (`judges.in_dspy`, `judges.explaining`,
backends); judges, programs and calibration may import it."""
