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

from collections.abc import Iterator
from typing import Any

import dtau
from benchmarks import declare
from benchmarks.calls import fill, fitting, operations
from benchmarks.declare import Asked, Bench, Column, Layout, Row, at_most, efforts, ratio
from benchmarks.experiment import Claim, Curve, Plot, Table
from benchmarks.experiments.second_cases import TENSORS, calls, check, peer_states
from benchmarks.harness import exponent, number, span, verdict
from benchmarks.peers.headers import Headers, compiled, headers_robots
from benchmarks.robots import GENERATED, KNOWN, Robot, urdf
from dtau.cli.timing import Call, Contender

BATCH = 256
BATCH_BYTES = 2**27  # of the results of a batch, at most
LONE_STATES = 16  # lone calls go round so many states
FILLED = ("packed", "dense", "forward dense")  # filled with a constant, too
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
WAYS = {"alone": "one state", "batch": "batches"}
SCALED = ("first", "packed", "hessian", "forward hessian")
CHAINS = (10, 20, 40, 80)  # bodies
TREES = (10, 20, 40, 80)  # branches
BRANCH = 4  # bodies
FAMILIES = {  # the exponents that operations are asked to grow with
    "chains (d = N)": ("2: N d", "3: N d²", "2: N d", "3: N² d"),
    f"trees of depth {BRANCH + 1}": ("1: N d", "1: N d²", "1: N d", "2: N² d"),
}


# Robots


def robot_rows(bench: Bench, robot: Robot, headers: list[Headers]) -> Iterator[Row]:
    """Check and time all functions: a row for each table."""
    peers = headers_robots(headers, robot)
    check(robot, peers)
    contenders: dict[str, Contender] = {}
    states = {}
    for name, call in calls(robot.model, max(BATCH, LONE_STATES)).items():
        many = fitting(call, BATCH, BATCH_BYTES)
        states[name] = many.count
        contenders[f"alone {name}"] = call.alone(LONE_STATES, into=True)
        contenders[f"batch {name}"] = many.batch()
        if name in FILLED:
            contenders[f"fill {name}"] = fill(many)
            contenders[f"fill one {name}"] = fill(call.part(slice(1)))
        if name == "dense":
            given = peer_states(robot, call.part(slice(LONE_STATES)))
            for compiler, peer in peers.items():
                contenders[compiler] = Contender(peer.loop(TENSORS, given), LONE_STATES)
    found = bench.timed(contenders)
    micro = found.medians()
    gcc = next((name for name in peers if name.startswith("g++")), None)
    words: Row = {"robot": robot.label, "key": robot.key, "nv": robot.model.nv, "gcc": gcc}
    words["compilers"] = list(peers)
    shares = {name: found.ratio(f"fill {name}", f"batch {name}").median for name in FILLED}

    def filled(name: str) -> Row:
        row = {"states": states[name], "fill": micro[f"fill {name}"], "share": shares[name]}
        return row | {"fill rate": f"{shares[name]:.0%}"}

    for way in WAYS:
        row = words | filled("packed") | {"part": f"packed {way}", "dtau": micro[f"{way} packed"]}
        row["kB"] = f"{32e-3 * dtau.pattern(robot.model, TENSORS).size:.1f}"
        for c in peers:
            row |= {c: micro[c], f"by {c}": found.ratio(c, f"{way} packed")}
        yield row | ({"by gcc": row[f"by {gcc}"].median} if gcc and robot.key else {})
    row = words | filled("dense") | {"part": "dense", "kB": f"{32e-3 * robot.model.nv**3:.0f}"}
    row |= {"alone": micro["alone dense"], "batch": micro["batch dense"]}
    row["most"] = micro["alone packed"] + FILLS * micro["fill one dense"]
    yield row | ({"by g++": found.ratio(gcc, "batch dense")} if gcc else {})
    for name, (by, most, aim) in CONTRACTIONS.items():
        row = words | {"part": name, "function": name, "limit": f"{most:g}x ({aim:g}x)"}
        for way in WAYS:
            row |= {f"{way} first": micro[f"{way} {by}"], f"{way} this": micro[f"{way} {name}"]}
            x = row[way] = found.ratio(f"{way} {name}", f"{way} {by}")
            row[f"{way} met"] = verdict(x.median <= most, x.median <= aim)
        yield row
    name = "forward dense"
    row = words | filled(name) | {"part": name, "batch": micro[f"batch {name}"]}
    row |= {"alone": micro[f"alone {name}"], "most": FORWARD.get(robot.key)}
    row["by hessian"] = found.ratio(f"batch {name}", "batch forward hessian")
    row["by inverse"] = found.ratio(f"batch {name}", "batch dense")
    yield row | {"by batch": found.ratio(f"alone {name}", f"batch {name}")}


