"""Ratings: grades of file systems by the rules of a study (`ffslab.model.rating`)."""
