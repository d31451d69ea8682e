"""Configuration fragments: parsing, and the check that every option took effect."""

from __future__ import annotations

import pytest

from ffslab.lab.config import parse_config, unmet_options
from ffslab.lab.lab import VARIANTS
from ffslab.paths import data_dir
from ffslab.workloads.script.plan import MISSING


def test_a_fragment_is_read_with_its_unset_options() -> None:
    text = '# a comment\nCONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D="a b"\n'
    assert parse_config(text) == {
        "CONFIG_A": "y",
        "CONFIG_B": "m",
        "CONFIG_C": "n",
        "CONFIG_D": '"a b"',
    }


def test_the_last_of_two_fragments_wins() -> None:
    assert parse_config("CONFIG_A=y\n# CONFIG_A is not set\n") == {"CONFIG_A": "n"}


def test_options_that_did_not_stick_are_named_with_both_values() -> None:
    wanted = {"CONFIG_A": "y", "CONFIG_B": "m", "CONFIG_C": "y", "CONFIG_D": "n"}
    final = {"CONFIG_A": "y", "CONFIG_B": "y"}
    assert [str(option) for option in unmet_options(wanted, final)] == [
        "CONFIG_B: wanted m, got y",
        "CONFIG_C: wanted y, got n",
    ]


@pytest.mark.parametrize("name", sorted({name for names in VARIANTS.values() for name in names}))
def test_the_fragments_state_each_option_once(name: str) -> None:
    text = (data_dir("kernel") / name).read_text(encoding="utf-8")
    stated = [option for line in text.splitlines() for option in parse_config(line)]
    assert stated
    assert len(stated) == len(set(stated))


def test_a_script_is_told_what_no_kernel_has() -> None:
    options = {
        "inotify": "INOTIFY_USER",
        "fanotify": "FANOTIFY",
        "io_uring": "IO_URING",
        "POSIX message queues": "POSIX_MQUEUE",
        "namespaces": "NAMESPACES",
        "cgroups": "CGROUPS",
        "POSIX ACLs": "FS_POSIX_ACL",
    }
    assert MISSING.split(", ") == list(options)
    for name in ("lab.config", "sockets.config"):
        had = parse_config((data_dir("kernel") / name).read_text(encoding="utf-8"))
        assert not [option for option in options.values() if f"CONFIG_{option}" in had]
