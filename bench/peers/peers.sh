#!/bin/sh
# The table of kft and its peers: makes what is missing, goes on where it was.
#   sh bench/peers/peers.sh KFT
# KFT_DATA is the folder of iowa-liquor/ and movielens-small/ (default:
# shared/data beside the repository). PEERS chooses peers (default: all).
set -eu
kft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
here=$(pwd)
examples=$here/../../examples
data=${KFT_DATA:-$here/../../../shared/data}
peers=${PEERS:-all}
threads=${THREADS:-2}

# The environment, once for each requirements.txt. What does not install is named.
sum=$(cksum < requirements.txt)
if [ "$(cat .venv/made 2>/dev/null)" != "$sum" ]; then
	python=python3
	command -v python3.11 >/dev/null && python=python3.11
	$python -m venv .venv
	if ! .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt; then
		grep -v '^#' requirements.txt | while read -r package; do
			.venv/bin/pip install --quiet --disable-pip-version-check --no-deps "$package" ||
				echo "peers: $package does not install here: what needs it is left out" >&2
		done
	fi
	echo "$sum" > .venv/made
fi
.venv/bin/python test_ruler.py "$kft"

# compare NAME DATA FOLDER: kft, then the peers, then the table.
compare() {
	name=$1 set=$2 folder=$3
	results=$here/results/$name
	work=$results/specifications
	rm -rf "$work"
	mkdir -p "$work/data"
	ln -s "$folder" "$work/data/"
	if [ "$set" = movielens ]; then # years of movies stand in their titles
		"$kft" data movielens "$folder" -o "$work/data/movielens"
	fi
	cp "$examples"/*.yaml "$work/"
	sed "s|^output:.*|output: $results|" "$examples/experiment-$set.yaml" > "$work/experiment-$set.yaml"
	(cd "$work" && "$kft" experiment run --spec "experiment-$set.yaml" --threads "$threads") ||
		echo "peers: kft experiment did not finish; the table has what there is" >&2
	.venv/bin/python -m peers --data "$set" --folder "$folder" --results "$results" --peers "$peers" \
		--threads "$threads" --kft "$kft" || echo "peers: not all peers came to a result; $results/cells says why" >&2
	"$kft" experiment table "$results" --format markdown
}

if [ -f "$data/iowa-liquor/sales_2015_2016.csv.gz" ]; then
	data=$(cd "$data" && pwd)
	compare iowa iowa "$data/iowa-liquor"
else
	echo "peers: no Iowa data in $data (set KFT_DATA): a made-up table of its shape instead" >&2
	made=$here/results/made-up/data/iowa-liquor
	if [ ! -f "$made/split.csv.gz" ]; then
		"$kft" data synthetic --shape alcohol --scale 0.01 -o "$made" --force
		"$kft" split "$made/sales_2015_2016.csv.gz" -o "$made/split.csv.gz" --force
	fi
	compare made-up iowa "$made"
fi
if [ -f "$data/movielens-small/ratings.csv" ]; then
	data=$(cd "$data" && pwd)
	compare movielens movielens "$data/movielens-small"
else
	echo "peers: no MovieLens data in $data: left out" >&2
fi
