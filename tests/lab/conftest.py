"""The lab is built once for all lab tests; a lab that cannot be built fails them."""

from __future__ import annotations

import pytest

from ffslab.kernel import ensure_lab
from ffslab.target.lab import LabBuild


@pytest.fixture(scope="session")
def lab() -> LabBuild:
    return ensure_lab()
