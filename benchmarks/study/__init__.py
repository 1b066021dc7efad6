"""Any model as every judge over judged data: `python -m benchmarks.study DATA --model MODEL`.

`sets` reads the data, `plan` says what is run, `parts` runs it, `figures` measures it and `table`
writes it; see docs/study.md. What may not be redistributed is read from DATA.
"""
