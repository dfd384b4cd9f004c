"""A fitted model with the process that predicts with it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import warnings
import weakref
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ._errors import KFTWarning, from_messages, in_python
from ._process import binary, detached, ended

_MOST = 4  # processes kept at a time
_running: list[weakref.ref[FittedModel]] = []  # in the order of their start


class Server:
    """A process that answers requests of tables, see docs/concepts/programs.md.

    It ends with this object, and also if this process is killed, because its standard input ends.
    """

    def __init__(self, model: bytes, flags: Sequence[str]) -> None:
        self.owner = os.getpid()
        self._process = subprocess.Popen(
            [binary(), "predict", "-", "--pipe", "--messages=json", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **detached(),
        )
        self.close = weakref.finalize(self, _stop, self._process, self.owner)
        ready, _ = self.ask({}, memoryview(model))
        self.columns: list[str] = ready["columns"]
        self.optional: list[str] = ready.get("optional") or []

    def alive(self) -> bool:
        return self.close.alive and self.owner == os.getpid() and self._process.poll() is None

    def ask(self, request: dict[str, Any], body: memoryview | pa.Buffer) -> tuple[dict[str, Any], pa.Buffer]:
        """Send a request and return the answer with its table."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(json.dumps({**request, "bytes": memoryview(body).nbytes}).encode() + b"\n")
            stdin.write(body)
            stdin.flush()
            line = stdout.readline()
            answer: dict[str, Any] = json.loads(line) if line else {}
            table = pa.allocate_buffer(answer.get("bytes", 0))
            if not line or stdout.readinto(memoryview(table)) < table.size:  # type: ignore[attr-defined]
                raise BrokenPipeError
        except BrokenPipeError:
            raise self._why() from None
        except BaseException:  # Ctrl-C: the next answer would be the one to this request
            self.close()
            raise
        if "error" in answer:
            raise from_messages([answer["error"]])
        return answer, table

    def _why(self) -> Exception:
        """Return the error of a process that ended."""
        assert self._process.stderr is not None
        self._process.wait()
        lines = self._process.stderr.read().splitlines()
        self.close()
        errors = [json.loads(line) for line in lines if line.startswith(b'{"type":"error"')]
        return from_messages(errors) if errors else ended(self._process.returncode)


def _stop(process: subprocess.Popen[bytes], owner: int) -> None:
    """End the process; in a fork of its owner only close the pipes."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass
    if owner == os.getpid():
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class FittedModel:
    """The bytes of a model file, and a server for them once it is needed."""

    def __init__(self, data: bytes, target: str = "") -> None:
        self.data = data
        self.target = target  # of several, "" for all
        self._server: Server | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> tuple[bytes, str]:
        return self.data, self.target

    def __setstate__(self, state: tuple[bytes, str]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def flags(self) -> list[str]:
        """Return the flag that chooses the target."""
        return [f"--target={self.target}"] if self.target else []

    def server(self, flags: Sequence[str]) -> Server:
        """Return the running server, or start one."""
        if self._server is None or not self._server.alive():
            _make_room()
            self._server = Server(self.data, [*flags, *self.flags()])
            _running.append(weakref.ref(self))
        return self._server

    def rest(self) -> bool:
        """End the server if it is idle, and return whether it has ended."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._server is not None:
                self._server.close()
            self._server = None
            return True
        finally:
            self._lock.release()

    def columns(self, flags: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the columns that the model reads, and those that it also reads if they exist."""
        with self._lock:
            server = self.server(flags)
            return server.columns, server.optional

    def predict(self, table: pa.Table, flags: Sequence[str], **request: Any) -> pa.Table:
        """Predict a table of exactly the columns that the model reads."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=1 << 17)
        with self._lock:
            answer, result = self.server(flags).ask(request, sink.getvalue())
        for text in answer.get("warnings") or []:
            warnings.warn(in_python(text), KFTWarning, stacklevel=5)
        return pa.ipc.open_file(result).read_all()


def _make_room() -> None:
    """End the servers that were started first, so that another one can start."""
    for reference in list(_running):
        model = reference()
        if model is None or (len(_running) >= _MOST and model.rest()):
            _running.remove(reference)
