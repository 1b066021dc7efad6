"""The argue program: reports held against lists of questions with accepted answers, joined with
support. Its parts import each other and what every program does; others import it by the table."""
