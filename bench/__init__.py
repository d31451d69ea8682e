"""The benchmark of the laboratory itself: what a case costs the host.

Run with `./ffslab bench`; README.md says what each line means. It is no part of
the installed package, and no test of the suite is timed.
"""
