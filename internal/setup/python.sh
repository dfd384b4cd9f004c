#!/bin/sh
# Installs Python's safetensors for the tests in a virtual environment under the
# user's cache, and prints the interpreter to use. The tests also pass without it,
# with their own parser, so a failed installation is only reported.
set -u
home=${KFT_TEST_HOME:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kft-test}
venv=$home/python
python=$venv/bin/python3

works() { "$1" -c 'import safetensors.numpy' 2>/dev/null; }

if works "$python"; then
	echo "$python"
	exit 0
fi
if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq python3 python3-venv >/dev/null 2>&1
fi
if python3 -m venv "$venv" 2>/dev/null && "$python" -m pip install --quiet --disable-pip-version-check safetensors==0.8.0 numpy==2.4.6 2>/dev/null && works "$python"; then
	echo "$python"
	exit 0
fi
rm -rf "$venv"
echo "setup: Python's safetensors cannot be installed; the layout of model files is tested without it" >&2
echo python3
