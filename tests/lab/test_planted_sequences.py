"""Do short sequences find mistakes of order and omission? 24 are planted, and each has to be found.

Sequences of up to three acts are gone through in all their cuts; the shortest that finds a mistake
must have as many acts as its row says, so that nothing shorter finds it, and nothing longer is
needed. By default it is a sample, and the kind of cut that suffices; with FFSLAB_NIGHTLY=1 all, and
all kinds: `pytest -s` then prints the table of docs/power-cuts.md, with seconds of CPU time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from cut_guests import cases_of_text, cuts_by_case, run_of
from planted_orders import NEW, Order, catalog_of_orders
from planted_orders_logfs import LOGFS_ORDERS
from planted_orders_unseen import UNSEEN_LOGFS, UNSEEN_YAFFS
from planted_orders_yaffs import YAFFS_ORDERS
from test_planted_faults import cpu_s

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.targets.uml.site import lab_parts
from ffslab.workloads.cuts.stored import CutsResult

NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
ORDERS = (*YAFFS_ORDERS, *LOGFS_ORDERS)
# Of each module and layout, of each beginning and set but the largest.
SAMPLE = (
    *("yaffs2-truncate-order", "yaffs2-fsync-one", "segregated-size", "segregated-stream"),
    *("logfs-evacuate", "logfs-rename-directory"),
)
TRIED = tuple(order for order in ORDERS if NIGHTLY or order.name in SAMPLE)
MOST_S = 120  # of one core
STUDY = """
schema = 1
name = "planted"
title = "A mistake is planted"

[base]
board = "apf27"
partition_bytes = "{partition}"
filesystem = "{filesystem}-planted"
options.planted = "{planted}"
{options}

[base.workload]
kind = "cuts"
history = "sequences"
act_set = "{act_set}"
beginning = "{begins}"
length = {length}
kinds = "{kinds}"
"""
Catalogs = Mapping[str, Path]


@pytest.fixture(scope="session")
def catalogs(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Catalogs:
    """By module, the one with all of its mistakes, compiled."""
    del lab
    made = {}
    for orders in ((*YAFFS_ORDERS, *UNSEEN_YAFFS), (*LOGFS_ORDERS, *UNSEEN_LOGFS)):
        catalog = catalog_of_orders(orders, tmp_path_factory.mktemp("planted"))
        ensure_lab(**lab_parts(cases_of_text(text_of(orders[0]), (catalog,))))
        made[orders[0].filesystem] = catalog
    return made


def text_of(order: Order, *, planted: bool = True, kinds: str = "") -> str:
    return STUDY.format(
        partition=order.partition,
        filesystem=order.filesystem,
        planted=order.name if planted else "none",
        options='options.layout = "segregated"' if order.is_segregated else "",
        act_set=order.act_set,
        begins=order.begins,
        length=order.length,
        kinds=kinds,
    )


def cuts_of(text: str, catalog: Path, directory: Path) -> CutsResult:
    (cuts,) = cuts_by_case(run_of(text, directory, 1, (catalog,))).values()
    return cuts


@pytest.mark.parametrize("order", TRIED, ids=lambda order: order.name)
def test_the_mistake_is_found(order: Order, catalogs: Catalogs, tmp_path: Path) -> None:
    catalog = catalogs[order.filesystem]
    text = text_of(order, kinds="" if NIGHTLY else order.kind)
    before_s = cpu_s()
    cuts = cuts_of(text, catalog, tmp_path / "run")
    took_s = cpu_s() - before_s
    found = cuts["findings"]
    assert found, "not found"
    first = found[0]
    acts = first["acts"]
    where = acts if order.begins == NEW else f"{order.begins}: {acts}"
    counts = (f"{cuts['states']:,}", len(found), f"{took_s:.0f}")
    row = (order.what, order.act_set, where, first["outcome"], *counts)
    print(f"\n| {' | '.join(map(str, row))} |")
    assert len(acts.split("; ")) == order.length
    assert order.outcomes & {one["outcome"] for one in found}
    assert first["confirmed"]
    assert not NIGHTLY or took_s < MOST_S


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 plants these, too")
@pytest.mark.parametrize("order", [*UNSEEN_YAFFS, *UNSEEN_LOGFS], ids=lambda order: order.name)
def test_what_is_not_seen(order: Order, catalogs: Catalogs, tmp_path: Path) -> None:
    """If one is found from now on, docs/power-cuts.md has to say so."""
    cuts = cuts_of(text_of(order), catalogs[order.filesystem], tmp_path / "run")
    assert not cuts["findings"]


@pytest.mark.parametrize("name", ["yaffs2-unlink-open", "segregated-first", "logfs-msync-order"])
def test_the_same_module_without_it_has_none(name: str, catalogs: Catalogs, tmp_path: Path) -> None:
    (order,) = (order for order in ORDERS if order.name == name)
    text = text_of(order, planted=False, kinds=order.kind)
    assert not cuts_of(text, catalogs[order.filesystem], tmp_path / "run")["findings"]


def test_no_mistake_has_two_names() -> None:
    places = {(path, text, other) for order in ORDERS for path, text, other in order.changes}
    assert len(ORDERS) == len({order.name for order in ORDERS}) == 24
    assert len(places) == sum(len(order.changes) for order in ORDERS)
