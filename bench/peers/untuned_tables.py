"""Writes generated tables of many kinds on which the default of kft is measured.

    python untuned_tables.py FOLDER

See "Tables that nobody tuned on" in docs/results/default.md for what was measured and what was changed because of it.
The last column of each table is the target.
"""

import sys

import numpy as np
import pandas as pd

folder = sys.argv[1] + "/"

def zipf(r, n, size, a=0.9):
    """Draws ids of n with long tails, in no order."""
    p = 1 / np.arange(1, n + 1) ** a
    p /= p.sum()
    return r.permutation(n)[r.choice(n, size, p=p)]

def ids(p, c):
    """Names codes, as in u0012."""
    return [f'{p}{i:04d}' for i in c]

def write(name, df):
    """Writes a table with one row per cell."""
    df.drop_duplicates(subset=[c for c in df.columns if c != df.columns[-1]]).to_csv(folder + name + '.csv', index=False)

r = np.random.default_rng(1)

# ratings long tail
n = 50000
U = zipf(r, 3000, n, 0.8)
M = zipf(r, 2000, n, 0.9)
A = r.normal(0, 0.35, (3000, 4))
B = r.normal(0, 0.6, (2000, 4))
bu = r.normal(0, 0.4, 3000)
bm = r.normal(0, 0.5, 2000)
y = np.clip(np.round(2 * (3.5 + bu[U] + bm[M] + (A[U] * B[M]).sum(1) + r.normal(0, 0.7, n))) / 2, 0.5, 5)
df = pd.DataFrame(dict(user=ids('u', U), movie=ids('m', M), rating=y)).drop_duplicates(['user', 'movie'])
write('ratings_long', df)

# counts excess zeros user x item x hour
n = 60000
U = zipf(r, 800, n, 0.6)
I = zipf(r, 150, n, 0.6)
H = r.integers(0, 24, n)
A = r.normal(0, 0.5, (800, 2))
B = r.normal(0, 0.5, (150, 2))
h = np.sin((np.arange(24) - 6) / 24 * 2 * np.pi)
eta = 0.3 + r.normal(0, 0.6, 800)[U] + r.normal(0, 0.6, 150)[I] + (A[U] * B[I]).sum(1) + h[H] * (0.6 + 0.4 * r.normal(0, 1, 800)[U])
z = r.random(n) < 1 / (1 + np.exp(-(0.2 + r.normal(0, 1, 800)[U])))
y = np.where(z, 0, r.poisson(r.gamma(2, np.exp(eta) / 2)))
write('counts_zero', pd.DataFrame(dict(user=ids('u', U), item=ids('i', I), hour=H, count=y)))

