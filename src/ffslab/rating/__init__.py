"""The rating of the file systems of a run, by the rules of its study (`ffslab.model.rating`)."""
