from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from vyre_wgpu import settings
from vyre_wgpu.errors import InputError, VyreError
from vyre_wgpu.settings import VARIABLES, Settings, Variable


@pytest.fixture
def fresh_settings() -> Iterator[None]:
    before = settings.replace_current(None)
    yield
    settings.replace_current(before)


def test_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_every_variable_is_read_into_its_field() -> None:
    found = Settings.from_environment(
        {
            "VYRE_WGPU_BACKEND": "reference",
            "VYRE_WGPU_ADAPTER": " llvmpipe ",
            "VYRE_WGPU_PIPELINES": "7",
            "VYRE_WGPU_DUMP_WGSL": "shaders",
        }
    )
    assert found == Settings("reference", "llvmpipe", 7, Path("shaders").absolute())


@pytest.mark.parametrize("variable", [v for v in VARIABLES if v.takes == "a folder"])
def test_a_folder_is_made_absolute_when_it_is_read(
    variable: Variable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for text, folder in (("~/c", tmp_path / "home" / "c"), ("c", tmp_path / "c")):
        monkeypatch.chdir(tmp_path)
        found = Settings.from_environment({variable.name: text})
        monkeypatch.chdir(tmp_path.parent)
        assert getattr(found, variable.field) == folder
        assert getattr(found, variable.field).is_absolute()


def test_a_home_that_is_not_there_is_no_folder() -> None:
    with pytest.raises(InputError, match="VYRE_WGPU_CACHE_DIR is '~no such user/c', not a folder"):
        Settings.from_environment({"VYRE_WGPU_CACHE_DIR": "~no such user/c"})


@pytest.mark.usefixtures("no_home")
def test_without_a_home_there_is_no_cache_folder() -> None:
    assert Settings().cache_folder is None
    assert Settings(cache_dir=Path("/given")).cache_folder == Path("/given")
    with pytest.raises(InputError, match="VYRE_WGPU_CACHE_DIR"):
        Settings.from_environment({"VYRE_WGPU_CACHE_DIR": "~/c"})


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_environment({v.name: "  " for v in VARIABLES}) == Settings()


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_bad_value_names_variable_value_and_what_it_takes(text: str) -> None:
    with pytest.raises(InputError, match=r"VYRE_WGPU_PIPELINES is .*at least 1") as raised:
        Settings.from_environment({"VYRE_WGPU_PIPELINES": text})
    assert isinstance(raised.value, VyreError)
    assert repr(text) in str(raised.value)


def test_the_table_covers_every_field_once() -> None:
    fields = [field.name for field in dataclasses.fields(Settings)]
    assert sorted(v.field for v in VARIABLES) == sorted(fields)
    table = settings.markdown_table()
    assert all(f"`{v.name}`" in table for v in VARIABLES)
    assert len(table.splitlines()) == len(VARIABLES) + 2


@pytest.mark.usefixtures("fresh_settings")
def test_the_environment_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_WGPU_PIPELINES", "5")
    assert settings.current().pipelines == 5
    monkeypatch.setenv("VYRE_WGPU_PIPELINES", "6")
    assert settings.current().pipelines == 5
    settings.replace_current(None)
    assert settings.current().pipelines == 6


@pytest.mark.usefixtures("fresh_settings")
def test_settings_can_be_replaced_and_put_back() -> None:
    mine = Settings(pipelines=3)
    settings.replace_current(mine)
    assert settings.current() is mine
    assert settings.replace_current(None) is mine


def test_budgets_are_byte_counts() -> None:
    found = Settings.from_environment(
        {
            "VYRE_WGPU_POOL_BYTES": "2G",
            "VYRE_WGPU_STAGING_BYTES": "64M",
            "VYRE_WGPU_PENDING_BYTES": "4096",
        }
    )
    assert (found.pool_bytes, found.staging_bytes, found.pending_bytes) == (2 << 30, 64 << 20, 4096)
    with pytest.raises(
        InputError, match=r"VYRE_WGPU_POOL_BYTES is '0', not an integer of at least"
    ):
        Settings.from_environment({"VYRE_WGPU_POOL_BYTES": "0"})