# clicks
n = 80000
U = zipf(r, 5000, n, 0.5)
A_ = zipf(r, 300, n, 0.8)
S = zipf(r, 60, n, 0.8)
P = r.normal(0, 0.7, (5000, 2))
Q = r.normal(0, 0.7, (300, 2))
eta = -2 + r.normal(0, 0.6, 5000)[U] + r.normal(0, 0.6, 300)[A_] + r.normal(0, 0.5, 60)[S] + (P[U] * Q[A_]).sum(1) + r.normal(0, 0.4, (300, 60))[A_, S]
y = (r.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
write('clicks', pd.DataFrame(dict(user=ids('u', U), ad=ids('a', A_), site=ids('s', S), click=y)))

# claims heavy tails
n = 15000
R = r.integers(0, 60, n)
P = zipf(r, 40, n, 0.5)
Y = r.integers(2012, 2024, n)
eta = 6 + r.normal(0, 0.4, 60)[R] + r.normal(0, 0.8, 40)[P] + 0.04 * (Y - 2012) + r.normal(0, 0.3, (60, 40))[R, P]
y = np.round(np.exp(eta) * (r.pareto(2.5, n) + 0.3), 2)
df = pd.DataFrame(dict(region=ids('r', R), product=ids('p', P), year=Y, amount=y)).drop_duplicates(['region', 'product', 'year'])
write('claims', df)

# shares strictly in (0,1)
n = 14000
S = r.integers(0, 90, n)
C = r.integers(0, 30, n)
T = r.integers(0, 24, n)
A = r.normal(0, 0.6, (90, 2))
B = r.normal(0, 0.6, (30, 2))
eta = -0.8 + r.normal(0, 0.7, 90)[S] + r.normal(0, 1, 30)[C] + (A[S] * B[C]).sum(1) + 0.4 * np.sin(T / 12 * 2 * np.pi + r.normal(0, 2, 30)[C])
mu = 1 / (1 + np.exp(-eta))
k = 12
y = np.clip(r.beta(mu * k, (1 - mu) * k), 0.0001, 1 - 0.0001).round(4)
df = pd.DataFrame(dict(shop=ids('s', S), category=ids('c', C), month=[f'{2022 + t // 12}-{t % 12 + 1:02d}' for t in T], share=y)).drop_duplicates(['shop', 'category', 'month'])
write('shares', df)

# returns
nS, nD = (120, 250)
f = r.standard_t(4, (nD, 3)) * 0.01
b = np.c_[r.normal(1, 0.3, nS), r.normal(0, 0.6, (nS, 2))]
days = pd.bdate_range('2023-01-02', periods=nD)
y = b @ f.T + r.standard_t(3, (nS, nD)) * 0.008 * np.exp(r.normal(0, 0.4, nS))[:, None]
i, j = np.nonzero(r.random((nS, nD)) < 0.7)
write('returns', pd.DataFrame(dict(ticker=ids('T', i), date=days[j].strftime('%Y-%m-%d'), ret=y[i, j].round(6))))

# tiny
i, j = np.divmod(np.arange(60), 6)
y = 20 + r.normal(0, 4, 10)[i] + r.normal(0, 3, 6)[j] + r.normal(0, 2, 60)
write('tiny', pd.DataFrame(dict(plot=ids('p', i), treatment=[f't{k}' for k in j], crop=y.round(2))))

# dominating mode
nu = 60000
U = np.repeat(np.arange(nu), 3)
n = len(U)
P = zipf(r, 50, n, 0.5)
C = r.integers(0, 8, n)
y = np.exp(3 + r.normal(0, 0.6, nu)[U] + r.normal(0, 0.5, 50)[P] + r.normal(0, 0.2, 8)[C] + r.normal(0, 0.5, n)).round(2)
write('many_users', pd.DataFrame(dict(user=ids('u', U), product=ids('p', P), channel=ids('c', C), spend=y)).drop_duplicates(['user', 'product', 'channel']))

# six modes
n = 40000
sz = [40, 30, 20, 12, 7, 5]
X = [r.integers(0, s, n) for s in sz]
y = 10.0 + 0 * X[0]
for k, s in enumerate(sz):
    y = y + r.normal(0, 0.7, s)[X[k]]
for a, b in [(0, 1), (0, 4), (2, 3), (1, 5)]:
    y = y + r.normal(0, 0.6, (sz[a], sz[b]))[X[a], X[b]]
y = y + r.normal(0, 0.5, (20, 12, 5))[X[2], X[3], X[5]] + r.normal(0, 1, n)
write('six_modes', pd.DataFrame({**{k: ids(k[0], x) for k, x in zip(['plant', 'line', 'product', 'shift', 'weekday', 'crew'], X)}, 'output': y.round(3)}))

# nested city in state
n = 30000
st = r.integers(0, 20, n)
ci = st * 12 + zipf(r, 12, n, 0.6)
P = r.integers(0, 25, n)
Q = r.integers(0, 16, n)
y = np.exp(4 + r.normal(0, 0.6, 20)[st] + r.normal(0, 0.4, 240)[ci] + r.normal(0, 0.7, 25)[P] + r.normal(0, 0.4, (20, 25))[st, P] + 0.2 * np.sin(Q * np.pi / 2 + r.normal(0, 2, 25)[P]) + 0.03 * Q + r.normal(0, 0.35, n))
df = pd.DataFrame(dict(state=ids('st', st), city=ids('city', ci), product=ids('p', P), quarter=[f'{2020 + q // 4}Q{q % 4 + 1}' for q in Q], sales=y.round(1))).drop_duplicates(['city', 'product', 'quarter'])
write('nested', df)

# side tables informative / noise
for name, inf in (('side_good', 1), ('side_noise', 0)):
    n = 9000
    S = r.integers(0, 400, n)
    I = r.integers(0, 60, n)
    x = r.normal(0, 1, (400, 3))
    g = r.integers(0, 6, 400)
    x2 = x if inf else r.normal(0, 1, (400, 3))
    g2 = g if inf else r.integers(0, 6, 400)
    y = 50 + 5 * x[:, 0][S] + 4 * np.sin(2 * x[:, 1])[S] + r.normal(0, 4, 6)[g][S] + r.normal(0, 2, 400)[S] + r.normal(0, 4, 60)[I] + 2 * (x[:, 2][S] * r.normal(0, 1, 60)[I]) + r.normal(0, 3, n)
    df = pd.DataFrame(dict(store=ids('s', S), item=ids('i', I), value=y.round(2))).drop_duplicates(['store', 'item'])
    write(name, df)
    pd.DataFrame(dict(store=ids('s', range(400)), size=x2[:, 0].round(3), age=x2[:, 1].round(3), income=x2[:, 2].round(3), kind=[f'k{k}' for k in g2])).to_csv(folder + name + '_stores.csv', index=False)

# ids with facts in the table
n = 20000
S = zipf(r, 500, n, 0.7)
I = zipf(r, 200, n, 0.7)
area = np.exp(r.normal(0, 1, 500)).round(2)
reg = r.integers(0, 8, 500)
price = np.exp(r.normal(1, 0.6, 200)).round(2)
fam = r.integers(0, 12, 200)
y = np.exp(2 + 0.5 * np.log(area)[S] + r.normal(0, 0.3, 8)[reg][S] + r.normal(0, 0.3, 500)[S] - 0.6 * np.log(price)[I] + r.normal(0, 0.5, 12)[fam][I] + r.normal(0, 0.3, 200)[I] + r.normal(0, 0.4, (8, 12))[reg[S], fam[I]] + r.normal(0, 0.5, n))
df = pd.DataFrame(dict(store=ids('s', S), item=ids('i', I), area=area[S], region=ids('r', reg[S]), price=price[I], family=ids('f', fam[I]), units=y.round(1))).drop_duplicates(['store', 'item'])
write('facts', df)

# store x item x weekday interactions
n = 40000
S = r.integers(0, 50, n)
I = r.integers(0, 60, n)
W = r.integers(0, 7, n)
k = r.integers(0, 4, 50)
l = r.integers(0, 5, 60)
y = r.poisson(np.exp(1.6 + r.normal(0, 0.4, 50)[S] + r.normal(0, 0.6, 60)[I] + r.normal(0, 0.5, (4, 5, 7))[k[S], l[I], W] + r.normal(0, 0.25, (50, 60))[S, I]))
wd = np.array(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])
df = pd.DataFrame(dict(store=ids('s', S), item=ids('i', I), weekday=wd[W], sold=y)).drop_duplicates(['store', 'item', 'weekday'])
write('weekday', df)

