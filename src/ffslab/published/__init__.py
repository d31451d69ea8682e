"""Statements of publications, as data, and what ffslab measures beside them.

`published/NAME.toml` has the statements of a publication, each with formulas over figures of runs
(docs/published.md). `ffslab reproduce` runs what they need, and judges each by one rule.
"""
