"""Room for guests: where they go, how many, what running ones may take yet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import cases_of

from ffslab.errors import GuestLostError, InfrastructureError
from ffslab.targets.running import RunningGuests
from ffslab.targets.uml import boot, scratch
from ffslab.targets.uml.boot import wait_for_room
from ffslab.targets.uml.scratch import (
    TRACE_BYTES,
    Claim,
    Need,
    Place,
    Refusal,
    Scratch,
    case_need,
    largest_need,
    scratch_directory,
)

MIB = 2**20
SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> dict[Path, int]:
    """What is free in places, instead of what really is; each is a file system of its own."""
    free: dict[Path, int] = {}
    monkeypatch.setattr(scratch, "free_bytes", lambda place: free[place])
    monkeypatch.setattr(scratch, "_same_file_system", lambda one, other: one == other)
    return free


def chosen(tmp_path: Path, need: Need, jobs: int, room: dict[Path, int], *free_mib: int) -> Scratch:
    shm, run = tmp_path / "shm", tmp_path / "run"
    for place, size in zip((shm, run), free_mib, strict=True):
        place.mkdir(exist_ok=True)
        room[place] = size * MIB
    with scratch_directory(need, jobs, run, shared_memory=shm) as found:
        assert found.ram.path == (run if found.ram_on_disk else shm)
        return found


def test_places_are_chosen_by_room(tmp_path: Path, room: dict[Path, int]) -> None:
    need = Need(60 * MIB, 128 * MIB)
    found = chosen(tmp_path, need, 2, room, 2 * 188, 0)
    assert (found.files.path.name, found.jobs, found.told) == ("shm", 2, "")
    found = chosen(tmp_path, need, 2, room, 2 * 188 - 1, 120)
    assert (found.files.path.name, found.jobs, found.told) == ("run", 2, "")
    found = chosen(tmp_path, need, 2, room, 2 * 188 - 1, 119)
    assert (found.files.path.name, found.jobs) == ("shm", 1)
    assert "1 guest(s) at once instead of 2" in found.told
    assert "shm has 375 MiB free" in found.told and "128 MiB for its RAM" in found.told
    found = chosen(tmp_path, need, 3, room, 2 * 128, 10_000)
    assert (found.files.path.name, found.jobs) == ("run", 2)


def test_too_little_for_one_guest_is_told_with_the_place(
    tmp_path: Path, room: dict[Path, int]
) -> None:
    need = Need(60 * MIB, 128 * MIB)
    for shared, disk in ((64, 187), (150, 59)):
        with pytest.raises(InfrastructureError) as caught:
            chosen(tmp_path, need, 2, room, shared, disk)
        assert f"shm has {shared} MiB free" in caught.value.message
        assert f"run has {disk} MiB free" in caught.value.message
        assert "--shm-size" in caught.value.remedy and "--scratch" in caught.value.remedy


def test_ram_that_shared_memory_is_too_small_for_is_on_the_disk(
    tmp_path: Path, room: dict[Path, int]
) -> None:
    need = Need(60 * MIB, 128 * MIB)
    found = chosen(tmp_path, need, 2, room, 64, 2 * 188)
    assert (found.files.path.name, found.ram.path.name, found.jobs) == ("run", "run", 2)
    assert found.ram_on_disk and "run, which may take longer: " in found.told
    found = chosen(tmp_path, need, 2, room, 64, 2 * 188 - 1)
    assert (found.ram.path.name, found.jobs) == ("run", 1)
    # One guest there is better than two on the disk.
    found = chosen(tmp_path, need, 2, room, 128, 10_000)
    assert (found.ram.path.name, found.jobs, found.ram_on_disk) == ("shm", 1, False)


def test_without_shared_memory_the_ram_is_on_the_disk(tmp_path: Path) -> None:
    with scratch_directory(Need(1, 1), 1, tmp_path, shared_memory=tmp_path / "absent") as found:
        assert found.ram_on_disk and found.ram.path == tmp_path


def test_a_wanted_place_gets_the_files_alone(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted"
    with scratch_directory(Need(MIB, MIB), 1, tmp_path, wanted, tmp_path) as found:
        assert found.directory.parent == wanted
        assert found.ram.path == tmp_path
        # Of one file system: files and RAM are asked for together.
        assert found.shared
        claims = found.claim(Need(MIB, MIB))
        assert isinstance(claims, tuple) and claims[0].claimed_bytes == 2 * MIB
    assert not list(wanted.iterdir())


def test_running_guests_are_counted_with_what_they_may_take_yet(
    tmp_path: Path, room: dict[Path, int]
) -> None:
    own = tmp_path / "ffslab-scratch-own"
    own.mkdir()
    place = Place(own)
    room[tmp_path] = 100 * MIB
    first = place.claim(60 * MIB)
    assert isinstance(first, Claim)
    refused = place.claim(60 * MIB)
    assert isinstance(refused, Refusal)
    assert (refused.promised_bytes, refused.guests) == (60 * MIB, 1)
    assert "100 MiB free, 60 MiB of it promised to 1 guest(s)" in str(refused)
    # A process that holds 40 MiB of it in a file without a name, which are no longer free.
    with (tmp_path / "file").open("wb") as file:
        file.write(bytes(40 * MIB))
        file.flush()
        (tmp_path / "file").unlink()
        # Of its own: this one has what other tests left open, too.
        holder = subprocess.Popen(["sleep", "1000"], stdin=file)
    try:
        first.given_to(holder.pid)
        room[tmp_path] = 60 * MIB
        refused = place.claim(60 * MIB)
        assert isinstance(refused, Refusal)
        assert 0 < refused.promised_bytes <= 20 * MIB
        second = place.claim(40 * MIB)
        assert isinstance(second, Claim)
    finally:
        holder.kill()
        holder.wait()
    second.release()
    first.release()
    assert isinstance(place.claim(60 * MIB), Claim)


def test_a_refused_guest_keeps_nothing(tmp_path: Path, room: dict[Path, int]) -> None:
    files, ram = tmp_path / "files" / "own", tmp_path / "ram" / "own"
    for place, size in ((files, 100 * MIB), (ram, 10 * MIB)):
        place.mkdir(parents=True)
        room[place.parent] = size
    found = Scratch(Place(files), Place(ram), 1)
    refused = found.claim(Need(60 * MIB, 60 * MIB))
    assert isinstance(refused, Refusal) and refused.place == ram.parent
    assert not list(files.iterdir())


def test_claims_of_another_process_count_until_it_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from ffslab.targets.uml.scratch import Need, scratch_directory\n"
        "place = Path(sys.argv[1])\n"
        "with scratch_directory(Need(1, 1), 1, place, None, place) as found:\n"
        "    found.claim(Need(2**60, 0)); found.files.claim(5 << 20)\n"
        "    print(flush=True); time.sleep(60)\n"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        ) as other,
        scratch_directory(Need(1, 1), 1, tmp_path, None, tmp_path) as found,
    ):
        assert other.stdout is not None
        other.stdout.readline()
        refused = found.claim(Need(2**60, 0))
        assert isinstance(refused, Refusal)
        assert (refused.promised_bytes, refused.guests) == (5 * MIB, 1)
        other.kill()
        other.wait()
        refused = found.claim(Need(2**60, 0))
        assert isinstance(refused, Refusal) and refused.guests == 0


def test_other_processes_may_end_while_their_claims_are_counted(
    tmp_path: Path, room: dict[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    room[tmp_path] = 100 * MIB
    own = tmp_path / "own"
    others = [tmp_path / f"ffslab-scratch-{number}" for number in range(3)]
    for place in (own, *others):
        place.mkdir()
        (place / f"guest{scratch._CLAIM}").write_text(f"{10 * MIB} 0\n")
    entries = Path.iterdir

    def ends_meanwhile(directory: Path) -> Iterator[Path]:
        """Whoever is looked at first outlives the others."""
        for other in others:
            if directory != other:
                shutil.rmtree(other, ignore_errors=True)
        return entries(directory)

    monkeypatch.setattr(Path, "iterdir", ends_meanwhile)
    assert isinstance(Place(own).claim(90 * MIB), Claim)


@pytest.mark.slow
def test_claims_are_counted_while_others_come_and_go(tmp_path: Path) -> None:
    """As above, by what really happens."""
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            with scratch_directory(Need(1, 1), 1, tmp_path, None, tmp_path) as found:
                found.claim(Need(1, 1))

    threads = [threading.Thread(target=come_and_go) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        with scratch_directory(Need(1, 1), 1, tmp_path, None, tmp_path) as found:
            for _ in range(150):
                claims = found.claim(Need(1, 1))
                assert not isinstance(claims, Refusal)
                for claim in claims:
                    claim.release()
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.mark.slow
def test_a_guest_waits_while_another_holds_the_room(tmp_path: Path, room: dict[Path, int]) -> None:
    own = tmp_path / "ffslab-scratch-own"
    own.mkdir()
    found = Scratch(Place(own), Place(own), 2, shared=True)
    room[tmp_path] = 100 * MIB
    need = Need(40 * MIB, 20 * MIB)
    first = found.claim(need)
    assert isinstance(first, tuple)
    told: list[str] = []
    timer = threading.Timer(0.6, first[0].release)
    timer.start()
    guests = RunningGuests(told.append)
    claims = wait_for_room(found, need, "a-case", guests)
    assert claims is not None and not first[0].path.exists()
    (line,) = told
    assert line.startswith("a-case waits for room: a guest may take 60 MiB in ")

    threading.Timer(0.3, guests.start_no_more).start()
    assert wait_for_room(found, need, "a-case", guests) is None


def test_nobody_waits_for_room_that_no_guest_holds(
    tmp_path: Path, room: dict[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "_GRACE_S", 0.3)
    own = tmp_path / "ffslab-scratch-own"
    own.mkdir()
    room[tmp_path] = 10 * MIB
    found = Scratch(Place(own), Place(own), 1, shared=True)
    with pytest.raises(GuestLostError, match="no room for the guest of a-case: a guest may take"):
        wait_for_room(found, Need(20 * MIB, 0), "a-case", RunningGuests())
    # What a killed guest leaves is gone in a moment.
    threading.Timer(0.1, room.update, [{tmp_path: 30 * MIB}]).start()
    assert wait_for_room(found, Need(20 * MIB, 0), "x", RunningGuests())


def test_a_guest_may_need_its_trace_and_its_image_too() -> None:
    case = cases_of()[0]
    plain = case_need(case)
    assert plain.ram_bytes == case.board.ram_bytes
    assert plain.scratch_bytes > case.partition_bytes
    assert case_need(case, 7).scratch_bytes == plain.scratch_bytes + 7
    traced = replace(case, trace=True)
    assert case_need(traced).scratch_bytes == plain.scratch_bytes + TRACE_BYTES
    assert largest_need([case, traced]) == case_need(traced)
