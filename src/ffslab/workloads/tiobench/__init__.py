"""tiobench: sequential and random throughput and latency, as embedded boards are compared by."""
