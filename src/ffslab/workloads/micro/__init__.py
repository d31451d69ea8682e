"""Micro-benchmarks as of uFLIP: one stream of requests to one file."""
