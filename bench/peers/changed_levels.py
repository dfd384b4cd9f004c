"""Series whose level changes by a factor some months before the end, for intervals of forecasts.

    python bench/peers/changed_levels.py FACTOR SHARE AGO SEED FOLDER [SERIES]

writes 60 months to FOLDER/old.csv and the next six to FOLDER/new.csv: 24 series, or as many as given, near 1,000 with errors of
10 %, of which a share is multiplied by the factor AGO months before the end of old.csv.
"""

import csv
import math
import random
import sys
from pathlib import Path

MONTHS, LATER = 60, 6


def main() -> None:
    factor, share, ago, seed = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rng, folder = random.Random(seed), Path(sys.argv[5])
    series = int(sys.argv[6]) if len(sys.argv) > 6 else 24
    rows: dict[str, list[tuple[str, str, float]]] = {"old": [], "new": []}
    for i in range(series):
        level = 1000 * math.exp(rng.gauss(0, 0.3))
        for t in range(MONTHS + LATER):
            value = level * math.exp(rng.gauss(0, 0.1))
            if i < series * share and t >= MONTHS - ago:
                value *= factor
            rows["old" if t < MONTHS else "new"].append((f"S{i:02d}", f"{2015 + t // 12}-{t % 12 + 1:02d}", round(value, 1)))
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in rows.items():
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("id", "month", "value"), *values])


if __name__ == "__main__":
    main()
