"""Measures what the Python package adds to the time of the program, on a table of sales.

Usage: python measure.py sales.csv.gz, with the columns year, month, store, item and bottles.
"""

import sys
import time
import warnings
from pathlib import Path

import pandas as pd

import kft
from kft import KFTRegressor, _process, _server, _table

warnings.simplefilter("ignore", kft.KFTWarning)
spent = 0.0  # in the program


def timed(function):
    """Add the time of a function to spent."""

    def wrapper(*args, **kwargs):
        global spent
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent += time.perf_counter() - began

    return wrapper


def measure(what, act):
    """Print the time of an action and how much of it was in the program."""
    global spent
    Path("/proc/self/clear_refs").write_text("5")  # starts a new measurement of the most memory
    before = memory("VmRSS")
    spent, began, used = 0.0, time.perf_counter(), time.process_time()
    result = act()
    whole, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{what:26} {whole:8.3f} s, outside of the program {whole - spent:6.3f} s, CPU of Python {cpu:6.3f} s, {memory('VmHWM') - before:4.0f} MiB more at most")
    return result


def memory(field):
    """Return a field of the memory of this process, in MiB."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


sales = pd.read_csv(sys.argv[1], dtype={"store": str, "item": str})
X, y = sales.drop(columns="bottles"), sales["bottles"]
size = sales.memory_usage(deep=True).sum() / 2**20
with _process.workspace() as folder:
    table = measure("frame to Arrow", lambda: _table.to_arrow(sales))
    measure("Arrow to a file", lambda: _table.write(table, Path(folder) / "X"))
    del table
_process.run, ask = timed(_process.run), _server.Server.ask
model = KFTRegressor(["store", "item", "time=year+month"], rank=8, scale="log1p", sweeps=8, lambda_=0.02, ridge="frequency", conformal="none")
measure(f"fit of {len(sales):,} rows", lambda: model.fit(X, y))
measure("first single prediction", lambda: model.predict(X[:1]))
measure("1,000 single predictions", lambda: [model.predict(X[i : i + 1]) for i in range(1000)])
_server.Server.ask = timed(ask)  # writing the request, the program, and reading the answer
for _ in range(3):
    measure(f"{len(sales):,} predictions", lambda: model.predict(X))
print(f"memory of the frame: {size:.0f} MiB")
