"""Runs the program: its location, its messages, and what happens on Ctrl-C."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ._errors import BinaryError, KFTError, KFTWarning, from_messages, in_python

_EXE = "kft.exe" if os.name == "nt" else "kft"


def binary() -> str:
    """Return the path of the program: $KFT_BINARY, the one in this package, or one on the PATH."""
    packaged = Path(__file__).with_name("bin") / _EXE
    for path in (os.environ.get("KFT_BINARY"), str(packaged), shutil.which(_EXE)):
        if path and os.path.isfile(path):
            return path
    raise BinaryError(
        f"the program kft was not found: not in $KFT_BINARY, {packaged} or the PATH; install a wheel of kft, "
        "or build it with make and set KFT_BINARY",
        code="no_binary",
    )


def detached() -> dict[str, Any]:
    """Return arguments of Popen that keep the Ctrl-C of a terminal from the child."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
    return {"start_new_session": True}


@contextmanager
def workspace() -> Iterator[Path]:
    """Provide a temporary folder. If its disk is full, the error names it."""
    with tempfile.TemporaryDirectory(prefix="kft-", ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        except (OSError, KFTError) as error:
            if not _full(error):
                raise
            raise KFTError(
                f"the temporary folder {folder} is full: {error}; free space there, or set TMPDIR to another folder", code="disk_full"
            ) from None


def replace(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, completely or not at all."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        os.replace(part, target)
    except OSError as error:
        if _full(error):
            raise KFTError(f"{target} cannot be written: {error.strerror}; free space there", code="disk_full") from None
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None
    finally:
        try:
            part.unlink()
        except OSError:  # the usual case: the file has its final name, or never existed
            pass


def _full(error: OSError | KFTError) -> bool:
    if isinstance(error, KFTError):
        return error.code == "disk_full"
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run(args: Sequence[str], folder: Path, *, verbose: bool | None = False, keep: bool = False) -> bytes:
    """Run a verb in a folder and return its standard output.

    Warnings of the program become Python warnings, errors become exceptions. With keep, the first
    Ctrl-C asks the program to end and keep what it has; otherwise it ends at once.
    """
    errors: list[dict[str, Any]] = []
    alerts: list[str] = []
    interrupted = False
    output = folder / "stdout"
    with output.open("w+b") as stdout, _Bar(verbose) as bar:
        process = subprocess.Popen(
            [binary(), args[0], "--messages=json", *args[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            **detached(),
        )
        assert process.stderr is not None
        try:
            while True:
                try:
                    _listen(process.stderr, errors, alerts, bar)
                    process.wait()
                    break
                except KeyboardInterrupt:
                    if interrupted or not keep:
                        raise
                    interrupted = True
                    process.send_signal(signal.SIGINT if os.name != "nt" else signal.CTRL_BREAK_EVENT)  # type: ignore[attr-defined,unused-ignore]
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stderr.close()
        stdout.seek(0)
        result = stdout.read()
    if process.returncode != 0:
        if interrupted:
            raise KeyboardInterrupt(errors[0]["text"] if errors else "")
        if errors:
            error = from_messages(errors)
            if error.code == "usage" and "unknown command" in error.message:
                raise BinaryError(f"{binary()} has no command {args[0]}; install a newer kft", code="no_command")
            raise error
        raise ended(process.returncode)
    for text in alerts:
        warnings.warn(in_python(text), KFTWarning, stacklevel=4)
    return result


def ended(status: int | None) -> BinaryError:
    """Return the error for a program that ended without saying why."""
    how = f"exit status {status}"
    if status is not None and status < 0:
        how = f"signal {-status}" + (" (killed, possibly out of memory)" if status == -9 else "")
    return BinaryError(f"the program kft ended unexpectedly: {how}", code="ended")


def _listen(stderr: IO[bytes], errors: list[dict[str, Any]], alerts: list[str], bar: _Bar) -> None:
    """Read messages up to the end."""
    for line in stderr:
        try:
            message = json.loads(line)
        except ValueError:  # a crash of the runtime, say
            message = {"type": "error", "text": line.decode(errors="replace").rstrip()}
        kind = message.get("type")
        if kind == "error":
            errors.append(message)
        elif kind == "warning" or (kind == "note" and message["text"].startswith("interrupted")):
            alerts.append(message["text"])
        elif kind == "progress":
            bar.show(message)


class _Bar:
    """A bar by tqdm, if there is a terminal or notebook, or if verbose asks for one."""

    def __init__(self, verbose: bool | None) -> None:
        if verbose is None:
            verbose = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._bar: Any = None
        if verbose:
            from tqdm.auto import tqdm

            self._bar = tqdm(bar_format="{desc} |{bar:20}| {postfix}", total=1, leave=False)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, message: dict[str, Any]) -> None:
        if self._bar is None:
            return
        total = message.get("sweeps") or 1
        self._bar.total, self._bar.n = total, min(message.get("sweep", 0), total)
        self._bar.set_description_str("training" if message.get("sweeps") else "kft", refresh=False)
        self._bar.set_postfix_str(message["text"])
