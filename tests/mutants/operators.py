"""The operators that make mutants: `slips` has all of a file, `drawn` a part of them by a seed.

An operator makes one small change that a person might make. It knows no types, so in C++ it puts
nothing in a place where another type may be wanted.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .tokens import LEVEL, Code


class Slip(NamedTuple):
    """A change of a text from start to end, which is an expression or, if so, statements."""

    operator: str
    start: int
    end: int
    new: str
    statement: bool = False


# What takes a call's place, by the last part of its name and its number of arguments.
_CALLS: dict[tuple[str, int], tuple[str, ...]] = {
    ("fma", 3): ("{2}",), ("dot", 3): ("{2}",), ("mul_add", 3): ("{2}",),
    ("cross", 2): ("{f}({1}, {0})",), ("cross", 3): ("{2}", "{f}({1}, {0}, {2})"),
    ("select", 3): ("{1}", "{2}"), ("where", 3): ("{1}", "{2}"), ("if_active", 3): ("{2}",),
    ("transposed", 1): ("{0}",), ("transposed_mul", 2): ("{0} * {1}",),
    ("swapaxes", 3): ("{0}",), ("turned", 2): ("{0}",), ("within_half_turn", 1): ("{0}",),
    ("sorted", 1): ("{0}",), ("abs", 1): ("{0}",), ("fabs", 1): ("{0}",),
}  # fmt: skip
_NAMES = {"max": "min", "maximum": "minimum", "any": "all"}
_NAMES |= {new: old for old, new in _NAMES.items()}
_COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}

# Statements that a compiler needs as they are, that compute nothing, or that reserve memory: if it
# is too little, only sanitizers see it.
_FIXED = re.compile(
    r"\b(?:constexpr|static_assert|template|using|enum|requires|operator)\b"
    r"|^(?:import|from|def|class|assert|raise|static|struct|namespace|extern|inline|DTAU_INLINE)\b"
    r"|::\*|^@|\barena\b"
)
_DECLARATION = re.compile(r"(?:[\w:]+(?:<[^;=()]*>)?[&*]*\s+)+[&*]*\w+\s*[=;({,\[]")
_KEPT = re.compile(r"(?:return|break|goto|throw|else|public|private|case|default|while)\b|[)~:,]")
_EFFECTS = {  # of a statement that may be left out, in Python and in C++
    True: re.compile(r"raise\b|continue\b|\S+ [-+*/|&@]= |[\w.]+[.\[][^=(]* = |[\w.]+\("),
    False: re.compile(r".*(?: [-+*/|&]?= |\(|continue;)", re.S),
}


def slips(code: Code) -> list[Slip]:
    """All changes of a file that operators make."""
    found: list[Slip] = []
    i = 0
    for start, end in code.statements:
        fixed = _FIXED.search(code.masked[start:end])
        while i < len(code.tokens) and code.tokens[i].start < end:
            if not fixed and code.tokens[i].start >= start:
                for make in (_binary, _sign, _branch, _number, _call, _keyword):
                    found += (x for x in make(code, i) if start <= x.start and x.end <= end)
            i += 1
        if not fixed or code.python:
            found += _statement(code, start, end)
    return [x for x in found if x.new.split() != code.text[x.start : x.end].split()]


def _edited(
    code: Code, operator: str, chunk: tuple[int, int], first: int, last: int, new: str = ""
) -> Slip:
    """A change from first to last as one of the expression around it."""
    start, end = chunk
    return Slip(operator, start, end, code.text[start:first] + new + code.text[last:end])


def _binary(code: Code, i: int) -> Iterator[Slip]:
    """Another operator, or one operand less."""
    token = code.tokens[i]
    level = LEVEL.get(token.text)
    if level is None or token.kind not in ("operator", "name"):
        return
    chunk = code.extent(i, level, level + 1)
    if chunk[0] == token.start or chunk[1] == token.end:
        return
    after = code.tokens[i + 1].start
    beside_text = "string" in (code.tokens[i - 1].kind, code.tokens[i + 1].kind)
    if token.text in ("+", "-") and not beside_text:
        other = "-" if token.text == "+" else "+"
        yield _edited(code, "sign", chunk, token.start, token.end, other)
        yield _edited(code, "term", chunk, token.start, chunk[1])
    elif token.text in ("&&", "||", "and", "or"):
        yield _edited(code, "condition", chunk, token.start, chunk[1])
        yield _edited(code, "condition", chunk, chunk[0], after)
    elif token.text in _COMPARED:
        loop = re.search(r"\b(?:for \([^;{}]*; |while \()[^;{}]*$", code.masked[: chunk[0]])
        if loop is None:
            yield _edited(code, "compare", chunk, token.start, token.end, _COMPARED[token.text])
        elif token.text == "<":  # one turn less, for one more would leave the arrays
            yield _edited(code, "compare", chunk, chunk[1], chunk[1], " - 1")
    elif token.text == "*":
        yield _edited(code, "factor", chunk, code.extent(i, level + 1)[0], after)
    if token.text == "/" or (token.text == "*" and code.python):
        yield _edited(code, "factor", chunk, token.start, chunk[1])


def _sign(code: Code, i: int) -> Iterator[Slip]:
    """No minus, no negation, or less where there was more."""
    token = code.tokens[i]
    if code.python and token.text in ("+=", "-="):
        yield Slip("sign", token.start, token.end, "-=" if token.text == "+=" else "+=")
    if token.kind == "sign":
        end = code.extent(i, 99)[1]
        operator = "sign" if token.text == "-" else "condition"
        yield Slip(operator, token.start, end, code.text[token.end : end])
    elif token.text == "not" and code.tokens[i - 1].text != "is" and code.python:
        end = code.extent(i, LEVEL["not"] + 1)[1]
        yield Slip("condition", token.start, end, code.text[token.end : end].strip())


def _branch(code: Code, i: int) -> Iterator[Slip]:
    """One branch for both."""
    token, nearby = code.tokens[i], code.tokens[i + 1 : i + 2]
    if token.text == "if" and not code.python and nearby and nearby[0].text == "(":
        start, end = nearby[0].end, code.tokens[code.partner[i + 1]].start
        if not re.search(r";| = ", code.masked[start:end]):
            yield Slip("branch", start, end, "false")
    elif token.text in ("if", "elif") and code.python and code.opens_line(i):
        yield Slip("branch", nearby[0].start, code.extent(i + 1, 0)[1], "False")
    elif token.text in ("?", "if"):
        end = code.extent(i, 2)[1]
        k = next((k for k in range(i + 1, len(code.tokens)) if code.tokens[k].start >= end), i)
        if code.tokens[k].text != {"?": ":", "if": "else"}[token.text]:
            return
        start, end = code.extent(i, 2)[0], code.extent(k, 99, 1)[1]
        first = (start, token.start) if code.python else (token.end, code.tokens[k].start)
        if not re.search(r"& \w+ = $", code.masked[:start]):  # a reference needs one that stays
            yield Slip("branch", start, end, code.text[slice(*first)].strip())
            yield Slip("branch", start, end, code.text[code.tokens[k].end : end].strip())


def _number(code: Code, i: int) -> Iterator[Slip]:
    """Twice a number, one in place of zero, a coarser tolerance, the next integer."""
    token = code.tokens[i]
    if token.kind != "number":
        return
    if "e-" in token.text:
        value, power = token.text.split("e-")
        yield Slip("number", token.start, token.end, f"{value}e-{max(int(power) - 4, 0)}")
    elif re.search(r"[.e]", token.text):
        yield Slip("number", token.start, token.end, repr(2.0 * float(token.text) or 1.0))
    else:
        before, after = code.masked[max(token.start - 80, 0) : token.start], code.masked[token.end]
        sizes = not code.python and re.search(r"(?<!return)[\w>][&*]*\s+\w+\[$", before)
        if (after == "]" and before[-1] == "[" and not sizes) or (
            after in ",)}" and re.search(r"[(,:] ?$", before)
        ):
            yield Slip("number", token.start, token.end, str(int(token.text) + 1))


def _call(code: Code, i: int) -> Iterator[Slip]:
    """Exchanged arguments, one of the arguments in place of the call, or a related function."""
    token = code.tokens[i]
    if token.kind != "name":
        return
    start = i
    while start > 1 and code.tokens[start - 1].text in (".", "->"):
        start = code.partner.get(start - 2, start - 2)
    at = code.tokens[start].start
    if token.text == "T" and start < i and code.masked[token.end] != "(" and code.python:
        yield Slip("call", at, token.end, code.text[at : code.tokens[i - 1].start])
    if code.masked[token.end : token.end + 1] != "(" or i + 1 not in code.partner:
        return
    name = re.sub(r"<.*", "", token.text).split("::")[-1]
    end = code.tokens[code.partner[i + 1]].end
    function = code.text[at : token.end]
    arguments = code.arguments(i + 1)
    if any(re.match(r"\w+=", x) for x in arguments):
        return
    for form in _CALLS.get((name, len(arguments)), ()):
        yield Slip("call", at, end, form.format(*arguments, f=function))
    if name in _NAMES:
        related = token.text.replace(name, _NAMES[name]) + code.text[token.end : end]
        yield Slip("call", at, end, code.text[at : token.start] + related)


def _keyword(code: Code, i: int) -> Iterator[Slip]:
    """A keyword argument less."""
    token = code.tokens[i]
    if not code.python or token.kind != "name" or code.tokens[i - 1].text != ",":
        return
    if token.text in ("help", "stacklevel", "strict") or not code.depth[i]:
        return
    if re.match(r"=(?!=)", code.masked[token.end :]):
        yield Slip("keyword", code.tokens[i - 1].start, code.extent(i, 99, 0)[1], "")


def _statement(code: Code, start: int, end: int) -> Iterator[Slip]:
    """A statement less."""
    text = code.masked[start:end]
    if _KEPT.match(text) or not _EFFECTS[code.python].match(text):
        return
    if code.python:
        yield Slip("statement", start, end, "pass", statement=True)
    elif (
        text.endswith(";") and not _DECLARATION.match(text) and text.count("(") == text.count(")")
        and not code.masked[end:].lstrip().startswith("else")
    ):  # fmt: skip
        yield Slip("statement", start, end, "", statement=True)


def named(code: Code, place: str) -> dict[str, Slip]:
    """All changes by name: of the place, the line and the change, so that others move no name."""
    found: dict[str, Slip] = {}
    alike: Counter[str] = Counter()
    for slip in slips(code):
        line = code.text[code.text.rfind("\n", 0, slip.start) + 1 : code.text.find("\n", slip.end)]
        key = "|".join((line, code.text[slip.start : slip.end], slip.new))
        alike[key] += 1
        found[f"{place}/{slip.operator}-{zlib.crc32(f'{key}|{alike[key]}'.encode()):08x}"] = slip
    return found


def drawn(
    code: Code, found: Mapping[str, Slip], count: int, seed: int, taken: Iterable[tuple[int, int]]
) -> dict[str, Slip]:
    """So many changes, which do not overlap: of each operator one, then of each the second."""
    by_operator: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, slip in found.items():
        by_operator[slip.operator].append((zlib.crc32(f"{seed}|{name}".encode()), name))
    turns = sorted(
        (turn, *item) for items in by_operator.values() for turn, item in enumerate(sorted(items))
    )
    ranges, chosen = list(taken), dict[str, Slip]()
    for _, _, name in turns:
        slip = found[name]
        apart = all(slip.end <= start or end <= slip.start for start, end in ranges)
        if len(chosen) < count and apart and _reads(code, slip):
            ranges.append((slip.start, slip.end))
            chosen[name] = slip
    return chosen


def _reads(code: Code, slip: Slip) -> bool:
    """Whether Python reads the changed text."""
    if code.python:
        try:
            compile(code.text[: slip.start] + slip.new + code.text[slip.end :], "mutant", "exec")
        except SyntaxError:
            return False
    return True
