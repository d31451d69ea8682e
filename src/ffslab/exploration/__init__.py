"""Exploration of power cuts: guests that carry out a history, and walk through what cuts leave."""
