"""Simulated tables with covariates: prices, promotions, weather, holidays and lead times.

python covariate_tables.py KIND SEED random|future FOLDER

writes old.csv and new.csv, which are a random fifth of the rows or the last periods. Without arguments it lists the kinds with the
modes, the covariates and the number of last periods. The effects are those of elasticities and lifts that differ from id to id, of bent
curves of the temperature, or none (useless). Some columns have missing values.
"""

import sys

import numpy as np
import pandas as pd

def dates(n, start="2022-01-03", freq="D"):
    return pd.date_range(start, periods=n, freq=freq)

def ar(rng, n, rho, sd):
    x = np.zeros(n)
    e = rng.normal(0, sd, n)
    for t in range(n):
        x[t] = (rho * x[t-1] if t else 0) + e[t]
    return x

def retail(seed, useless=False, missing=False, counts=True, daily=False):
    rng = np.random.default_rng([1, seed])
    S, I = 4, 9
    T = 115 if not daily else 150
    d = dates(T, freq="W-MON") if not daily else dates(T)
    rows = []
    season = 0.25*np.cos(2*np.pi*np.arange(T)/(52.18 if not daily else 365.25) + rng.uniform(0, 6))
    wd = rng.normal(0, .2, 7)
    st = rng.normal(0, .5, S)
    it = rng.normal(2.7, .8, I)
    el = -np.abs(rng.normal(2.0, .9, I))
    lift = rng.normal(.5, .25, I)
    if useless: el[:] = 0; lift[:] = 0
    base = np.exp(rng.normal(1.5, .5, I))
    for i in range(I):
        walk = np.cumsum(rng.choice([0, 1], T, p=[.95, .05])*rng.normal(0, .06, T))
        for s in range(S):
            own = rng.normal(0, .3)
            a = ar(rng, T, .7, .1)
            promo = np.zeros(T, int)
            t = 0
            while t < T:
                t += rng.geometric(.1)
                if t < T: promo[t:t+rng.integers(1, 4)] = 1
            price = base[i]*np.exp(walk)*np.where(promo, rng.choice([.7, .8, .9]), 1)*(1+rng.normal(0, .01, T))
            mu = st[s]+it[i]+own+season+a+el[i]*np.log(price/base[i])+lift[i]*promo
            if daily: mu = mu + wd[np.arange(T) % 7]
            y = rng.poisson(np.exp(mu)*rng.gamma(12, 1/12, T)) if counts else np.round(np.exp(mu+rng.normal(0, .2, T)), 2)
            for t in range(T):
                if rng.random() < .04: continue
                rows.append((f"S{s}", f"I{i:02d}", d[t].date(), round(price[t], 2), promo[t], y[t], round(price[t]*rng.uniform(.95, 1.05), 2), rng.normal()))
    f = pd.DataFrame(rows, columns=["store", "item", "date", "price", "promo", "y", "list_price", "footfall"])
    f["footfall"] = f.footfall.round(3)
    cov = ["price", "promo"]
    if useless: cov = ["price", "promo", "list_price", "footfall"]
    else: f = f.drop(columns=["list_price", "footfall"])
    if missing: f.loc[rng.random(len(f)) < .12, "price"] = np.nan
    return f, ["store", "item", "date"], "date", cov, 8 if not daily else 28

def demand(seed, missing=False):
    rng = np.random.default_rng([2, seed])
    N, T = 8, 500
    d = dates(T)
    doy = d.day_of_year.to_numpy()
    rows = []
    wd = rng.normal(0, .25, 7)
    hol = rng.random(T) < .03
    reg = rng.integers(0, 3, N)
    temps = [12-11*np.cos(2*np.pi*(doy-20)/365.25)+ar(rng, T, .8, 2.5) for _ in range(3)]
    for k in range(N):
        temp = np.round(temps[reg[k]]+rng.normal(0, .4), 1)
        heat, cool = np.abs(rng.normal(.02, .01)), np.abs(rng.normal(.035, .015))
        lvl = rng.normal(4.2, .6)
        h = rng.normal(-.5, .2)
        w = wd+rng.normal(0, .08, 7)
        mu = lvl+heat*np.maximum(12-temp, 0)+cool*np.maximum(temp-18, 0)+h*hol+w[d.day_of_week]+ar(rng, T, .8, .05)
        y = np.round(np.exp(mu+rng.normal(0, .06, T)), 1)
        tt = temp.astype(object)
        for t in range(T):
            rows.append((f"site{k:02d}", d[t].date(), temp[t], int(hol[t]), y[t]))
    f = pd.DataFrame(rows, columns=["site", "date", "temp", "holiday", "y"])
    if missing: f.loc[rng.random(len(f)) < .1, "temp"] = np.nan
    return f, ["site", "date"], "date", ["temp", "holiday"], 14

