"""Which file system, with which options, meets the needs of a product.

A needs file (`needs`) is expanded into candidates, file systems with options (`candidates`), and
these into small cases that measure one need each (`probes`). They run as one generated study
(`run`); their results become values with what is behind them (`readings`), and these, against the
limits of the file, a verdict and a ranking (`verdict`), and what would change it (`changes`).
"""
