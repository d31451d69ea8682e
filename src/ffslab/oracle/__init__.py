"""Power cuts: histories, what a file system promises of them, and whether a tree keeps to it. Pure.

No input or output, no clocks, no randomness but from a seed that is given.
"""
