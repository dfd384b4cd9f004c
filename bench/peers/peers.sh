#!/bin/sh
# Compares kft with its peers. Creates what is missing and resumes an interrupted run.
#   sh bench/peers/peers.sh KFT
# KFT_DATA is the folder of iowa-liquor/ and movielens-small/ (default: shared/data
# beside the repository). PEERS selects peers (default: all).
set -eu
kft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
here=$(pwd)
examples=$here/../../examples
data=${KFT_DATA:-$here/../../../shared/data}
peers=${PEERS:-all}
threads=${THREADS:-2}

# The environment, rebuilt when requirements.txt changes. Packages that fail to install are reported.
sum=$(cksum < requirements.txt)
if [ "$(cat .venv/made 2>/dev/null)" != "$sum" ]; then
	python=python3
	command -v python3.11 >/dev/null && python=python3.11
	$python -m venv .venv
	if ! .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt; then
		grep -v '^#' requirements.txt | while read -r package; do
			.venv/bin/pip install --quiet --disable-pip-version-check --no-deps "$package" ||
				echo "peers: $package cannot be installed; peers that need it will fail" >&2
		done
	fi
	echo "$sum" > .venv/made
fi
.venv/bin/python test_measure.py "$kft"
.venv/bin/python test_forecasts.py

# compare NAME DATA FOLDER: kft, then the peers, then the table.
compare() {
	name=$1 set=$2 folder=$3
	results=$here/results/$name
	work=$results/specifications
	rm -rf "$work"
	mkdir -p "$work/data"
	ln -s "$folder" "$work/data/"
	if [ "$set" = movielens ]; then # the years of movies are part of their titles
		"$kft" data movielens "$folder" -o "$work/data/movielens"
	fi
	cp "$examples"/*.yaml "$work/"
	sed "s|^output:.*|output: $results|" "$examples/experiment-$set.yaml" > "$work/experiment-$set.yaml"
	(cd "$work" && "$kft" experiment run --spec "experiment-$set.yaml" --threads "$threads") ||
		echo "peers: kft experiment did not finish; the table contains the available results" >&2
	.venv/bin/python -m peers --data "$set" --folder "$folder" --results "$results" --peers "$peers" \
		--threads "$threads" --kft "$kft" || echo "peers: some peers failed; see $results/cells" >&2
	"$kft" experiment table "$results" --format markdown
}

# forecasts NAME TABLE: kft and its peers on rolling origins, as one table of scores each.
forecasts() {
	results=$here/results/$1
	mkdir -p "$results"
	[ -s "$results/forecasts-kft.csv" ] || "$kft" backtest "$2" --target bottles --modes store,item,time=year+month --keep --format csv \
		--threads "$threads" > "$results/forecasts-kft.csv" || echo "peers: kft backtest failed" >&2
	[ -s "$results/forecasts-peers.csv" ] || .venv/bin/python -m peers.forecasts "$2" --threads "$threads" --output "$results/forecasts-peers.csv" ||
		echo "peers: forecasts failed" >&2
	grep -hE '^(method|[^,]*|"[^"]*"),,' "$results/forecasts-kft.csv" "$results/forecasts-peers.csv"
}

if [ -f "$data/iowa-liquor/sales_2015_2016.csv.gz" ]; then
	data=$(cd "$data" && pwd)
	compare iowa iowa "$data/iowa-liquor"
	forecasts iowa "$data/iowa-liquor/sales_2015_2016.csv.gz"
else
	echo "peers: no Iowa data in $data (set KFT_DATA); using a synthetic table of the same shape" >&2
	made=$here/results/made-up/data/iowa-liquor
	if [ ! -f "$made/split.csv.gz" ]; then
		"$kft" data synthetic --shape alcohol --scale 0.01 -o "$made" --force
		"$kft" split "$made/sales_2015_2016.csv.gz" -o "$made/split.csv.gz" --force
	fi
	compare made-up iowa "$made"
	forecasts made-up "$made/sales_2015_2016.csv.gz"
fi
if [ -f "$data/movielens-small/ratings.csv" ]; then
	data=$(cd "$data" && pwd)
	compare movielens movielens "$data/movielens-small"
else
	echo "peers: no MovieLens data in $data; skipped" >&2
fi
