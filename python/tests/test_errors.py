"""Messages of the program in the words of the package."""

import pathlib
import re

import pytest

from kft import _errors


@pytest.mark.parametrize(
    "text, want",
    [
        ("set data.duplicates to sum", "set duplicates to sum"),
        ("fit.lambda: 0 is out of range", "lambda_: 0 is out of range"),
        ("increase side.columns, or --side-columns", "increase side_columns, or side_columns"),
        ('unknown flag --transfrom, did you mean "--transform"? (see kft fit --help)', 'unknown option transfrom, did you mean "scale"?'),
        ("--rank: a is not a whole number (see kft fit --help)", "rank: a is not a whole number"),
        ('value "--rank" of fit.csv and data.csv.gz', 'value "--rank" of fit.csv and data.csv.gz'),
        ("/home/data.modes/side.tables.csv", "/home/data.modes/side.tables.csv"),
        ("a well--known dash", "a well--known dash"),
    ],
)
def test_in_python(text, want):
    assert _errors.in_python(text) == want


def test_fields():
    """Every field that the program turns into a flag is turned into an option."""
    source = pathlib.Path(__file__).parents[2] / "cmd" / "kft" / "advice.go"
    fields = dict(re.findall(r'\{"((?:data|side|uncertainty|fit)\.[a-z-]+)", "--([a-z-]+)"\}', source.read_text()))
    assert len(fields) > 40
    reading = {"data.target", "data.delimiter", "data.header", "data.decimal", "data.thousands"}  # of texts, which no table of Python is
    for field in sorted(fields.keys() - reading):
        assert _errors.in_python(f"set {field} to x") == f"set {_errors.in_python('--' + fields[field])} to x"
