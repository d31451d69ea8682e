"""Comparisons of runs: how runs are read for one, and its HTML page."""
