"""The command line: one file per verb, parsing and printing only."""
