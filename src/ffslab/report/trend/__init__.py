"""The page of a trend, and what it is read from."""
