"""Where the guests of cases run: one package for each target.

`ffslab.targets.target` says what a target offers and what it has to say of itself,
`ffslab.targets.registry` finds the packages. Nothing outside this package names one of them:
whoever needs any, or one that the user did not choose, takes the default.
"""

DEFAULT_TARGET = "uml"
