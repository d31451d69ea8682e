"""Compiled templates are kept, and never used for another text."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from damage_support import HARMS, flip

from ffslab.report.compiled import CompiledTemplates


def rendered(cache: CompiledTemplates, text: str, compiled: list[str] | None = None) -> str:
    """The template in an environment of its own; `compiled` notes what is compiled."""
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"page": text}), bytecode_cache=cache, autoescape=True
    )
    compile_text = environment.compile

    def noted(source: str, *arguments: object, **named: object) -> object:
        if compiled is not None:
            compiled.append(source)
        return compile_text(source, *arguments, **named)  # type: ignore[call-overload]

    environment.compile = noted  # type: ignore[method-assign, assignment]
    return environment.get_template("page").render(word="<")


def test_a_template_is_compiled_once_for_each_text(tmp_path: Path) -> None:
    cache = CompiledTemplates(tmp_path / "template")
    compiled: list[str] = []
    assert rendered(cache, "a {{ word }}", compiled) == "a &lt;"
    assert rendered(cache, "a {{ word }}", compiled) == "a &lt;"
    assert compiled == ["a {{ word }}"]
    assert rendered(cache, "b {{ word }}", compiled) == "b &lt;"
    assert rendered(cache, "b {{ word }}", compiled) == "b &lt;"
    assert compiled == ["a {{ word }}", "b {{ word }}"]
    assert len(list((tmp_path / "template").iterdir())) == 1


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_one_is_compiled_again(harm: str, tmp_path: Path) -> None:
    cache = CompiledTemplates(tmp_path)
    rendered(cache, "a")
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    HARMS[harm](kept)
    compiled: list[str] = []
    assert rendered(cache, "a", compiled) == "a"
    assert compiled == ["a"] and kept.read_bytes() == whole


def test_no_bit_of_a_kept_one_is_trusted(tmp_path: Path) -> None:
    cache = CompiledTemplates(tmp_path)
    rendered(cache, "a")
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    for offset in range(len(whole)):
        kept.write_bytes(whole)
        flip(kept, offset, offset % 8)
        compiled: list[str] = []
        assert rendered(cache, "a", compiled) == "a"
        assert compiled == ["a"]


def test_where_nothing_can_be_kept_the_report_is_made_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rendered(CompiledTemplates(tmp_path / "file" / "template"), "a") == "a"


def test_a_checkout_elsewhere_takes_the_same_place(tmp_path: Path) -> None:
    cache = CompiledTemplates(tmp_path)
    one, other = (f"/{place}/workloads/micro/report/page.html.j2" for place in ("a/b", "c"))
    tree = one.replace("micro", "tree")
    assert cache.get_cache_key("page", one) == cache.get_cache_key("page", other)
    assert cache.get_cache_key("page", one) != cache.get_cache_key("page", tree)
