"""Second derivatives of dynamics beside Pinocchio's headers, and beside first derivatives.

    python -m benchmarks second_derivatives

Tensors of inverse and forward dynamics, dense and packed, contractions with lam, and how times and
operations grow with the bodies of chains and trees. Pinocchio has the tensors of inverse dynamics
in C++ only: its headers take part where clang++ or g++ and Eigen's headers are at hand, compiled
for this processor. That takes minutes a compiler, once; quick runs go without. Nobody else has
contractions and forward dynamics in double precision: their time is given in first derivatives of
the same dynamics.

Every function is checked first (`second_cases`): lone states and batches give the same bits; packed
tensors hold all that differs from zero; tensors agree with Pinocchio's to 1e-9 of the largest
element and with central differences of first derivatives; contractions are tensors times lam. All
results go into given arrays (out=), as Pinocchio's do. Batches of large tensors have fewer states,
so that their results fit into 128 MiB. Damping and armature are left out on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import dtau
from benchmarks.calls import fitting, operations
from benchmarks.experiment import Claim, Curve, Experiment, Findings, Plot, Table, Watch
from benchmarks.experiments.second_cases import BATCH_BYTES, Result, calls, measure
from benchmarks.harness import at_most, exponent, number, one_core, span, timed, times, verdict
from benchmarks.peers.headers import OPTIMISATION, compiled, headers_robots
from benchmarks.robots import GENERATED, KNOWN, chosen, urdf
from dtau.cli.timing import Call, Effort

BATCH = 256
EFFORT = {False: Effort(rounds=41, block=4e-3), True: Effort(rounds=5, block=1e-3)}  # by quick
ROUNDED = 0.05  # of an exponent
SMALL = 20  # degrees of freedom
FILL_SHARE = 0.6  # of the rate at which a constant fills the results
CHAIN_SHARE = 0.5  # of that rate, tensors of chains, in batches
FILLS = 1.5  # what dense tensors may take over packed ones
CONTRACTIONS = {  # times of first derivatives: at most, and the aim
    "hessian": ("first", 2.5, 1.8),
    "forward hessian": ("forward first", 3.0, 2.0),
}
FORWARD = {"panda": 2.5, "hyq": 3.0, "g1": 3.5, "talos": 4.5}  # of inverse tensors, in batches
LONE = 1.3  # times of a state in batches
SCALED = ("first", "packed", "hessian", "forward hessian")
CHAINS = (10, 20, 40, 80)  # bodies
TREES = (10, 20, 40, 80)  # branches
BRANCH = 4  # bodies


# Models of growing size


@dataclass(frozen=True)
class Growth:
    """What functions cost on models of growing size: a list by the function, an entry a model."""

    family: str
    bodies: list[int]
    micro: dict[str, list[float]]  # microseconds a state, in batches
    operations: dict[str, list[int]]
    most: dict[str, str]  # the exponent


def growths(sizes: int, effort: Effort, tick: Callable[[], None]) -> Iterator[Growth]:
    """Time chains and trees of fixed depth, so many sizes, and count their operations."""
    chains = [list(range(-1, bodies - 1)) for bodies in CHAINS[:sizes]]
    trees = [
        [-1, *(0 if i % BRANCH == 0 else i for i in range(BRANCH * branches))]
        for branches in TREES[:sizes]
    ]
    for family, parents, most in (
        ("chains (d = N)", chains, ("2: N d", "3: N d²", "2: N d", "3: N² d")),
        (f"trees of depth {BRANCH + 1}", trees, ("1: N d", "1: N d²", "1: N d", "2: N² d")),
    ):
        found: dict[tuple[int, str], Call] = {}
        for tree in parents:
            every = calls(dtau.load(urdf(tree, "fixed"), root="fixed"), 64)
            found |= {(len(tree), x): fitting(every[x], 64, BATCH_BYTES) for x in SCALED}
        micro = timed({key: call.batch() for key, call in found.items()}, effort, tick).medians()
        bodies = [len(tree) for tree in parents]
        yield Growth(
            family,
            bodies,
            {x: [micro[n, x] for n in bodies] for x in SCALED},
            {x: [sum(operations(found[n, x])) for n in bodies] for x in SCALED},
            dict(zip(SCALED, most, strict=True)),
        )


# Tables


def packed_cells(r: Result, way: str, compilers: Sequence[str]) -> list[str]:
    """Packed tensors against the headers, alone or in a batch."""
    name = f"{way} packed"
    there = [c in r.compilers for c in compilers]
    row = [r.robot.label, str(r.robot.model.nv), f"{32e-3 * r.entries:.1f}"]
    row += [number(r.found.micro(c)) if x else "" for c, x in zip(compilers, there, strict=True)]
    row += [number(r.found.micro(name))]
    for c, x in zip(compilers, there, strict=True):
        row += times(r.found.ratio(c, name)) if x else ["", ""]
    share = r.found.ratio("fill packed", name).median if way == "batch" else 0.0
    if way == "batch":
        row += [str(r.states["packed"]), number(r.found.micro("fill packed")), f"{share:.0%}"]
    if r.gcc is None or not r.robot.key:
        return [*row, "", ""]
    faster = r.found.ratio(r.gcc, name).median
    if way == "alone":
        least, aim = (2.0 if r.robot.key == "chain50" else 2.5), 4.0
        return [*row, f"{least:g}x ({aim:g}x)", verdict(faster >= least, faster >= aim)]
    if r.robot.model.nv <= SMALL:
        return [*row, "8x", verdict(faster >= 8.0)]
    return [*row, f"4x or {FILL_SHARE:.0%}", verdict(faster >= 4.0 or share >= FILL_SHARE)]


def dense_cells(r: Result) -> list[str]:
    """Dense tensors of inverse dynamics against packed ones and the fill."""
    alone, batch = r.found.micro("alone dense"), r.found.micro("batch dense")
    most = r.found.micro("alone packed") + FILLS * r.found.micro("fill one dense")
    share = r.found.ratio("fill dense", "batch dense").median
    faster = r.found.ratio(r.gcc, "batch dense").median if r.gcc else 0.0
    return [
        r.robot.label,
        f"{32e-3 * r.robot.model.nv**3:.0f}",
        number(alone),
        number(most),
        verdict(alone <= most),
        number(batch),
        str(r.states["dense"]),
        number(r.found.micro("fill dense")),
        f"{share:.0%}",
        f"{faster:.2f}x" if r.gcc else "",
        f"{FILL_SHARE:.0%} or 8x",
        verdict(share >= FILL_SHARE or faster >= 8.0),
    ]


def contraction_cells(r: Result, name: str) -> list[str]:
    """A contraction against first derivatives of the same dynamics."""
    by, most, aim = CONTRACTIONS[name]
    row = [r.robot.label, name]
    for way in ("alone", "batch"):
        spread = r.found.ratio(f"{way} {name}", f"{way} {by}")
        row += [
            number(r.found.micro(f"{way} {by}")),
            number(r.found.micro(f"{way} {name}")),
            *times(spread),
        ]
        row += [verdict(spread.median <= most, spread.median <= aim)]
    return [*row, f"{most:g}x ({aim:g}x)"]


def forward_cells(r: Result) -> list[str]:
    """The tensors of forward dynamics."""
    name = "forward dense"
    inverse = r.found.ratio(f"batch {name}", "batch dense")
    lone = r.found.ratio(f"alone {name}", f"batch {name}")
    most = FORWARD.get(r.robot.key)
    return [
        r.robot.label,
        number(r.found.micro(f"batch {name}")),
        str(r.states[name]),
        number(r.found.micro(f"fill {name}")),
        f"{r.found.ratio(f'fill {name}', f'batch {name}').median:.0%}",
        f"{r.found.ratio(f'batch {name}', 'batch forward hessian').median:.1f}x",
        *times(inverse),
        *([f"{most:g}x", verdict(inverse.median <= most)] if most else ["", ""]),
        number(r.found.micro(f"alone {name}")),
        *times(lone),
        verdict(lone.median <= LONE),
    ]


def tables(results: Sequence[Result]) -> Iterator[Table]:
    """All tables on robots."""
    compilers = list(dict.fromkeys(name for result in results for name in result.compilers))
    ratios = [cell for c in compilers for cell in (f"by {c}", "quartiles")]
    header = ["robot", "nv", "kB", *compilers, "dtau", *ratios]
    note = "microseconds a state; kB: of all four"
    if compilers:
        note += "; by ...: times as long as Pinocchio's headers take"
    for way, title, columns in (
        ("alone", "Packed tensors of inverse dynamics, one state a call", []),
        ("batch", "Packed tensors of inverse dynamics, batches", ["states", "fill", "fill rate"]),
    ):
        rows = [packed_cells(r, way, compilers) for r in results]
        yield Table(f"{title}, {note}", [*header, *columns, "at least (aim)", ""], rows)
    header = ["robot", "kB", "alone", "at most", "", "batch", "states", "fill", "fill rate"]
    title = (
        "Dense tensors of inverse dynamics, microseconds a state; at most: packed, alone, plus "
        f"{FILLS:g} fills of one state"
    )
    yield Table(title, [*header, "by g++", "at least", ""], [dense_cells(r) for r in results])
    one = ["first", "this", "ratio", "quartiles", ""]
    title = (
        "Contractions with lam, one state a call and batches, microseconds a state; ratio: times "
        "of the first derivatives of the same dynamics"
    )
    rows = [contraction_cells(r, name) for name in CONTRACTIONS for r in results]
    yield Table(title, ["robot", "function", *one, *one, "at most (aim)"], rows, left=2)
    header = ["robot", "batch", "states", "fill", "fill rate", "by hessian"]
    header += ["by inverse", "quartiles", "at most", "", "alone", "by batch", "quartiles", ""]
    title = (
        "Dense tensors of forward dynamics, microseconds a state: in batches, and times of the "
        "contraction's and of inverse dynamics' there; one state a call, and times of batches, at "
        f"most {LONE:g}"
    )
    yield Table(title, header, [forward_cells(r) for r in results])


def growth_table(growth: Growth) -> Table:
    """Times and operations by the number of bodies, and exponents."""
    header = ["function", "", *(f"{n} bodies" for n in growth.bodies), "exponent", "at most"]
    rows = []
    for name in SCALED:
        for what, costs in (
            ("microseconds", growth.micro[name]),
            ("operations", growth.operations[name]),
        ):
            cells = (number(x) if what == "microseconds" else str(x) for x in costs)
            most = growth.most[name] if what == "operations" else ""
            rows.append([name, what, *cells, f"{exponent(growth.bodies, costs):.2f}", most])
    title = (
        f"Scaling: {growth.family}, a state in batches (times have the zeros in them that fill "
        "matrices between unrelated branches)"
    )
    return Table(title, header, rows, left=2)


# Claims


def claims(results: Sequence[Result], found: Sequence[Growth]) -> Iterator[Claim]:
    """What is asked for."""
    known = [r for r in results if r.robot.key]
    for way, asked in (
        ("alone", "at least 2.5x (2x on the chain of 50)"),
        (
            "batch",
            f"at least 8x to {SMALL} degrees of freedom, then 4x or {FILL_SHARE:.0%} of fill",
        ),
    ):
        text = "packed tensors are faster than Pinocchio's headers by g++, "
        text += {"alone": "one state", "batch": "batches"}[way]
        peers = [r for r in known if r.gcc]
        if not peers:
            yield Claim(text, asked, "without Pinocchio's headers", None)
            continue
        ratios = [r.found.ratio(r.gcc or "", f"{way} packed").median for r in peers]
        held = all(packed_cells(r, way, r.compilers)[-1] != "NO" for r in peers)
        yield Claim(text, asked, span(ratios), held)
    for name in ("packed", "dense"):
        chains = [r for r in known if r.robot.key.startswith("chain")]
        shares = [r.found.ratio(f"fill {name}", f"batch {name}").median for r in chains]
        if chains:
            yield Claim(
                f"{name} tensors of chains, of the rate at which a constant fills them, batches",
                f"at least {CHAIN_SHARE:.0%}",
                f"{min(shares):.0%} to {max(shares):.0%}",
                min(shares) >= CHAIN_SHARE,
            )
    for name, (by, most, _) in CONTRACTIONS.items():
        for way in ("alone", "batch"):
            ratios = [r.found.ratio(f"{way} {name}", f"{way} {by}").median for r in results]
            of = "forward" if "forward" in name else "inverse"
            text = f"the contraction of {of} dynamics, in its first derivatives, "
            text += {"alone": "one state", "batch": "batches"}[way]
            yield at_most(text, most, ratios)
    asked = ", ".join(f"{most:g}x {key}" for key, most in FORWARD.items())
    inverse = {
        r.robot.key: r.found.ratio("batch forward dense", "batch dense").median for r in known
    }
    held = all(x <= FORWARD.get(key, x) for key, x in inverse.items())
    text = "tensors of forward dynamics, in those of inverse dynamics, batches"
    yield Claim(text, f"at most {asked}", span([*inverse.values()]), held)
    lone = [r.found.ratio("alone forward dense", "batch forward dense").median for r in results]
    text = "tensors of forward dynamics, one state a call, in batches' time a state"
    yield at_most(text, LONE, lone)
    for growth in found:
        for name in SCALED:
            power = exponent(growth.bodies, growth.operations[name])
            limit, _, words = growth.most[name].partition(": ")
            text = f"operations of '{name}' grow as {words}, {growth.family}"
            held = power <= float(limit) + ROUNDED
            yield Claim(text, f"exponent at most {limit}", f"{power:.2f}", held)


def plots(found: Sequence[Growth]) -> Iterator[Plot]:
    """Times over the number of bodies."""
    for growth in found:
        bodies = [float(n) for n in growth.bodies]
        curves = [Curve(name, bodies, growth.micro[name]) for name in SCALED]
        name = "second_derivatives_" + growth.family.split()[0]
        title = f"Second derivatives, {growth.family}"
        yield Plot(name, title, "bodies", "microseconds a state, in batches", curves)


def run(quick: bool, watch: Watch) -> Findings:
    """Measure on robots and generated trees, and on families of growing size."""
    notes: list[str] = []
    names = ["panda", "tree7"] if quick else [*KNOWN, *GENERATED]
    robots, effort = chosen(names, notes.append), EFFORT[quick]
    headers = [] if quick else compiled(2, notes.append)
    for compiler in headers:
        flags = " ".join(OPTIMISATION)
        notes.append(f"Pinocchio's headers by {compiler.name} ({compiler.version}), {flags}.")
    watch.expect(effort.rounds * (len(robots) + 2))
    results = []
    with one_core():
        for robot in robots:
            peers = headers_robots(headers, robot)
            tick = partial(watch.step, robot.label)
            results.append(measure(robot, BATCH, peers, effort, tick))
        sizes = 2 if quick else len(CHAINS)
        found = list(growths(sizes, effort, partial(watch.step, "scaling")))
    data = {
        "microseconds": {r.robot.label: r.found.medians() for r in results},
        "states": {r.robot.label: r.states for r in results},
        "scaling": [asdict(growth) for growth in found],
    }
    every = [*tables(results), *map(growth_table, found)]
    return Findings(every, list(plots(found)), list(claims(results, found)), notes, data)


EXPERIMENT = Experiment(
    "second_derivatives",
    "Second derivatives of dynamics",
    "beside Pinocchio's headers, and in first derivatives",
    run,
)
