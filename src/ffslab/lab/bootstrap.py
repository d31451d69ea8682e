"""What the launcher runs when the Python environment is not as it was made, or not there yet.

It needs the standard library only.

`doctor` looks and changes nothing, so it runs right here. For any other verb a damaged environment
is named and moved aside. If there is none, Debian's venv module is installed if it is missing, the
environment is made, and the command line is started in it. If the verb will need the lab, the
compiler is installed in the same apt call, and the kernel source is fetched and unpacked in the
background meanwhile, and the agent compiled.

An environment's scripts hold its path, so it is made in its place. Its manifest, written last,
makes it valid: nobody uses what an interruption left, and the next one who needs it begins anew.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ffslab.environment import (
    MANIFEST,
    TOOLS_MANIFEST,
    damage_of_environment,
    is_complete,
    manifests_for,
    run_in,
    verb_of,
    write_manifest,
)
from ffslab.errors import EXIT_INFRASTRUCTURE, EXIT_OK, FfslabError, InfrastructureError, explained
from ffslab.lab.cache import (
    cache_root,
    locked,
    make_directory,
    set_aside,
    sync_files,
    sync_path,
)
from ffslab.lab.commands import clean_environment, run_logged
from ffslab.lab.packages import (
    BUILD_PACKAGES,
    PYTHON_PACKAGES,
    ensure_packages,
    without_no_install,
)
from ffslab.lab.progress import ConsoleProgress, Progress
from ffslab.lab.source import chosen_tree
from ffslab.program import program
from ffslab.visible_text import print_anything

_LAB_VERBS = frozenset({"run", "cuts", "setup", "shell", "test"})
_NO_BUILD_OPTIONS = frozenset({"-h", "--help", "--dry-run"})
DURATIONS_VARIABLE = "FFSLAB_BOOTSTRAP_DURATIONS_S"


def needs_compiler(arguments: Sequence[str]) -> bool:
    """Whether this command line will (most likely) build something."""
    return (
        bool(arguments)
        and arguments[0] in _LAB_VERBS
        and not _NO_BUILD_OPTIONS.intersection(arguments)
    )


def needs_kernel_source(arguments: Sequence[str]) -> bool:
    """Whether it will build the lab, from a source that ffslab has to fetch."""
    return (
        needs_compiler(arguments)
        and "--quick" not in arguments
        and chosen_tree(None) is None
        and not any(word.startswith("--kernel-source") for word in arguments)
    )


def main(argv: Sequence[str]) -> int:
    """`argv`: the environment's directory, the checkout, and the user's words."""
    print_anything()
    venv, checkout, arguments = Path(argv[0]), Path(argv[1]), without_no_install(argv[2:])
    if verb_of(arguments) == "doctor":
        return _doctor(venv, arguments[arguments.index("doctor") + 1 :])
    progress = ConsoleProgress()
    try:
        prepare(venv, checkout, arguments, progress)
    except FfslabError as error:
        print(f"ffslab: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"ffslab: {_explained_error(error, venv)}", file=sys.stderr)
        return EXIT_INFRASTRUCTURE
    except KeyboardInterrupt:
        print("ffslab: interrupted; the same command continues from here", file=sys.stderr)
        return 130
    # So that `ffslab setup` can list these phases with its own.
    os.environ[DURATIONS_VARIABLE] = json.dumps(progress.durations_s)
    return run_in(str(venv), arguments)


def _explained_error(error: OSError, venv: Path) -> FfslabError:
    return explained(error) or InfrastructureError(
        f"cannot make the Python environment {venv}: {error.filename}: {error.strerror}",
        cause="files of another user in the cache, or a disk that fails",
        remedy=f"rm -r {venv}, or export XDG_CACHE_HOME=DIRECTORY of your own",
    )


def _doctor(venv: Path, arguments: Sequence[str]) -> int:
    """The doctor in plain text: it is most needed where nothing has been set up, or cannot be."""
    from ffslab.doctor import examine, is_healthy

    parser = argparse.ArgumentParser(
        prog=f"{program()} doctor",
        description="Say what is there, what is missing and what to do.",
    )
    parser.add_argument("--variant", default="default", help="lab kernel, as in ffslab setup")
    parser.add_argument(
        "--kernel-source",
        type=Path,
        default=chosen_tree(None),
        help="a Linux kernel source of your own",
    )
    # A catalog is read by what the environment will have; here it need only be accepted.
    parser.add_argument("--catalog", action="append", help="a catalog of your own")
    options = parser.parse_args(arguments)
    absent = "is damaged" if is_complete(str(venv)) else "is not made yet"
    conditions = examine(options.variant, options.kernel_source, no_environment=absent)
    for condition in conditions:
        print(f"{condition.state.value:9} {condition.subject:16} {condition.detail}")
        if condition.remedy:
            print(f"{'':26} next: {condition.remedy}")
    if is_healthy(conditions):
        print(f"The next set-up installs what is missing: {program()} setup")
        return EXIT_OK
    print("Something is missing that ffslab cannot install by itself: see above.")
    return EXIT_INFRASTRUCTURE


def prepare(venv: Path, checkout: Path, arguments: Sequence[str], progress: Progress) -> None:
    """Makes the environment `venv` sound, and complete for the verb in `arguments`."""
    log = make_directory(cache_root()) / "environment.log"
    wanted = [*PYTHON_PACKAGES, *(BUILD_PACKAGES if needs_compiler(arguments) else ())]
    with locked(cache_root() / "environment.lock", progress) as lock:
        if _is_sound(venv, arguments):
            return
        log.unlink(missing_ok=True)
        ensure_packages(wanted, log, progress)
        prefetch = _start_prefetch() if needs_kernel_source(arguments) else None
        try:
            tools = TOOLS_MANIFEST in manifests_for(arguments)
            _ensure_environment(venv, checkout, tools, log, lock, progress)
        except BaseException:
            if prefetch is not None:
                prefetch.terminate()
            raise


def _is_sound(venv: Path, arguments: Sequence[str]) -> bool:
    """Whether all that the verb needs is there and is what was installed; a damaged environment is
    moved aside.
    """
    if not is_complete(str(venv)):
        return False
    wrong = damage_of_environment(str(venv))
    if wrong:
        set_aside(venv, wrong)
    return not wrong and all(is_complete(str(venv), name) for name in manifests_for(arguments))


def _start_prefetch() -> subprocess.Popen[bytes]:
    """Begins the lab in the background; the build waits for it and reports its errors."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ffslab.lab.lab"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _ensure_environment(
    venv: Path, checkout: Path, tools: bool, log: Path, lock: int, progress: Progress
) -> None:
    if not is_complete(str(venv)):
        with progress.phase("creating the Python environment"):
            _create(venv, log, lock)
            _pip_install(venv, checkout / "requirements.lock", log, lock)
            _mark_complete(venv, MANIFEST)
    if tools and not is_complete(str(venv), TOOLS_MANIFEST):
        with progress.phase("installing the test tools"):
            _pip_install(venv, checkout / "requirements-dev.lock", log, lock)
            _mark_complete(venv, TOOLS_MANIFEST)


