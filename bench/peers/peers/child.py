"""One tuning or one cell, in a separate process.

The job is a JSON object on standard input. The result is written to the file named in
the job; the parent adds the cost. Exit code 3 means that the result already existed.
"""

import ctypes
import hashlib
import importlib.metadata
import json
import os
import platform
import signal
import sys
import time
import traceback

import numpy as np

from peers import data
from peers.measure import loss, measure
from peers.peer import load_peer

DONE = 3
RUNGS = (1 / 9, 1 / 3, 1)  # shares of a full budget; the best third continues
HALVED = 1_000_000  # training rows from which successive halving is used, as in kft tune


def say(text):
    print(text, file=sys.stderr, flush=True)


def text_of(values):
    """Returns values as text, identical for equal numbers."""
    return {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in values.items()}


def tool(peer):
    if not peer.package:
        return "numpy " + np.__version__
    return f"{peer.package} {importlib.metadata.version(peer.package)}"


def definition(peer, job, **more):
    """Returns a hash of everything that must be unchanged for a result to be valid."""
    files = [os.path.join(job["folder"], f) for f in data.FILES[job["data"]]]
    what = {
        "configuration": peer.configuration,
        "version": peer.version,
        "tool": tool(peer),
        "data": data.hash_files(files),
        "split": hashlib.sha256(data.contents(split_file(job, job["split"]))).hexdigest(),  # regardless of compression
        "seed": job["seed"],
        "rows": job["rows"],
        **more,
    }
    return "sha256 " + hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def split_file(job, n):
    return os.path.join(job["results"], "splits", f"{n}.csv.gz")


def present(path, wanted):
    try:
        with open(path) as f:
            found = json.load(f)
    except (OSError, ValueError):
        return False
    return found.get("definition") == wanted and not found.get("problem")


def tuning_file(job, configuration):
    return os.path.join(job["results"], "tuning", configuration + ".json")


def tuned_values(peer, job):
    """Returns the exact values selected by tuning."""
    origin = peer.values_from(job["data"]) or peer.configuration
    try:
        with open(tuning_file(job, origin)) as f:
            found = json.load(f)
    except OSError:
        raise SystemExit(f"{peer.configuration}: {origin} is not tuned yet; run it first") from None
    if found.get("problem"):
        raise SystemExit(f"{peer.configuration}: the tuning of {origin} failed: {found['problem']}")
    return found["exact"]


def read(job):
    table = data.load(job["data"], job["folder"])
    parts = data.read_parts(split_file(job, job["split"]))
    if len(parts) != len(table):
        raise SystemExit(f"{split_file(job, job['split'])} has {len(parts)} rows, but the table has {len(table)}")
    train = data.sample(data.part_of(table, parts, "train"), job["rows"], 1)
    valid = data.sample(data.part_of(table, parts, "valid"), job["rows"], 2)
    return table, parts, train, valid


