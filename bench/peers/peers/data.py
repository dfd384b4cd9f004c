"""The tables, with ids as codes and side columns joined.

Every run reads the files, as a user of the tool would, so reading is part of the
measured time.
"""

import gzip
import hashlib
import io
import os
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

SALES = "sales_2015_2016.csv.gz"
FILES = {
    "iowa": (SALES, "stores.csv", "items.csv"),
    "movielens": ("ratings.csv", "movies.csv"),
}

# Side columns of Iowa's stores and items, without names, addresses and dates.
CATEGORIES = ["city", "county", "zip", "category_name", "vendor"]
NUMBERS = ["lat", "lon", "bottle_volume_ml", "pack", "inner_pack", "age", "proof"]
NUMBERS += ["state_bottle_cost", "state_case_cost", "state_bottle_retail"]


@dataclass
class Table:
    """A table of observations.

    Codes of modes and categories start at 0 in the order of the sorted ids. A missing
    category has its own code.
    """

    name: str
    y: np.ndarray
    modes: dict[str, np.ndarray]  # the ids that kft gets, in the same order
    categories: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    pairs: dict[str, np.ndarray] = field(default_factory=dict)  # codes of the occurring pairs, for tools that cannot form them
    tags: np.ndarray | None = None  # 0/1, one row per entity of tagged
    tagged: str = ""
    scale: str = "identity"  # scale on which quantiles are modelled

    def __len__(self):
        return len(self.y)


@dataclass
class Rows:
    """Some rows of a table. Rows to predict have no targets."""

    table: Table
    index: np.ndarray
    y: np.ndarray | None

    def __len__(self):
        return len(self.index)

    def of(self, column):
        return column[self.index]


def part_of(table, parts, name, with_target=True):
    index = np.flatnonzero(parts == name)
    return Rows(table, index, table.y[index] if with_target else None)


def sample(rows, share, seed):
    """Keeps a share of the rows, selected by a seed, in the original order."""
    if share >= 1:
        return rows
    keep = np.sort(np.random.default_rng(seed).permutation(len(rows))[: max(1, round(share * len(rows)))])
    return Rows(rows.table, rows.index[keep], None if rows.y is None else rows.y[keep])


def codes(values):
    found, _ = pd.factorize(pd.Series(values).astype("string"), sort=True, use_na_sentinel=False)
    return found.astype(np.int32)


def load_iowa(folder):
    sales = pd.read_csv(os.path.join(folder, SALES), dtype={"store": str, "item": str})
    stores = pd.read_csv(os.path.join(folder, "stores.csv"), dtype=str).set_index("store")
    items = pd.read_csv(os.path.join(folder, "items.csv"), dtype=str).set_index("item")
    store, store_ids = pd.factorize(sales["store"], sort=True)
    item, item_ids = pd.factorize(sales["item"], sort=True)
    stores, items = stores.reindex(store_ids), items.reindex(item_ids)
    year, month = sales["year"].to_numpy(), sales["month"].to_numpy()
    time = ((year - year.min()) * 12 + month - 1).astype(np.int32)
    t = Table("iowa", sales["bottles"].to_numpy(np.float64), {}, scale="log1p")
    t.modes = {"store": store.astype(np.int32), "item": item.astype(np.int32), "time": time}
    t.categories = {"year": codes(year), "month": (month - 1).astype(np.int32)}
    for side, entity in ((stores, store), (items, item)):
        for c in side.columns.intersection(CATEGORIES):
            t.categories[c] = codes(side[c])[entity]
    t.numbers = {"time": time.astype(np.float32)}
    for side, entity in ((stores, store), (items, item)):
        for c in side.columns.intersection(NUMBERS):
            t.numbers[c] = pd.to_numeric(side[c], errors="coerce").to_numpy(np.float32)[entity]
    return t


def load_movielens(folder):
    ratings = pd.read_csv(os.path.join(folder, "ratings.csv"))
    movies = pd.read_csv(os.path.join(folder, "movies.csv")).set_index("movieId")
    user, _ = pd.factorize(ratings["userId"], sort=True)
    movie, movie_ids = pd.factorize(ratings["movieId"], sort=True)
    seconds = ratings["timestamp"].to_numpy()
    hour = (seconds // 3600 % 24).astype(np.int32)
    date = seconds // 86400
    year = pd.to_numeric(movies["title"].str.extract(r"\((\d{4})[^)]*\)\s*$")[0]).reindex(movie_ids)
    genres = movies.reindex(movie_ids)["genres"].fillna("").str.get_dummies("|")
    t = Table("movielens", ratings["rating"].to_numpy(np.float64), {})
    t.modes = {"user": user.astype(np.int32), "movie": movie.astype(np.int32), "hour": hour}
    t.categories = {"date": codes(date), "year": codes(year)[movie]}
    t.numbers = {"year": year.to_numpy(np.float32)[movie], "date": date.astype(np.float32)}
    t.pairs = {"user-date": codes(user * 100_000 + date), "user-hour": codes(user * 24 + hour)}
    t.tags, t.tagged = genres.to_numpy(np.float32), "movie"
    return t


def load(name, folder):
    return {"iowa": load_iowa, "movielens": load_movielens}[name](folder)


def read_parts(path):
    """Reads a split file, compressed or not, regardless of its name."""
    frame = pd.read_csv(io.BytesIO(contents(path)), dtype="category")
    return frame["part"].to_numpy(dtype=object).astype(str)


def contents(path):
    with open(path, "rb") as f:
        raw = f.read()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def hash_files(paths):
    """Returns the SHA-256 of the concatenated files."""
    h = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            while block := f.read(1 << 20):
                h.update(block)
    return h.hexdigest()
