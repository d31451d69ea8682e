"""A UBI volume that leaves blocks of the partition to UBI alone."""

from __future__ import annotations

from typing import Any

import pytest

from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog
from ffslab.model.case import Case, case_spec
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.targets.virtual_flash import plan_text

CATALOG = load_catalog()


def case_with(**settings: Any) -> Case:
    study = study_from_document(find_study("quick").document, CATALOG, "quick")
    stated = {"filesystem": "ubifs", "state": "free", "partition_bytes": "28 MiB"}
    given = [(key, (value,)) for key, value in (stated | settings).items()]
    return expand(with_overrides(study, given, CATALOG), CATALOG)[0]


def volume_line(case: Case) -> str:
    (line,) = (line for line in plan_text(case).splitlines() if line.startswith("ubi-mkvol"))
    return line


def test_the_volume_has_its_size_and_the_spec_names_it() -> None:
    whole, small = case_with(), case_with(ubi_volume_bytes="8 MiB")
    assert "size=max" in volume_line(whole) and "size=8388608" in volume_line(small)
    assert "volume_bytes" not in case_spec(whole)["filesystem"]["ubi"]
    assert case_spec(small)["filesystem"]["ubi"]["volume_bytes"] == 8 * 2**20
    assert case_spec(whole)["partition_bytes"] == case_spec(small)["partition_bytes"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"filesystem": "jffs2"}, "file system jffs2 is not on UBI"),
        ({"ubi_volume_bytes": "28 MiB"}, "is to be within a partition of 28 MiB"),
        ({"ubi_volume_bytes": "0 MiB"}, "is to be within a partition of 28 MiB"),
        ({"state": "image", "workload.kind": "tree"}, "an image has the size of its volume in it"),
        ({"ubi_volume_bytes": "much"}, "ubi_volume_bytes: "),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        case_with(**({"ubi_volume_bytes": "8 MiB"} | settings))