def tune(peer, job):
    """Runs successive halving of random choices, evaluated on the validation set only.

    A rung of budget b uses the share sqrt(b) of the rows and of the iterations. When
    the time limit of the search is reached, no further fit is started, and the best
    trial of the last rung is taken.
    """
    began, stopped = time.monotonic(), False
    table, _, train, valid = read(job)
    rng = np.random.default_rng([job["seed"], *peer.configuration.encode()])
    trials = [{"number": 1, "values": peer.first(table)}]
    while len(trials) < job["trials"]:
        trials.append({"number": len(trials) + 1, "values": peer.draw(rng, table)})
    if not trials[0]["values"]:
        trials, rungs = [], ()
    else:
        rungs = RUNGS if len(train) >= HALVED * job["rows"] else RUNGS[-1:]
    going, history = list(trials), []
    for budget in rungs:
        share = budget**0.5
        some = data.sample(train, share, job["seed"])
        check = data.sample(valid, share, job["seed"])
        prepared = peer.prepare(some, check, [], job["threads"], job["seed"])
        for k, trial in enumerate(going):
            started = time.monotonic()
            if started - began > 60 * job["search_minutes"] and history:
                # Trials not yet evaluated at this rung are ordered by the previous one.
                stopped, going = True, going[: max(k, 1)]
                break
            entry = {"trial": trial["number"], "budget": round(budget, 4), "values": text_of(trial["values"])}
            try:
                found = peer.fit(prepared, trial["values"], share)[0]
                entry["valid"] = measure(check.y, found)
                trial["loss"] = loss(peer.objective, entry["valid"])
                entry["notes"] = found.notes
            except Exception as e:  # a failed trial is recorded and the search continues
                trial["loss"] = float("inf")
                entry["problem"] = f"{type(e).__name__}: {e}"
            entry["seconds"] = round(time.monotonic() - started, 2)
            history.append(entry)
            say(f"  trial {trial['number']}, budget {budget:.2f}: {peer.objective} {shown(trial['loss'])}, {entry['seconds']:.0f} s")
        going = [t for t in sorted(going, key=lambda t: t["loss"]) if np.isfinite(t["loss"])]
        if not going:
            raise RuntimeError("all trials failed: " + history[-1]["problem"])
        going = going[: max(1, len(going) // 3)]
        if stopped:
            break
    exact = going[0]["values"] if going else {}
    return {
        "configuration": peer.configuration,
        "tool": tool(peer),
        "split": job["split"],
        "objective": peer.objective,
        "trials": len(trials),
        "stopped": stopped,
        "values": text_of(exact),
        "exact": exact,
        "history": history,
    }


def shown(value):
    return f"{abs(value):.4f}" if np.isfinite(value) else "failed"


def cell(peer, job, values):
    started = time.monotonic()
    table, parts, train, valid = read(job)
    ask = data.part_of(table, parts, "test", with_target=False)
    prepared = peer.prepare(train, valid, [ask], job["threads"], job["seed"])
    read_seconds = time.monotonic() - started
    on_valid, on_test = peer.fit(prepared, values, 1)
    return {
        "configuration": peer.configuration,
        "split": job["split"],
        "tool": tool(peer),
        "values": text_of(values),
        "notes": {**on_valid.notes, **({"method": peer.notes} if peer.notes else {})},
        "read_seconds": round(read_seconds, 2),
        "fit_seconds": round(time.monotonic() - started - read_seconds, 2),
        "python": platform.python_version(),
        "threads": job["threads"],
        "valid": measure(valid.y, on_valid),
        "test": measure(table.y[ask.index], on_test),
    }


def die_with(runner):
    """Ends this process when the runner is killed, so that no orphaned fit keeps running."""
    if sys.platform == "linux":
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != runner:
        sys.exit("the runner has exited")


def main():
    job = json.load(sys.stdin)
    die_with(job["runner"])
    peer = load_peer(job["configuration"])
    if job["kind"] == "tune":
        wanted = definition(peer, job, trials=job["trials"])
        target = tuning_file(job, peer.configuration)
        skip = job["data"] not in peer.data or bool(peer.values_from(job["data"]))
        if skip or present(target, wanted):
            sys.exit(DONE)
        found = tune(peer, job)
    else:
        if job["data"] not in peer.data:
            sys.exit(DONE)
        values = tuned_values(peer, job)
        wanted = definition(peer, job, values=text_of(values))
        target = os.path.join(job["results"], "cells", f"{peer.configuration}.{job['split']}.json")
        if present(target, wanted):
            sys.exit(DONE)
        found = cell(peer, job, values)
    found["definition"] = wanted
    with open(job["output"], "w") as f:
        json.dump(found, f)


if __name__ == "__main__":
    try:
        main()
    except Exception as e:  # one line for the result file, the traceback for users
        traceback.print_exc()
        sys.exit(f"{type(e).__name__}: {e}")