def packed_goal(row: Row) -> list[str]:
    """Name the goal of packed tensors beside the headers by g++, and say whether it is reached."""
    if "by gcc" not in row:
        return ["", ""]
    faster = row["by gcc"]
    if row["part"] == "packed alone":
        least, aim = (2.0 if row["key"] == "chain50" else 2.5), 4.0
        return [f"{least:g}x ({aim:g}x)", verdict(faster >= least, faster >= aim)]
    if row["nv"] <= SMALL:
        return ["8x", verdict(faster >= 8.0)]
    return [f"4x or {FILL_SHARE:.0%}", verdict(faster >= 4.0 or row["share"] >= FILL_SHARE)]


def dense_goal(row: Row) -> list[str]:
    faster = row["by g++"].median if "by g++" in row else 0.0
    return [f"{FILL_SHARE:.0%} or 8x", verdict(row["share"] >= FILL_SHARE or faster >= 8.0)]


def packed_tables(rows: list[Row]) -> Iterator[Table]:
    compilers = rows[0]["compilers"]
    note = "microseconds a state; kB: of all four"
    if compilers:
        note += "; by ...: times as long as Pinocchio's headers take"
    columns = ["robot", "nv", "kB", *compilers, "dtau"]
    columns += [ratio(f"by {c}", f"by {c}") for c in compilers]
    goal = Column(["at least (aim)", ""], packed_goal)
    for way, title, more in (
        ("alone", "one state a call", []),
        ("batch", "batches", ["states", "fill", "fill rate"]),
    ):
        title = f"Packed tensors of inverse dynamics, {title}, {note}"
        yield from Layout(title, [*columns, *more, goal], where={"part": f"packed {way}"}).tables(
            rows
        )


FILL = ["states", "fill", "fill rate"]
LAYOUTS = [
    Layout(
        "Dense tensors of inverse dynamics, microseconds a state; at most: packed, alone, plus "
        f"{FILLS:g} fills of one state",
        [
            *("robot", "kB", "alone", ("at most", "most")),
            Column([""], lambda row: [verdict(row["alone"] <= row["most"])]),
            *("batch", *FILL, "by g++", Column(["at least", ""], dense_goal)),
        ],
        where={"part": "dense"},
    ),
    lambda rows: Layout(
        "Contractions with lam, one state a call and batches, microseconds a state; ratio: times "
        "of the first derivatives of the same dynamics",
        [
            *("robot", "function"),
            *(
                x
                for way in WAYS
                for x in (
                    *(("first", f"{way} first"), ("this", f"{way} this")),
                    *(ratio(way), ("", f"{way} met")),
                )
            ),
            ("at most (aim)", "limit"),
        ],
        left=2,
    ).tables([row for name in CONTRACTIONS for row in rows if row["part"] == name]),
    Layout(
        "Dense tensors of forward dynamics, microseconds a state: in batches, and times of the "
        "contraction's and of inverse dynamics' there; one state a call, and times of batches, at "
        f"most {LONE:g}",
        [
            *("robot", "batch", *FILL, "by hessian", ratio("by inverse", "by inverse")),
            *(at_most("most", "by inverse"), "alone", ratio("by batch", "by batch")),
            Column([""], lambda row: [verdict(row["by batch"].median <= LONE)]),
        ],
        where={"part": "forward dense"},
    ),
]


# Models of growing size


def growth_rows(bench: Bench, family: str) -> Iterator[Row]:
    """Time chains or trees of fixed depth, and count their operations."""
    sizes = 2 if bench.quick else len(CHAINS)
    parents = [list(range(-1, bodies - 1)) for bodies in CHAINS[:sizes]]
    if family.startswith("trees"):
        parents = [
            [-1, *(0 if i % BRANCH == 0 else i for i in range(BRANCH * branches))]
            for branches in TREES[:sizes]
        ]
    found: dict[tuple[int, str], Call] = {}
    for tree in parents:
        every = calls(dtau.load(urdf(tree, "fixed"), root="fixed"), 64)
        found |= {(len(tree), x): fitting(every[x], 64, BATCH_BYTES) for x in SCALED}
    micro = bench.timed({key: call.batch() for key, call in found.items()}).medians()
    bodies = [len(tree) for tree in parents]
    for name, most in zip(SCALED, FAMILIES[family], strict=True):
        for what, costs in (
            ("microseconds", [micro[n, name] for n in bodies]),
            ("operations", [sum(operations(found[n, name])) for n in bodies]),
        ):
            row = {"part": family, "function": name, "what": what, "bodies": bodies}
            row |= {"costs": costs, "power": exponent(bodies, costs)}
            yield row | {"most": most if what == "operations" else ""}


