"""Options of estimators as flags of the program."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _table
from ._errors import SpecificationError

_OURS = {"output", "json", "quiet", "force", "messages", "target", "weight", "threads", "seed", "data"}
_SWITCHES = {"resume"}
_PATHS = {"spec", "checkpoint"}
_REPEATED = {"term", "covariate", "lags", "history", "kernel", "only", "what-if", "series"}


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return the flags for options that are not None: rank=3 is --rank=3, lambda_=.1 is --lambda=0.1.

    A list repeats the flag or, if the flag takes one list, is joined by commas; True and False are yes and no.
    """
    args: list[str] = []
    for key, value in options.items():
        name = key.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if name in _OURS:
            raise SpecificationError(f"{key} is not an option of the estimator; it is set by kft itself", code="usage")
        if name in _SWITCHES:
            args += [f"--{name}"] if value else []
            continue
        values = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        if len(values) > 1 and name not in _REPEATED:
            values = [",".join(str(one) for one in values)]
        for one in values:
            if isinstance(one, bool):
                one = "yes" if one else "no"
            if name in _PATHS:
                one = os.path.abspath(one)
            if name == "split" and str(one).startswith("file:"):
                one = "file:" + os.path.abspath(str(one)[len("file:"):])
            args.append(f"--{name}={one}")
    return args


def mode_flags(modes: Sequence[str] | str | None) -> list[str]:
    if modes is None:
        return []
    if not isinstance(modes, str) and not (_is_list(modes) and all(isinstance(mode, str) for mode in modes)):
        raise SpecificationError(f'modes is a list of texts such as ["store", "item"], not {modes!r}', field="data.modes")
    return ["--modes=" + (modes if isinstance(modes, str) else ",".join(modes))]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) or hasattr(value, "tolist")


def side_flags(side: Any, folder: Path, absolute: bool = False) -> list[str]:
    """Return the flags for side tables and write those that are frames to the folder.

    side maps modes to frames, to (frame, "city:cat,lat,lon"), or to texts as in --side; or it is a
    list of such texts: ["store=stores.csv", "time=@year,@month"].
    """
    if side is None:
        return []
    if isinstance(side, Mapping):
        pairs = list(side.items())
    else:
        pairs = [text.partition("=")[::2] for text in ([side] if isinstance(side, str) else side)]
    args = []
    for number, (mode, table) in enumerate(pairs):
        columns = ""
        if isinstance(table, tuple):
            table, columns = table[0], ":" + table[1]
        if _table.is_frame(table):
            name = f"{mode}.arrow" if re.fullmatch(r"\w+", mode) else f"side{number}.arrow"
            _table.write(_table.to_arrow(table, what=f"side[{mode!r}]"), folder / name)
            args.append(f"--side={mode}={folder / name if absolute else name}{columns}")
            continue
        if not isinstance(table, (str, os.PathLike)):
            raise SpecificationError(
                f"side[{mode!r}] is a frame, a file name or a text such as '@year,@month:cycle12', not a {type(table).__name__}", field="side.tables"
            )
        text = os.fspath(table)
        if not text.startswith("@"):
            text = os.path.join(os.getcwd(), text)
        args.append(f"--side={mode}={text}{columns}")
    return args
