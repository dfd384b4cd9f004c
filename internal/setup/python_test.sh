#!/bin/sh
# Checks and tests the Python package with the given program. It needs Python packages from
# the network the first time; without them it only says so.
set -eu
KFT_BINARY=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
python=$(sh "$(dirname "$0")/python.sh" package) || exit 0
cd "$(dirname "$0")/../../python"
export KFT_BINARY PYTHONPATH="$PWD/src" PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=agg
"$python" -m mypy --cache-dir=/dev/null
"$python" -m pytest -p no:cacheprovider "$@"
