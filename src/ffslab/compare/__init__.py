"""Comparisons of results: pairs, ratios, the band of builds, verdicts. Pure: no input or output."""
