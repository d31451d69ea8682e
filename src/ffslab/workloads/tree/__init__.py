"""Metadata benchmarks: a list of measured steps on a file system with directory trees."""
