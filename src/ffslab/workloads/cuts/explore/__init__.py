"""What runs the guests of workload `cuts`, on any target that can cut power."""