def growth_tables(rows: list[Row]) -> Iterator[Table]:
    """Times and operations by the number of bodies, and exponents."""
    for family in FAMILIES:
        (found,) = declare.selected(rows, {"part": family})
        cells = [
            [row["function"], row["what"]]
            + [number(x) if isinstance(x, float) else str(x) for x in row["costs"]]
            + [f"{row['power']:.2f}", row["most"]]
            for row in found
        ]
        header = ["function", "", *(f"{n} bodies" for n in found[0]["bodies"])]
        title = (
            f"Scaling: {family}, a state in batches (times have the zeros in them that fill "
            "matrices between unrelated branches)"
        )
        yield Table(title, [*header, "exponent", "at most"], cells, left=2)


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Times over the number of bodies."""
    for family in FAMILIES:
        (found,) = declare.selected(rows, {"part": family, "what": "microseconds"})
        curves = [Curve(row["function"], row["bodies"], row["costs"]) for row in found]
        name = "second_derivatives_" + family.split()[0]
        y = "microseconds a state, in batches"
        yield Plot(name, f"Second derivatives, {family}", "bodies", y, curves)


# Claims


def packed_claims(rows: list[Row]) -> Iterator[Claim]:
    small = f"at least 8x to {SMALL} degrees of freedom, then 4x or {FILL_SHARE:.0%} of fill"
    for way, asked in (("alone", "at least 2.5x (2x on the chain of 50)"), ("batch", small)):
        text = f"packed tensors are faster than Pinocchio's headers by g++, {WAYS[way]}"
        found = [row for row in rows if row["part"] == f"packed {way}" and "by gcc" in row]
        if found:
            held = all(packed_goal(row)[-1] != "NO" for row in found)
            yield Claim(text, asked, span(row["by gcc"] for row in found), held)
        else:
            yield Claim(text, asked, "without Pinocchio's headers", None)
    for name, part in (("packed", "packed batch"), ("dense", "dense")):
        chains = [row for row in rows if row["part"] == part and row["key"].startswith("chain")]
        if shares := [row["share"] for row in chains]:
            yield Claim(
                f"{name} tensors of chains, of the rate at which a constant fills them, batches",
                f"at least {CHAIN_SHARE:.0%}",
                f"{min(shares):.0%} to {max(shares):.0%}",
                min(shares) >= CHAIN_SHARE,
            )


def growth_claims(rows: list[Row]) -> Iterator[Claim]:
    for row in rows:
        if row.get("what") == "operations":
            limit, _, words = row["most"].partition(": ")
            text = f"operations of '{row['function']}' grow as {words}, {row['part']}"
            held = row["power"] <= float(limit) + ROUNDED
            yield Claim(text, f"exponent at most {limit}", f"{row['power']:.2f}", held)


def forward_claim(rows: list[Row]) -> Iterator[Claim]:
    found = [row for row in rows if row["part"] == "forward dense" and row["key"]]
    asked = ", ".join(f"{most:g}x {key}" for key, most in FORWARD.items())
    ratios = [row["by inverse"].median for row in found]
    held = all(
        row["most"] is None or x <= row["most"] for x, row in zip(ratios, found, strict=True)
    )
    text = "tensors of forward dynamics, in those of inverse dynamics, batches"
    yield Claim(text, f"at most {asked}", span(ratios), held)


# The experiment


def subjects(bench: Bench) -> list[Any]:
    headers = [] if bench.quick else compiled(2, bench.note)
    for compiler in headers:
        bench.note(compiler.said())
    robots = declare.robots([*KNOWN, *GENERATED], ("panda", "tree7"))(bench)
    return [*((robot, headers) for robot in robots), *FAMILIES]


def measure(bench: Bench, subject: Any, headers: Any = None) -> Iterator[Row]:
    if headers is None:
        return growth_rows(bench, subject)
    return robot_rows(bench, subject, headers)


EXPERIMENT = declare.experiment(
    "second_derivatives",
    "Second derivatives of dynamics",
    "beside Pinocchio's headers, and in first derivatives",
    subjects,
    measure,
    effort=efforts((41, 5), (4e-3, 1e-3)),
    tables=[packed_tables, *LAYOUTS, growth_tables],
    plots=plots,
    claims=[
        packed_claims,
        *(
            Asked(
                f"the contraction of {of} dynamics, in its first derivatives, {states}",
                way,
                most=CONTRACTIONS[name][1],
                where={"part": name},
            )
            for name, of in (("hessian", "inverse"), ("forward hessian", "forward"))
            for way, states in WAYS.items()
        ),
        forward_claim,
        Asked(
            "tensors of forward dynamics, one state a call, in batches' time a state",
            "by batch",
            most=LONE,
            where={"part": "forward dense"},
        ),
        growth_claims,
    ],
)
