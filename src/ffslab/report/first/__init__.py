"""The first screen of a report: a headline, the scoreboard, the picture.

`samples` makes rows of a run's cases, `weigh` says what is compared in them; `board`, `headline`
and `picture` are what a reader sees of that, on the page and on the terminal.
"""
