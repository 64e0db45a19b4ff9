"""What NumPy may make of a value before it goes to a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre_wgpu.buffer.arrays import as_elements, describe, is_of, refuse_mask
from vyre_wgpu.errors import InputError

MASKED = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.uint32)


class Subclass(np.ndarray[Any, Any]):
    """An array type of somebody's own."""


class Hidden:
    """Gives a masked array when asked."""

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        return MASKED


class Failing:
    """Gives nothing when asked."""

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        raise RuntimeError("on another device")


def test_an_array_is_itself_and_others_become_plain() -> None:
    array = np.zeros(3)
    assert as_elements(array, "it") is array
    for value in (array.view(Subclass), [1, 2], (1.5, 2), 3, [array, array]):
        got = as_elements(value, "it")
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, np.asarray(value))
    view = array.view(Subclass)
    assert np.shares_memory(as_elements(view, "it"), array)


@pytest.mark.parametrize("value", [MASKED, MASKED[:0], [MASKED, MASKED], (MASKED,)], ids=repr)
def test_a_mask_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"it is a masked array.*Fix: pass x\.filled"):
        as_elements(value, "it")


@pytest.mark.parametrize("value", [[[1], [1, 2]], [[1, 2], 3], Failing()], ids=describe)
def test_what_numpy_makes_no_array_of_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"it is a .* that NumPy makes no array of"):
        as_elements(value, "it")


def test_only_masked_arrays_have_masks() -> None:
    class Picture:
        mask = True

    for value in (Picture(), np.zeros(3), None, [1]):
        refuse_mask(value, "it")


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("<f4", "f4", True),
        (">f4", "f4", True),
        ("f4", "f8", False),
        ("u4", "i4", False),
        ("l", "q", True),
        ("u1", "?", False),
        ("M8[s]", "i8", False),
        ("O", "f4", False),
        ("U1", "u4", False),
        (np.dtypes.StringDType(), "u4", False),
    ],
    ids=str,
)
def test_element_types_agree_up_to_byte_order(found: Any, wanted: str, same: bool) -> None:
    assert is_of(np.empty(0, found), np.dtype(wanted)) is same
