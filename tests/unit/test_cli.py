"""The command line with a target without a kernel: what it prints, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer.main
from cli_support import Command
from host_support import STUDY, FakeTarget
from typer.testing import CliRunner

from ffslab import __version__
from ffslab.cli.app import VERBS, build_app, verbs_for, without_options
from ffslab.cli.parse import parse_seeds, parse_set
from ffslab.errors import UsageError
from ffslab.model.files import BaseFile, PartFile, SizesFile, StateFile, StudyFile
from ffslab.model.strict import Strict
from ffslab.model.workload_file import file_of
from ffslab.results.reproduce import reproduce_command
from ffslab.results.rundir import find_run
from ffslab.results.store import COLUMNS, open_store
from ffslab.workloads.registry import workloads

ROOT = Path(__file__).resolve().parents[2]


RUN = ("run", "small.toml", "--no-report")


def test_run_prints_a_table_of_80_columns_and_says_where(ffslab_command: Command) -> None:
    result = ffslab_command(*RUN)
    assert result.code == 0, result.error
    assert "8 of 8 cases: 8 pass" in result.output
    table = [line for line in result.output.splitlines() if "pass" in line]
    assert all(len(line) <= 80 for line in table)
    assert re.search(r"^results: results/\d{8}T\d{6}Z-small$", result.output, re.M)


def test_a_passing_run_without_the_report_extra_ends_well(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    result = ffslab_command("run", "small.toml")
    assert result.code == 0, result.error
    (line,) = (line for line in result.output.splitlines() if line.startswith("no report: "))
    assert "pip install 'ffslab[report]'" in line
    assert "pip install '.[report]'" in line
    assert len(find_run("latest", Path("results")).results()) == 8
    assert ffslab_command("report", "latest").code == 3


def test_piped_output_breaks_no_line(ffslab_command: Command, tmp_path: Path) -> None:
    state = "nine-tenths-of-the-partition-hold-valid-data-and-nothing-is-invalid-at-all"
    text = STUDY.replace('"free"', f'{{ name = "{state}", valid_percent = 90 }}')
    (tmp_path / "small.toml").write_text(text)
    case = f"jffs2-{state.replace('-', '')}-s1"
    ffslab_command.target.files = {case: ("panic.log", "cut.jsonl")}
    lines = ffslab_command(*RUN, "--all").output.splitlines()
    assert any(line.startswith(f"{case}: crash: oops: Kernel panic") for line in lines)
    assert any(re.match(f"{case} +crash", line) for line in lines)
    assert any(re.match(f"{case[:-1]}2 +pass", line) for line in lines)
    path = find_run("latest", Path("results")).path
    shown = ffslab_command("show", "latest").output.splitlines()
    assert f"{path}: ffslab run small.toml --no-report --all" in shown


def test_failures_come_first_and_give_exit_code_1(ffslab_command: Command) -> None:
    ffslab_command.target.files = {"ubifs-aged-s2": ("panic.log", "cut.jsonl")}
    result = ffslab_command(*RUN)
    assert result.code == 1
    lines = result.output.splitlines()
    heading = next(i for i, line in enumerate(lines) if line.startswith("case "))
    assert lines[heading + 1].startswith("ubifs-aged-s2")
    assert "crash: oops: Kernel panic" in result.output.replace("\n", " ")


def test_dry_run_lists_and_creates_nothing(ffslab_command: Command, tmp_path: Path) -> None:
    result = ffslab_command("run", "small.toml", "--dry-run", "--set", "state=aged")
    assert result.code == 0
    assert "ubifs-s2" in result.output
    assert "4 cases of study small" in result.output
    assert not (tmp_path / "results").exists()


def test_one_case_is_reproduced_by_the_command_that_show_prints(ffslab_command: Command) -> None:
    ffslab_command(*RUN, "--set", "workload.transactions=9", "--seeds", "4")
    shown = ffslab_command("show", "latest", "ubifs-free-s3")
    assert shown.code == 0, shown.error
    assert "driver 165/165/20 µs per page read/page programmed/erase" in shown.output
    command = re.search(r"^reproduce: ffslab (.*)$", shown.output, re.M)
    assert command is not None
    import shlex

    again = ffslab_command(*shlex.split(command[1]), "--no-report", "--output", "again")
    assert again.code == 0, again.error
    runs = [find_run("latest", Path(root)) for root in ("results", "again")]
    hashes = [{r["id"]: r["spec_hash"] for r in run.results()} for run in runs]
    assert hashes[1] == {"ubifs-free-s3": hashes[0]["ubifs-free-s3"]}


def test_a_catalog_of_ones_own_is_used_recorded_and_reproduced(
    ffslab_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own" / "states").mkdir(parents=True)
    (tmp_path / "own" / "states" / "half.toml").write_text('name = "half"\nvalid_percent = 50\n')
    own = ("--catalog", "own")
    assert "half" in ffslab_command("list", "states", *own).output
    assert "half" not in ffslab_command("list", "states").output
    wanted = ("--set", 'state=["free", "half"]')
    assert ffslab_command(*RUN, *wanted).code == 2
    assert ffslab_command(*RUN, *wanted, *own).code == 0
    run = find_run("latest", Path("results"))
    assert run.manifest()["catalogs"] == [str(tmp_path / "own")]
    shown = ffslab_command("show", "latest", "ubifs-half-s1").output
    assert f"reproduce: ffslab run small.toml --catalog {tmp_path / 'own'} " in shown
    (run.case_dir("ubifs-half-s1") / "case.json").unlink()
    resumed = ffslab_command("run", str(run.path), "--resume", "--no-report")
    assert resumed.code == 0, resumed.error
    monkeypatch.setenv("FFSLAB_CATALOG", "own:own")
    assert "half" in ffslab_command("list", "states").output


def test_show_tells_figures_that_no_source_stands_behind(ffslab_command: Command) -> None:
    assert ffslab_command(*RUN, "--set", "board.cpu_mhz=200").code == 0
    lines = ffslab_command("show", "latest", "ubifs-free-s1").output.splitlines()
    assert [line.split(": ")[1] for line in lines if line.startswith("figure: ")] == [
        "board.cpu_mhz = 200",
        *(
            f"board.cpu_{name}_ps = {value}"
            for name, value in (("instruction", 7500), ("byte", 14000), ("set_byte", 7000))
        ),
        *(
            f"board.cpu_{name}_ns = {value}"
            for name, value in (("copy", 300), ("set", 750), ("syscall", 562))
        ),
        *(
            f"board.driver_{name}_ns = {value}"
            for name, value in (("read", 330000), ("program", 330000), ("erase", 40000))
        ),
    ]
    derived = "derived: 3,750 × 400 ÷ 200 MHz, from board apf27"
    assert f"figure: board.cpu_instruction_ps = 7500: {derived}" in lines
    ffslab_command(*RUN)
    assert "figure: " not in ffslab_command("show", "latest", "ubifs-free-s1").output


def test_suggested_commands_name_the_program_as_the_user_typed_it(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_COMMAND", "./ffslab")
    assert "next: ./ffslab run quick" in ffslab_command("list").output
    assert "next: ./ffslab list studies" in ffslab_command("run", "nothing").error
    assert "Usage: ./ffslab run" in ffslab_command("run", "--jobs", "0", "x").error
    ffslab_command("run", "small.toml")
    shown = ffslab_command("show", "latest", "ubifs-free-s1").output
    assert "reproduce: ./ffslab run " in shown
    run = find_run("latest", Path("results"))
    assert run.manifest()["command"] == "./ffslab run small.toml"
    # The report does not depend on who wrote it.
    assert "<code>ffslab run " in (run.path / "report.html").read_text()
    monkeypatch.setenv("FFSLAB_COMMAND", "/a path/ffslab")
    assert "next: '/a path/ffslab' list studies" in ffslab_command("run", "nothing").error


def test_show_and_list(ffslab_command: Command) -> None:
    ffslab_command(*RUN)
    shown = ffslab_command("show", "latest")
    assert "8 of 8 cases: 8 pass" in shown.output
    assert "8 cases, complete" in ffslab_command("list").output
    for kind, word in (
        ("boards", "celf-mips"),
        ("chips", "256 MiB"),
        ("filesystems", "zstd"),
        ("studies", "ffsmark"),
        ("states", "50 % valid"),
        ("states", "image      an image of the tree embedded-rootfs"),
        ("trees", "213 directories, 1,055 files"),
    ):
        assert word in ffslab_command("list", kind).output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "nothing"), 2, "no study 'nothing'"),
        (("run", "small.toml", "--set", "statee=free"), 2, "did you mean 'state'"),
        (("run", "small.toml", "--set", "state"), 2, "is not AXIS=VALUE"),
        (("run", "small.toml", "--set", "filesystem=ext4"), 2, "unknown filesystem 'ext4'"),
        (("run", "small.toml", "--seeds", "0"), 2, "neither a count nor a list"),
        (("run", "small.toml", "--case", "nope"), 2, "next: ffslab run small.toml --dry-run"),
        (("run", "small.toml", "--case", "jffs2-fre-s1"), 2, "did you mean 'jffs2-free-s1'"),
        (("run", "small.toml", "--set", "compresion=lzo"), 2, "mean 'options.compression'"),
        (
            ("run", "small.toml", "--set", "filesystem=jffs2,ubifs"),
            2,
            """next: --set 'filesystem=["jffs2", "ubifs"]'""",
        ),
        (("run", "small.toml", "--set", "cpu_scale=0, 1"), 2, "next: --set 'cpu_scale=[0, 1]'"),
        (("run", "small.toml", "--resume"), 2, "no interrupted run of small"),
        (("run", "small.toml", "--jobs", "0"), 2, "Usage: ffslab run"),
        (("show", "latest"), 2, "no run 'latest'"),
        (("list", "planets"), 2, "planets"),
        (("export", "latest", "-f", "xml"), 2, "xml"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_wrong_usage(
    ffslab_command: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = ffslab_command(*arguments)
    assert result.code == code
    assert message in result.error
    if arguments[0] == "run":
        assert max(map(len, result.error.splitlines())) < 160


def test_bad_toml_names_file_and_line(ffslab_command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("schema = 1\nname = \n")
    result = ffslab_command("run", "bad.toml")
    assert result.code == 2
    assert "bad.toml" in result.error
    assert "line 2" in result.error


def test_resume_after_a_failed_host(ffslab_command: Command) -> None:
    def fail(_: object) -> None:
        raise OSError(28, "No space left on device", "/x")

    ffslab_command.target.before = fail
    failed = ffslab_command(*RUN)
    assert failed.code == 3
    assert "No space left" in failed.error
    ffslab_command.target = FakeTarget()
    resumed = ffslab_command("run", "small.toml", "--resume", "--no-report")
    assert resumed.code == 0, resumed.error
    assert "8 of 8 cases: 8 pass" in resumed.output


def test_damaged_results_are_told_not_dumped(ffslab_command: Command) -> None:
    ffslab_command(*RUN)
    run = find_run("latest", Path("results"))
    (run.path / "results.jsonl").write_text("{\n")
    for arguments in (("show", "latest"), ("export", "latest", "-f", "csv")):
        result = ffslab_command(*arguments)
        assert result.code == 3
        assert "results.jsonl, line 1: damaged" in result.error


def test_export(ffslab_command: Command) -> None:
    ffslab_command(*RUN)
    written = ffslab_command("export", "latest", "-f", "csv").output.split()
    assert [Path(path).stem for path in written] == list(COLUMNS)
    assert Path(written[0]).read_text().startswith("run,case_id,study")
    (path,) = ffslab_command("export", "latest", "--to", "all.json").output.split()
    assert len(json.loads(Path(path).read_text())["results"]) == 8
    assert ffslab_command("export", "latest", "-f", "parquet").code == 0


def test_store_answers_questions(ffslab_command: Command) -> None:
    ffslab_command(*RUN)
    store = open_store([find_run("latest", Path("results"))])
    rows = store.execute(
        "SELECT filesystem, count(*), avg(pages_programmed) FROM phases "
        "JOIN cases USING (run, case_id) WHERE phase = 'workload' GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert rows == [("jffs2", 4, 1040.0), ("ubifs", 4, 1040.0)]
    spread = store.execute(
        "SELECT max(erases) - min(erases) FROM blocks WHERE label = 'deletion:end'"
    ).fetchone()
    assert spread == (2,)


def test_schema_is_that_of_the_model(ffslab_command: Command) -> None:
    schema = json.loads(ffslab_command("schema", "study").output)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(_keys(StudyFile))


def _keys(model: type[Strict]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def test_study_format_documents_every_key_and_no_other() -> None:
    text = (ROOT / "docs" / "study-format.md").read_text()
    sections = {
        "## Top level": StudyFile,
        "## `[base]`": BaseFile,
        "### `[base.state]`": StateFile,
        "### `[base.workload]` of FFSMark": file_of(workloads()["ffsmark"]),
        "### `[base.workload]` of micro": file_of(workloads()["micro"]),
        "### `[base.workload]` of tree": file_of(workloads()["tree"]),
        "## Parts": PartFile,
        "## `[sizes]`": SizesFile,
    }
    for heading, model in sections.items():
        body = text.split(heading + "\n", 1)[1].split("\n#", 1)[0]
        # The first table of the section.
        documented = re.findall(r"^\| `([a-z_]+)` \|", body.split("\n\n| step")[0], re.M)
        assert documented == _keys(model), heading


def test_study_format_documents_every_axis() -> None:
    from ffslab.loader import load_catalog
    from ffslab.model.settings import valid_keys

    text = (ROOT / "docs" / "study-format.md").read_text().split("## Axes")[1]
    for key in valid_keys(load_catalog()):
        if not key.startswith(("options.", "workload.")):
            assert f"`{key}`" in text, key


def test_example_of_the_study_format_expands() -> None:
    from host_support import cases_of

    text = (ROOT / "docs" / "study-format.md").read_text()
    example = text.split("```toml\n", 1)[1].split("```", 1)[0]
    assert len(cases_of(example)) == 6


@pytest.mark.parametrize(
    ("line", "verbs"),
    [
        ("list studies", ("list",)),
        ("-v show latest --help", ("show",)),
        ("", VERBS),
        ("--help", VERBS),
        ("lisst", VERBS),  # one of them is meant, and suggested
        ("lisst list", VERBS),
    ],
)
def test_only_the_verb_that_is_named_is_loaded(line: str, verbs: tuple[str, ...]) -> None:
    assert verbs_for(line.split()) == verbs


def test_one_verb_alone_is_still_a_verb() -> None:
    shown = CliRunner().invoke(build_app(("list",)), ["list", "states"])
    assert shown.exit_code == 0
    assert "aged" in shown.output


def test_the_version_says_that_there_is_no_lab_yet(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told = ffslab_command("--version").output
    assert told == f"ffslab {__version__}, the lab is not built\n"
    assert not (tmp_path / "ffslab").exists()


@pytest.mark.parametrize("line", ["--help", "-h", "", "lisst", "--version", "--no-such-option"])
def test_what_names_no_verb_is_answered_alike_without_the_options_of_verbs(line: str) -> None:
    whole, lean = (
        CliRunner().invoke(app, line.split(), terminal_width=80)
        for app in (build_app(), without_options(build_app()))
    )
    assert (lean.exit_code, lean.output) == (whole.exit_code, whole.output)


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_every_option_with_its_whole_text_in_80_columns(verb: str) -> None:
    app = build_app()
    shown = CliRunner().invoke(app, [verb, "--help"], terminal_width=80)
    assert shown.exit_code == 0, shown.output
    assert max(map(len, shown.output.splitlines())) <= 80
    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    told = re.sub(r"\s", "", shown.output)
    for parameter in command.params:
        assert re.sub(r"\s", "", parameter.help or "") in told, parameter.name


def test_the_list_of_verbs_cuts_no_sentence() -> None:
    shown = CliRunner().invoke(build_app(), ["--help"], terminal_width=80).output
    assert "..." not in shown.split("Options:")[1]


def test_values_of_set() -> None:
    assert parse_set("state=aged") == ("state", ("aged",))
    assert parse_set("cpu_scale=[0, 1.5]") == ("cpu_scale", (0, 1.5))
    assert parse_set("partition_bytes=16 MiB") == ("partition_bytes", ("16 MiB",))
    assert parse_set("workload.verify=true") == ("workload.verify", (True,))
    assert parse_set("kernel=5.10") == ("kernel", ("5.10",))
    assert parse_set("kernel=[5.10, '6.1', \"6.12\"]") == ("kernel", ("5.10", "6.1", "6.12"))
    assert parse_seeds("3") == (1, 2, 3)
    assert parse_seeds("4,7") == (4, 7)
    for bad in ("=x", "x=", "x"):
        with pytest.raises(UsageError):
            parse_set(bad)


def test_reproduce_command_survives_its_own_parser() -> None:
    import shlex

    overrides = [("state", ("a b",)), ("cpu_scale", (0, 2.5)), ("workload.verify", (True,))]
    words = shlex.split(reproduce_command("x.toml", overrides, "id-1", trace=True))
    given = [parse_set(words[i + 1]) for i, word in enumerate(words) if word == "--set"]
    assert given == overrides
    assert words[-3:] == ["--case", "id-1", "--trace"]


def test_heavy_libraries_are_not_imported_at_start_up() -> None:
    import subprocess

    finished = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ffslab", "--help"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in finished.stderr.splitlines()}
    assert not imported & {"pydantic", "duckdb", "pyarrow", "vl_convert", "jinja2"}


def test_a_suggested_command_works_as_it_stands_in_a_path_with_spaces(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_COMMAND", "./ffslab")
    ffslab_command(*RUN, "-o", "my runs")
    run = find_run("latest", Path("my runs"))
    run.write_manifest({**run.manifest(), "complete": False})
    shown = ffslab_command("show", str(run.path)).output
    suggested = shlex.split(shown.rpartition("next: ")[2])
    assert suggested == ["./ffslab", "run", str(run.path), "--resume"]
    assert "8 of 8 cases: 8 pass" in ffslab_command(*suggested[1:], "--no-report").output


def test_an_export_goes_into_a_directory_and_not_over_a_file(
    ffslab_command: Command, tmp_path: Path
) -> None:
    ffslab_command(*RUN)
    (tmp_path / "there").mkdir()
    told = ffslab_command("export", "latest", "--to", "there")
    assert (told.code, told.output) == (0, "there/results.json\n")
    (tmp_path / "file").write_text("mine")
    refused = ffslab_command("export", "latest", "-f", "csv", "--to", "file")
    assert refused.code == 3
    assert "a file is where a directory is wanted" in refused.error
    assert (tmp_path / "file").read_text() == "mine"


def test_scratch_must_be_there(ffslab_command: Command) -> None:
    refused = ffslab_command(*RUN, "--scratch", "not there")
    assert refused.code == 2
    assert "next: mkdir -p 'not there'" in refused.error
    assert not Path("not there").exists() and not Path("results").exists()


def test_no_install_stands_anywhere(
    ffslab_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (("--no-install", *RUN, "--dry-run"), (*RUN, "--dry-run", "--no-install")):
        monkeypatch.setenv("FFSLAB_NO_INSTALL", "")
        assert ffslab_command(*words).code == 0
        assert os.environ["FFSLAB_NO_INSTALL"] == "1"
