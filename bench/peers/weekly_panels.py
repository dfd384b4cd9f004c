"""Simulated weekly panels of about two years with a season of the year that all series share.

python weekly_panels.py shops STORES ITEMS WEEKS SEED KINDS > table.csv
python weekly_panels.py shift SERIES WEEKS SEED AFTER > table.csv

Letters of KINDS: g growth, w a random walk that all series share, a items with their own amount and phase of the season,
c counts, m a tenth of the rows missing, n none of these. AFTER is the number of weeks after a shift of all series by exp(.5).
"""

import datetime
import math
import random
import sys

YEAR = 52.18


def poisson(rng: random.Random, mean: float) -> int:
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, rng.random()
    while product >= limit:
        product *= rng.random()
        count += 1
    return count


def shops(stores: int, items: int, weeks: int, seed: int, kinds: str) -> None:
    rng = random.Random(repr([str(v) for v in (stores, items, weeks, seed, kinds)]))
    start = datetime.date(2022, 1, 3) + datetime.timedelta(7 * rng.randrange(30))
    phase, amount = rng.random() * 6.28, rng.uniform(0.2, 0.5)
    shared = [0.0]
    for _ in range(weeks):
        shared.append(shared[-1] + rng.gauss(0, 0.03 if "w" in kinds else 0))
    growth = rng.uniform(0, 0.4) / 52 if "g" in kinds else 0
    of_store = [rng.gauss(0, 0.5) for _ in range(stores)]
    of_item = [rng.gauss(2.5 if "c" in kinds else 3.5, 0.8) for _ in range(items)]
    amounts = [math.exp(rng.gauss(0, 0.4)) if "a" in kinds else 1 for _ in range(items)]
    phases = [rng.gauss(0, 0.6) if "a" in kinds else 0 for _ in range(items)]
    print("store,item,week,units")
    for s in range(stores):
        for i in range(items):
            own, ar = rng.gauss(0, 0.3), 0.0
            for t in range(weeks):
                if "m" in kinds and rng.random() < 0.1:
                    continue
                ar = 0.7 * ar + rng.gauss(0, 0.1)
                season = amount * amounts[i] * math.cos(2 * math.pi * t / YEAR + phase + phases[i])
                season += 0.3 * amount * math.sin(4 * math.pi * t / YEAR + phase)
                x = of_store[s] + of_item[i] + own + season + shared[t] + growth * t + ar
                y = poisson(rng, math.exp(x)) if "c" in kinds else f"{math.exp(x + rng.gauss(0, 0.12)):.2f}"
                print(f"S{s},I{i:02d},{start + datetime.timedelta(7 * t)},{y}")


def shift(series: int, weeks: int, seed: int, after: int) -> None:
    rng = random.Random(f"shift week {series} {weeks} {seed}")
    harmonics = [(rng.gauss(0, 0.25) / k, rng.gauss(0, 0.25) / k) for k in (1, 2, 3)]
    phase = rng.random() * 6.28
    print("series,week,y")
    for i in range(series):
        level = rng.gauss(4, 1)
        for _ in range(4):
            rng.gauss(0, 1)
        rng.random()
        for t in range(weeks):
            x = 0.0
            for k, (a, b) in enumerate(harmonics, 1):
                x += a * math.cos(2 * math.pi * k * t / YEAR + phase) + b * math.sin(2 * math.pi * k * t / YEAR + phase)
            x = level + 0.5 * x + (0.5 if t >= weeks - after else 0) + rng.gauss(0, 0.15)
            print(f"s{i:03d},{datetime.date(2021, 1, 4) + datetime.timedelta(7 * t)},{math.exp(x):.2f}")


if __name__ == "__main__":
    if sys.argv[1] == "shops":
        shops(*map(int, sys.argv[2:6]), sys.argv[6])
    else:
        shift(*map(int, sys.argv[2:6]))
