"""The operators of tests/mutants make the slips that they should, and a seed draws some."""

from __future__ import annotations

import pytest
from tests.mutants.mutant import mutants
from tests.mutants.operators import slips
from tests.mutants.tokens import Code

CPP = """\
template <class T>
void f(const T* x, T* y, int n) {  // y + x
    const T a = fma(x[0], y[0], -x[1]);
    for (int k = 0; k < n; ++k) y[k] += a - x[k] * y[k];
    if (n > 1 && x) y[0] = n == 2 ? cross(a, y[1]) : T(0.5);
}
"""
PYTHON = """\
def f(x, y=1):
    if not x.any() or y:
        raise ValueError(f"x + {y}")
    y[0] -= max(x.T, 1e-8) @ x[:, 1]
    return g(x, y, z=x if y else 2.0 * x)
"""


@pytest.mark.parametrize(
    ("text", "python", "expected"),
    [
        (
            CPP, False,
            ["-x[1]|x[1]", "1|2", "fma(x[0], y[0], -x[1])|-x[1]", "k < n|k < n - 1",
             "a - x[k] * y[k]|a + x[k] * y[k]", "a - x[k] * y[k]|a", "x[k] * y[k]|y[k]",
             "n > 1 && x|n > 1", "n > 1 && x|x", "n > 1 && x|false", "n == 2|n != 2", "0.5|1.0",
             "cross(a, y[1])|cross(y[1], a)", "n == 2 ? cross(a, y[1]) : T(0.5)|T(0.5)",
             "for (int k = 0; k < n; ++k) y[k] += a - x[k] * y[k];|"],
        ),
        (
            PYTHON, True,
            ["not x.any()|x.any()", "not x.any() or y|False", "x.any()|x.all()",
             'raise ValueError(f"x + {y}")|pass', "-=|+=", "x.T|x", "1e-8|1e-4",
             "max(x.T, 1e-8)|min(x.T, 1e-8)", ", z=x if y else 2.0 * x|"],
        ),
    ],
)  # fmt: skip
def test_slips_of_operators(text: str, python: bool, expected: list[str]) -> None:
    made = [f"{text[x.start : x.end]}|{x.new.strip()}" for x in slips(Code(text, python))]
    assert [x for x in expected if x not in made] == []
    assert not any("template" in x or "// y" in x or "x + {" in x.split("|")[1] for x in made)


def test_another_seed_draws_others() -> None:
    first, other = ({x.name for x in mutants(seed)} for seed in (0, 1))
    assert len(first) >= 250
    assert len(first & other) < len(first) / 2
