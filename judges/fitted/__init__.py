"""What fitting leaves behind: judge files, and corrections of labels. Imports `judges.verdicts`
and records; judges, programs and calibration may import it."""
