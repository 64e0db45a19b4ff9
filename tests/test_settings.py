from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from vyre_wgpu import settings
from vyre_wgpu.errors import InputError, VyreError
from vyre_wgpu.settings import VARIABLES, Settings


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
    assert found == Settings("reference", "llvmpipe", 7, Path("shaders"))


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
