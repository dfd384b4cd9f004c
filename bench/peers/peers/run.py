"""Runs peers on the splits of an experiment: each is tuned once on the first split,
followed by one cell per configuration and split.

This process stays small, because the peak memory of a child includes that of its parent.
"""

import argparse
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from peers.names import chosen

DONE = 3


def main():
    args = arguments()
    results = os.path.abspath(args.results)
    for d in ("splits", "tuning", "cells"):
        os.makedirs(os.path.join(results, d), exist_ok=True)
    lock = open(os.path.join(results, "peers.lock"), "w")  # held until exit
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"another run uses {results}; wait until it ends") from None
    splits = numbers(args.splits)
    base = {
        "data": args.data,
        "folder": os.path.abspath(args.folder),
        "results": results,
        "trials": args.trials,
        "seed": args.seed,
        "threads": args.threads,
        "rows": args.rows,
        "search_minutes": args.search_minutes,
        "runner": os.getpid(),
    }
    for n in sorted({1, *splits}):
        make_split(base, n, args.kft)
    failed = 0
    configurations = chosen(args.peers)
    for c in configurations:
        failed += not run(dict(base, kind="tune", configuration=c, split=1), "tuning/" + c, args.limit)
    for n in splits:
        for c in configurations:
            failed += not run(dict(base, kind="cell", configuration=c, split=n), f"cells/{c}.{n}", args.limit)
    if failed:
        print(f"{failed} results failed; see the field problem of their files", file=sys.stderr)
    sys.exit(1 if failed else 0)


def arguments():
    p = argparse.ArgumentParser(prog="python -m peers", description=__doc__)
    p.add_argument("--data", required=True, choices=("iowa", "movielens"))
    p.add_argument("--folder", required=True, help="folder of the data files")
    p.add_argument("--results", required=True, help="folder of the experiment; created if missing")
    p.add_argument("--peers", default="all", help="comma-separated configurations; lightgbm selects all that start with it (default: all)")
    p.add_argument("--splits", default="1-5", help="1-5 or 1,3 (default: 1-5)")
    p.add_argument("--trials", type=int, default=9, help="trials of the tuning on split 1 (default: 9)")
    p.add_argument("--search-minutes", type=float, default=25, help="time after which a search starts no further fit (default: 25)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rows", type=float, default=1, help="share of the training and validation rows to use, for quick tests (default: 1)")
    p.add_argument("--limit", type=float, default=0, help="time limit of a tuning or a cell in seconds (default: none)")
    p.add_argument("--kft", default="kft", help="kft binary, used to create missing splits")
    return p.parse_args()


def numbers(text):
    out = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def make_split(base, n, kft):
    """Writes split n if it is missing, as the experiment would."""
    path = os.path.join(base["results"], "splits", f"{n}.csv.gz")
    if os.path.exists(path):
        return
    given = os.path.join(base["folder"], "split.csv.gz")
    made = os.path.join(base["results"], "splits", f"making.{n}.csv.gz")
    if n == 1 and base["data"] == "iowa" and os.path.exists(given):
        shutil.copyfile(given, made)
    else:
        main_file = {"iowa": "sales_2015_2016.csv.gz", "movielens": "ratings.csv"}[base["data"]]
        command = [kft, "split", os.path.join(base["folder"], main_file), "--split", "random:60/20/20", "--seed", str(n)]
        subprocess.run(command + ["-o", made, "--force"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.replace(made, path)


def run(job, name, limit):
    """Runs a child process and returns whether it gave a result."""
    path = os.path.join(job["results"], name + ".json")
    started, stamp = time.monotonic(), time.strftime("%H:%M:%S")
    with tempfile.TemporaryDirectory() as folder:
        job["output"] = os.path.join(folder, "result.json")
        log_path = os.path.join(folder, "log")
        with open(log_path, "w+") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "peers.child"],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdout=log,
                text=True,
                env=environment(job["threads"]),
            )
            tail = []
            reader = threading.Thread(target=relay, args=(child.stderr, tail))
            reader.start()
            timer = threading.Timer(limit, child.send_signal, [signal.SIGKILL]) if limit else None
            if timer:
                timer.start()
            with child.stdin:
                json.dump(job, child.stdin)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if timer:
                timer.cancel()
            reader.join()
        seconds = time.monotonic() - started
        if child.returncode == DONE:
            return True
        if child.returncode == 0:
            with open(job["output"]) as f:
                found = json.load(f)
            found["problem"] = ""
        else:
            found = {k: job[k] for k in ("configuration", "split")}
            found["tool"] = job["configuration"].partition("-")[0]
            found["problem"] = problem(child.returncode, tail, limit, seconds)
    found["seconds"] = round(seconds, 2)
    found["cpu_seconds"] = round(usage.ru_utime + usage.ru_stime, 2)
    found["peak_rss_bytes"] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    write(path, found)
    print(f"{stamp} {name}: {summary(found)}", file=sys.stderr, flush=True)
    return not found["problem"]


def environment(threads):
    """Limits the threads and disables active waiting, which would use CPU time of other
    processes on a shared machine and count as work."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**os.environ, **{n: str(threads) for n in names}, "OMP_WAIT_POLICY": "passive", "TQDM_DISABLE": "1"}


def relay(stream, tail):
    for line in stream:
        tail.append(line.rstrip())
        del tail[:-40]
        sys.stderr.write(line)
        sys.stderr.flush()


def problem(code, tail, limit, seconds):
    if code < 0:
        if limit and seconds >= limit:
            return f"timed out after {limit:.0f} s"
        return f"killed by signal {-code}"
    last = [t for t in tail if t.strip()]
    return last[-1] if last else f"exit code {code}"


def write(path, value):
    with open(path + ".writing", "w") as f:
        json.dump(value, f, indent=1)
        f.write("\n")
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".writing", path)


def summary(found):
    if found["problem"]:
        return "failed: " + found["problem"]
    cost = f"{found['seconds']:.0f} s, CPU {found['cpu_seconds']:.0f} s, {found['peak_rss_bytes'] / 1e9:.2f} GB"
    if "test" not in found:
        return f"{found['values']}, {cost}"
    shown = ("r2", "rmse", "mae", "pinball", "xi")
    return ", ".join(f"{k} {found['test'][k]:.4f}" for k in shown if k in found["test"]) + ", " + cost
