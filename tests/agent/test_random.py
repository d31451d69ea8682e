# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the step random that need no privilege: which calls a seed has.

usage: test_random.py FFSAGENT
"""

from __future__ import annotations

import re
import sys

from agent_support import ORDER, Agent, main, of_type

ORDER["random-calls"] = ["v", "type", "text"]


def calls(agent: Agent, keys: str = "", rounds: int = 3) -> list[str]:
    records = agent.plan(f"random dir={agent.dir} rounds={rounds} operations=80 tell=1 {keys}")
    (record,) = of_type(records, "random-calls")
    return str(record["text"]).splitlines()


def names(lines: list[str]) -> list[str]:
    return [line.split(" ")[1] for line in lines]


def test_a_seed_is_a_list_of_calls(agent: Agent) -> None:
    lines = calls(agent)
    assert lines == calls(agent) != calls(agent, "seed=2")
    assert all(re.fullmatch(r"\d+ [a-z-]+( \S+)* # .*", line) for line in lines)
    numbers = [int(line.split(" ")[0]) for line in lines]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, 241))
    assert names(lines).count("compare") == 6
    # Nothing was made of it.
    assert not list(agent.dir.iterdir())


def test_what_follows_a_round(agent: Agent) -> None:
    for after, wanted in (("remount", "remount"), ("drop", "drop-caches")):
        lines = calls(agent, f"after={after}")
        ends = [at for at, name in enumerate(names(lines)) if name == "compare"][::2]
        assert [names(lines)[at + 1] for at in ends] == [wanted] * 3
    assert names(calls(agent, "after=nothing")).count("compare") == 3


def test_shapes_have_more_of_what_they_are_called(agent: Agent) -> None:
    def share(keys: str, wanted: set[str]) -> float:
        drawn = names(calls(agent, keys, rounds=20))
        return sum(name in wanted for name in drawn) / len(drawn)

    data, moves = {"write", "truncate", "map-write"}, {"rename", "replace", "mkdir", "link"}
    assert share("shape=data", data) > 1.3 * share("", data)
    assert share("shape=names", moves) > 1.3 * share("", moves)
    assert share("turn_over_bytes=0", {"turn-over"}) == 0 == share("", {"fill"})
    assert share("fills=1000", {"fill"}) > 0.03


if __name__ == "__main__":
    sys.exit(main(globals()))
