"""Workload `cuts`: power is cut everywhere in a history of calls, and what is left is judged."""
