"""Where the guests of cases run: one package for each target.

`ffslab.targets.target` says what a target offers and what it has to say of itself. User-Mode Linux
(`ffslab.targets.uml`) is one; nothing above this package knows more of it than that.
"""
