"""The tables, with ids as codes and side columns joined.

Every file is read anew by every run, as a user of the tool would: reading is
part of the time.
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

# The side columns of Iowa's stores and items; names, addresses and dates are left out.
CATEGORIES = ["city", "county", "zip", "category_name", "vendor"]
NUMBERS = ["lat", "lon", "bottle_volume_ml", "pack", "inner_pack", "age", "proof"]
NUMBERS += ["state_bottle_cost", "state_case_cost", "state_bottle_retail"]


@dataclass
class Table:
    """A table of observations.

    Codes of modes and categories count from 0 in the order of the sorted ids;
    a missing category has a code of its own.
    """

    name: str
    y: np.ndarray
    modes: dict[str, np.ndarray]  # the ids kft is given, in its order
    categories: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    pairs: dict[str, np.ndarray] = field(default_factory=dict)  # codes of pairs that occur, for tools that cannot form them
    tags: np.ndarray | None = None  # 0/1, a row for each entity of tagged
    tagged: str = ""
    scale: str = "identity"  # that quantiles are modelled on

    def __len__(self):
        return len(self.y)


@dataclass
class Rows:
    """Some rows of a table. Those to be predicted have no targets."""

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
    """Keeps a share of rows, chosen by a seed, in their order."""
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
    """Reads a split file, which may be plain text whatever its name."""
    frame = pd.read_csv(io.BytesIO(contents(path)), dtype="category")
    return frame["part"].to_numpy(dtype=object).astype(str)


def contents(path):
    with open(path, "rb") as f:
        raw = f.read()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def hash_files(paths):
    """Returns the SHA-256 of files, one after the other."""
    h = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            while block := f.read(1 << 20):
                h.update(block)
    return h.hexdigest()
