"""Mutates what computes and judges results, and says which mistakes no test notices.

    python tests/mutation all              every mutant, half an hour and more
    python tests/mutation sample 300 7     300 of them, drawn with seed 7
    python tests/mutation results/metrics.py stats/
    python tests/mutation results/metrics.py:quantile_ns

With nothing but beginnings of names it runs those mutants. The exit status is 0 if at least
GOAL_PERCENT of the mutants are killed, and neither a test fails without one nor an entry of
equivalent.toml is without its mutant.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence

from c_mutants import c_mutants, run_target
from operators import Module
from outcomes import ROOT, Chosen, CTarget, Target, load_equivalent, load_targets, stale, total
from runner import run_modules

GOAL_PERCENT = 95


def titles(targets: Sequence[Target], sources: Sequence[CTarget]) -> list[str]:
    """Of all mutants that there are, in order."""
    all_titles = []
    for target in targets:
        module = Module(target.path, target.module, target.has)
        all_titles += [mutant.title for mutant in module.mutants]
    for source in sources:
        text = (ROOT / source.source).read_text(encoding="utf-8")
        all_titles += [mutant.title for mutant in c_mutants(text, source.source)]
    return all_titles


def choice(words: Sequence[str], every: Sequence[str]) -> Chosen:
    """Which mutants the command line asks for, by their names."""
    if words[0] == "all":
        return lambda _: True
    if words[0] == "sample":
        names = [title.partition(" | ")[0] for title in every]
        count, seed = int(words[1]), int(words[2])
        return set(random.Random(seed).sample(names, min(count, len(names)))).__contains__
    beginnings = tuple(words)
    return lambda name: name.startswith(beginnings)


def main(words: Sequence[str]) -> int:
    def tell(text: str) -> None:
        print(text, flush=True)

    modules, sources = load_targets()
    every = titles(modules, sources)
    old = stale(every)
    for title in old:
        tell(f"equivalent.toml: there is no such mutant: {title}")
    chosen = choice(words or ["all"], every)
    asked = {title.partition(":")[0] for title in every if chosen(title.partition(" | ")[0])}
    if not asked:
        tell(f"no mutant is called {' or '.join(words)}")
        return 2
    equivalent = load_equivalent()
    scores, broken = run_modules(
        [target for target in modules if target.module in asked], chosen, equivalent, tell
    )
    for source in sources:
        if source.source in asked:
            score = run_target(source, chosen, equivalent)
            for outcome in score.outcomes:
                if outcome.state == "survived":
                    tell(outcome.text)
            tell(score.text)
            scores.append(score)
    for name in broken:
        tell(f"fails without a mutant: {name}")
    whole = total(scores)
    tell("\n".join(["", *(score.text for score in scores), whole.text]))
    tell(f"{whole.seconds:.0f} s; the goal is {GOAL_PERCENT} %")
    return 0 if whole.percent >= GOAL_PERCENT and not broken and not old else 1


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of a set decides whether some mistakes are noticed.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.exit(main(sys.argv[1:]))
