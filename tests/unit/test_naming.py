"""How people name figures: which a word names, and what is said of one that names none."""

from __future__ import annotations

import pytest

from ffslab.results.naming import like_figure, like_metric, matches, metrics_called, names_of
from ffslab.results.schema import BY_NAME, Figure
from ffslab.workloads.figures import all_metrics


def figure(place: str, name: str) -> Figure:
    return Figure(BY_NAME[name], place, 1)


@pytest.mark.parametrize(
    ("word", "place", "metric"),
    [
        ("mount.duration_ns", "mount", "duration_ns"),
        ("mount.duration", "mount", "duration_ns"),
        ("mount.time", "mount", "duration_ns"),
        ("mount-*.time", "mount-2", "duration_ns"),
        ("*.time", "mount-2", "duration_ns"),
        ("workload.pages_programmed", "workload", "pages_programmed"),
        ("transactions/*.p99", "transactions/read", "p99_ns"),
        ("v1.2/read.max", "v1.2/read", "max_ns"),
        ("virtual", "", "virtual_ns"),
        ("virtual_ns", "", "virtual_ns"),
        ("steps [1].time", "steps [1]", "duration_ns"),
    ],
)
def test_a_word_names_a_figure(word: str, place: str, metric: str) -> None:
    assert matches(word, figure(place, metric))


@pytest.mark.parametrize(
    ("word", "place", "metric"),
    [
        ("mount.time", "mount-2", "duration_ns"),
        ("mount.time", "mount", "flash_ns"),
        ("mount.*", "mount", "duration_ns"),  # a metric is no pattern
        ("mount.flash_n", "mount", "flash_ns"),
        ("time", "mount", "duration_ns"),
        ("duration_ns", "mount", "duration_ns"),
        ("Mount.time", "mount", "duration_ns"),
        ("transactions.p99", "transactions/read", "p99_ns"),
    ],
)
def test_a_word_names_nothing_else(word: str, place: str, metric: str) -> None:
    assert not matches(word, figure(place, metric))


def test_a_figures_key_names_it_alone() -> None:
    figures = [figure(place, name) for place in ("mount", "workload/read") for name in BY_NAME]
    for one in figures:
        assert [other for other in figures if matches(one.key, other)] == [one]


def test_every_metric_is_called_by_its_name() -> None:
    metrics = all_metrics()
    for metric in metrics:
        assert metric in metrics_called(f"anywhere.{metric.name}", metrics)
        assert names_of(metric)[0] == metric.name


def test_every_unit_may_be_left_out_but_that_of_a_rate() -> None:
    called = {metric.name: names_of(metric)[1:] for metric in all_metrics()}
    assert called["correct_percent"] == ("correct",)
    assert called["life_years"] == ("life",)
    assert called["available_bytes"] == ("available",)
    assert called["p99_ns"] == ("p99",)
    assert called["duration_ns"] == ("duration", "time")
    assert called["pages_read"] == called["transactions_per_s"] == ()


def test_rates_keep_their_unit_as_a_read_is_no_throughput() -> None:
    assert names_of(BY_NAME["read_bytes_per_s"]) == ("read_bytes_per_s",)


def test_a_name_without_unit_may_be_two_metrics() -> None:
    called = {metric.name for metric in metrics_called("image.flash", all_metrics())}
    assert called == {"flash_ns", "flash_bytes"}


def test_an_unknown_metric_is_told_with_the_nearest() -> None:
    assert metrics_called("mount.tiem", all_metrics()) == ()
    assert like_metric("mount.tiem", all_metrics()) == " (did you mean 'mount.time'?)"
    assert like_metric("virtal", all_metrics()) == " (did you mean 'virtual'?)"


def test_a_figure_that_no_case_has_is_told_with_the_nearest() -> None:
    figures = [figure("mount-1", "duration_ns"), figure("transactions", "pages_read")]
    assert like_figure("mount.time", figures) == " (did you mean 'mount-1.time'?)"
