"""UBI's own erase counters, from two captures of its list."""

from __future__ import annotations

import json

from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.erase_counters import erase_counters

PATH = "/sys/kernel/debug/ubi/ubi0/detailed_erase_block_info"
HEAD = "physical_block_number\terase_count\n"


def captured(*texts: str, path: str = PATH) -> RecordStream:
    lines = [json.dumps({"v": 1, "type": "file", "path": path, "text": text}) for text in texts]
    return parse_records(("\n".join(lines) + "\n").encode())


def test_the_difference_is_what_was_erased() -> None:
    """Blocks 0 to 2: 3, 4 and 9 erases, then 3, 6 and 10: three more; 19 over three is 6.33."""
    first = HEAD + "0                     \t3          \n1 \t4\n2 \t9\n"
    last = HEAD + "0                     \t3          \n1 \t6\n2 \t10\n"
    found = erase_counters(captured(first, last))
    assert found is not None
    assert (found["blocks"], found["erases"]) == (3, 3)
    assert (found["life_min"], found["life_max"]) == (3, 10)
    assert round(found["life_mean"], 2) == 6.33


def test_a_block_that_went_bad_is_not_counted() -> None:
    found = erase_counters(captured(HEAD + "0 \t3\n1 \t4\n", HEAD + "1 \t5\n"))
    assert found is not None
    assert (found["blocks"], found["erases"]) == (1, 1)


def test_one_capture_or_another_file_says_nothing() -> None:
    text = HEAD + "0 \t3\n"
    assert erase_counters(captured(text)) is None
    assert erase_counters(captured(text, text, path="/proc/meminfo")) is None
    assert erase_counters(captured("", "")) is None
