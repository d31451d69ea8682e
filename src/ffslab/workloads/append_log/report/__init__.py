"""The report of append-log: what a line costs, and how long the slowest takes."""
