"""random: random operations on a file system and on a model of it, compared after each round."""
