"""A board's figures from what a probe measured on it: docs/calibration.md has the method."""