def _mark_complete(venv: Path, name: str) -> None:
    files = [path for path in venv.rglob("*") if path.is_file() and not path.is_symlink()]
    sync_files(venv, files)
    write_manifest(str(venv), name)
    sync_path(venv)
    sync_path(venv.parent)


def _create(venv: Path, log: Path, lock: int) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    run_logged(
        [sys.executable, "-m", "venv", venv],
        log=log,
        lock=lock,
        cause="no disk space, or Debian's python3-venv is broken",
        remedy="as root: apt-get install --reinstall python3-venv",
    )


def _pip_install(venv: Path, requirements: Path, log: Path, lock: int) -> None:
    """Installs a lock file: only files with a hash that it has, and only wheels.

    The build of a source distribution would fetch its tools, for which no file has hashes.
    """
    if not requirements.is_file():
        raise InfrastructureError(
            f"{requirements} is missing", cause="an incomplete checkout", remedy="git status"
        )
    try:
        run_logged(
            [
                *(venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check"),
                *("install", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
                *("--progress-bar", "off", "--requirement", requirements),
            ],
            log=log,
            lock=lock,
            env=clean_environment(_pip_settings()),
            cause="no network, a proxy that is not set (https_proxy), or no disk space",
            remedy="the same ffslab command again, once the network is there",
        )
    except InfrastructureError as error:
        raise _explained(error, requirements, log) from error


def _explained(error: InfrastructureError, requirements: Path, log: Path) -> InfrastructureError:
    """The error with the cause that pip's own words tell, if they do."""
    said = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    name = requirements.name
    if "DO NOT MATCH THE HASHES" in said:
        return InfrastructureError(
            error.message,
            cause=f"a package is not the one whose hash is in {name}: that file was edited, pip's "
            "cache is damaged, or the package index has another package under this name",
            remedy=f"git -C {shlex.quote(str(requirements.parent))} diff {name}; if that is empty, "
            "python3 -m pip cache purge and the same command again; if the hash still differs, do "
            "not install from that index",
        )
    if "--require-hashes mode" in said:
        return InfrastructureError(
            error.message,
            cause=f"a line of {name} has no hash, or is not name==version",
            remedy="python3 tools/lock_requirements.py, which writes the hashes",
        )
    # Without a network pip finds no versions either, but tells of its attempts before.
    if "No matching distribution found" in said and "Retrying (" not in said:
        return InfrastructureError(
            error.message,
            cause=f"the package index lacks a version that {name} names, or has no wheel of it for "
            f"{sys.executable}",
            remedy="set FFSLAB_PYTHON to Debian's Python, or PIP_INDEX_URL to another index",
        )
    return error


def _pip_settings() -> dict[str, str]:
    """The user's choice of package index and certificates, which pip needs to see."""
    names = ("PIP_", "SSL_CERT_", "REQUESTS_CA_")
    return {name: value for name, value in os.environ.items() if name.startswith(names)}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print("ffslab: run ./ffslab, which calls this module", file=sys.stderr)
        sys.exit(EXIT_INFRASTRUCTURE)
    sys.exit(main(sys.argv[1:]))
