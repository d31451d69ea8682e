"""The list of refusals against the kernel's source: each line is there, in its function."""

from __future__ import annotations

import re

import pytest

from ffslab.lab.lab import known_source
from ffslab.lab.lab_build import LabBuild
from ffslab.results.refusals import REFUSALS, Refusal


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.text)
def test_a_refusal_is_what_its_function_logs_and_answers(
    lab: LabBuild,  # noqa: ARG001
    refusal: Refusal,
) -> None:
    source = known_source(None)
    assert source is not None
    name = refusal.function.removesuffix("()")
    texts = [
        path.read_text()
        for directory in ("fs/ubifs", "drivers/mtd/ubi")
        for path in (source.tree / directory).glob("*.c")
    ]
    bodies = [
        match[0]
        for text in texts
        for match in re.finditer(rf"^\w[^;{{}}]*\b{name}\([^;{{}}]*\{{.*?^}}", text, re.M | re.S)
    ]
    assert len(bodies) == 1
    said = refusal.text.replace('"', '\\"')
    assert said in bodies[0] and f"-{refusal.answer}" in bodies[0]
