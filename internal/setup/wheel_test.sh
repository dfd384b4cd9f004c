#!/bin/sh
# Installs the wheel for this machine from a folder in a clean virtual environment and fits a
# model with it. It needs the package index for numpy, pyarrow and scikit-learn.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sales=$PWD/docs/concepts/data/sales.csv
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --find-links "$1" --pre kft
cd "$folder"
env -u KFT_BINARY -u PYTHONPATH "$folder/venv/bin/python" - "$sales" <<'PYTHON'
import sys
from pyarrow import csv
import kft
table = csv.read_csv(sys.argv[1])
model = kft.KFTRegressor(["store", "item", "time=year+month"], rank=2, scale="log1p")
model.fit(table.drop_columns("units"), table["units"])
print("R2 of the installed wheel:", round(model.score(table, table["units"]), 2))
assert kft._process.binary().startswith(sys.prefix)
PYTHON
"$folder/venv/bin/kft" version
