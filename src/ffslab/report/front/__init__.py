"""What a report begins with: who is best at what, by how much, and a table to decide by.

`samples` takes from a run's cases what people decide by, `weigh` compares configurations row by
row, `words` says it, `table` shows it, `page` puts it together. None of them knows a workload:
which figures people decide by, and what they are called, its module `metrics` says
(`ffslab.results.criteria`).
"""
