"""Writes tables with pyarrow and, where they are installed, polars and DuckDB, in many
layouts. The file index.json names for each of them the file of the values that a reader
must find: columns of texts, with null for a missing value.

Usage: python3 write_tables.py FOLDER [few]

With "few" it writes the small tables that are kept in the folder "tables".
"""

import datetime as dt
import decimal
import itertools
import json
import os
import random
import sys

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

out = sys.argv[1]
FEW = sys.argv[2:] == ["few"]
ROWS = 24 if FEW else 400
index = {}


def fraction(nanoseconds):
    text = "%09d" % nanoseconds
    text = text.rstrip("0")
    return "." + text if text else ""


def text_of(value, of):
    """The text of a value as kft writes it."""
    if pa.types.is_boolean(of):
        return "true" if value else "false"
    if pa.types.is_date(of):
        if of == pa.date64():
            return value.strftime("%Y-%m-%d 00:00:00")
        return value.isoformat()
    if pa.types.is_timestamp(of) or pa.types.is_time(of):
        per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[of.unit]
        seconds, rest = divmod(value, per)
        rest = fraction(rest * (10**9 // per))
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
        return moment.strftime("%Y-%m-%d %H:%M:%S" if pa.types.is_timestamp(of) else "%H:%M:%S") + rest
    if pa.types.is_decimal(of):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.decode()
    return str(value)


def texts(column):
    of = column.type
    if pa.types.is_timestamp(of) or pa.types.is_time(of):
        width = pa.int32() if of.bit_width == 32 else pa.int64()
        values = column.cast(width).to_pylist()
    elif pa.types.is_float16(of):
        values = column.cast(pa.float32()).to_pylist()
    else:
        values = column.to_pylist()
    return [None if v is None else text_of(v, of) for v in values]


def plain(table):
    """The table in one piece and without dictionaries, to compare it."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            values = pa.array(table[i].to_pylist(), field.type.value_type)
            table = table.set_column(i, field.name, values)
    return table.combine_chunks().replace_schema_metadata(None)


references = []


def expect(name, table):
    """Notes the values of a file. Files with the same values share them."""
    table = plain(table)
    for known, values in references:
        if known.schema.equals(table.schema) and known.equals(table):
            index[name] = values
            return
    index[name] = "values%d.json" % len(references)
    references.append((table, index[name]))
    flat = [n for n in table.column_names if not pa.types.is_nested(table.schema.field(n).type)]
    columns = []
    for n in flat:
        column = table[n]
        columns.append({"name": n, "number": pa.types.is_floating(column.type), "values": texts(column)})
    with open(os.path.join(out, index[name]), "w") as f:
        json.dump(columns, f)


def table(nullable, seed):
    """A table with a column of each type. Some columns are constant, sorted or random."""
    r = random.Random(seed)

    def column(of, values):
        values = list(values)
        if nullable:
            # runs of nulls, single nulls, and none
            for i in range(ROWS):
                if i % 7 == 3 or 100 <= i < 140 or i > 390:
                    values[i] = None
        return pa.array(values, of)

    columns = {}
    for bits in (8, 16, 32, 64):
        top = 2 ** (bits - 1)
        columns["int%d" % bits] = column(getattr(pa, "int%d" % bits)(), [r.randrange(-top, top) for _ in range(ROWS)])
        columns["uint%d" % bits] = column(getattr(pa, "uint%d" % bits)(), [r.randrange(2 * top) for _ in range(ROWS)])
    columns["sorted"] = column(pa.int64(), [10**12 + 3 * i for i in range(ROWS)])
    columns["constant"] = column(pa.int32(), [7] * ROWS)
    columns["few"] = column(pa.int32(), [i // 90 for i in range(ROWS)])
    columns["float"] = column(pa.float32(), [pa.scalar(r.gauss(0, 1e3), pa.float32()).as_py() for _ in range(ROWS)])
    columns["double"] = column(pa.float64(), [r.gauss(0, 1e3) for _ in range(ROWS)])
    columns["halves"] = column(pa.float64(), [i % 5 / 2 for i in range(ROWS)])
    columns["bool"] = column(pa.bool_(), [r.random() < 0.4 for _ in range(ROWS)])
    columns["true"] = column(pa.bool_(), [i < 380 for i in range(ROWS)])
    columns["string"] = column(pa.string(), ["store %d" % r.randrange(40) for _ in range(ROWS)])
    columns["words"] = column(pa.large_string(), ["".join(r.choice("abcdé") for _ in range(1 + r.randrange(30))) for _ in range(ROWS)])
    columns["prefix"] = column(pa.string(), ["common/prefix/%06d" % (i * 7) for i in range(ROWS)])
    columns["binary"] = column(pa.binary(), [b"b%d" % (i % 50) for i in range(ROWS)])
    columns["fixed"] = column(pa.binary(5), [b"%05d" % (i * 31 % 1000) for i in range(ROWS)])
    columns["category"] = column(pa.string(), ["c%d" % (i % 9) for i in range(ROWS)]).dictionary_encode()
    for digits, scale in ((7, 2), (15, 4), (30, 10)):
        columns["decimal%d" % digits] = column(
            pa.decimal128(digits, scale), [decimal.Decimal(r.randrange(-(10 ** (digits - 1)), 10 ** (digits - 1))).scaleb(-scale) for _ in range(ROWS)]
        )
    columns["date32"] = column(pa.date32(), [dt.date(2015, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)])
    for unit, per in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        values = [r.randrange(-(10**9), 2 * 10**9) * per + r.randrange(per) for _ in range(ROWS)]
        columns["time_" + unit] = column(pa.timestamp(unit), values)
        columns["zone_" + unit] = column(pa.timestamp(unit, tz="Europe/Berlin"), values)
    columns["clock_ms"] = column(pa.time32("ms"), [r.randrange(86400000) for _ in range(ROWS)])
    columns["clock_us"] = column(pa.time64("us"), [r.randrange(86400 * 10**6) for _ in range(ROWS)])
    columns["clock_ns"] = column(pa.time64("ns"), [r.randrange(86400 * 10**9) for _ in range(ROWS)])
    fields = [pa.field(n, c.type, nullable=nullable) for n, c in columns.items()]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


ENCODINGS = {
    "dictionary": None,
    "plain": {},
    "delta": {
        **{n: "DELTA_BINARY_PACKED" for n in ("int8", "int16", "int32", "int64", "uint32", "uint64", "sorted", "constant", "few", "date32", "time_us", "zone_ns")},
        "string": "DELTA_BYTE_ARRAY", "prefix": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY", "words": "DELTA_LENGTH_BYTE_ARRAY", "binary": "DELTA_LENGTH_BYTE_ARRAY",
    },
    "split": {
        **{n: "BYTE_STREAM_SPLIT" for n in ("float", "double", "halves", "int32", "int64", "fixed", "decimal30")},
        "bool": "RLE", "true": "RLE",
    },
}


def parquet_files():
    tables = {n: table(n, 1) for n in (True, False)}
    # Columns between which are columns of records and lists.
    nested = tables[True].slice(0, ROWS)
    nested = nested.add_column(3, "record", pa.array([{"a": i, "b": [i] * (i % 3)} if i % 5 else None for i in range(ROWS)]))
    nested = nested.add_column(9, "list", pa.array([[i, None] if i % 4 else [] for i in range(ROWS)]))
    codecs = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
    for codec, version, encoding, nullable, small in itertools.product(codecs, ("1.0", "2.0"), ENCODINGS, (True, False), (True, False)):
        options = {"compression": codec, "data_page_version": version, "write_page_checksum": small, "row_group_size": 170 if small else ROWS}
        if small:
            options.update(data_page_size=400, write_batch_size=16, dictionary_pagesize_limit=300)
        if ENCODINGS[encoding] is not None:
            options.update(use_dictionary=False, column_encoding=ENCODINGS[encoding] or None)
        name = "pyarrow-%s-v%s-%s-%s-%s.parquet" % (codec, version[0], encoding, "null" if nullable else "required", "small" if small else "large")
        pq.write_table(tables[nullable], os.path.join(out, name), **options)
        back = pq.read_table(os.path.join(out, name))
        expect(name, back)
    # Pages of many values that cannot be compressed.
    r = random.Random(3)
    noise = {"double": [r.random() for _ in range(20000)], "int64": [r.randrange(2**63) for _ in range(20000)]}
    noise = pa.table(list(noise.values()), schema=pa.schema([pa.field("double", pa.float64(), False), pa.field("int64", pa.int64(), False)]))
    for codec, version in itertools.product(codecs, ("1.0", "2.0")):
        name = "pyarrow-%s-v%s-noise.parquet" % (codec, version[0])
        pq.write_table(noise, os.path.join(out, name), compression=codec, data_page_version=version, use_dictionary=False)
        expect(name, noise)
    for name, options in {
        "nested": {},
        "spark": {"flavor": "spark", "use_deprecated_int96_timestamps": True, "compression": "snappy"},
        "old": {"version": "1.0", "compression": "gzip"},
        "integers": {"store_decimal_as_integer": True, "compression": "lz4", "version": "2.6"},
    }.items():
        what = nested if name == "nested" else tables[True]
        if name == "old":  # the first version of the format has no unsigned 32 bits and no nanoseconds
            what = what.drop_columns(["uint32", "time_ns", "zone_ns", "clock_ns"])
        path = os.path.join(out, "pyarrow-%s.parquet" % name)
        pq.write_table(what, path, row_group_size=250, **options)
        expect("pyarrow-%s.parquet" % name, pq.read_table(path))
    return tables


def arrow_files(tables):
    for nullable, codec, stream in itertools.product((True, False), (None, "lz4", "zstd"), (True, False)):
        t = tables[nullable]
        t = t.append_column("date64", pa.array([dt.date(2015, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)], pa.date64()))
        t = t.append_column("half", t["halves"].cast(pa.float32()).cast(pa.float16()) if hasattr(pa, "float16") else t["halves"])
        t = t.append_column("view", t["prefix"].cast(pa.string_view()))
        t = t.append_column("nothing", pa.nulls(ROWS))
        t = t.append_column("wide", t["decimal30"].cast(pa.decimal256(40, 10)))
        name = "pyarrow-%s-%s-%s.arrow" % (codec or "none", "null" if nullable else "required", "stream" if stream else "file")
        options = pa.ipc.IpcWriteOptions(compression=codec)
        make = pa.ipc.new_stream if stream else pa.ipc.new_file
        with make(os.path.join(out, name), t.schema, options=options) as w:
            for batch in t.to_batches(max_chunksize=230):
                w.write_batch(batch)
        expect(name, t)


def polars_files(tables):
    import polars as pl

    frame = pl.from_arrow(tables[True].drop_columns(["fixed", "time_s", "zone_s", "clock_ms", "clock_us"]))
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"):
        name = "polars-%s.parquet" % codec
        frame.write_parquet(os.path.join(out, name), compression=codec, row_group_size=256, data_page_size=700)
        expect(name, pq.read_table(os.path.join(out, name)))
    for codec in ("uncompressed", "lz4", "zstd"):
        name = "polars-%s.arrow" % codec
        frame.write_ipc(os.path.join(out, name), compression=codec)
        with pa.ipc.open_file(os.path.join(out, name)) as f:
            expect(name, f.read_all())


def duckdb_files(tables):
    import duckdb

    db = duckdb.connect()
    db.register("t", tables[True].drop_columns(["zone_s", "zone_ms", "zone_ns", "clock_ns"]))
    for codec, version in itertools.product(("uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw", "brotli"), ("V1", "V2")):
        name = "duckdb-%s-%s.parquet" % (codec, version)
        db.execute("COPY t TO '%s' (FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s, ROW_GROUP_SIZE 2048)" % (os.path.join(out, name), codec, version))
        # pyarrow cannot read all that DuckDB writes with V2.
        expect(name, pq.read_table(os.path.join(out, name)) if version == "V1" else db.read_parquet(os.path.join(out, name)).to_arrow_table())


def few_files():
    names = ["int32", "uint64", "double", "bool", "string", "category", "decimal15", "date32", "time_ns", "fixed"]
    some = {n: table(n, 2).select(names) for n in (True, False)}
    few = [("none", "1.0", "dictionary", True), ("snappy", "1.0", "dictionary", False), ("gzip", "2.0", "dictionary", True), ("zstd", "1.0", "plain", False)]
    few += [("lz4", "1.0", "plain", False), ("lz4", "2.0", "delta", True), ("brotli", "2.0", "split", True), ("none", "2.0", "delta", False)]
    for codec, version, encoding, nullable in few:
        options = {"compression": codec, "data_page_version": version, "write_page_checksum": codec == "gzip", "row_group_size": 15}
        if ENCODINGS[encoding] is not None:
            encodings = {n: e for n, e in ENCODINGS[encoding].items() if n in names}
            options.update(use_dictionary=False, column_encoding=encodings or None)
        name = "%s-%s.parquet" % (codec, encoding)
        pq.write_table(some[nullable], os.path.join(out, name), store_schema=False, **options)
        expect(name, pq.read_table(os.path.join(out, name)))
    for codec, stream in ((None, True), (None, False), ("lz4", False), ("zstd", True)):
        t = some[True].append_column("view", some[True]["string"].cast(pa.string_view())).append_column("nothing", pa.nulls(ROWS))
        name = "%s-%s.arrow" % (codec or "none", "stream" if stream else "file")
        make = pa.ipc.new_stream if stream else pa.ipc.new_file
        with make(os.path.join(out, name), t.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as w:
            for batch in t.to_batches(max_chunksize=15):
                w.write_batch(batch)
        expect(name, t)
    import duckdb
    import polars as pl

    pl.from_arrow(some[True].drop_columns(["fixed"])).write_ipc(os.path.join(out, "polars.arrow"))
    with pa.ipc.open_file(os.path.join(out, "polars.arrow")) as f:
        expect("polars.arrow", f.read_all())
    db = duckdb.connect()
    db.register("t", some[True])
    db.execute("COPY t TO '%s' (FORMAT parquet, COMPRESSION lz4_raw, PARQUET_VERSION V2)" % os.path.join(out, "duckdb.parquet"))
    expect("duckdb.parquet", db.read_parquet(os.path.join(out, "duckdb.parquet")).to_arrow_table())


if FEW:
    few_files()
else:
    written = parquet_files()
    arrow_files(written)
    for writer in (polars_files, duckdb_files):
        try:
            writer(written)
        except ImportError as missing:
            print("without", missing.name)
with open(os.path.join(out, "index.json"), "w") as f:
    json.dump(index, f, indent=1)
