"""What a report says of micro-benchmarks beyond what all workloads have."""
