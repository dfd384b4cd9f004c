"""The configurations, and the modules they are in."""

MODULES = {
    "lightgbm-identity": "lightgbm_peer",
    "lightgbm-log1p": "lightgbm_peer",
    "lightgbm-quantiles": "lightgbm_peer",
    "baseline-pair": "baseline_peer",
    "baseline-factor": "baseline_peer",
    "ridge-hashed-identity": "ridge_peer",
    "ridge-hashed-log1p": "ridge_peer",
    "ffm-identity": "ffm_peer",
    "ffm-log1p": "ffm_peer",
}


def chosen(text):
    """Configurations of a list of names: "lightgbm" is all that start with it."""
    out = []
    for word in text.split(","):
        word = word.strip()
        found = [c for c in MODULES if c == word] or [c for c in MODULES if c.startswith(word + "-")]
        if word == "all":
            found = list(MODULES)
        if not found:
            raise SystemExit(f"no peer is called {word!r}; there are {', '.join(MODULES)}")
        out += [c for c in found if c not in out]
    return out
