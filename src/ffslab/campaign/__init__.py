"""Turns the cases of a study into results: order, workers, progress, resume."""
