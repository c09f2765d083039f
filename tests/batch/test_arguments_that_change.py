"""Arguments whose own code changes other arguments in the middle of a call.

Every call is made in a process of its own, with arrays so large that memory which was given back is
no longer there: what reads outside an array ends the process.
"""

from __future__ import annotations

import pytest
from processes import script

pytestmark = pytest.mark.processes

CHANGING = """
import warnings
from cases import random_state, robot
from functions import FUNCTIONS
from processes import sanitized

warnings.simplefilter("ignore")  # of NumPy, about such changes
COUNT = 40 if sanitized() else 1500  # states: arrays larger than what an allocator keeps

def shorter(x):
    x.resize((COUNT,) + (0,) * (x.ndim - 1), refcheck=False)

def empty(x):
    x.resize(0, refcheck=False)

def of_bytes(x):
    x.dtype = np.int8

def of_another_shape(x):
    x.shape = (-1,)

def elsewhere(x):  # the same numbers at another address
    x.__setstate__(x.copy().__reduce__()[2])

def smaller_elsewhere(x):
    x.__setstate__(np.zeros(3).__reduce__()[2])

CHANGES = [shorter, empty, of_bytes, of_another_shape, elsewhere, smaller_elsewhere]

class Changing:
    "An argument that changes another one when it is converted."
    def __init__(self, given, change, other):
        self.given, self.change, self.other = given, change, other
    def __array__(self, dtype=None, copy=None):
        self.change(self.other)
        return self.given

class Number:
    "A number of threads that changes another argument."
    def __init__(self, change, other):
        self.change, self.other = change, other
    def __index__(self):
        self.change(self.other)
        return 2

def own(x):
    y = np.empty(x.shape)
    y[...] = x
    return y

def outcome(function, state, want, change, changing, changed):
    arrays = {name: own(state[name]) for name in function.arguments}
    out = [np.empty(x.shape) for x in want]
    other = out[changed] if isinstance(changed, int) else arrays[changed]
    more = {"out": out[0] if len(out) == 1 else out}
    if changing is None:
        more["threads"] = Number(change, other)
    else:
        arrays[changing] = Changing(arrays[changing], change, other)
    try:
        got = function(model, arrays, **more)
    except (ValueError, TypeError) as error:
        return "refused"
    return "right" if all((x == y).all() for x, y in zip(got, want)) else "wrong"

model = robot("free root, branches")
state = random_state(model, 1, (COUNT,))
rng = np.random.default_rng(2)
outcomes = {}
for function in FUNCTIONS[int(sys.argv[1])::4]:
    print(function, file=sys.stderr)
    want = function(model, state)
    victims = [*function.arguments, *range(len(want))]
    cases = [(i, j) for i in (None, *function.arguments) for j in victims if i != j]
    for change in CHANGES:
        for case in rng.permutation(len(cases))[:4]:
            was = outcome(function, state, want, change, *cases[case])
            outcomes.setdefault(change.__name__, set()).add(was)
print(json.dumps({name: sorted(some) for name, some in outcomes.items()}))
"""

LISTS = """
from cases import random_state, robot
from functions import FUNCTIONS

ran = []

def watched(base):
    "Lists and tuples whose own methods are not to run."
    def method(name):
        def run(self, *args):
            ran.append(name)
            return getattr(base, name)(self, *args)
        return run
    names = ["__getitem__", "__len__", "__iter__"]
    return type("Watched", (base,), {name: method(name) for name in names})

model = robot("free root, branches")
for function in FUNCTIONS:
    if len(function.results) > 1:
        state = random_state(model, 1, (3,))
        want = function(model, state)
        for base in (list, tuple):
            out = watched(base)([np.empty(x.shape) for x in want])
            got = function(model, state, out=out)
            assert all((x == y).all() for x, y in zip(got, want))
print(json.dumps(ran))
"""

OPTIONS = """
model = dtau.robots.quadruped()
q, v, tau = dtau.random_state(model, np.random.default_rng(0))

class Changing:
    def __init__(self, change):
        self.change = change
    def __array__(self, dtype=None, copy=None):
        self.change()
        return v

def to_other_torques():
    driven[...] = True

def to_nothing():
    driven.resize(0, refcheck=False)

said = []
for change in (to_other_torques, to_nothing):
    driven = np.arange(model.nv) < 6
    try:
        got = dtau.linearize(model, q, Changing(change), tau, inputs=driven)
        said.append(got.B.shape[1] in (6, model.nv))
    except ValueError as error:
        said.append("inputs" in str(error))

size = 200_000
inputs = np.ones((model.nv, size))
try:
    got = dtau.linearize(model, q, Changing(lambda: inputs.resize(0, refcheck=False)), tau,
                         inputs=inputs)
except (ValueError, TypeError) as error:
    said.append("inputs" in str(error))

mask = np.zeros(model.nv, dtype=bool)
try:
    dtau.hybrid_dynamics(model, q, Changing(lambda: mask.resize(0, refcheck=False)), v, tau, mask)
except (ValueError, TypeError) as error:
    said.append("prescribed" in str(error))

class Order:
    def __init__(self, change):
        self.change = change
    def __index__(self):
        self.change()
        return 2

stack = np.ones((size // 10, 4, model.nv))
want = dtau.inverse_dynamics_time_derivatives(model, q, 2.0 * stack[:3])
order = Order(lambda: stack.__imul__(2.0))
got = dtau.inverse_dynamics_time_derivatives(model, q, stack, order=order)
said.append((got[:3] == want).all().item())
for change in (lambda: stack.resize(0, refcheck=False), lambda: mask.resize(0, refcheck=False)):
    stack, mask = np.ones((size // 10, 4, model.nv)), np.zeros(model.nv, dtype=bool)
    try:
        dtau.hybrid_dynamics_time_derivatives(model, q, v, stack, stack, mask, order=Order(change))
    except ValueError as error:
        said.append("a_derivatives has shape" in str(error) or "prescribed" in str(error))
print(json.dumps(said))
"""


@pytest.mark.parametrize("part", range(4))
def test_an_argument_that_changes_another(part: int) -> None:
    """The call computes with what it finds after all conversions, or refuses it."""
    outcomes = script(CHANGING, part)
    assert outcomes.pop("elsewhere") == ["right"]
    for some in outcomes.values():  # an axis or two less may be what there was
        assert "refused" in some
        assert "wrong" not in some, outcomes


def test_lists_and_tuples_are_taken_as_they_are() -> None:
    assert script(LISTS) == []


def test_an_argument_that_changes_an_option() -> None:
    assert script(OPTIONS) == [True] * 7
