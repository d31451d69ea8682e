"""Values that a study probably did not mean are told, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from cli_support import Command

from ffslab.campaign.run import prepare
from ffslab.loader import study_names


def told(*overrides: tuple[str, tuple[Any, ...]], study: str = "quick") -> tuple[str, ...]:
    return prepare(study, overrides).doubts


def test_the_shipped_studies_mean_what_they_say() -> None:
    names = study_names()
    assert len(names) > 30
    assert {name: doubts for name in names if (doubts := prepare(name).doubts)} == {}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("chip.t_prog_ns", 600, "chip.t_prog_ns = 600 is more than ten times below that of any "
         "chip of the catalog (200,000); 600,000 may be meant"),
        ("chip.t_erase_ns", 900_000_000, "above that of any chip of the catalog (11,756,638); "
         "900,000 may be meant"),
        ("chip.t_read_ns", 900_000_000, "above that of any chip of the catalog (120,000)"),
    ],
)  # fmt: skip
def test_a_value_that_no_data_sheet_has(key: str, value: Any, words: str) -> None:
    (doubt,) = told((key, (value,)))
    assert words in doubt


def test_ten_times_is_still_usual_and_nothing_is_said_of_zero() -> None:
    assert told(("chip.t_prog_ns", (20_000,))) == ()
    assert len(told(("chip.t_prog_ns", (19_999,)))) == 1
    assert told(("chip.t_prog_ns", (0,))) == ()
    # A value is told once, however many cases have it.
    assert len(told(("chip.t_prog_ns", (600, 700)))) == 2


def test_nor_flash_is_compared_with_nor_flash() -> None:
    """Its erase takes longer than that of any NAND."""
    (doubt,) = told(("chip.t_erase_ns", (200_000_000,)), study="spi")
    assert "above that of any chip of the catalog (11,756,638)" in doubt
    both = told(("chip.t_erase_ns", (1_000,)), study="spi")
    assert len(both) == 2 and any("any chip of the catalog (30,000,000)" in text for text in both)


def test_a_size_that_ends_within_an_erase_block_is_rounded() -> None:
    (doubt,) = told(("partition_bytes", ("10 MB",)))
    assert doubt == (
        "partition_bytes = 10,000,000 is rounded down to 9.5 MiB, 76 erase blocks of chip "
        "micron-256m-apf27"
    )
    assert told(("partition_bytes", ("16 MiB",))) == ()
    twice = told(("partition_bytes", ("10 MB", "20 MB")))
    assert [text.partition(" is")[0] for text in twice] == [
        "partition_bytes = 10,000,000", "partition_bytes = 20,000,000",
    ]  # fmt: skip


def test_run_tells_them_and_goes_on(ffslab_command: Command) -> None:
    ended = ffslab_command("run", "quick", "--dry-run", "--set", "chip.t_prog_ns=600")
    assert ended.code == 0
    assert "ffslab: chip.t_prog_ns = 600 is more than ten times below" in ended.error
