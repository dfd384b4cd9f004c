"""A field-aware factorization machine: xLearn's FFM.

    y = w0 + sum_i w_i + sum_{i<j} <v_{i,f_j}, v_{j,f_i}>

Every mode and every category is a field, and an id has one vector per other field. It
uses AdaGrad with early stopping on the validation set. xLearn reads text files and uses
lock-free threads and its own seed, so two runs differ slightly.
"""

import os
import tempfile

# xLearn includes the user name in its log file name and crashes without one.
os.environ.setdefault("USER", "peers")

import numpy as np
import pandas as pd
import xlearn

from peers.columns import id_columns
from peers.peer import log_uniform
from peers.scaled import Scaled, both_scales

EPOCHS = 60


def write(path, rows, y):
    """Writes the libffm format: the target, then field:feature:1 for each field."""
    columns, sizes = id_columns(rows.table)
    frame = {"y": pd.Series(y).map("{:.6g}".format)}
    offset = 0
    for field, (name, codes) in enumerate(columns.items()):
        texts = pd.Index([f"{field}:{offset + c}:1" for c in range(sizes[name])])
        frame[name] = pd.Categorical.from_codes(rows.of(codes), categories=texts)
        offset += sizes[name]
    table = rows.table
    if table.tags is not None:
        field = len(columns)
        names = [f"{field}:{offset + k}:" for k in range(table.tags.shape[1])]
        share = table.tags / np.maximum(table.tags.sum(axis=1, keepdims=True), 1)
        texts = [" ".join(n + f"{v:.4g}" for n, v in zip(names, r) if v > 0) for r in share]
        frame["tags"] = pd.Series(texts, dtype=object).to_numpy()[rows.of(table.modes[table.tagged])]
    with open(path, "w") as f:
        lines = pd.DataFrame(frame)
        for at in range(0, len(lines), 200_000):
            part = lines.iloc[at : at + 200_000].astype(object)
            f.write("\n".join(map(" ".join, part.itertuples(index=False, name=None))) + "\n")


class FFM(Scaled):
    configuration = "ffm"
    package = "xlearn"

    def first(self, table):
        return {"k": 4, "lr": 0.1, "lambda": 2e-5}

    def draw(self, rng, table):
        return {
            "k": int(rng.choice([4, 8, 16])),
            "lr": log_uniform(rng, 0.02, 0.5),
            "lambda": log_uniform(rng, 1e-6, 1e-3),
        }

    def prepare_standard(self, train, valid, ask, standard, threads, seed):
        folder = tempfile.TemporaryDirectory()
        files = []
        for k, (rows, y) in enumerate([(train, standard[0]), (valid, standard[1]), *((a, None) for a in ask)]):
            files.append(os.path.join(folder.name, str(k)))
            write(files[-1], rows, np.zeros(len(rows)) if y is None else y)
        return folder, files, threads

    def fit_standard(self, inside, values, share):
        folder, files, threads = inside
        model = os.path.join(folder.name, "model")
        ffm = xlearn.create_ffm()
        ffm.setTrain(files[0])
        ffm.setValidate(files[1])
        settings = {"task": "reg", "metric": "rmse", "opt": "adagrad", "epoch": max(3, round(share * EPOCHS))}
        ffm.disableNorm()
        ffm.fit({**settings, **values, "nthread": threads, "stop_window": 3}, model)
        out = []
        for path in files[1:]:
            ffm.setTest(path)
            ffm.predict(model, model + ".out")
            found = pd.read_csv(model + ".out", header=None)[0].to_numpy()
            if not np.all(np.isfinite(found)):
                raise ArithmeticError("FFM diverged")
            out.append(found)
        return out, {}


PEERS = both_scales(FFM)
