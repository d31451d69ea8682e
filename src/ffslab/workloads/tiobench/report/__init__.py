"""The report of tiobench: throughput and latency of each phase, by file system and block size."""
