"""The configurations and their modules."""

MODULES = {
    "lightgbm-identity": "lightgbm_peer",
    "lightgbm-log1p": "lightgbm_peer",
    "lightgbm-cbrt1p": "lightgbm_peer",
    "lightgbm-quantiles": "lightgbm_peer",
    "baseline-pair": "baseline_peer",
    "baseline-factor": "baseline_peer",
    "ridge-hashed-identity": "ridge_peer",
    "ridge-hashed-log1p": "ridge_peer",
    "ffm-identity": "ffm_peer",
    "ffm-log1p": "ffm_peer",
    "myfm": "myfm_peer",
    "myfm-implicit": "myfm_peer",
    "myfm-sessions": "myfm_peer",
    "cmfrec": "cmfrec_peer",
    "smurff": "smurff_peer",
}


def chosen(text):
    """Returns the configurations for a list of names; "myfm" selects all that start with it."""
    out = []
    for word in text.split(","):
        word = word.strip()
        found = [c for c in MODULES if c == word or c.startswith(word + "-")]
        if word == "all":
            found = list(MODULES)
        if not found:
            raise SystemExit(f"unknown peer {word!r}; available: {', '.join(MODULES)}")
        out += [c for c in found if c not in out]
    return out