def hotel(seed):
    rng = np.random.default_rng([3, seed])
    Hn, T = 6, 130
    d = dates(T, "2023-03-01"); rooms = ["std", "dbl", "suite", "family"]; rows = []
    rb = np.array([0, .2, .7, .4])
    season = .3*np.sin(2*np.pi*(d.day_of_year.to_numpy()-80)/365.25)
    wk = np.array([0, -.03, -.02, 0, .12, .2, .02])
    event = rng.random(T) < .04
    sizes = rng.uniform(.2, .8, T)
    for h in range(Hn):
        lv = rng.normal(4.5, .35)
        ws = rng.uniform(.3, 2)
        es = rng.uniform(.2, 1.3)
        ls = rng.normal(-.08, .05)
        for r in range(4):
            own = rng.normal(0, .1)
            for t in range(T):
                for _ in range(rng.poisson(1.4)):
                    lead = int(min(rng.exponential(40), 300))
                    adults = rng.integers(1, 4)
                    br = rng.integers(0, 2)
                    mu = lv+rb[r]+own+season[t]*ws+wk[d[t].day_of_week]*ws+es*sizes[t]*event[t]+ls*np.log1p(lead)+.07*adults+.06*br+rng.standard_t(4)*.08
                    rate = np.exp(mu)*(0 if rng.random() < .015 else 1)
                    rows.append((f"H{h}", rooms[r], d[t].date(), lead, adults, br, ["web", "agent", "direct"][rng.integers(0, 3)], round(rate, 2)))
    f = pd.DataFrame(rows, columns=["hotel", "room", "date", "lead_days", "adults", "breakfast", "channel", "y"])
    return f, ["hotel", "room", "date"], "date", ["lead_days", "adults", "breakfast", "channel"], 14

def intermittent(seed, weekly=False, heavy=True, collinear=False):
    rng = np.random.default_rng([4, seed])
    S, I = 3, 14
    T = 150
    d = dates(T, freq="W-MON" if weekly else "D"); rows = []
    st = rng.normal(0, .4, S)
    it = rng.normal(-2.0, .9, I)
    size = rng.uniform(0, 1.6, I)
    wd = rng.normal(0, .25, 7)
    lift = np.abs(rng.normal(1.0, .5, I))
    sl = np.abs(rng.normal(.5, .4, I))
    for s in range(S):
        for i in range(I):
            own = rng.normal(0, .3)
            a = ar(rng, T, .9, .1)
            promo = np.zeros(T, int)
            t = 0
            while t < T:
                t += rng.geometric(.05)
                if t < T: promo[t:t+rng.integers(2, 8)] = 1
            p = 1/(1+np.exp(-(st[s]+it[i]+own+a+lift[i]*promo+(0 if weekly else wd[d.day_of_week]))))
            occur = rng.random(T) < p
            q = np.exp(size[i]+sl[i]*promo+(rng.normal(0, .9, T) if heavy else rng.normal(0, .4, T)))
            y = np.where(occur, 1+rng.poisson(q), 0)
            price = np.round(5*np.exp(.1*i/I)*np.where(promo, .8, 1), 2)
            for t in range(T): rows.append((f"S{s}", f"P{i:02d}", d[t].date(), promo[t], price[t], y[t]))
    f = pd.DataFrame(rows, columns=["store", "part", "date", "promo", "price", "y"])
    return f, ["store", "part", "date"], "date", ["promo", "price"], 14 if not weekly else 8

def energy(seed):
    rng = np.random.default_rng([5, seed])
    Z, D = 4, 42
    T = D*24
    d = pd.date_range("2023-04-01", periods=T, freq="h"); hr = d.hour.to_numpy(); dow = d.day_of_week.to_numpy(); rows = []
    prof = .25*np.sin(2*np.pi*(hr-8)/24)+.1*np.sin(4*np.pi*(hr-6)/24)
    day = np.repeat(ar(rng, D, .8, 3), 24)
    temp0 = 14+.08*np.arange(T)/24+6*np.sin(2*np.pi*(hr-9)/24)+day+ar(rng, T, .95, .3)
    for z in range(Z):
        temp = np.round(temp0+rng.normal(0, 2)+ar(rng, T, .95, .3), 1)
        c, h = rng.uniform(.01, .04), rng.uniform(.005, .03)
        lv = rng.normal(5, .6)
        mu = lv+prof*rng.uniform(.6, 1.4)-rng.uniform(.05, .2)*(dow >= 5)+c*np.maximum(temp-18, 0)+h*np.maximum(14-temp, 0)+ar(rng, T, .95, .01)
        hum = np.round(60-1.2*(temp-15)+rng.normal(0, 8, T), 0)
        y = np.round(np.exp(mu+rng.normal(0, .02, T)), 2)
        for t in range(T): rows.append((f"Z{z}", d[t].strftime("%Y-%m-%d %H:%M"), temp[t], hum[t], y[t]))
    f = pd.DataFrame(rows, columns=["zone", "time", "temp", "humidity", "y"])
    return f, ["zone", "time"], "time", ["temp", "humidity"], 48

