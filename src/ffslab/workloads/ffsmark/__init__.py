"""FFSMark: Postmark on flash, as published: create a pool of files, transactions, delete it."""
