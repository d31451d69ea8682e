"""script: a shell script of the user, with files of the user, run as it is."""
