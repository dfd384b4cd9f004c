"""SMURFF's Macau: Bayesian factorization of users by movies, with genres as side
information of movies.

The predictive distribution is normal: the variance over the samples plus the noise
variance, which is estimated from the residuals on the validation set.
"""

import tempfile

import numpy as np
import scipy.sparse as sp
import smurff

from peers.normal import normal_prediction
from peers.peer import Peer


class Macau(Peer):
    configuration = "smurff"
    version = 2
    package = "smurff"
    data = ("movielens",)

    def first(self, table):
        return {"latent": 16}

    def draw(self, rng, table):
        return {"latent": int(rng.choice([4, 8, 12, 16, 24, 32, 48]))}

    def prepare(self, train, valid, ask, threads, seed):
        t = train.table
        shape = int(t.modes["user"].max()) + 1, int(t.modes["movie"].max()) + 1
        middle = float(train.y.mean())
        at = [(rows.of(t.modes["user"]), rows.of(t.modes["movie"])) for rows in (train, valid, *ask)]
        y = sp.coo_matrix((train.y - middle, at[0]), shape=shape)
        users = np.concatenate([a[0] for a in at[1:]])
        movies = np.concatenate([a[1] for a in at[1:]])
        # Targets are not passed: every cell to predict has the value 1.
        asked = sp.coo_matrix((np.ones(len(users)), (users, movies)), shape=shape)
        sizes = [len(a[0]) for a in at[1:]]
        return y, asked, (users, movies), sizes, t.tags.astype(np.float64), valid.y, middle, threads, seed

    def fit(self, prepared, values, share):
        y, asked, (users, movies), sizes, tags, valid_y, middle, threads, seed = prepared
        with tempfile.TemporaryDirectory() as folder:
            session = smurff.MacauSession(
                Ytrain=y,
                Ytest=asked,
                side_info=[None, sp.csr_matrix(tags)],
                num_latent=values["latent"],
                burnin=max(10, round(200 * share)),
                nsamples=max(10, round(200 * share)),
                seed=seed,
                num_threads=threads,
                verbose=0,
                save_name=folder + "/session.hdf5",
            )
            found = session.run()
        place = {(u, m): k for k, (u, m) in enumerate(zip(users.tolist(), movies.tolist()))}
        mean, variance = np.full(len(users), np.nan), np.zeros(len(users))
        for p in found:
            k = place[tuple(int(c) for c in p.coords)]
            # var is the sum of squared deviations over the samples.
            mean[k], variance[k] = p.pred_avg + middle, p.var / max(p.nsamples - 1, 1)
        if not np.all(np.isfinite(mean)):
            raise ArithmeticError("SMURFF returned no prediction for some cells")
        noise = max(float(np.mean((valid_y - mean[: sizes[0]]) ** 2) - variance[: sizes[0]].mean()), 1e-6)
        out, start = [], 0
        for n in sizes:
            part = slice(start, start + n)
            out.append(normal_prediction(mean[part], np.sqrt(variance[part] + noise), notes={"noise": round(noise, 4)}))
            start += n
        return out


PEERS = (Macau,)
