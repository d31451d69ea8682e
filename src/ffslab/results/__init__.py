"""Run directories, the metrics derived from them, and the query store."""
