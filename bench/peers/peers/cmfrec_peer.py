"""cmfrec: collective matrix factorization of users by movies, with genres."""

import numpy as np
import pandas as pd
from cmfrec import CMF

from peers.measure import Prediction
from peers.peer import Peer, log_uniform


class Collective(Peer):
    configuration = "cmfrec"
    package = "cmfrec"
    data = ("movielens",)

    def first(self, table):
        return {"k": 40, "lambda_": 10.0, "w_item": 0.5}

    def draw(self, rng, table):
        return {
            "k": int(round(log_uniform(rng, 4, 80))),
            "lambda_": log_uniform(rng, 1, 60),
            "w_item": log_uniform(rng, 0.05, 5),
        }

    def prepare(self, train, valid, ask, threads, seed):
        t = train.table
        pairs = pd.DataFrame({"UserId": train.of(t.modes["user"]), "ItemId": train.of(t.modes["movie"]), "Rating": train.y})
        side = pd.DataFrame(t.tags, columns=[f"tag{k}" for k in range(t.tags.shape[1])])
        side.insert(0, "ItemId", np.arange(len(side)))
        # Movies without training rows are known only by their genres.
        asked = [(rows.of(t.modes["user"]), rows.of(t.modes["movie"])) for rows in (valid, *ask)]
        return pairs, side, asked, threads, seed, float(train.y.mean())

    def fit(self, prepared, values, share):
        pairs, side, asked, threads, seed, middle = prepared
        iterations = max(4, round(20 * share))
        model = CMF(**values, niter=iterations, nthreads=threads, random_state=seed, verbose=False, center_I=True)
        model.fit(X=pairs, I=side)
        out = []
        for user, movie in asked:
            found = np.asarray(model.predict(user, movie), dtype=np.float64)
            found = np.where(np.isfinite(found), found, middle)
            out.append(Prediction(mean=found, notes={"iterations": iterations}))
        return out


PEERS = (Collective,)
