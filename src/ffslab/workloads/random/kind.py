"""random as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_writable
from ffslab.workloads.random.keys import LEAST_BYTES, Random


class RandomType(WorkloadType[Random]):
    """random as a kind of workload."""

    settings = Random

    def check(self, workload: Random, setting: Setting) -> None:
        """SpecError for a state that is not free, or a partition that is too small."""
        check_writable(self.kind, setting)
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: random begins with an empty file system; it has no state "
                f"{setting.state.name!r}",
                cause="the model knows nothing of what another step wrote",
                remedy='state = "free"; full_percent says how full it gets',
            )
        if workload.most_bytes(setting.partition_bytes) > setting.partition_bytes // 2 and (
            setting.partition_bytes < 4 * LEAST_BYTES
        ):
            raise SpecError(
                f"{setting.where}: a partition of {format_size(setting.partition_bytes)} is too "
                "small for a tree of files",
                cause=f"the tree takes up to {format_size(LEAST_BYTES)}",
                remedy='partition_bytes = "8 MiB"',
            )


WORKLOAD = RandomType()
