"""The bindings of docs/answers/power-cut.md."""

from __future__ import annotations

from figure_page import Page, text
from figure_runs import Command

ALL = Command("run power-cuts-all")
HISTORIES = ALL.of_run(
    "number of histories",
    lambda cases: len({case["axes"]["workload.history"] for case in cases.values()}),
)
STATES = ALL.in_all("states.gone_through")

PAGE = Page(
    document="docs/answers/power-cut.md",
    commands=(ALL,),
    bindings=(
        text("{} workloads run on", HISTORIES),
        text("each of the {} states", STATES),
        text("{} states are as promised", STATES - ALL.in_all("states.not_correct")),
    ),
    stated={
        "All sequences of three operations": "the study sequences",
        "with all four": "JFFS2, UBIFS, YAFFS2 and LogFS",
        "two exceptions": "the two that follow",
        "some 30 s old": "Linux's dirty_expire_centisecs",
        "a study of ten lines": "the example that it links",
        "a program or an erase half done": "a kind of cut",
        "Some minutes on two cores": "wall time",
    },
)
