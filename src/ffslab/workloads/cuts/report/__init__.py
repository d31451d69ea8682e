"""The page of power cuts."""