# durations, multiplicative, gamma
n = 12000
M = r.integers(0, 80, n)
O = zipf(r, 150, n, 0.5)
J = r.integers(0, 25, n)
y = (np.exp(1 + r.normal(0, 0.3, 80)[M] + r.normal(0, 0.3, 150)[O] + r.normal(0, 0.7, 25)[J] + r.normal(0, 0.3, (80, 25))[M, J]) * r.gamma(1.5, 1 / 1.5, n)).round(3)
write('durations', pd.DataFrame(dict(machine=ids('m', M), operator=ids('o', O), job=ids('j', J), minutes=y)))

# percent with spikes at 0 and 100
n = 20000
S = r.integers(0, 200, n)
Q = r.integers(0, 60, n)
e = 60 + r.normal(0, 20, 200)[S] + r.normal(0, 22, 60)[Q] + 8 * (r.normal(0, 1, 200)[S] * r.normal(0, 1, 60)[Q]) + r.normal(0, 14, n)
write('percent', pd.DataFrame(dict(student=ids('s', S), question=ids('q', Q), percent=np.clip(e, 0, 100).round(0).astype(int))).drop_duplicates(['student', 'question']))

# outliers gross errors
n = 15000
A = r.integers(0, 100, n)
B = r.integers(0, 80, n)
y = 100 + r.normal(0, 10, 100)[A] + r.normal(0, 10, 80)[B] + 3 * (r.normal(0, 1, 100)[A] * r.normal(0, 1, 80)[B]) + r.normal(0, 3, n)
o = r.random(n) < 0.02
y[o] *= r.choice([10, 0.1, -1], o.sum())
write('errors', pd.DataFrame(dict(lab=ids('l', A), sample=ids('s', B), reading=y.round(2))).drop_duplicates(['lab', 'sample']))

# clusters: step interactions (block structure, not low rank additive)
n = 30000
A = r.integers(0, 300, n)
B = r.integers(0, 200, n)
C = r.integers(0, 10, n)
ka = r.integers(0, 6, 300)
kb = r.integers(0, 6, 200)
y = r.normal(0, 1, (6, 6, 10))[ka[A], kb[B], C] + r.normal(0, 0.6, n)
write('blocks', pd.DataFrame(dict(patient=ids('p', A), gene=ids('g', B), tissue=ids('t', C), expr=y.round(3))).drop_duplicates(['patient', 'gene', 'tissue']))

# sensor hours, date-time
nS, nT = (12, 24 * 60)
t = pd.date_range('2024-03-01', periods=nT, freq='h')
i, j = np.nonzero(r.random((nS, nT)) < 0.5)
h = j % 24
ar = np.zeros((nS, nT))
e = r.normal(0, 0.5, (nS, nT))
for q in range(1, nT):
    ar[:, q] = 0.95 * ar[:, q - 1] + e[:, q]
y = 15 + r.normal(0, 3, nS)[i] + (3 + r.normal(0, 1, nS)[i]) * np.sin((h - 8) / 24 * 2 * np.pi) + ar[i, j] + r.normal(0, 0.5, len(i))
write('sensors', pd.DataFrame(dict(sensor=ids('s', i), time=t[j].strftime('%Y-%m-%d %H:%M'), temp=y.round(2))))
