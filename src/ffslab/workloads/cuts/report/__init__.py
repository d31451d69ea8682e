"""The HTML page of an exploration of power cuts."""
