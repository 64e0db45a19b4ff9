"""The disk cache in good weather: what is stored is found, the limit holds, modes are kept."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from tests.pipeline.cached import MIB, OPTIONS, adder, key_of, load, lowered, stored
from vyre_wgpu.pipeline.cache_files import FOLDER, TEMPORARY_SECONDS, age_of, list_files
from vyre_wgpu.pipeline.disk_cache import LOW_WATER, TOUCH_SECONDS, DiskCache, open_disk_cache
from vyre_wgpu.pipeline.entry import Entry, EntryError
from vyre_wgpu.wgsl.options import CompileOptions

NOW = 1_900_000_000.0
DAY = 86_400.0


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def disk(tmp_path: Path, clock: Clock) -> DiskCache:
    return DiskCache(tmp_path / "cache", max_bytes=MIB, clock=clock)


def use(path: Path, when: float) -> None:
    """Says when an entry was last used."""
    os.utime(path, (when, when))


def names(disk: DiskCache) -> set[str]:
    return {file.name for file in list_files(disk.root).entries}


def test_what_is_stored_is_found_by_another_cache(disk: DiskCache) -> None:
    program = adder(1)
    assert load(disk, program) is None
    stored(disk, program)
    other = DiskCache(disk.root, max_bytes=MIB)
    assert load(other, adder(1, "of another name")) == lowered(program)
    assert load(other, adder(2)) is None
    assert disk.statistics()._asdict() == {
        "hits": 0, "misses": 1, "refused": 0, "writes": 1, "failures": 0, "evictions": 0,
    }  # fmt: skip
    assert other.statistics()[:2] == (1, 1)


def test_storing_twice_keeps_one_file(disk: DiskCache) -> None:
    assert stored(disk, adder(1)) == stored(disk, adder(1))
    assert len(names(disk)) == 1


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX's")
def test_the_folders_are_the_users_alone_and_tagged(disk: DiskCache) -> None:
    path = stored(disk, adder(1))
    for folder in (disk.root, disk.root / FOLDER):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    tag = (disk.root / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_nothing_but_the_entry_is_left(disk: DiskCache) -> None:
    path = stored(disk, adder(1))
    assert sorted(p.name for p in disk.root.rglob("*") if p.is_file()) == sorted(
        ["CACHEDIR.TAG", path.name]
    )


def test_a_cache_folder_that_is_a_link_is_the_users_own_choice(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "elsewhere")
    disk = DiskCache(tmp_path / "cache", max_bytes=MIB)
    stored(disk, adder(1))
    assert load(disk, adder(1)) is not None


# The limit


def fill(disk: DiskCache, count: int) -> list[Path]:
    """So many entries, the first one used longest ago, all on the last day."""
    paths = [stored(disk, adder(n)) for n in range(count)]
    for n, path in enumerate(paths):
        use(path, NOW - DAY + n)
    return paths


def test_the_least_recently_used_leave_first(tmp_path: Path, clock: Clock) -> None:
    paths = fill(DiskCache(tmp_path, max_bytes=MIB, clock=clock), 10)
    size = max(path.stat().st_size for path in paths)
    use(paths[0], NOW)
    disk = DiskCache(tmp_path, max_bytes=size * 6, clock=clock)
    disk.trim()
    left = int(6 * LOW_WATER)
    assert names(disk) == {paths[0].name, *(p.name for p in paths[10 - left + 1 :])}
    assert disk.statistics().evictions == 10 - left


def test_a_hit_is_a_use_noted_at_most_once_a_minute(disk: DiskCache, clock: Clock) -> None:
    path = stored(disk, adder(1))
    for age, noted in ((TOUCH_SECONDS - 1, False), (TOUCH_SECONDS + 1, True), (-DAY, True)):
        use(path, NOW - age)
        assert load(disk, adder(1)) is not None
        assert (path.stat().st_mtime != NOW - age) == noted


def test_the_limit_holds_after_every_write(tmp_path: Path) -> None:
    size = stored(DiskCache(tmp_path / "one", max_bytes=MIB), adder(1)).stat().st_size
    disks = [DiskCache(tmp_path / "many", max_bytes=20 * size) for _ in range(4)]
    for n in range(200):
        stored(disks[n % 4], adder(n))
        assert list_files(tmp_path / "many").size <= 20 * size
    assert len(names(disks[0])) >= 20 * LOW_WATER - 1
    assert load(disks[0], adder(199)) is not None


def test_the_folder_is_not_listed_at_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vyre_wgpu.pipeline import disk_cache

    listed = []
    monkeypatch.setattr(disk_cache, "list_files", lambda root: listed.append(1) or list_files(root))
    disk = DiskCache(tmp_path, max_bytes=256 * MIB)
    for n in range(100):
        stored(disk, adder(n))
    assert len(listed) == 1


def test_what_is_larger_than_the_limit_is_not_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = DiskCache(tmp_path, max_bytes=100)
    for n in range(3):
        assert not disk.store(key_of(adder(n)), adder(n), lowered(adder(n)))
    assert not (tmp_path / FOLDER).exists()
    assert [r.levelname for r in caplog.records] == ["WARNING"]


def test_one_entry_above_the_low_mark_stays(tmp_path: Path) -> None:
    size = stored(DiskCache(tmp_path / "one", max_bytes=MIB), adder(1)).stat().st_size
    disk = DiskCache(tmp_path / "small", max_bytes=size + size // 10)
    for n in range(3):
        stored(disk, adder(n))
        assert len(names(disk)) == 1


def test_removed_by_another_process_is_no_error(
    disk: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vyre_wgpu.pipeline import disk_cache

    paths = fill(disk, 5)

    def list_and_remove(root: Path) -> object:
        listing = list_files(root)
        for path in paths:
            path.unlink()
        return listing

    monkeypatch.setattr(disk_cache, "list_files", list_and_remove)
    assert len(disk.trim(1)) == 5
    assert load(disk, adder(0)) is None


# Temporary files, clocks


def leftover(disk: DiskCache, age: float, number: int = 0) -> Path:
    (disk.root / FOLDER).mkdir(parents=True, exist_ok=True)
    path = disk.root / FOLDER / f"{number:032x}.tmp"
    path.write_bytes(b"x" * 1000)
    use(path, NOW - age)
    return path


def test_old_temporary_files_are_swept_and_new_ones_left(disk: DiskCache) -> None:
    old = leftover(disk, TEMPORARY_SECONDS + 1, 1)
    new = leftover(disk, TEMPORARY_SECONDS - 1, 2)
    from_the_future = leftover(disk, -DAY, 3)
    stored(disk, adder(1))
    assert not old.exists()
    assert new.exists()
    assert not from_the_future.exists(), "the clock went back: its age is not known, but not small"


def test_temporary_files_count_for_the_limit(disk: DiskCache) -> None:
    paths = fill(disk, 10)
    for number in range(8):
        leftover(disk, 0, number)
    size = paths[0].stat().st_size
    disk.trim(10 * size)
    assert list_files(disk.root).size <= 10 * size


def test_a_clock_that_goes_back_makes_nothing_young_for_ever(disk: DiskCache, clock: Clock) -> None:
    paths = fill(disk, 4)
    clock.now -= 30 * DAY
    use(paths[0], clock.now - 5)
    use(paths[3], NOW + DAY)
    assert load(disk, adder(2)) is not None, "and a use sets the time right"
    use(paths[2], clock.now)
    size = paths[0].stat().st_size
    disk.trim(2 * size + size // 2)
    assert names(disk) == {paths[0].name, paths[2].name}


def test_ages_are_distances() -> None:
    assert age_of(90.0, 100.0) == age_of(110.0, 100.0) == 10.0


# Only what is ours


def test_other_files_in_the_folder_are_neither_counted_nor_removed(disk: DiskCache) -> None:
    path = stored(disk, adder(1))
    folder = disk.root / FOLDER
    foreign = [folder / name for name in ("notes.txt", "x.entry", "a.tmp", path.name.upper())]
    for other in foreign:
        other.write_text("x" * 5000)
        use(other, NOW - 99 * DAY)
    inner = folder / f"{7:032x}.entry"
    inner.mkdir()
    (inner / "kept").write_text("x")
    link = folder / f"{8:032x}.entry"
    link.symlink_to(foreign[0])
    assert names(disk) == {path.name}
    disk.trim(1)
    assert not path.exists()
    assert all(other.exists() for other in foreign)
    assert (inner / "kept").exists()
    assert link.is_symlink()


def test_a_subfolder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = DiskCache(tmp_path / "outside", max_bytes=MIB)
    path = stored(outside, adder(1))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FOLDER).symlink_to(outside.root / FOLDER)
    disk = DiskCache(tmp_path / "cache", max_bytes=MIB)
    assert load(disk, adder(1)) is None
    assert disk.trim(1) == []
    assert not disk.store(key_of(adder(2)), adder(2), lowered(adder(2)))
    assert [p.name for p in (outside.root / FOLDER).iterdir()] == [path.name]


# Modes


def test_read_only_changes_nothing(disk: DiskCache) -> None:
    path = stored(disk, adder(1))
    use(path, NOW - DAY)
    bad = stored(disk, adder(2))
    bad.write_bytes(b"damaged")
    old = leftover(disk, DAY)
    reader = DiskCache(disk.root, max_bytes=1, read_only=True, clock=Clock())
    assert load(reader, adder(1)) is not None
    assert load(reader, adder(2)) is None
    assert not reader.store(key_of(adder(3)), adder(3), lowered(adder(3)))
    assert reader.trim(0) == []
    assert path.stat().st_mtime == NOW - DAY
    assert bad.read_bytes() == b"damaged"
    assert old.exists()


def test_read_only_without_a_folder_makes_none(tmp_path: Path) -> None:
    reader = DiskCache(tmp_path / "none", max_bytes=MIB, read_only=True)
    assert load(reader, adder(1)) is None
    assert not (tmp_path / "none").exists()


def test_modes_of_the_settings(tmp_path: Path) -> None:
    assert open_disk_cache(tmp_path, "off", 5) is None
    ro, rw = (open_disk_cache(tmp_path, mode, 5) for mode in ("ro", "rw"))
    assert ro is not None
    assert rw is not None
    assert (ro.read_only, rw.read_only) == (True, False)
    assert rw.max_bytes == 5


# Listing


def test_entries_come_with_their_content_the_last_used_first(disk: DiskCache) -> None:
    paths = fill(disk, 3)
    paths[1].write_bytes(b"damaged")
    use(paths[1], NOW - 2)
    found = list(disk.entries())
    assert [file.name for file, _ in found] == [paths[n].name for n in (1, 2, 0)]
    problem, second, _ = (entry for _, entry in found)
    assert isinstance(problem, EntryError)
    assert isinstance(second, Entry)
    assert second.parts() == key_of(adder(2)).parts
    assert list(DiskCache(disk.root / "none", max_bytes=1).entries()) == []


def test_variants_and_options_are_entries_of_their_own(disk: DiskCache) -> None:
    program, options = adder(1), CompileOptions("trap")
    stored(disk, program)
    stored(disk, program, options)
    indirect = key_of(program, indirect=True)
    assert disk.store(indirect, program, lowered(program, indirect=True))
    assert len(names(disk)) == 3
    assert load(disk, program, options) == lowered(program, options)
    assert load(disk, program) == lowered(program)
    found = disk.load(indirect, program, OPTIONS, indirect=True)
    assert found == lowered(program, indirect=True)


def test_the_clock_is_the_file_systems(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, max_bytes=MIB)
    path = stored(disk, adder(1))
    assert abs(path.stat().st_mtime - time.time()) < TOUCH_SECONDS