def web(seed):
    rng = np.random.default_rng([6, seed])
    P, C, T = 11, 2, 190
    d = dates(T)
    rows = []
    wd = rng.normal(0, .2, 7)
    for c in range(C):
        cw = wd+rng.normal(0, .1, 7)
        for p in range(P):
            lv = rng.normal(4, 1.2)
            tr = rng.normal(0, .002)
            camp = (rng.random(T) < .03).astype(int)
            camp = np.minimum(1, camp+np.r_[0, camp[:-1]])
            k = rng.normal(.9, .3)
            posts = rng.poisson(.6, T)
            ep = rng.uniform(0, .15)
            mu = lv+cw[d.day_of_week]+tr*np.arange(T)+k*camp+ep*posts+np.cumsum(rng.normal(0, .03, T))+ar(rng, T, .6, .1)
            y = rng.poisson(np.exp(mu)*rng.gamma(20, 1/20, T))
            for t in range(T): rows.append((f"c{c}", f"page{p:02d}", d[t].date(), camp[t], posts[t], y[t]))
    f = pd.DataFrame(rows, columns=["country", "page", "date", "campaign", "posts", "y"])
    f["posts"] = f.posts.astype(float); f.loc[rng.random(len(f)) < .08, "posts"] = np.nan
    return f, ["country", "page", "date"], "date", ["campaign", "posts"], 14

def rates(seed):
    rng = np.random.default_rng([7, seed])
    Hn, T = 8, 130
    d = dates(T, "2023-05-01"); rooms = ["std", "dbl", "suite"]; leads = [0, 7, 14, 30, 60, 90]; rows = []
    city = rng.integers(0, 3, Hn)
    ev = rng.random((3, T)) < .05
    mag = rng.exponential(.5, (3, T))
    for h in range(Hn):
        lv = rng.normal(4.6, .35)
        wk = rng.uniform(0, .3)
        es = rng.uniform(.3, 1.5)
        lc = rng.normal(-.05, .04)
        for r in range(3):
            for t in range(T):
                dem = wk*(d[t].day_of_week in (4, 5))+es*ev[city[h], t]*mag[city[h], t]+rng.normal(0, .05)
                for L in leads:
                    if rng.random() < .75: continue
                    mu = lv+.35*r+dem*np.exp(-L/60)+lc*np.log1p(L)+rng.normal(0, .05)
                    comp = np.exp(4.6+.3*r+.6*dem+rng.normal(0, .2))
                    rows.append((f"H{h:02d}", rooms[r], d[t].date(), L, round(comp, 1), round(np.clip(rng.normal(.6+.3*dem, .1), 0, 1), 2), round(np.exp(mu), 0)))
    f = pd.DataFrame(rows, columns=["hotel", "room", "date", "lead", "competitor", "occupancy", "y"])
    return f, ["hotel", "room", "date"], "date", ["lead", "competitor", "occupancy"], 14

KINDS = {
 "retail": retail, "retail-real": lambda s: retail(s, counts=False), "retail-miss": lambda s: retail(s, missing=True),
 "retail-daily": lambda s: retail(s, daily=True), "useless": lambda s: retail(s, useless=True),
 "demand": demand, "demand-miss": lambda s: demand(s, missing=True), "hotel": hotel, "rates": rates,
 "interm": intermittent, "interm-week": lambda s: intermittent(s, weekly=True), "interm-light": lambda s: intermittent(s, heavy=False),
 "energy": energy, "web": web,
}

def main(kind, seed, use, folder):
    table, modes, time, _, horizon = KINDS[kind](int(seed))
    if use == "random":
        new = np.random.default_rng(int(seed) + 99).random(len(table)) < .2
    else:
        new = (table[time] >= np.sort(table[time].unique())[-horizon]).to_numpy()
    table[~new].to_csv(f"{folder}/old.csv", index=False)
    table[new].to_csv(f"{folder}/new.csv", index=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        for name, make in KINDS.items():
            print(name, *make(1)[1:])
