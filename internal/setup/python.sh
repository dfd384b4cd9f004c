#!/bin/sh
# Installs Python packages for the tests in a virtual environment under the user's
# cache, and prints the interpreter to use: safetensors reads model files; pyarrow,
# polars and DuckDB write tables. The tests also pass without them, with a parser of
# their own and with stored tables, so a failed installation is only reported. With the
# argument package, it also installs what the tests of the Python package need, and fails
# if that is impossible.
set -u
home=${KFT_TEST_HOME:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kft-test}
venv=$home/python
python=$venv/bin/python3

works() { "$1" -c 'import safetensors.numpy' 2>/dev/null; }
writes() { "$1" -c 'import pyarrow, polars, duckdb' 2>/dev/null; }
tests() { "$1" -c 'import sklearn, pandas, polars, pyarrow, skpro, tqdm, matplotlib, pytest, mypy, hatchling' 2>/dev/null; }
install() { "$python" -m pip install --quiet --disable-pip-version-check --retries 1 "$@" 2>/dev/null; }

if ! works "$python"; then
	if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq python3 python3-venv >/dev/null 2>&1
	fi
	if ! { python3 -m venv "$venv" 2>/dev/null && install safetensors==0.8.0 numpy==2.4.6 && works "$python"; }; then
		rm -rf "$venv"
		echo "setup: Python's safetensors cannot be installed; the layout of model files is tested without it" >&2
		echo python3
		exit 0
	fi
fi
if [ "${1:-}" = package ] && ! tests "$python" &&
	! install numpy==2.4.6 pyarrow==26.0.1 polars==2.1.0 pandas==3.0.6 scikit-learn==1.9.1 skpro==2.16.0 tqdm==4.70.1 \
		matplotlib==3.11.2 pytest==9.2.0 mypy==2.4.1 hatchling==1.33.0; then
	echo "setup: scikit-learn, pandas, skpro, pytest or mypy cannot be installed; the Python package is not tested" >&2
	exit 1
fi
if ! writes "$python" && ! install pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0; then
	echo "setup: pyarrow, polars or DuckDB cannot be installed; tables of other programs are tested without them" >&2
fi
echo "$python"
