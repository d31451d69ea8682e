"""append-log: a daemon that appends a line to a log from time to time and syncs some of them."""
