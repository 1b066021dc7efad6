"""The argue program: reports compared with lists of questions with accepted answers, joined with
support. Its parts import each other and what every program does; others import it by the table."""
