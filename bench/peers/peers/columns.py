"""Rows as sparse one-hot matrices, for models that are linear in ids."""

import numpy as np
import scipy.sparse as sp


def id_columns(table):
    """Returns modes and categories by name, and their numbers of codes."""
    columns = {**table.modes, **table.categories}
    return columns, {c: int(v.max()) + 1 for c, v in columns.items()}


def one_hot(codes, size):
    n = len(codes)
    return sp.csr_matrix((np.ones(n), codes.astype(np.int32), np.arange(n + 1)), shape=(n, size))


def one_hots(rows, names=None):
    """Builds one block per column, tags last; returns the matrix and the block widths."""
    table = rows.table
    columns, sizes = id_columns(table)
    names = list(columns) if names is None else names
    blocks = [one_hot(rows.of(columns[c]), sizes[c]) for c in names]
    if table.tags is not None:
        share = unit_tags(table)
        blocks.append(sp.csr_matrix(share)[rows.of(table.modes[table.tagged])])
    return sp.hstack(blocks, format="csr"), [b.shape[1] for b in blocks]


def unit_tags(table):
    """Returns the tags of each entity, scaled so that their squares sum to 1."""
    return table.tags / np.sqrt(np.maximum(table.tags.sum(axis=1, keepdims=True), 1))
