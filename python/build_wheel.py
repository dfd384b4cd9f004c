"""Puts the program into a wheel. make wheels sets KFT_WHEEL_BINARY and KFT_WHEEL_TAG."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("KFT_WHEEL_BINARY")
        if self.target_name != "wheel" or version == "editable":
            return
        if not program:
            raise RuntimeError("a wheel of kft contains the program; build wheels with make wheels")
        name = "kft.exe" if program.endswith(".exe") else "kft"
        build_data["force_include"][program] = f"kft/bin/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['KFT_WHEEL_TAG']}"
