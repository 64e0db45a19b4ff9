"""How many objects of wgpu-native are alive."""

from __future__ import annotations

import gc

__all__ = ["live"]


def live() -> dict[str, int]:
    """wgpu-native's own count of its objects, by kind, of what Python still holds."""
    from wgpu.backends.wgpu_native._helpers import generate_report

    gc.collect()  # for what wgpu-py's own objects hold
    return {name: counts["kept"] for name, counts in generate_report()["hub"].items()}
