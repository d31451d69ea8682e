"""The page and the documents of publications: what they state, beside what ffslab measures."""
